"""Consequences beyond one group: what a topic on a single broker, a lost broker and a doubtful snapshot explain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.assessment.awaited import comes_of_fewer_queues
from rocketmq_capacity.assessment.broker_loss import BrokerLossEvidence, CrashEvidence, MasterlessEvidence
from rocketmq_capacity.assessment.ownership import IdleEvidence
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.plan_file.finding import PlanFinding

COVERAGE: Final = "TOPIC_COVERAGE"
LOSS: Final = "BROKER_LOSS"
SUSPECT: Final = "SUSPECT_SNAPSHOT"


@dataclass(frozen=True, slots=True)
class _Told:
    """Findings that explain those of other things: indexes by topic, by broker and by group."""

    missed: Mapping[tuple[str | None, str | None], int]
    alone: Mapping[str, int]
    masterless: Mapping[str | None, int]
    doubtful: Mapping[object, int]

    def origin(self, finding: PlanFinding) -> int | None:
        """The index of the finding whose consequence it is."""
        if comes_of_fewer_queues(finding.rule):
            of_group = finding.consumer_group is not None
            place = (finding.consumer_group, None) if of_group else (None, finding.topic)
            if place in self.missed:
                return self.missed[place]
        match finding.rule, evidence_of(finding):
            case "MEMBERSHIP_DISAGREEMENT", _:
                return self.doubtful.get(finding.consumer_group)
            case _, IdleEvidence(queues=0) if finding.topic is not None:
                return self.alone.get(finding.topic)
            case "FIFO_BROKEN", _:
                return self.masterless.get(finding.broker_name)
            case _, BrokerLossEvidence() as loss if not loss.groups_under:
                ended = [*loss.unwritable_topics, *loss.unreadable_topics]
                return self.alone[ended[0]] if ended and self.alone.keys() >= set(ended) else None
        return None


def far_origins(findings: Sequence[PlanFinding]) -> dict[int, int]:
    """By index of a finding, the index of the finding of another thing whose consequence it is.

    The loss of a broker that only ends topics which stand on it alone is what their TOPIC_COVERAGE says. If a snapshot
    is doubtful for its groups, the members that brokers name differently are its doubt. If no broker has queues of a
    topic, the clients of its groups have nothing to read. Queues that a group cannot lock because their broker has no
    master come of the lost master. What fewer queues explain comes of the broker that crashed, for the topics and
    groups that its finding names.
    """
    missed: dict[tuple[str | None, str | None], int] = {}
    alone: dict[str, int] = {}
    masterless: dict[str | None, int] = {}
    doubtful: dict[object, int] = {}
    for index, finding in enumerate(findings):
        if finding.rule == COVERAGE and finding.topic is not None:
            alone.setdefault(finding.topic, index)
        elif finding.rule == LOSS:
            match evidence_of(finding):
                case MasterlessEvidence():
                    masterless[finding.broker_name] = index
                case CrashEvidence() as crashed:
                    places = (
                        *((None, one) for one in crashed.topic_names),
                        *((one, None) for one in crashed.group_names),
                    )
                    missed |= dict.fromkeys(places, index) | missed
        elif finding.rule == SUSPECT:
            doubtful = dict.fromkeys(finding.subjects, index)
    explaining = _Told(missed, alone, masterless, doubtful)
    origins = {index: explaining.origin(finding) for index, finding in enumerate(findings)}
    return {index: origin for index, origin in origins.items() if origin is not None}
