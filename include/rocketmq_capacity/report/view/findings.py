"""A finding as the page shows it: what it says, with its evidence."""

from dataclasses import dataclass

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.changes import Gone
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.report.facts import Fact, facts_of, subject
from rocketmq_capacity.report.limits import ITEMS
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.rooms import SHOWN, RoomsView, rooms_of


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding."""

    severity: str
    title: str
    message: str
    places: tuple[str, ...]
    """Group, topic and broker that it names."""
    subjects: First[str]
    evidence: First[Fact]
    rooms: RoomsView | None
    """Tables of machine rooms, where it is about them; its evidence is then without what they show."""


def places_of(finding: PlanFinding | Gone) -> tuple[str, ...]:
    """Group, topic and broker that a finding names; its message need not repeat them."""
    named = (finding.consumer_group, finding.topic, finding.broker_name)
    return tuple(name for name in named if name is not None)


def finding_of(finding: PlanFinding) -> FindingView:
    """The finding with as much of its evidence as a page holds."""
    rooms = rooms_of(finding)
    evidence = {name: held for name, held in finding.evidence.items() if rooms is None or name not in SHOWN}
    return FindingView(
        severity=finding.severity,
        title=rule_of(finding.rule).title,
        message=finding.message,
        places=places_of(finding),
        subjects=First(map(subject, finding.subjects[:ITEMS]), len(finding.subjects)),
        evidence=First(facts_of(evidence, finding.rule), len(evidence)),
        rooms=rooms,
    )
