"""CREATE_TOPIC_ON_BROKER: a topic on the brokers that a finding proposes, with as many queues as elsewhere.

RocketMQ itself never creates a topic on brokers that were added later.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.coverage import OneBrokerEvidence, PlacementEvidence
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.cases import QueueChange, QueueCounts
from rocketmq_capacity.model.kept_counts import kept_brokers
from rocketmq_capacity.protocol.version import numbers_of
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.cases import queue_case
from rocketmq_capacity.recommendation.commands import placeholder, update_topic
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.layouts import topic_layout, writable
from rocketmq_capacity.recommendation.ordered_messages import moved_messages_sentence
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.queue_changes import queues_shown, route
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction
from rocketmq_capacity.vocabulary import PRIORITY, SYSTEM
from rocketmq_capacity.wording import counted, listed

RULE: Final = "TOPIC_COVERAGE"
ACTION: Final = Action(
    name="CREATE_TOPIC_ON_BROKER",
    title="Create {topic} on the brokers that lack it",
    meaning="RocketMQ does not create it there by itself.",
    place=130,
    changes="cluster",
    check=route,
    way_back=(
        "Stop writing there first: the same command, only with -p 4; without its -r and -w it would set 8 queues. Once"
        " every group has read the queues there to their end, the topic may go from this broker."
    ),
    answers=(RULE,),
    offered="for the brokers that TOPIC_COVERAGE proposes, under the conditions of EXPAND_QUEUES",
    moves_queues=True,
    thresholds=("TOPIC_COVERAGE.max_topics",),
    details="""
    As many queues as elsewhere and the same message type: one card for a topic, with a command for each broker. A
    broker without topics gets a handful of busy ones. Its commands are comments while the broker would refuse a group
    of the topic: `autoCreateSubscriptionGroup` is false there, and nobody has created the group.
    """,
)
WITH_MORE: Final = "If the topic gets more queues elsewhere (EXPAND_QUEUES), create it with as many as there are then."
NO_TYPE: Final = "UNSPECIFIED"
"""A message type that updateTopic does not take (TopicMessageType)."""
KNOWS_PRIORITY: Final = (5, 4, 0)
"""The first version of a broker that knows PRIORITY topics."""


def missing_brokers(topic: AdvisedTopic) -> list[tables.Broker]:
    """The masters on which the topic is to be created, by name: those that findings of it or of brokers propose."""
    evidence = map(evidence_of, topic.answerable(RULE))
    names = {name for one in evidence if isinstance(one, OneBrokerEvidence | PlacementEvidence) for name in one.missing}
    if not (topic.cluster.undecided or topic.waits):
        names.update(topic.cluster.lacking.get(topic.name, ()))
    return [topic.cluster.masters[name] for name in sorted(names & topic.cluster.masters.keys())]


def creation_case(topic: AdvisedTopic) -> QueueChange | None:
    """The case with the topic on all of these brokers; None if its brokers have unequal queue counts."""
    per_broker, brokers = _per_broker(topic), missing_brokers(topic)
    if per_broker is None or not brokers or kept_brokers(topic.facts) is not None:
        return None
    names = [broker.broker_name for broker in brokers]
    return queue_case(ACTION, topic.name, [QueueCounts.both(name, per_broker) for name in names], *names)


def create_topic(
    topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety
) -> tables.Recommendation | None:
    """One recommendation for all brokers; None if a group would be worse off, or lite topics would move."""
    brokers, outcome = missing_brokers(topic), _outcome(topic, outcomes)
    if not brokers or outcome.worse or kept_brokers(topic.facts) is not None:
        return None
    per_broker = _per_broker(topic)
    perm = min((place.own_perm for place in writable(topic) if place.own_perm is not None), default=None)
    forbids = (*safety.forbids, *_unsafe(topic, brokers, outcome, safety, perm))
    is_manual = bool(forbids) or safety.is_ordered
    counts = {"read_queue_nums": per_broker, "write_queue_nums": per_broker, "perm": perm}
    names, queues = [broker.broker_name for broker in brokers], queues_shown(topic)
    before, after = outcome.sides()
    per_broker_word = " each" if len(names) > 1 else ""
    as_elsewhere = "" if per_broker is None else f" with {counted(per_broker, 'queue')}{per_broker_word}, as elsewhere"
    return answer(
        ACTION,
        topic=topic.name,
        target={"broker_names": names, "per_broker": per_broker},
        is_manual=is_manual,
        reason=sentences(
            f"Create it on {listed(names)}{as_elsewhere}: its load spreads over {counted(len(names), 'more broker')},"
            " and less of it is lost with a broker.",
            preflight.ORDERED if safety.is_ordered else None,
            None if per_broker is None else moved_messages_sentence(topic, dict.fromkeys(names, per_broker)),
            WITH_MORE if topic.demands and per_broker is not None else None,
            preflight.blocked(forbids),
        ),
        rules=[RULE],
        commands=preflight.commented([_command(topic, name, perm, safety) for name in names], is_manual),
        before={"queues": queues, "groups": before},
        after={
            "queues": sorted(
                [*queues, *({"broker_name": name, **counts} for name in names)], key=lambda one: one["broker_name"]
            ),
            "groups": after,
        },
    )


def creation_refusal(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome]) -> str | None:
    """Why the topic is not created on more brokers (a sentence), or None."""
    brokers = missing_brokers(topic)
    if (why := kept_brokers(topic.facts)) is not None and brokers:
        return f"It is not created on more brokers, since {why}."
    if not (worse := _outcome(topic, outcomes).worse):
        return None
    names = listed([broker.broker_name for broker in brokers])
    return f"It is not created on more brokers: on {names} it would make it worse for {listed(worse)}."


def _unsafe(
    topic: AdvisedTopic, brokers: Sequence[tables.Broker], outcome: CaseOutcome, safety: Safety, perm: int | None
) -> tuple[str, ...]:
    """What forbids to create the topic on one of the brokers, and what forbids any change of it."""
    is_written, is_one_number = bool(writable(topic)), _per_broker(topic) is not None
    return preflight.reasons(
        *(None if one.has_answered else f"{one.broker_name} did not answer every request" for one in brokers),
        *(_unknown_type(topic, one) for one in brokers),
        *(_refused_groups(topic, one.broker_name) for one in brokers),
        None if is_written else "on no broker can it be both read and written today",
        "the brokers where it can be written have no one number of queues"
        if is_written and not is_one_number
        else None,
        "its perm where it can be written is unknown" if is_written and perm is None else None,
        "its message type is unknown, and the command would set none" if topic.facts.message_type is None else None,
        preflight.unknown_order(safety),
        preflight.offline_groups(safety),
        preflight.unseen_groups(safety),
        outcome.unknown(),
    )


def _refused_groups(topic: AdvisedTopic, broker_name: str) -> str | None:
    """That the broker would give some groups of the topic no messages, or None."""
    groups = sorted(one.consumer_group for one in topic.readers if one.kind != SYSTEM and broker_name in one.refused_by)
    if not groups:
        return None
    return (
        f"{broker_name} creates no groups by itself (autoCreateSubscriptionGroup=false) and would refuse those that are"
        f" not created there: {listed(groups)}"
    )


def _unknown_type(topic: AdvisedTopic, broker: tables.Broker) -> str | None:
    """That the broker is too old for the topic's message type, or None."""
    version = numbers_of(broker.version)
    if topic.facts.message_type != PRIORITY or version is None or version >= KNOWS_PRIORITY:
        return None
    return f"{broker.broker_name} runs {broker.version}, and PRIORITY topics came with 5.4"


