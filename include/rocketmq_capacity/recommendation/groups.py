"""What changes of topics do to a group, and the group's own recommendations."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.backlog import StalledEvidence
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.lag import WARN
from rocketmq_capacity.assessment.skew import floor_of_equal
from rocketmq_capacity.catalogue.offered import offered
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.cases import CaseSide, EffectOfCase, QueueChange
from rocketmq_capacity.recommendation.afterwards import GrpcClients, with_afterwards
from rocketmq_capacity.recommendation.config_lists import with_config_lists
from rocketmq_capacity.recommendation.effects import TOLERANCE, is_worse
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.recommendation.fix_clients import each_an_id
from rocketmq_capacity.recommendation.investigate import investigate
from rocketmq_capacity.vocabulary import GRPC

LAG_STATE: Final = "LAG_STATE"
ORPHAN: Final = "ORPHAN_QUEUE"
CAPACITY: Final = "CONSUMER_CAPACITY"
HELD_UP: Final = (ORPHAN, "STUCK_QUEUE", "RETENTION_RISK", "CLIENT_OUTLIER")
"""Rules that say what some queues wait for."""
TOPICS: Final = 5
"""The most topics of a group of gRPC clients that its commands name."""


@cache
def group_actions() -> tuple[GroupAction, ...]:
    """The actions that may answer a group's findings: the ``GROUP_ACTIONS`` of each module of this room."""
    return tuple(offered(__package__, "GROUP_ACTIONS"))


def group_effects(group: AdvisedGroup, cases: Iterable[QueueChange]) -> list[EffectOfCase]:
    """What each case of its topics does to a group; nothing if it has no clients that divide queues."""
    if not group.is_clustering or group.facts.connections == 0:
        return []
    group = _computed(group)
    target = group.policy.thresholds.ALLOCATION_SKEW.excess
    effects = []
    for case in cases:
        after = None if group.before is None else group.with_queues(case)
        effects.append(
            EffectOfCase(
                case_id=case.case_id,
                topic=case.topic,
                consumer_group=group.name,
                before=group.before,
                after=after,
                is_worse=is_worse(group.before, after, target)
                or _is_too_busy(group, after)
                or _lacks_queues(group, case, target),
            )
        )
    return effects


def _lacks_queues(group: AdvisedGroup, case: QueueChange, target_excess: float) -> bool:
    """Whether a case takes queues of a topic that the group cannot do without, now or soon, or if a broker is lost."""
    then = {one.broker_name: one.read_queue_nums for one in case.counts}
    places = [
        place
        for reads in group.facts.business
        if reads.topic.topic == case.topic
        for place in reads.topic.places
        if place.readable
    ]
    queues = [place.readable for place in places]
    left = [then.get(place.broker_name, place.readable) for place in places]
    if sum(left) >= sum(queues):
        return False
    return _are_too_few(group, sum(queues), sum(left), target_excess) or _bears_less(group, queues, left)


def _are_too_few(group: AdvisedGroup, queues: int, left: int, target_excess: float) -> bool:
    """Whether the clients that a group needs could not have a queue each, or not divide them about as evenly as now."""
    clients = group.judged.needed_clients
    if clients is None:
        return False
    even = max(floor_of_equal(queues, clients), target_excess)
    return left < clients or floor_of_equal(left, clients) > even + TOLERANCE


def _bears_less(group: AdvisedGroup, queues: Sequence[int], left: Sequence[int]) -> bool:
    """Whether a group that would bear the loss of a broker today would then be too busy without it.

    The others get its messages, in as many queues as they have. ``queues`` and ``left`` have an entry a broker.
    """
    clients, busy_ratio = group.facts.distinct_client_ids, group.judged.peak_utilisation
    now, then = sum(queues) - max(queues), sum(left) - max(left)
    if busy_ratio is None or not clients or not then:
        return False
    bound = _busy_bound(group)
    of_one_queue = busy_ratio / floor_of_equal(sum(queues), clients)
    return of_one_queue * floor_of_equal(now, clients) <= bound < of_one_queue * floor_of_equal(then, clients)


