"""Whether a finding of the cluster as it is could be judged again after a change. Only then is its absence good news.

A rule finds nothing if all is well, and also if a fact that it needs is unknown. A change makes facts unknown: the
owners if a rebalance would follow, and the movement of lag if the traffic changes. Each check below is for such a fact.
The record of each rule says which facts it needs to count as judged.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.lag import queue_states
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.catalogue.rule import EVERY, Fact, rule_of
from rocketmq_capacity.model.facts import ClusterFacts, TopicFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import MASTER, PERM_WRITE, UNDECIDED
from rocketmq_capacity.wording import counted, listed, queue_label

STALE: Final = "for how long it is unused is not known of a changed cluster, which has no history"
ENDED: Final = "when its clients ended is not known of a changed cluster, which has no history"
FORGOTTEN: Final = "who owns which queue after the change is not known: the observed owners no longer fit"


@dataclass(frozen=True)
class LostFinding:
    """A finding on a group that the changed cluster does not have.

    Attributes:
        finding: the finding.
        before: the group as it is.
        after: the group as it would be.
        hot_topics: topics of the cluster as it is whose queues get uneven traffic from producers.
    """

    finding: Finding
    before: AssessedGroup
    after: AssessedGroup
    hot_topics: frozenset[str]


Check = Callable[[LostFinding], str | None]
"""Gives the fact that is unknown after the change, or None."""


def undecided_of_group(case: LostFinding) -> str | None:
    """Why a group's finding can no longer be judged; None if it was judged again, and is gone."""
    needs = rule_of(case.finding.rule).needs
    return _first(CHECKS[fact](case) for fact in (EVERY if needs is None else needs))


def undecided_of_topic(finding: Finding, before: AssessedTopic, after: AssessedTopic | None) -> str | None:
    """The same for a topic's finding; ``after`` is None if the changed cluster does not have the topic."""
    if after is None or not after.unit.facts.places:
        return f"no broker has {finding.topic} after the change"
    if finding.broker_name is not None and not any(
        place.broker_name == finding.broker_name and place.read_queue_nums is not None
        for place in after.unit.facts.places
    ):
        return f"{finding.broker_name} no longer has queues of {finding.topic}"
    needs = rule_of(finding.rule).needs
    if needs is not None:
        return STALE if "unused time" in needs else None
    old, new = before.unit.facts, after.unit.facts
    if _written_queues(old) != _written_queues(new):
        return "how producers would spread their messages over other queues is not known"
    rates = [one.put_msgs_per_s for one in new.written if one.put_msgs_per_s is not None]
    if len(rates) < sum(one.put_msgs_per_s is not None for one in old.written):
        return "how many messages are written to its queues after the change is not known"
    if sum(rates) < after.policy.thresholds.LOW_UTILISATION.min_msgs_per_s:
        return "too few messages are written after the change for a verdict"
    return None


def undecided_balance(before: TopicFacts, after: TopicFacts | None) -> str:
    """Why the changed cluster does not list a topic again that producers write to unevenly.

    No change makes producers write more evenly: they are taken to spread as before, or nothing is known of it.
    """
    if after is None or not after.places:
        return f"no broker has {before.topic} after the change"
    if _written_queues(before) != _written_queues(after):
        return "how producers would spread their messages over other queues is not known"
    return "too few messages are written after the change to tell uneven shares from chance"


def undecided_of_cluster(finding: Finding, before: ClusterFacts, after: ClusterFacts, policy: Policy) -> str | None:
    """The same for a finding that names neither a group nor a topic."""
    if rule_of(finding.rule).is_of_snapshot:
        return "it is about the snapshot itself, which no change of its copy mends"
    broker_names = after.broker_names
    gone = sorted(
        name for name in before.broker_names - broker_names if name == finding.broker_name or name in finding.subjects
    )
    if finding.rule == "READ_ONLY_IDLE" and not gone and not _is_opened(finding.broker_name, before, after):
        return "who would have nothing to read but a drained broker is not known of every group after the change"
    if finding.rule == "BROKER_LOSS" and len(broker_names) < policy.thresholds.BROKER_LOSS.min_brokers:
        return f"the changed cluster has {counted(len(broker_names), 'broker')}, too few to judge the loss of one"
    return f"the changed cluster no longer has {listed(gone)}" if gone else None


