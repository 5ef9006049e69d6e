"""Findings as the plan file has them: each with its id, in a total order."""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.numbers import json_object
from rocketmq_capacity.plan_file.order import canonical, identity, made_unique, nulls_first, subjects_key
from rocketmq_capacity.vocabulary import SEVERITIES, Severity

Found = TypeVar("Found", bound=PlanFinding)

SEVERITY_OF: Final[dict[str, Severity]] = {severity: severity for severity in SEVERITIES}


def finding_of(row: tables.Finding, owner: str | None = None) -> PlanFinding:
    """A row of findings. Errors: ContractBroken if its severity is unknown, or its evidence no JSON object."""
    return PlanFinding(
        id=identity(row.rule, row.consumer_group, row.topic, row.broker_name, row.about),
        rule=row.rule,
        severity=_severity(row.severity),
        consumer_group=row.consumer_group,
        topic=row.topic,
        broker_name=row.broker_name,
        subjects=row.about,
        evidence=json_object("finding.evidence", row.evidence),
        message=row.message,
        owner=owner,
    )


def _severity(name: str) -> Severity:
    try:
        return SEVERITY_OF[name]
    except KeyError:
        raise ContractBroken(f"finding.severity: is {name!r}; expected one of {', '.join(SEVERITIES)}") from None


def in_order(findings: Iterable[Found]) -> tuple[Found, ...]:
    """The findings in the order of the plan file; each gets an id of its own."""

    def key(finding: Found) -> tuple[Any, ...]:
        names = nulls_first(finding.rule, finding.consumer_group, finding.topic, finding.broker_name)
        return (*names, subjects_key(finding.subjects), canonical(finding))

    ordered = sorted(findings, key=key)
    ids = made_unique(finding.id for finding in ordered)
    return tuple(structs.replace(finding, id=one) for finding, one in zip(ordered, ids, strict=True))
