"""Accepts a risk of a cluster's latest plan in the name of whoever is logged in to Airflow: the form, and the task."""

from datetime import UTC, datetime
from typing import Any, Final

from airflow.sdk import Context, Param

from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.report.acceptance import accept_risk
from rocketmq_capacity.store.lake import Lake

LONGEST_NAME: Final = 200
LONGEST_REASON: Final = 1_000
NAME: Final[dict[str, Any]] = {"type": ["null", "string"], "maxLength": LONGEST_NAME}


def acceptance_params() -> dict[str, Param]:
    """The fields of the form."""
    where, what = phrase("What is accepted"), phrase("Why and how long")
    place = phrase("As the finding names it; at least one of group, topic and broker.")
    return {
        "cluster": Param(
            None,
            **NAME,
            title=phrase("Cluster"),
            description=phrase("The name of the cluster, as its report has it. Empty: the only one that has plans."),
            section=where,
        ),
        "rule": Param(min(rules()), type="string", enum=sorted(rules()), title=phrase("Rule"), section=where),
        "consumer_group": Param(None, **NAME, title=phrase("Consumer group"), description=place, section=where),
        "topic": Param(None, **NAME, title=phrase("Topic"), section=where),
        "broker_name": Param(None, **NAME, title=phrase("Broker"), section=where),
        "why": Param(
            None,
            type=["null", "string"],
            maxLength=LONGEST_REASON,
            title=phrase("Why"),
            description=phrase("Needed."),
            section=what,
        ),
        "until": Param(
            None,
            type=["null", "string"],
            format="date",
            title=phrase("Until"),
            description=phrase("The last day (UTC) on which the risk is accepted. Needed."),
            section=what,
        ),
    }


def keep_accepted(context: Context, lake: Lake) -> dict[str, str]:
    """Keep the risk that the run's fields name, in the name of the person who started the run; gives what is kept.

    Errors: BadInput for what is no risk of the latest plan.
    """
    by = context["dag_run"].triggering_user_name
    risk = accept_risk(context["params"], by, lake, datetime.now(UTC))
    return {name: str(told) for name, told in risk.model_dump(mode="json", exclude_none=True).items()}
