"""Demands: groups that more queues of a topic might help. They are made with the findings that they come from."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from rocketmq_capacity.assessment.capacity import TooBusyEvidence, TrafficGrowsEvidence
from rocketmq_capacity.recommendation.consequences import SET_UP, set_up_behind
from rocketmq_capacity.recommendation.facts import needs_fewer
from rocketmq_capacity.recommendation.layouts import BUSY, IDLE, UNEVEN
from rocketmq_capacity.tables import Demand, Finding, GroupStatus
from rocketmq_capacity.vocabulary import INFO


def demands_of(group: GroupStatus, findings: Iterable[Finding]) -> Iterator[Demand]:
    """The demands of a group's findings: for the topic of the finding, and for CROSS_TOPIC_SKEW for all its topics.

    A skew that does not warn asks for no queues: they are for ever, and nothing is in danger. What comes of how the
    clients are set up asks for none either. Idle clients of a group that is too busy ask for the queues that end that;
    those of a group that needs fewer clients ask for none.
    """
    named = list(findings)
    set_up = {rule: one.subjects for rule in SET_UP for one in named if one.rule == rule}
    too_busy = (kind.read(one) for one in named if one.rule == BUSY for kind in (TooBusyEvidence, TrafficGrowsEvidence))
    busy = next((one for one in too_busy if one is not None and one.needed_queues is not None), None)
    for finding in named:
        if set_up and set_up_behind(finding.rule, finding.subjects, set_up) is not None:
            continue
        if finding.rule == UNEVEN and finding.severity != INFO:
            yield from (_demand(group, topic, UNEVEN) for topic in group.topics)
        elif finding.rule == IDLE and finding.topic is not None and busy is None:
            if not needs_fewer(named):
                yield _demand(group, finding.topic, IDLE)
        elif finding.rule in (IDLE, BUSY) and busy is not None and (queues := busy.needed_queues) is not None:
            yield replace(
                _demand(group, queues.topic, finding.rule),
                queues_per_broker=queues.queues_per_broker,
                then_clients=queues.clients,
                busy_before=busy.then_busy_ratio
                if isinstance(busy, TrafficGrowsEvidence)
                else busy.peak_utilisation_ratio,
                in_days=busy.forecast_days if isinstance(busy, TrafficGrowsEvidence) else None,
                busy_after=busy.queues_busy_ratio,
            )


def _demand(group: GroupStatus, topic: str, rule: str) -> Demand:
    return Demand(topic=topic, rule=rule, consumer_group=group.consumer_group, clients=group.distinct_client_ids)
