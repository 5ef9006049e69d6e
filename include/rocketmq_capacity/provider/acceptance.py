"""Accepts a risk of a cluster's latest plan in the name of whoever is logged in to Airflow."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from airflow.sdk import Param
from pydantic import ValidationError

from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.plan_file.finding import Finding
from rocketmq_capacity.plan_file.plan import Plan, read_plan
from rocketmq_capacity.report.accepting import is_about
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.settings.accepted import PLACES, AcceptedRisk
from rocketmq_capacity.settings.yaml_file import nearest
from rocketmq_capacity.store.acceptances import keep_acceptance
from rocketmq_capacity.store.lake import Lake

SOURCE: Final = "the form"
LONGEST_NAME: Final = 200
LONGEST_REASON: Final = 1_000
NAME: Final[dict[str, Any]] = {"type": ["null", "string"], "maxLength": LONGEST_NAME}


def acceptance_params() -> dict[str, Param]:
    """The fields of the form."""
    where, what = "What is accepted", "Why and how long"
    place = "As the finding names it; at least one of group, topic and broker."
    return {
        "cluster": Param(
            None,
            **NAME,
            title="Cluster",
            description="The name of the cluster, as its report has it. Empty: the only one that has plans.",
            section=where,
        ),
        "rule": Param(min(rules()), type="string", enum=sorted(rules()), title="Rule", section=where),
        "consumer_group": Param(None, **NAME, title="Consumer group", description=place, section=where),
        "topic": Param(None, **NAME, title="Topic", section=where),
        "broker_name": Param(None, **NAME, title="Broker", section=where),
        "why": Param(
            None, type=["null", "string"], maxLength=LONGEST_REASON, title="Why", description="Needed.", section=what
        ),
        "until": Param(
            None,
            type=["null", "string"],
            format="date",
            title="Until",
            description="The last day (UTC) on which the risk is accepted. Needed.",
            section=what,
        ),
    }


def problem_of(given: Mapping[str, Any]) -> str:
    """What is wrong with the fields themselves, whatever the plans hold; empty if nothing is."""
    try:
        _risk({**_told(given), "by": "somebody"})
    except BadInput as error:
        return str(error)
    return ""


def accept_risk(given: Mapping[str, Any], by: str | None, lake: Lake, now: datetime) -> AcceptedRisk:
    """Keep an accepted risk beside the cluster's runs; the next plan of the cluster reads it.

    It is accepted up to the severity that its findings have in the latest plan.

    Args:
        given: the fields of the form.
        by: the name of the person; None if no person started the run.
        lake: the lake of the plans.
        now: the moment.

    Errors: BadInput for a run that no person started, for fields that are no accepted risk, and for one that the latest
    plan does not find.
    """
    if not by:
        raise BadInput(SOURCE, "", "was started by no person; expected a run by hand, in the name of who accepts")
    cluster = _cluster(given.get("cluster"), Shelf(lake, "plans"))
    risk = _risk({**_told(given), "by": by})
    if risk.is_over(now.astimezone(UTC).isoformat()):
        raise BadInput(SOURCE, "until", f"is over; it is {risk.until.isoformat()}; expected today or later")
    latest = next(iter(Shelf(lake, "plans").reports(cluster)), None)
    if latest is None:
        raise BadInput(SOURCE, "cluster", f"has no plan; it is {shown(cluster)}; expected one that is planned")
    plan = read_plan(lake.run(cluster, latest.run_id).report / "plan.json")
    worst = min((SEVERITY_RANK[finding.severity] for finding in _found(plan, risk)), default=None)
    if worst is None:
        where = " and ".join(name for place in PLACES if (name := getattr(risk, place)) is not None)
        raise BadInput(
            SOURCE, "", f"names no finding: the plan of {plan.taken_at} has no {risk.rule} of {shown(where)}"
        )
    severity = next(name for name, rank in SEVERITY_RANK.items() if rank == worst)
    accepted = risk.model_copy(update={"severity": severity})
    keep_acceptance(lake.root / cluster, accepted, now.astimezone(UTC))
    return accepted


def _told(given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("rule", *PLACES, "why", "until")
    return {name: given[name] for name in names if given.get(name) not in (None, "")}


def _cluster(name: object, shelf: Shelf) -> str:
    clusters: Sequence[str] = shelf.clusters()
    if name is None and len(clusters) == 1:
        return clusters[0]
    if name not in clusters:
        problem = "is empty" if name is None else f"has no plan; it is {shown(name)}"
        raise BadInput(SOURCE, "cluster", f"{problem}{nearest('cluster', name or '', list(clusters))}")
    return str(name)


def _risk(told: Mapping[str, Any]) -> AcceptedRisk:
    try:
        return AcceptedRisk.model_validate(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = "is missing; expected a value" if first["type"] == "missing" else first["msg"]
        place = ".".join(map(str, first["loc"]))
        raise BadInput(SOURCE, place, re.sub("^Value error, ", "", problem)) from None


def _found(plan: Plan, risk: AcceptedRisk) -> list[Finding]:
    return [finding for finding in plan.findings if is_about(risk, finding)]
