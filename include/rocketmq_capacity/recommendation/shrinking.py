"""Fewer queues of a topic, in four steps with gates, so that no message is left unread.

The number of write queues goes down first, and that of read queues last: there are never fewer read than write queues.
In between, every group, also one that is offline, must read the queues that go to their end. ``consumerProgress`` shows
this, because it looks at every read queue. A command that looks only at write queues would miss these queues.
Source: AdminBrokerProcessor.getConsumeStats, AbstractSendMessageProcessor.msgCheck, rocketmq-all-5.3.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.kept_counts import kept_count
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.recommendation import commands, preflight
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.layouts import writable
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.queue_changes import command_for
from rocketmq_capacity.vocabulary import BUSINESS, SYSTEM, is_broadcasting
from rocketmq_capacity.wording import counted, listed

ROUTES_S: Final = 30
"""Seconds after which producers and consumers ask for routes again (ClientConfig.pollNameServerInterval)."""
BROKERS_SHOWN: Final = 8
ORDERED: Final = (
    "The topic is consumed in order, and with fewer queues keys move to other queues. Pause the producers before the"
    " first step, and let them on after the third: until then nothing of a key may lie in two queues."
)
TIMED: Final = (
    "Delayed, timed and transactional messages that were sent before the first step are still to come: they are put"
    " into the queue that they were sent to. Wait for as long as the longest delay, and until every transaction has"
    " ended."
)
LAST_LOOK: Final = "Run the checks of the second and third step once more, right before this one: all must still hold."
CHOSEN: Final = "Producers that choose queues themselves, by a selector or a queue's id, still write to these queues."
NOBODY: Final = (
    "No group is known to read the topic: a group that reads it later does not see the messages in these queues."
)


@dataclass(frozen=True)
class Shrinking:
    """How a topic gets fewer queues.

    Attributes:
        steps: the steps that are left to do.
        commands: the commands of all steps, in order.
        forbids: reasons why none of them may be run unchanged.
        is_ordered: a person decides, because keys move.
    """

    steps: tuple[RecommendationStep, ...]
    commands: tuple[str, ...]
    forbids: tuple[str, ...]
    is_ordered: bool

    @property
    def is_manual(self) -> bool:
        """Whether the commands are comments."""
        return bool(self.forbids) or self.is_ordered


def refusal(topic: AdvisedTopic) -> str | None:
    """Why the topic never gets fewer queues, or None."""
    if topic.facts.kind != BUSINESS:
        return f"it is a topic of the kind {topic.facts.kind}"
    return kept_count(topic.facts)


def smallest_count(topic: AdvisedTopic) -> int | None:
    """The fewest queues on each writable broker that give every client of every group one; None if unknown.

    Groups that pop or broadcast do not need a queue for each client, but count like the others, because they may be
    switched back.
    """
    brokers = len(writable(topic))
    groups = [one for one in topic.readers if one.kind != SYSTEM]
    if not brokers or any(one.unseen_clients for one in groups):
        return None
    clients = max((one.distinct_client_ids for one in groups if one.is_subscribed), default=0)
    headroom = topic.policy.thresholds.EXPAND_QUEUES.headroom
    return max(1, ceil(clients * (1 + headroom) / brokers))


def shrinking(topic: AdvisedTopic, safety: Safety, counts: Sequence[QueueCounts]) -> Shrinking:
    """The steps to these counts, for the brokers that have more today.

    Args:
        topic: a topic that :func:`refusal` does not refuse.
        safety: what may forbid the change.
        counts: by broker; read and write queues are equal.
    """
    going = _going(topic, counts)
    forbids = (*safety.forbids, *preflight.reasons(preflight.unknown_order(safety)), *_unsafe(topic, going))
    is_manual = bool(forbids) or safety.is_ordered
    writing = [
        command_for(topic, safety, name, (one.read, one.queues))
        for name, one in going.items()
        if one.write > one.queues
    ]
    reading = [command_for(topic, safety, name, (one.queues, one.queues)) for name, one in going.items()]
    back = preflight.commented(
        [command_for(topic, safety, name, (one.read, max(one.read, one.write))) for name, one in going.items()],
        is_manual,
    )
    steps = (
        _write_down(topic, going, preflight.commented(writing, is_manual), back, (*forbids, *_order(safety))),
        _wait_for_routes(topic, going),
        _drained(topic, going, safety),
        _read_down(topic, going, preflight.commented(reading, is_manual), back),
    )
    return Shrinking(
        steps=steps if writing else steps[1:],
        commands=(*writing, *reading),
        forbids=forbids,
        is_ordered=safety.is_ordered,
    )


@dataclass(frozen=True)
class _Going:
    """A broker of the topic that gets fewer queues.

    Attributes:
        read: read queues today.
        write: write queues today.
        queues: both, afterwards.
    """

    read: int
    write: int
    queues: int


def _going(topic: AdvisedTopic, counts: Sequence[QueueCounts]) -> dict[str, _Going]:
    wanted = {one.broker_name: one.read_queue_nums for one in counts}
    places = [place.place for place in topic.places]
    return {
        place.broker_name: _Going(place.read_queue_nums or 0, place.write_queue_nums or 0, wanted[place.broker_name])
        for place in places
        if place.broker_name in wanted
        and max(place.read_queue_nums or 0, place.write_queue_nums or 0) > wanted[place.broker_name]
    }


def _unsafe(topic: AdvisedTopic, going: Mapping[str, _Going]) -> Iterator[str]:
    for place in topic.places:
        name = place.place.broker_name
        if name not in going:
            continue
        counts = going[name]
        yield from preflight.unsafe_broker(place.place)
        yield from preflight.reasons(
            f"the topic's own perm on {name} is unknown" if place.own_perm is None else None,
            f"{name} has fewer read than write queues: RAISE_READ_QUEUES comes first"
            if counts.read < counts.write
            else None,
            f"{name} would have no queue" if counts.queues < 1 else None,
        )


def _order(safety: Safety) -> tuple[str, ...]:
    return (ORDERED,) if safety.is_ordered else ()


def _ids(going: Mapping[str, _Going]) -> str:
    """``broker-a 4 to 7; broker-b 4 to 7``."""
    shown = [
        f"{name} {one.queues} to {one.read - 1}" if one.read - one.queues > 1 else f"{name} {one.queues}"
        for name, one in going.items()
    ]
    return listed(shown, BROKERS_SHOWN)


def _route(topic: AdvisedTopic, going: Mapping[str, _Going], *, is_read: bool) -> StepCheck:
    """What topicRoute shows after the write queues went down, or, with ``is_read``, the read queues as well."""
    counts = [f"{name} {one.queues if is_read else one.read} and {one.queues}" for name, one in going.items()]
    return StepCheck(
        command=commands.topic_route(topic.cluster.nameserver, topic.name),
        shows=f"#ReadQueue and #WriteQueue are {listed(counts, BROKERS_SHOWN)}.",
    )


def _write_down(
    topic: AdvisedTopic, going: Mapping[str, _Going], lines: list[str], back: list[str], blocks: tuple[str, ...]
) -> RecommendationStep:
    return RecommendationStep(
        title="Write down: producers leave the queues that go",
        expect=f"Within {ROUTES_S} s producers stop writing to the queues {_ids(going)}. Consumers go on reading them.",
        commands=tuple(lines),
        checks=(_route(topic, going, is_read=False),),
        blocks=blocks,
        way_back=f"Nothing is lost yet. Write to all of them again: {_in_words(back)}",
    )


def _wait_for_routes(topic: AdvisedTopic, going: Mapping[str, _Going]) -> RecommendationStep:
    return RecommendationStep(
        title="Wait for routes: nobody writes there any more",
        expect=f"Nothing comes into the queues {_ids(going)} once each producer has asked for its route again.",
        checks=(
            StepCheck(
                command=commands.topic_status(topic.cluster.nameserver, topic.name),
                shows=f"#Max Offset of the queues {_ids(going)} is the same in two calls that are at least {ROUTES_S} s"
                " apart, or as long as the slowest producer's pollNameServerInterval.",
            ),
        ),
        blocks=(CHOSEN, TIMED),
        way_back="That of the first step.",
    )


def _drained(topic: AdvisedTopic, going: Mapping[str, _Going], safety: Safety) -> RecommendationStep:
    groups = sorted((one for one in topic.readers if one.kind != SYSTEM), key=lambda one: one.consumer_group)
    committing = [one for one in groups if not is_broadcasting(one.message_model)]
    return RecommendationStep(
        title="Drained: every group has read them to their end",
        expect=f"The groups of the topic read the queues {_ids(going)} to their end. Nothing new comes.",
        checks=tuple(
            StepCheck(
                command=commands.consumer_progress(
                    topic.cluster.nameserver, one.consumer_group, asks_clients=False, topic=topic.name
                ),
                shows=f"the queues {_ids(going)} are all listed, each with a #Diff of 0.",
            )
            for one in committing
        ),
        blocks=(
            *undrained(
                [*safety.offline, *safety.unseen],
                [one.consumer_group for one in groups if is_broadcasting(one.message_model)],
            ),
            *(() if groups else (NOBODY,)),
        ),
        way_back="That of the first step.",
    )


def undrained(offline: Sequence[str], broadcasting: Sequence[str]) -> Iterator[str]:
    """What the checks of draining cannot show, with the names of such groups."""
    if offline:
        yield (
            f"Groups without a running client, as far as known: {listed(offline, len(offline))}. What they have not"
            " read would be lost to them: start them until they have read it, or have their owners give it up."
        )
    if broadcasting:
        yield (
            f"Broadcasting groups keep their offsets in their clients: {listed(broadcasting, len(broadcasting))}. No"
            " command shows them; ask each client."
        )


def _read_down(
    topic: AdvisedTopic, going: Mapping[str, _Going], lines: list[str], back: list[str]
) -> RecommendationStep:
    return RecommendationStep(
        title="Read down: consumers leave the queues",
        expect=f"Within about {ROUTES_S + 20} s the groups divide the queues that are left.",
        commands=tuple(lines),
        checks=(_route(topic, going, is_read=True),),
        blocks=(LAST_LOOK,),
        way_back=f"Read and write queues up in one command each, and groups go on where they were: {_in_words(back)}",
    )


def _in_words(lines: Sequence[str]) -> str:
    most = 2
    more = f" (and {counted(len(lines) - most, 'more command')} like these)" if len(lines) > most else ""
    return "; ".join(line.removeprefix("# ") for line in lines[:most]) + more
