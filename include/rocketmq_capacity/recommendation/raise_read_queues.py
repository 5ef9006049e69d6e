"""RAISE_READ_QUEUES: as many read as write queues, so that every message that is sent can be read.

It is refused only for static topics. No group reads a queue that is not readable, so no group can be worse off; queues
that a group's strategy then leaves without an owner are in the figures. If messages wait on these queues, a person
decides, because a group may skip them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.kept_counts import STATIC
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.cases import queue_case
from rocketmq_capacity.recommendation.commands import keep_offsets
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.queue_changes import queue_changes, route
from rocketmq_capacity.recommendation.stranded import StrandedMessages, is_short, stranded_messages
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction
from rocketmq_capacity.vocabulary import GRPC
from rocketmq_capacity.wording import listed

RULE: Final = "READ_LESS_THAN_WRITE"
ACTION: Final = Action(
    name="RAISE_READ_QUEUES",
    title="Make all written queues of {topic} readable",
    meaning="As many read queues as write queues.",
    place=120,
    changes="cluster",
    check=route,
    way_back="None is needed: with fewer read than write queues messages stay unread again.",
    answers=(RULE,),
    offered="for every topic with fewer read than write queues where consumers may read, unless it is static",
    moves_queues=True,
    details="""
    The card shows how many messages of each group wait in queues that it cannot see (`stranded`). Nobody can read
    them before the queues are raised: the broker refuses ids from `read_queue_nums` on. Where the number is above 0
    or unknown the card is manual, because raising the queues decides what becomes of these messages:

    - A group that has an offset on such a queue goes on from there.
    - A group without one begins at 0 if the queue still begins at 0 and its first message is in the broker's
      memory. Otherwise it begins where its clients' `consumeFromWhere` says; RocketMQ's default is the end, and the
      messages are skipped. With CONSUME_FROM_FIRST_OFFSET nothing is skipped. The card takes the default if the
      setting is not known.

    To have a group read them, do one of these before you raise the queues:

    - Stop its clients. Run the card's commands in their order: `updateTopic` raises the queues, `cloneGroupOffset`
      copies the group onto itself, which commits 0 on the queues that have no offset. It has to say `clone group
      offset success`. Then start the clients: they move on to the first message that is still there. Do not look
      for the offset in `consumerProgress`, which shows 0 for a missing one too.
    - Or set `CONSUME_FROM_FIRST_OFFSET` in its clients and restart them; it concerns only queues without an offset.
      Then raise the queues while they run, without `cloneGroupOffset`. This is also the way for broadcasting
      groups, whose clients keep the offsets.

    A group of gRPC clients alone has neither way: such clients have no such setting, and mqadmin commits no offsets
    for it. Let another group read the messages, one that begins at the first message.

    `resetOffsetByTime` does not help: with `-q` it does nothing where the offset would be 0, and without it every
    other queue is reset as well.
    """,
)
EVERYWHERE: Final = (
    "Give every broker as many read queues as write queues: then consumers see every queue that is written."
)
WHERE_READABLE: Final = (
    "Give every broker that lets consumers read as many read queues as write queues: then they see every queue that is"
    " written there. The permission hides all queues of {closed}: that is mended apart, and not counted here."
)
SKIPS: Final = (
    "A group that has no offset there may begin at the end and skip them. To have them read, stop its clients, run the"
    " commands in their order, and start the clients again."
)
BEGINS_FIRST: Final = (
    "Every group goes on from its offset there. Where it has none, its clients begin at the first message"
    " (CONSUME_FROM_FIRST_OFFSET)."
)
GRPC_SKIPS: Final = (
    "A group of gRPC clients alone that has no offset there may begin at the end and skip them, and mqadmin commits"
    " none for it. Let another group read them, one that begins at the first message."
)
ORDERED: Final = (
    "The topic is consumed in order. Keys stay in their queues, because producers see as many queues as before; groups"
    " that consume in order divide the queues anew, so a person decides when."
)
GOES_ON: Final = "Every group has offsets there, and goes on from them."
OLD: Final = "the groups then consume what waits there, however old it is; a person decides that"


def raising_case(topic: AdvisedTopic) -> QueueChange | None:
    """The case that raises every broker that has too few read queues; None if there is none, or for a static topic."""
    if topic.facts.is_static or not any(topic.answerable(RULE)):
        return None
    counts = [
        QueueCounts.both(one.broker_name, write)
        for one in (place.place for place in topic.places)
        if is_short(one) and (write := one.write_queue_nums) is not None
    ]
    return queue_case(ACTION, topic.name, counts) if counts else None


def raise_read_queues(
    topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety
) -> tables.Recommendation | None:
    """One recommendation for the topic, with a command for each broker; None if no broker needs it."""
    case = raising_case(topic)
    if case is None:
        return None
    changes = queue_changes(topic, safety, case.counts)
    stranded = stranded_messages(topic)
    waiting = [one for one in stranded if one.now != 0]
    skips = any(one.may_skip for one in waiting)
    forbids = (*changes.forbids, *([OLD] if waiting and not skips else []))
    is_manual = bool(forbids) or safety.is_ordered or skips
    before, after = outcomes[case.case_id].sides()
    return answer(
        ACTION,
        topic=topic.name,
        target=changes.after,
        is_manual=is_manual,
        reason=sentences(
            _what(topic),
            *_about(waiting),
            ORDERED if safety.is_ordered else None,
            preflight.blocked(forbids),
        ),
        rules=[RULE],
        commands=preflight.commented([*changes.commands, *_keeping(topic, waiting)], is_manual),
        before={"queues": changes.before, "groups": before, "stranded": [_shown(one, one.now) for one in stranded]},
        after={"queues": changes.after, "groups": after, "stranded": [_shown(one, one.after) for one in stranded]},
    )


def _what(topic: AdvisedTopic) -> str:
    closed = [place.place.broker_name for place in topic.places if place.place.is_write_only]
    return WHERE_READABLE.format(closed=listed(closed)) if closed else EVERYWHERE


def _about(waiting: Sequence[StrandedMessages]) -> Iterator[str]:
    """Sentences about the messages on the hidden queues: for which groups they wait, and what happens to them."""
    if not waiting:
        return
    groups = listed([f"{one.reader.consumer_group} {_number(one.now)}" for one in waiting], len(waiting))
    yield f"Messages on the queues that consumers cannot see, by group: {groups}."
    committing = [one for one in waiting if not one.is_broadcasting]
    skipping = [one.reader for one in committing if one.may_skip]
    if skipping:
        if any(reader.protocol != GRPC for reader in skipping):
            yield SKIPS
        if any(reader.protocol == GRPC for reader in skipping):
            yield GRPC_SKIPS
    elif any(one.lacks_offset for one in committing):
        yield BEGINS_FIRST
    elif committing:
        yield GOES_ON
    broadcasting = [one.reader.consumer_group for one in waiting if one.is_broadcasting and one.may_skip]
    if broadcasting:
        yield (
            "Clients of a broadcasting group keep its offsets themselves, and skip these messages unless they begin at"
            f" the first offset: {listed(broadcasting)}."
        )


def _keeping(topic: AdvisedTopic, waiting: Sequence[StrandedMessages]) -> list[str]:
    """The commands that let stopped groups begin at the start of queues on which they have no offset.

    None is for a group of gRPC clients alone: it has no retry topic of its own name, by which mqadmin finds brokers.
    """
    return [
        keep_offsets(topic.cluster.nameserver, one.reader.consumer_group)
        for one in waiting
        if one.may_skip and not one.is_broadcasting and one.reader.protocol != GRPC
    ]


def _shown(stranded: StrandedMessages, messages: int | None) -> dict[str, Any]:
    return {"consumer_group": stranded.reader.consumer_group, "messages": messages}


def _number(messages: int | None) -> str:
    return "an unknown number" if messages is None else f"{messages:,}"


def _cases(topic: AdvisedTopic) -> Iterator[QueueChange]:
    case = raising_case(topic)
    if case is not None:
        yield case


def _answers(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety) -> ActionResult:
    raised = raise_read_queues(topic, outcomes, safety)
    is_kept = topic.facts.is_static and any(is_short(place.place) for place in topic.places)
    refusals: dict[str, str] = {RULE: f"Its queues stay as they are, since {STATIC}."} if is_kept else {}
    return ActionResult((raised,) if raised else (), refusals=refusals)


TOPIC_ACTIONS: Final = (TopicAction(_answers, _cases),)