def _command(topic: AdvisedTopic, broker_name: str, perm: int | None, safety: Safety) -> str:
    per_broker = _per_broker(topic)
    queues = placeholder(f"queues of {topic.name}") if per_broker is None else per_broker
    given = placeholder(f"perm of {topic.name}") if perm is None else perm
    return creation(topic, topic.cluster.address(broker_name), (queues, queues), given, safety)


def creation(
    topic: AdvisedTopic, address: str, queues: tuple[int | str, int | str], perm: int | str, safety: Safety
) -> str:
    """The command that creates a topic on a broker, in the order and with the message type that it has elsewhere."""
    message_type = topic.facts.message_type
    return update_topic(
        topic.cluster.nameserver,
        address,
        topic.name,
        queues,
        perm,
        safety.order or placeholder(f"order of {topic.name}"),
        None if message_type in {None, NO_TYPE} else f"+message.type={message_type}",
    )


def _per_broker(topic: AdvisedTopic) -> int | None:
    """The number of queues on every broker where the topic can be written; None if they differ."""
    layout = topic_layout(topic)
    return None if layout is None else layout.per_broker


def _outcome(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome]) -> CaseOutcome:
    """What the creation does to the topic's groups."""
    case = creation_case(topic)
    return CaseOutcome() if case is None else outcomes[case.case_id]


def _cases(topic: AdvisedTopic) -> Iterable[QueueChange]:
    case = creation_case(topic)
    return () if case is None else (case,)


def _answers(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety) -> ActionResult:
    refusal, created = creation_refusal(topic, outcomes), create_topic(topic, outcomes, safety)
    return ActionResult(() if created is None else (created,), refusals={RULE: refusal} if refusal else {})


TOPIC_ACTIONS: Final = (TopicAction(_answers, _cases),)
