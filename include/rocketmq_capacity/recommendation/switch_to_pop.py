"""SWITCH_TO_POP: brokers hand messages out, so that clients beyond the number of queues have work too.

A few idle clients are no reason for it: it changes how a whole group reads.
It needs POP among the policy's strategies, a group that consumes nothing in order, and only Java push consumers of 5.x.
Every broker of the group's topics must be 5.x with its timer on. Without the timer, a broker assigns queues to POP
clients and then forbids them to pop.
A client whose strategy the broker does not know gets no queue, and no error (tried on 5.3.3 with CONSISTENT_HASH).
Source: QueryAssignmentProcessor, PopMessageProcessor, DefaultMQPushConsumer.clientRebalance, rocketmq-all-5.3.3.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.ownership import IdleEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.model.facts import Consumer, GroupFacts, Place
from rocketmq_capacity.protocol.version import version_of
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.commands import consumer_progress, set_consume_mode
from rocketmq_capacity.recommendation.effects import gives_work, side_shown
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction, needs_fewer
from rocketmq_capacity.vocabulary import (
    ASSIGNED_BY_BROKERS,
    AVG,
    CONSUME_ACTIVELY,
    JAVA,
    NOT_ASSIGNED_BY_BROKERS,
    POP,
    PULL,
    TIMER_ENABLED,
)


def _check(recommended: Recommended, nameserver: str) -> Proof:
    command = consumer_progress(nameserver, recommended.consumer_group or "", asks_clients=False)
    return command, "Consume Diff Total does not grow from one call to the next, with all clients at work."


RULE: Final = "IDLE_CONSUMERS"
ORPHAN: Final = "ORPHAN_QUEUE"
ACTION: Final = Action(
    name="SWITCH_TO_POP",
    title="Let {group} read by POP",
    meaning="The broker then hands out messages one by one; queues are not divided any more.",
    place=60,
    changes="clients",
    check=_check,
    way_back="The same commands with -m PULL, then clients without setClientRebalance(false).",
    answers=(RULE,),
    offered=(
        "if at least `min_idle_ratio` of the group is idle, for groups of Java push clients of 5.x on 5.x brokers"
        " that consume nothing in order, once every queue has an owner; with `report_cross_room` not for"
        " MACHINE_ROOM_NEARBY"
    ),
    moves_queues=True,
    unknown_moves=(
        "with POP no queue has an owner. While clients start again, some pull a queue and others pop it, and messages"
        " come twice; how many is not known."
    ),
    details="""
    Clients beyond the number of queues then have work. Run the commands on every broker, then set
    `setClientRebalance(false)` in the clients and restart them; until then they go on pulling. A message that is
    not acknowledged in time comes again. Brokers assign queues by AVG and AVG_BY_CIRCLE alone: clients with another
    strategy would read nothing, so they get AVG in the same restart. Java clients before 5.3.2 are upgraded first:
    one whose first request for its queues fails pulls until it is restarted
    ([#8957](https://github.com/apache/rocketmq/issues/8957)).
    """,
)
CAN_POP: Final = re.compile(r"V([5-9]|[1-9]\d+)_", re.ASCII)
"""Versions of clients and brokers that know POP, as RocketMQ writes them."""
HOW: Final = (
    "Run the commands on every broker of its topics, then set setClientRebalance(false) in the clients' code and"
    " restart them: until then they go on pulling. A message that is not acknowledged within popInvisibleTime comes"
    " again."
)
POPS_FOR_CERTAIN: Final = (5, 3, 2)
"""The first version of a Java client that does not pull for ever once it could not ask for its queues (#8957)."""
UPGRADE: Final = (
    "Upgrade them to 5.3.2 or later first: an older client whose first request for its queues fails pulls from then on,"
    " and messages come twice (apache/rocketmq#8957)."
)
SET_STRATEGY: Final = (
    "Set AVG as their strategy in the same restart: brokers assign queues by AVG and AVG_BY_CIRCLE alone, and a client"
    " with another strategy would read nothing."
)


def switch_to_pop(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation for a group whose idle clients would have work."""
    thresholds = group.policy.thresholds
    share = thresholds.SWITCH_TO_POP.pop_share_queue_num
    if not any(_are_many(group, one) for one in group.answerable_without_set_up(RULE)) or not _is_able(group):
        return
    if needs_fewer(group.findings) or group.named(ORPHAN):
        return  # once somebody owns the queues that nobody reads, fewer clients are idle, or none
    if group.keeps_rooms:
        return  # whoever pops is given the queues of all rooms
    before, after = group.before, group.after(_popped(group.facts, share))
    if before is None or after is None or not gives_work(before, after, thresholds.ALLOCATION_SKEW.excess):
        return
    places = [(topic, place) for topic, place in _places(group)]
    forbids = sorted({
        reason for topic, place in places for reason in (*group.topics[topic].forbids, *preflight.unsafe_broker(place))
    })
    commands = [
        set_consume_mode(group.cluster.nameserver, group.cluster.address(place.broker_name), topic, group.name, share)
        for topic, place in places
    ]
    is_manual = bool(forbids)
    yield answer(
        ACTION,
        consumer_group=group.name,
        target=share,
        is_manual=is_manual,
        reason=sentences(
            f"With POP the brokers hand messages out, and idle clients go from {before.idle} to {after.idle}.",
            HOW,
            UPGRADE if any(map(_may_pull_for_ever, group.facts.consumers)) else None,
            None if group.current_strategy in ASSIGNED_BY_BROKERS else SET_STRATEGY,
            preflight.blocked(forbids),
        ),
        rules=[RULE],
        commands=preflight.commented(commands, is_manual),
        before={"message_request_mode": PULL, **side_shown(before)},
        after={"message_request_mode": POP, "pop_share_queue_num": share, **side_shown(after)},
    )


def _are_many(group: AdvisedGroup, idle: tables.Finding) -> bool:
    """Whether so many clients are idle that another way of reading is worth it."""
    figures = IdleEvidence.of(idle)
    bound: float = group.policy.thresholds.SWITCH_TO_POP.min_idle_ratio
    return bool(figures.idle >= figures.clients * bound)


def _is_able(group: AdvisedGroup) -> bool:
    """Whether its clients, its topics and their brokers know POP."""
    facts = group.facts
    is_pulling = facts.message_request_mode == PULL and not facts.is_orderly and facts.consume_type != CONSUME_ACTIVELY
    return (
        group.is_clustering
        and is_pulling
        and all(one.language == JAVA and CAN_POP.match(one.version or "") for one in facts.consumers)
        and all(_hands_out(group, topic, place) for topic, place in _places(group))
        and POP in group.strategies
    )


def _may_pull_for_ever(consumer: Consumer) -> bool:
    version = version_of(consumer.version)
    return version is not None and version < POPS_FOR_CERTAIN


def _hands_out(group: AdvisedGroup, topic: str, place: Place) -> bool:
    master = group.cluster.masters.get(place.broker_name)
    if master is None or group.topics[topic].is_ordered:
        return False
    return bool(CAN_POP.match(master.version or "")) and (master.config or {}).get(TIMER_ENABLED, "true") == "true"


def _places(group: AdvisedGroup) -> list[tuple[str, Place]]:
    """Its business topics on each of their brokers, by name."""
    places = [(reads.topic.topic, place) for reads in group.facts.business for place in reads.topic.places]
    return sorted(places, key=lambda each: (each[0], each[1].broker_name))


def _popped(facts: GroupFacts, share: int) -> GroupFacts:
    """The group with all of its topics popped, by clients to whom brokers assign queues."""
    reads = (replace(one, message_request_mode=POP, pop_share_queue_num=share) for one in facts.business)
    consumers = (
        replace(one, allocate_strategy=AVG) if one.allocate_strategy in NOT_ASSIGNED_BY_BROKERS else one
        for one in facts.consumers
    )
    return replace(facts, message_request_mode=POP, reads=tuple(reads), consumers=tuple(consumers))


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (switch_to_pop,)
