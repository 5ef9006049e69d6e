"""RAISE_READ_QUEUES: as many read as write queues, so that every message that is sent can be read.

Never refused: a queue that is not readable is read by no group at all, so no group can be worse off; what a group's
strategy then leaves to nobody shows in the figures.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.cases import Case, QueueCounts
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.cases import queue_case
from rocketmq_capacity.recommendation.facts import Topic
from rocketmq_capacity.recommendation.outcomes import Outcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.queue_changes import queue_changes
from rocketmq_capacity.recommendation.topic_action import Answered, TopicAction
from rocketmq_capacity.vocabulary import INFO, Action, Rule

ACTION: Final[Action] = "RAISE_READ_QUEUES"
RULE: Final[Rule] = "READ_LESS_THAN_WRITE"
COVERAGE: Final[Rule] = "TOPIC_COVERAGE"
FROM_THE_END: Final = (
    "A group without an offset there may start at the end of these queues and skip what stands in them now."
)


def raising_case(topic: Topic) -> Case | None:
    """Every broker with fewer read than write queues raised; None where nothing asks for it."""
    if not any(topic.found(RULE)):
        return None
    counts = [
        QueueCounts(broker_name=one.broker_name, read_queue_nums=write, write_queue_nums=write)
        for one in (place.place for place in topic.places)
        if (read := one.read_queue_nums) is not None and (write := one.write_queue_nums) is not None and read < write
    ]
    return queue_case(ACTION, topic.name, counts)


def raise_read_queues(topic: Topic, outcomes: Mapping[str, Outcome], safety: Safety) -> contracts.Recommendation | None:
    """One recommendation for the topic, with a command for each broker; None where nothing asks for it."""
    case = raising_case(topic)
    if case is None:
        return None
    changes = queue_changes(topic, safety, case.counts)
    is_manual = bool(changes.forbids) or safety.is_ordered
    before, after = outcomes[case.case_id].sides()
    is_unequal = any(finding.severity == INFO for finding in topic.found(COVERAGE))
    return answer(
        ACTION,
        topic=topic.name,
        target=changes.after,
        is_manual=is_manual,
        reason=sentences(
            "As many read as write queues on every broker: nothing that is sent stays unread for want of a reader.",
            FROM_THE_END,
            preflight.ORDERED if safety.is_ordered else None,
            preflight.blocked(changes.forbids),
        ),
        rules=[RULE, COVERAGE] if is_unequal and _is_equal(changes.after) else [RULE],
        commands=preflight.commented(changes.commands, is_manual),
        before={"queues": changes.before, "groups": before},
        after={"queues": changes.after, "groups": after},
    )


def _is_equal(queues: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all brokers have the same counts."""
    return len({(one["read_queue_nums"], one["write_queue_nums"]) for one in queues}) == 1


def _cases(topic: Topic) -> Iterator[Case]:
    case = raising_case(topic)
    if case is not None:
        yield case


def _answers(topic: Topic, outcomes: Mapping[str, Outcome], safety: Safety) -> Answered:
    raised = raise_read_queues(topic, outcomes, safety)
    return Answered((raised,) if raised else ())


TOPIC_ACTIONS: Final = (TopicAction(_answers, _cases),)
