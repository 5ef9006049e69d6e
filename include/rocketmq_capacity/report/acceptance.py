"""A risk that a person accepts in Airflow: what is wrong with the fields of the form, and how it is kept."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.accepting import is_about
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.settings.accepted import PLACES, AcceptedRisk
from rocketmq_capacity.settings.yaml_file import nearest
from rocketmq_capacity.store.acceptances import keep_acceptance
from rocketmq_capacity.store.lake import Lake

SOURCE: Final = "the form"
DAG_ID: Final = "rocketmq_capacity_accept"
"""The Dag that keeps it, in the name of whoever started the run."""
FIELDS: Final = ("rule", *PLACES, "why", "until")
"""What a person tells, beside the cluster."""


def problem_of(given: Mapping[str, Any], now: datetime) -> str:
    """What is wrong with the fields themselves, whatever the plans hold; empty if nothing is."""
    try:
        _risk({**_told(given), "by": "somebody"}, now)
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
    risk = _risk({**_told(given), "by": by}, now)
    latest = next(iter(Shelf(lake, "plans").plans(cluster)), None)
    if latest is None:
        raise BadInput(SOURCE, "cluster", f"has no plan; it is {shown(cluster)}; expected one that is planned")
    plan = read_plan(lake.run(cluster, latest.run_id).report / "plan.json")
    worst = min((SEVERITY_RANK[finding.severity] for finding in plan.findings if is_about(risk, finding)), default=None)
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
    return {name: given[name] for name in FIELDS if given.get(name) not in (None, "")}


def _cluster(name: object, shelf: Shelf) -> str:
    clusters: Sequence[str] = shelf.clusters()
    if name is None and len(clusters) == 1:
        return clusters[0]
    if name not in clusters:
        problem = "is empty" if name is None else f"has no plan; it is {shown(name)}"
        raise BadInput(SOURCE, "cluster", f"{problem}{nearest('cluster', name or '', list(clusters))}")
    return str(name)


def _risk(fields: Mapping[str, Any], now: datetime) -> AcceptedRisk:
    try:
        risk = AcceptedRisk.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = "is missing; expected a value" if first["type"] == "missing" else first["msg"]
        place = ".".join(map(str, first["loc"]))
        raise BadInput(SOURCE, place, re.sub("^Value error, ", "", problem)) from None
    if risk.is_over(now.astimezone(UTC).isoformat()):
        raise BadInput(SOURCE, "until", f"is over; it is {risk.until.isoformat()}; expected today (UTC) or later")
    return risk