def _is_opened(broker_name: str | None, before: ClusterFacts, after: ClusterFacts) -> bool:
    """Whether a read-only broker takes messages after the change."""
    return _is_writable(broker_name, after) and not _is_writable(broker_name, before)


def _is_writable(broker_name: str | None, cluster: ClusterFacts) -> bool:
    return any(
        one.broker_perm is None or one.broker_perm & PERM_WRITE
        for one in cluster.brokers
        if one.broker_name == broker_name and one.broker_id == 0
    )


def _clients(case: LostFinding) -> str | None:
    has_left = case.before.facts.connections and not case.after.facts.connections
    return "the group has no clients after the change" if has_left else None


def _owners(case: LostFinding) -> str | None:
    is_known = case.after.whole_load is not None and not case.after.is_settling
    return None if is_known else FORGOTTEN


def _nobody_idle(case: LostFinding) -> str | None:
    """For IDLE_CONSUMERS: if brokers divide the queues, which the rule does not judge, every client has some.

    Standbys are idle on purpose.
    """
    load = case.after.whole_load
    is_idle = load is not None and len(load.idle) > case.after.entry.standby
    return "some clients still have no queue" if is_idle else None


def _owners_of_topic(case: LostFinding) -> str | None:
    """For ORPHAN_QUEUE: the topic's owners are known, and each of its queues has one."""
    load, topic = case.after.today_load, case.finding.topic
    names = case.after.division.queues
    if load is None or case.after.is_settling or topic in names.topic_names(load.owners.unknown):
        return FORGOTTEN
    if any(names.names[queue].topic == topic for queue in load.orphans.tolist()):
        return "some queues of the topic still have no owner"
    return None


def _broker(case: LostFinding) -> str | None:
    """The broker of the finding still has queues of the group's topics."""
    name = case.finding.broker_name
    broker_names = {place.broker_name for reads in case.after.business for place in reads.topic.places}
    return (
        f"{name} no longer has queues of the group's topics" if name is not None and name not in broker_names else None
    )


def _queues(case: LostFinding) -> str | None:
    """Consumers can still read the queues that the finding names."""
    readable = set(case.after.division.queues.names)
    gone = [queue for queue in case.finding.queues if queue not in readable]
    return _gone(case, gone) if gone else None


def _lags_of_queues(case: LostFinding) -> str | None:
    known = {one.queue for one in case.after.facts.lags if one.lag is not None}
    gone = [queue for queue in case.finding.queues if queue not in known]
    return _gone(case, gone) if gone else None


def _gone(case: LostFinding, queues: Iterable[Queue]) -> str:
    topics = len(case.before.business) if case.finding.topic is None else 1
    names = listed([queue_label(queue, topics) for queue in queues])
    return f"nothing is known of {names} after the change, nor of the messages that wait there"


def _lag(case: LostFinding) -> str | None:
    is_lost = _is_lag_known(case.before) and not _is_lag_known(case.after)
    return "the lag of some queues after the change is not known" if is_lost else None


def _is_lag_known(group: AssessedGroup) -> bool:
    return bool(group.weights.has_lag[group.weights.queue].all())


def _samples_of_queues(case: LostFinding) -> str | None:
    """For LAG_STATE: the queues that it names still have enough samples for a state."""
    if case.before.gone is not None and not case.after.facts.connections:
        return ENDED
    known = {one.queue for one in queue_states(case.after.sampled)}
    unknown = [queue for queue in case.finding.queues if queue not in known]
    return "how the lag of its queues would move after the change is not known" if unknown else None


def _samples(case: LostFinding) -> str | None:
    sampled_before = {one.queue for one in queue_states(case.before.sampled)}
    sampled_after = {one.queue for one in queue_states(case.after.sampled)}
    return (
        "how the lag of its queues would move after the change is not known" if sampled_before - sampled_after else None
    )


