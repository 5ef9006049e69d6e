"""What it means that a group subscribes to a topic, or takes one away, while and after the deployment."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import structs
from msgspec.json import Decoder

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.subscription_change import SubscriptionChange
from rocketmq_capacity.simulation.changes.subscribe import Subscribe
from rocketmq_capacity.simulation.changes.unsubscribe import Unsubscribe
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.tables import GroupUnit
from rocketmq_capacity.vocabulary import RETRY_PREFIX
from rocketmq_capacity.wording import counted, fixed

FILTERS: Final = (
    "While the deployment spreads, brokers filter by the subscription of the last heartbeat, whichever client pulls:"
    " messages that only one of the two filters lets through may be skipped for good (SUBSCRIPTION_MISMATCH).",
    "Stop all clients before the first one starts with the new filter, or take another group for it.",
)
_FACTS: Final = Decoder(GroupFacts)


def subscription_changes(sides: Sides) -> tuple[SubscriptionChange, ...]:
    """An entry for each change of a subscription, in the order of the changes; none for groups that are left out."""
    asked = [one for one in sides.scenario.changes if isinstance(one, Subscribe | Unsubscribe)]
    strategies, timing = Strategies(sides.policy), Timing.of(sides.after.cluster, sides.policy)
    entries = []
    for change in asked:
        # The group reads the topic on this side.
        side = sides.after if isinstance(change, Subscribe) else sides.before
        group = _group(side, change.consumer_group, sides, strategies)
        before = _group(sides.before, change.consumer_group, sides, strategies)
        if group is not None:
            is_read_before = before is not None and change.topic in {one.topic.topic for one in before.business}
            entries.append(subscription_change(group, change, timing, is_read_before=is_read_before))
    return tuple(entries)


def _group(side: RunSide, name: str, sides: Sides, strategies: Strategies) -> AssessedGroup | None:
    for unit in side.rows_by(GroupUnit, "consumer_group", {name}).get(name, ()):
        facts = _FACTS.decode(unit.facts).observed(unit.observations, unit.sampled)
        return AssessedGroup(facts, side.cluster, sides.policy, strategies)
    return None


def subscription_change(
    group: AssessedGroup, change: Subscribe | Unsubscribe, timing: Timing, *, is_read_before: bool
) -> SubscriptionChange:
    """What the change means.

    Args:
        group: the group as it reads the topic: after `subscribe`, before `unsubscribe`.
        change: what is changed.
        timing: the timers of the cluster and its clients.
        is_read_before: whether it reads the topic before; then `subscribe` changes its filter.
    """
    places = [place for one in group.business if one.topic.topic == change.topic for place in one.topic.places]
    queues, several = sum(place.readable for place in places), len(group.client_ids) > 1
    mismatch_s = timing.rollout_s if several else None
    is_filter = is_read_before and isinstance(change, Subscribe)
    unread = _unread_meanwhile(group, change.topic, queues) if several and not is_filter else 0
    spreads = FILTERS if is_filter else tuple(_while_it_spreads(unread, queues, timing))
    entry = SubscriptionChange(
        change=change.change,
        consumer_group=group.name,
        topic=change.topic,
        queues=queues,
        mismatch_s=mismatch_s,
        unread_meanwhile=unread,
        meaning=spreads if several else (),
    )
    if isinstance(change, Subscribe):
        return entry if is_read_before else structs.replace(entry, meaning=(*entry.meaning, *_where_it_begins(group)))
    lags = [one for one in group.facts.lags if one.topic == change.topic]
    waiting = sum_of(one.lag for one in lags) if lags and not group.facts.is_broadcasting else None
    committed = sum(one.consumer_offset is not None for one in lags) or None
    return structs.replace(
        entry,
        waiting_messages=waiting,
        queues_with_offsets=committed,
        meaning=(*entry.meaning, *_left_behind(group, waiting, committed)),
    )


def _unread_meanwhile(group: AssessedGroup, topic: str, queues: int) -> int | None:
    """Queues that nobody reads at worst: all but those of one client, of those that own the fewest.

    Clients of which only some subscribe to a topic divide it among all of them. Nobody divides what clients pop, or
    what each of them reads.
    """
    if group.facts.is_broadcasting or any(one.topic.topic == topic and group.facts.pops(one) for one in group.business):
        return 0
    owners = group.owners_today
    if owners is None:
        return None
    names = group.division.queues.names
    of_topic = np.array([names[queue].topic == topic for queue in owners.queue.tolist()], bool)
    owned = np.bincount(owners.client[of_topic], minlength=len(group.client_ids))
    return queues - int(owned.min())


def _while_it_spreads(unread: int | None, queues: int, timing: Timing) -> Iterator[str]:
    if unread == 0:
        yield "While the deployment spreads, each client reads the topic or not on its own: no queue is left alone."
        return
    share = "an unknown part" if unread is None else f"up to {unread:,}"
    yield (
        f"While the deployment spreads, for about {fixed(timing.rollout_s, 0)} s, the group divides the topic among all"
        f" of its clients, also those that do not read it: {share} of its {counted(queues, 'queue')} may have no reader"
        " (SUBSCRIPTION_MISMATCH)."
    )
    yield (
        "A broker keeps the subscriptions of the last heartbeat. After that of a client without the topic it refuses"
        f" pulls of it, which are tried every 3 s, for up to {fixed(timing.heartbeat_s, 0)} s."
    )
    yield "Restart all clients in one go, so that it is short."


def _where_it_begins(group: AssessedGroup) -> Iterator[str]:
    """Where reading of a topic begins that is new to the group.

    Source: AdminBrokerProcessor.getTopicsForCollectingConsumeStats, ConsumerManageProcessor.queryConsumerOffset,
    RebalancePushImpl.computePullFromWhere.
    """
    if group.facts.is_broadcasting:
        return
    where = group.facts.consume_from_where or "consumeFromWhere"
    yield (
        "If the group read the topic before, it goes on at the offsets that it left on the brokers, which do not tell"
        f" them while no client subscribes. Else a queue begins where {where} says, or with message 0 if that is"
        " still in memory."
    )


def _left_behind(group: AssessedGroup, waiting: int | None, committed: int | None) -> Iterator[str]:
    if waiting is None:
        yield "How many messages of the topic are left unread is unknown."
    elif waiting:
        yield f"{counted(waiting, 'message')} of the topic {'is' if waiting == 1 else 'are'} left unread."
    if not group.facts.is_broadcasting:
        where = "" if committed is None else f", on {counted(committed, 'queue')}"
        yield f"The group's offsets stay on the brokers{where}: if it subscribes again, it goes on there."
        yield (
            f"{RETRY_PREFIX}{group.name} stays as well: messages of the topic that failed before still come to its"
            " clients."
        )
