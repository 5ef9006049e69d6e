"""The trigger form's fields for how a run plans; :mod:`~rocketmq_capacity.provider.source` has those for what."""

from airflow.sdk import Param

from rocketmq_capacity.provider.form_formats import LONGEST_TEXT, POLICY, register_formats
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.vocabulary import STRATEGIES


def _section() -> str:
    return phrase("How it is planned")


def policy_params() -> dict[str, Param]:
    """Strategies and other decisions of this run only. With empty fields, the deployment's policy is used."""
    register_formats()
    what = phrase("Keys of a policy file that this run decides otherwise, such as")
    return {
        "strategies": Param(
            [],
            type=["null", "array"],  # a choice that was removed again is null
            items={"type": "string", "enum": list(STRATEGIES)},
            examples=list(STRATEGIES),
            uniqueItems=True,
            title=phrase("Strategies"),
            description=phrase(
                "The allocation strategies to run, beside those that groups use. None chosen: those of the "
                "deployment's policy."
            ),
            section=_section(),
        ),
        "policy_changes": Param(
            None,
            type=["null", "string"],
            format="multiline",
            allOf=[{"format": POLICY}],
            maxLength=LONGEST_TEXT,
            title=phrase("Policy changes (YAML)"),
            description=f"{what} thresholds: {{HOT_QUEUE: {{peak: 3.0}}}}",
            description_md=f"{what}\n\n"
            "```yaml\nthresholds: {HOT_QUEUE: {peak: 3.0}}\nexclude: {topics: ['^bench_']}\n```",
            section=_section(),
        ),
    }


def replaces_param() -> Param:
    """The form's field that makes a run with another policy the day's plan."""
    return Param(
        False,
        type=["null", "boolean"],
        title=phrase("Replaces the day's plan"),
        description=phrase(
            "Without it, a run that decides anything otherwise than the deployment's policy is a trial: it has a "
            "report, but no place in the trend, no approval, and is not the plan before another one."
        ),
        section=_section(),
    )
