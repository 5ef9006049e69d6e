"""The trigger form's fields that say how a run plans; what it plans is :mod:`~rocketmq_capacity.provider.source`'s."""

from typing import Final

from airflow.sdk import Param

from rocketmq_capacity.provider.form_formats import LONGEST_TEXT, POLICY, register_formats
from rocketmq_capacity.vocabulary import STRATEGIES

SECTION: Final = "How it is planned"


def policy_params() -> dict[str, Param]:
    """Strategies and other decisions of this run alone; an empty field leaves the deployment's policy as it is."""
    register_formats()
    return {
        "strategies": Param(
            [],
            type=["null", "array"],  # what is chosen and then taken away again is null
            items={"type": "string", "enum": list(STRATEGIES)},
            examples=list(STRATEGIES),
            uniqueItems=True,
            title="Strategies",
            description="The allocation strategies to run. None chosen: those of the deployment's policy.",
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
