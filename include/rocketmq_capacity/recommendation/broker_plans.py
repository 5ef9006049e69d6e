"""Plans for a new broker with some topics, and for a broker that is drained and removed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.kept_counts import kept_brokers
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.recommendation import commands, preflight
from rocketmq_capacity.recommendation.answer import sentences
from rocketmq_capacity.recommendation.commands import placeholder
from rocketmq_capacity.recommendation.create_topic import creation
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedTopic, AdvisedTopicPlace
from rocketmq_capacity.recommendation.ordered_messages import moved_messages_sentence
from rocketmq_capacity.recommendation.preflight import Safety, topic_safety
from rocketmq_capacity.recommendation.shrinking import LAST_LOOK, ROUTES_S, TIMED, undrained
from rocketmq_capacity.vocabulary import (
    GRPC,
    PERM_READ,
    PERM_WRITE,
    READ_WRITE,
    RETRY_PREFIX,
    SYSTEM,
    is_broadcasting,
)
from rocketmq_capacity.wording import counted, listed

ADD: Final = "ADD_BROKER"
REMOVE: Final = "REMOVE_BROKER"
NAMED: Final = 8
"""Topics and groups that a sentence names."""


def start_broker(nameserver: str, broker_name: str) -> RecommendationStep:
    """The first step of every plan that adds a broker."""
    return RecommendationStep(
        title="Start the broker",
        expect="It registers with every name server. It has no business topic yet, so that no client uses it.",
        checks=(
            StepCheck(
                command=commands.cluster_list(nameserver),
                shows=f"{broker_name} is listed with the id 0, and with its slaves if it has any.",
            ),
        ),
        blocks=(
            "Its settings differ from those of the other brokers (getBrokerConfig).",
            "With autoCreateSubscriptionGroup=false it refuses clients of groups that were not created there.",
        ),
        way_back="Shut it down: it holds nothing.",
    )


def add_broker_plan(
    cluster: AdvisedCluster,
    broker_name: str,
    address: str | None,
    topics: Mapping[str, tuple[AdvisedTopic, QueueCounts]],
) -> QueuePlan:
    """The plan for a new broker with these topics: by name, each topic of today and its queues on the new broker."""
    where = address or placeholder(f"address of {broker_name}")
    lines, forbids, moved = [], [], []
    for name in sorted(topics):
        topic, counts = topics[name]
        safety = topic_safety(topic)
        why = [*_unsafe(topic, safety, counts)]
        if (sentence := moved_messages_sentence(topic, {broker_name: counts.write_queue_nums})) is not None:
            moved.append(f"{name} is consumed in order. {sentence}")
        queues = counts.read_queue_nums, counts.write_queue_nums
        lines += preflight.commented([creation(topic, where, queues, READ_WRITE, safety)], bool(why))
        forbids += [f"{name}: {reason}" for reason in why]
    nameserver = cluster.nameserver
    return QueuePlan(
        action=ADD,
        topic=None,
        broker_name=broker_name,
        manual=bool(forbids) or address is None,
        reason=sentences(
            f"{broker_name} is added with {counted(len(topics), 'topic')}: RocketMQ itself never spreads a topic over"
            " brokers that were added later.",
            f"Do not run the commands unchanged: {listed(forbids, NAMED)}." if forbids else None,
        ),
        steps=(
            start_broker(nameserver, broker_name),
            RecommendationStep(
                title="Spread the topics",
                expect=f"Within {ROUTES_S} s producers write to it, and consumers divide its queues with the others.",
                commands=tuple(lines),
                checks=tuple(
                    StepCheck(
                        command=commands.topic_route(nameserver, name),
                        shows=f"{broker_name} is listed with "
                        f"{counted(topics[name][1].read_queue_nums or 0, 'queue')} to read and "
                        f"{topics[name][1].write_queue_nums} to write.",
                    )
                    for name in sorted(topics)
                ),
                blocks=(*forbids, *moved),
                way_back="Stop writing there: the same commands with -p 4 instead of -p 6. Once every group has read"
                " the queues there to their end, the broker may be shut down.",
            ),
            RecommendationStep(
                title="See that it is used",
                expect="Its queues are written to and read like those of the others.",
                checks=tuple(
                    StepCheck(
                        command=commands.consumer_progress(nameserver, group, asks_clients=False, topic=name),
                        shows=f"queues of {broker_name} are listed, and their #Diff does not grow.",
                    )
                    for group, names in _asked(topic for topic, _ in topics.values()).items()
                    for name in names
                ),
                way_back="That of the second step.",
            ),
        ),
    )


def remove_broker_plan(cluster: AdvisedCluster, broker_name: str, topics: Sequence[AdvisedTopic]) -> QueuePlan:
    """The plan for a broker that is drained and then removed; ``topics`` are the business topics with queues there."""
    nameserver, address = cluster.nameserver, cluster.address(broker_name)
    readers = {one.consumer_group: one for topic in topics for one in topic.readers if one.kind != SYSTEM}
    offline = sorted(name for name, one in readers.items() if not one.connections)
    broadcasting = sorted(name for name, one in readers.items() if is_broadcasting(one.message_model))
    forbids = tuple(_kept_here(cluster, broker_name, topics))
    moved = [
        f"{topic.name} is consumed in order. {sentence}"
        for topic in topics
        if (sentence := moved_messages_sentence(topic, {broker_name: 0})) is not None
    ]
    return QueuePlan(
        action=REMOVE,
        topic=None,
        broker_name=broker_name,
        manual=bool(forbids),
        reason=sentences(
            f"Producers leave {broker_name}. Once it is read to its end by {counted(len(readers), 'group')}, it is"
            " removed.",
            preflight.blocked(forbids),
        ),
        steps=(
            RecommendationStep(
                title="Stop writing: producers leave the broker",
                expect=f"Within {ROUTES_S} s producers write to the other brokers. Consumers go on reading this one.",
                commands=tuple(
                    preflight.commented([commands.set_broker_permission(nameserver, address, PERM_READ)], bool(forbids))
                ),
                checks=(
                    StepCheck(command=commands.broker_config(nameserver, address), shows="brokerPermission is 4."),
                    *(
                        StepCheck(
                            command=commands.topic_route(nameserver, topic.name),
                            shows=f"the #Perm of {broker_name} is 4, and that of another broker is 6.",
                        )
                        for topic in topics[:1]
                    ),
                ),
                blocks=(*forbids, *moved),
                way_back=f"Let it be written again: {commands.restore_broker(nameserver, address)}",
            ),
            RecommendationStep(
                title="Wait for routes: nobody writes there any more",
                expect="Nothing comes in once each producer has asked for its route again.",
                checks=(
                    StepCheck(
                        command=commands.broker_status(nameserver, address),
                        shows=f"msgPutTotalTodayNow is the same in two calls that are at least {ROUTES_S} s apart, and"
                        " the first figure of putTps is 0.",
                    ),
                ),
                blocks=(TIMED,),
                way_back="That of the first step.",
            ),
            RecommendationStep(
                title="Drained: every group has read it to its end",
                expect="The groups read the messages there, retries included.",
                checks=tuple(
                    StepCheck(
                        command=commands.consumer_progress(nameserver, group, asks_clients=False, topic=name),
                        shows=f"each line of {broker_name} has a #Diff of 0, those of {group}'s retry topic included."
                        if name is None
                        else f"each line of {broker_name} has a #Diff of 0. Messages that failed are in"
                        f" {RETRY_PREFIX}{group}_{name}: if topicRoute knows that topic, ask with it after -t, too.",
                    )
                    for group, names in _asked(topics, offline=True).items()
                    if group not in broadcasting
                    for name in names
                ),
                blocks=tuple(undrained(offline, broadcasting)),
                way_back="That of the first step.",
            ),
            RecommendationStep(
                title="Remove the broker",
                expect="The groups divide the queues of the other brokers. Until the name server has noticed, nobody"
                " reads this one, which has nothing left.",
                checks=(
                    StepCheck(
                        command=commands.cluster_list(nameserver),
                        shows=f"{broker_name} is no longer listed: no replica.",
                    ),
                ),
                blocks=(
                    LAST_LOOK,
                    "Keep its disk for as long as messages are kept: dead letters and what somebody may read again lie"
                    " there alone.",
                ),
                way_back="Start it again with its disk, and then the way back of the first step.",
            ),
        ),
    )


def _unsafe(topic: AdvisedTopic, safety: Safety, counts: QueueCounts) -> Iterator[str]:
    """What forbids to create a topic on a new broker."""
    yield from safety.forbids
    yield from preflight.reasons(
        kept_brokers(topic.facts),
        preflight.fewer_read(counts),
        "it is consumed in order, and keys move to other queues" if safety.is_ordered else None,
        preflight.unknown_order(safety),
        "its message type is unknown, and the command would set none" if topic.facts.message_type is None else None,
        preflight.offline_groups(safety),
        preflight.unseen_groups(safety),
    )


def _kept_here(cluster: AdvisedCluster, broker_name: str, topics: Sequence[AdvisedTopic]) -> Iterator[str]:
    """What forbids to stop writing to a broker."""
    master = cluster.masters.get(broker_name)
    yield from preflight.reasons(
        cluster.suspect,
        f"{broker_name} has no master in the snapshot" if master is None else None,
        f"{broker_name} did not answer every request" if master is not None and not master.has_answered else None,
    )
    alone = sorted(topic.name for topic in topics if not any(_is_written(one, broker_name) for one in topic.places))
    if alone:
        yield f"nobody could write these topics, which have no other writable broker: {listed(alone, NAMED)}"
    lite = sorted(topic.name for topic in topics if kept_brokers(topic.facts) is not None)
    if lite:
        yield f"lite topics of these would move to other brokers: {listed(lite, NAMED)}"
    ordered = sorted(topic.name for topic in topics if topic_safety(topic).is_ordered)
    if ordered:
        yield f"these are consumed in order, and their keys move to other brokers: {listed(ordered, NAMED)}"


def _is_written(place: AdvisedTopicPlace, without: str) -> bool:
    """Whether the topic can be written there, on another broker than ``without``."""
    queues = place.place
    is_writable = bool((READ_WRITE if queues.perm is None else queues.perm) & PERM_WRITE) and bool(
        queues.write_queue_nums
    )
    return queues.broker_name != without and queues.broker_state == "MASTER" and is_writable


def _asked(topics: Iterable[AdvisedTopic], *, offline: bool = False) -> dict[str, list[str | None]]:
    """By group that reads some of the topics: of which topics its progress is asked, which is once of all if possible.

    A group of gRPC clients alone has no retry topic of its own name, by which mqadmin would find its brokers (see
    `GrpcClients`).

    Args:
        topics: the topics.
        offline: whether groups without clients are asked, too.
    """
    asked: dict[str, list[str | None]] = {}
    for topic in topics:
        for reader in topic.readers:
            if reader.kind != SYSTEM and (offline or reader.connections):
                names = asked.setdefault(reader.consumer_group, [])
                if reader.protocol == GRPC:
                    names.append(topic.name)
                elif not names:
                    names.append(None)
    return dict(sorted(asked.items()))
