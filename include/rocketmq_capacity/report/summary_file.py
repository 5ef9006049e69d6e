"""summary.json: the few facts of a plan that a list of hundreds shows, so that no plan has to be read for it."""

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.wording import SEVERITIES

FORMAT: Final = "rocketmq-capacity/summary/1"


class PlanSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A plan in short.

    Attributes:
        format: of this file.
        cluster_name: whose plan it is.
        taken_at: when the snapshot was taken, as in the plan.
        fingerprint: of the inventory.
        completeness: the plan's ``completeness.ratio``.
        groups: number of consumer groups.
        findings: number of findings of each severity, worst first; 0 where there are none.
        recommendations: number of recommendations.
        needing_approval: how many of them answer a finding that is not for information alone.
        scenario: the name of a what-if, null for a plan of the cluster as it is.
        approval: APPROVED or REJECTED; null while nobody has answered, or where nothing has to be.
    """

    format: Literal["rocketmq-capacity/summary/1"] = FORMAT
    cluster_name: str
    taken_at: str
    fingerprint: str
    completeness: float
    groups: int
    findings: dict[Literal["CRITICAL", "WARNING", "INFO"], int]
    recommendations: int
    needing_approval: int
    scenario: str | None
    approval: Literal["APPROVED", "REJECTED"] | None

    @property
    def moment(self) -> datetime:
        """When the snapshot was taken; errors: ValueError where that is no time."""
        return datetime.fromisoformat(self.taken_at)

    @property
    def day(self) -> date:
        """The UTC day of the snapshot."""
        return self.moment.date()

    @property
    def is_waiting(self) -> bool:
        """Whether recommendations have to be approved and nobody has answered; for a what-if nobody is asked."""
        return self.scenario is None and self.needing_approval > 0 and self.approval is None


def summary_of_plan(document: Mapping[str, Any]) -> PlanSummary:
    """The summary of a plan file's object."""
    severities = [finding["severity"] for finding in document["findings"]]
    return PlanSummary(
        cluster_name=document["cluster_name"],
        taken_at=document["taken_at"],
        fingerprint=document["fingerprint"],
        completeness=document["completeness"]["ratio"],
        groups=len(document["groups"]),
        findings={severity: severities.count(severity) for severity in SEVERITIES},
        recommendations=len(document["recommendations"]),
        needing_approval=len(needing_approval(document)),
        scenario=document["scenario"]["name"] if "scenario" in document else None,
        approval=document["approval"]["status"] if "approval" in document else None,
    )


def render_summary(summary: PlanSummary) -> bytes:
    """The bytes of summary.json; equal for equal plans."""
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def read_summary(file: Path) -> PlanSummary:
    """The summary that the file holds.

    Errors: OSError; msgspec.DecodeError where it is no such summary; ValueError where its time is none in UTC.
    """
    summary = msgspec.json.decode(file.read_bytes(), type=PlanSummary)
    if summary.moment.tzinfo is None or set(summary.findings) != set(SEVERITIES):
        raise ValueError(f"{file}: a time without its zone, or a severity that is missing")
    return summary
