"""The trigger form's fields for how a run plans; :mod:`~rocketmq_capacity.provider.source` has those for what."""

from typing import Final

from airflow.sdk import Param

from rocketmq_capacity.provider.form_formats import LONGEST_TEXT, POLICY, register_formats
from rocketmq_capacity.vocabulary import STRATEGIES

SECTION: Final = "How it is planned"


def policy_params() -> dict[str, Param]:
    """Strategies and other decisions of this run only. With empty fields, the deployment's policy is used."""
    register_formats()
    return {
        "strategies": Param(
            [],
            type=["null", "array"],  # a choice that was removed again is null
            items={"type": "string", "enum": list(STRATEGIES)},
            examples=list(STRATEGIES),
            uniqueItems=True,
            title="Strategies",
            description="The allocation strategies to run, beside those that groups use. None chosen: those of the "
            "deployment's policy.",
            section=SECTION,
        ),
        "policy_changes": Param(
            None,
            type=["null", "string"],
            format="multiline",
            allOf=[{"format": POLICY}],
            maxLength=LONGEST_TEXT,
            title="Policy changes (YAML)",
            description="Keys of a policy file that this run decides otherwise, such as "
            "thresholds: {HOT_QUEUE: {peak: 3.0}}.",
            description_md="Keys of a policy file that this run decides otherwise, such as\n\n"
            "```yaml\nthresholds: {HOT_QUEUE: {peak: 3.0}}\nexclude: {topics: ['^bench_']}\n```",
            section=SECTION,
        ),
    }


def replaces_param() -> Param:
    """The form's field that makes a run with another policy the day's plan."""
    return Param(
        False,
        type=["null", "boolean"],
        title="Replaces the day's plan",
        description="Without it, a run that decides anything otherwise than the deployment's policy is a trial: it has "
        "a report, but no place in the trend, no approval, and is not the plan before another one.",
        section=SECTION,
    )