def _is_too_busy(group: AdvisedGroup, after: CaseSide | None) -> bool:
    """Whether the busiest client, which is not too busy today, would get so many more messages that it is.

    Not judged of a group whose traffic grows: more queues may be for the clients that it gets with them.
    """
    before, busy_ratio = group.before, group.judged.peak_utilisation
    if before is None or after is None or busy_ratio is None or group.judged.outgrows_queues:
        return False
    if after.most_msgs_per_s is None or not before.most_msgs_per_s:
        return False
    bound = _busy_bound(group)
    return busy_ratio <= bound < busy_ratio * after.most_msgs_per_s / before.most_msgs_per_s


def _busy_bound(group: AdvisedGroup) -> float:
    """The largest busy share of a client that is not too busy."""
    return group.policy.thresholds.PROVISION.under_utilisation + TOLERANCE


def group_answers(group: AdvisedGroup) -> list[tables.Recommendation]:
    """The group's own recommendations; every finding is answered, at least by INVESTIGATE."""
    group = _computed(group)
    answers = _with_backlog(group, [answer for action in group_actions() for answer in action(group)])
    left = [one for one in group.findings if not _is_answered(one, group, answers)]
    if left:
        rest = investigate(
            left,
            group.cluster,
            consumer_group=group.name,
            client_ids=group.askable,
            addresses=group.addresses,
            refusals={one.rule: refusal for one in left if (refusal := group.refusal(one)) is not None},
            waits=group.waits,
        )
        answers.append(rest)
    return with_afterwards(with_config_lists(group, answers), group.cluster.nameserver, _grpc_clients(group))


def _grpc_clients(group: AdvisedGroup) -> GrpcClients | None:
    """How its gRPC clients are looked at; None if it has none."""
    if not group.facts.has_grpc_clients:
        return None
    if group.facts.protocol != GRPC:
        return GrpcClients()
    return GrpcClients([reads.topic.topic for reads in group.facts.business[:TOPICS]], group.addresses)


def _with_backlog(group: AdvisedGroup, answers: Sequence[tables.Recommendation]) -> list[tables.Recommendation]:
    """The answers; those that end the group's backlog too say so, and nobody has to find out what holds it up."""
    ending = {_ended_by(group, one) for one in group.named(LAG_STATE)}
    return [
        structs.replace(one, rules=tuple(sorted({*one.rules, LAG_STATE}))) if ending & {*one.rules} else one
        for one in answers
    ]


def _ended_by(group: AdvisedGroup, backlog: tables.Finding) -> str | None:
    """The rule whose answer ends a backlog: nobody reads its queues, or its clients are only too busy; or None."""
    if backlog.queues and {queue for one in group.named(ORPHAN) for queue in one.queues}.issuperset(backlog.queues):
        return ORPHAN
    stalled = evidence_of(backlog)
    if group.named(*HELD_UP) or not isinstance(stalled, StalledEvidence) or stalled.state != WARN:
        return None
    busy = (evidence_of(one) for one in group.named(CAPACITY))
    return CAPACITY if any(isinstance(one, TooBusyEvidence) and one.cause == "busy" for one in busy) else None


def _is_answered(finding: tables.Finding, group: AdvisedGroup, answers: Iterable[tables.Recommendation]) -> bool:
    """Whether a recommendation of the group or of a topic answers a finding of the group."""
    topic = None if finding.topic is None else group.topics.get(finding.topic)
    return (
        any(finding.rule in one.rules for one in answers)
        or any((finding.rule, group.name) in one.helped for one in group.topics.values())
        or (topic is not None and finding.rule in topic.answered)
    )


def _computed(group: AdvisedGroup) -> AdvisedGroup:
    """The group, without its owners of today if one of several consumers with one id runs an uncomputable strategy.

    The owners of such consumers are computed by the strategy of only one of them.
    """
    runs: dict[str, set[str | None]] = {}
    for consumer in group.facts.consumers:
        runs.setdefault(consumer.client_id, set()).add(consumer.allocate_strategy)
    do_differ = any(len(strategies) > 1 for strategies in runs.values())
    if do_differ and group.after(each_an_id(group.facts)) is None:
        return replace(group, before=None)
    return group