def _growth(case: LostFinding) -> str | None:
    """For CONSUMER_CAPACITY: if lag grew, it is known whether it still would."""
    if case.before.provision.cause != "lag" or case.after.growth.by is not None:
        return None
    return "how the lag of its queues would move after the change is not known"


def _rates(case: LostFinding) -> str | None:
    is_lost = case.before.weights.total_msgs_per_s is not None and case.after.weights.total_msgs_per_s is None
    return "how many messages are written to its queues after the change is not known" if is_lost else None


def _spread(case: LostFinding) -> str | None:
    """No topic of the group has other writable queues, if producers spread its messages unevenly before."""
    before = {reads.topic.topic: _written_queues(reads.topic) for reads in case.before.business}
    after = {reads.topic.topic: _written_queues(reads.topic) for reads in case.after.business}
    moved = sorted(name for name in case.hot_topics & before.keys() if before[name] != after.get(name))
    return (
        f"producers send unevenly to {listed(moved)}; how they would use other queues is not known" if moved else None
    )


def _judged_skew(case: LostFinding) -> str | None:
    """For a skew: the group has several clients and enough traffic; if it pops, the shares of its clients are even."""
    after, low = case.after, case.after.policy.thresholds.LOW_UTILISATION
    load, rate, lag = after.whole_load, after.weights.total_msgs_per_s, after.weights.total_lag
    if load is None:
        return FORGOTTEN
    if after.facts.distinct_client_ids == 1:
        return "one client is left, which has no other to be compared with"
    if rate is not None and rate < low.min_msgs_per_s and lag is not None and lag < low.min_lag:
        return "too few messages are written after the change for a verdict"
    if not after.facts.pulls and len(load.queues) and load.queues.max() > np.ceil(load.queues.mean()):
        return "clients that pop do not all pop the same number of queues"
    return None


def _written(case: LostFinding) -> str | None:
    """For TRAFFIC_SKEW: messages are still written to the group's queues."""
    rate = case.after.weights.total_msgs_per_s
    return "nothing is written to its queues after the change" if rate is not None and rate <= 0 else None


def _consumed(case: LostFinding) -> str | None:
    """The rates of handled and failed messages are known for all clients that reported them."""
    staying = {one.client_id for one in case.after.facts.consumers}
    reported_before = [one for one in case.before.facts.consumed if one.msgs_per_s is not None]
    reporting_after = {one.client_id for one in case.after.facts.consumed if one.msgs_per_s is not None}
    is_lost = bool(reported_before) and (
        not reporting_after or any(one.client_id in staying - reporting_after for one in reported_before)
    )
    return "how much the clients would handle after the change is not known" if is_lost else None


def _seen(case: LostFinding) -> str | None:
    seen_before = {one.client_id for one in case.before.facts.consumers if one.seen_on is not None}
    lost = [one for one in case.after.facts.consumers if one.client_id in seen_before and one.seen_on is None]
    return "on which brokers its clients would be known after the change is not known" if lost else None


def _provision(case: LostFinding) -> str | None:
    verdict = case.after.provision
    return verdict.reason if verdict.status == UNDECIDED else None


def _written_queues(topic: TopicFacts) -> frozenset[tuple[str, int]]:
    """The queues to which producers send, as (broker, number of queues)."""
    return frozenset(
        (place.broker_name, place.write_queue_nums or 0)
        for place in topic.places
        if (place.perm or 0) & PERM_WRITE and place.broker_state == MASTER
    )


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((reason for reason in reasons if reason is not None), None)


CHECKS: Final[Mapping[Fact, Check]] = {
    "clients": _clients,
    "broker": _broker,
    "queues": _queues,
    "owners": _owners,
    "rates": _rates,
    "spread": _spread,
    "lag": _lag,
    "samples": _samples,
    "consumed": _consumed,
    "seen": _seen,
    "owners of the topic": _owners_of_topic,
    "nobody idle": _nobody_idle,
    "lag of its queues": _lags_of_queues,
    "samples of its queues": _samples_of_queues,
    "judged skew": _judged_skew,
    "written": _written,
    "provision": _provision,
    "growth": _growth,
    "unused time": lambda _: STALE,
}
