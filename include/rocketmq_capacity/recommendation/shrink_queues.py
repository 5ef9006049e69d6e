"""SHRINK_QUEUES: fewer queues for a topic that for a long time had far more queues than clients, in steps with gates.

Only a long history shows that nobody needs the queues. Without it no shrink is recommended, but a what-if gives its
steps. The number must serve every group with the most clients that it had in the history; the smallest such number with
which no group is worse off is recommended. Nor may it be too small for the clients that a group needs, or for a group
that bears the loss of a broker today. A topic that is consumed in order is left out, because its queues limit what
its groups can do at the same time.
"""

from collections.abc import Mapping
from itertools import islice
from math import ceil
from typing import Any, Final

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.model.cases import QueueChange
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.layouts import TopicLayout, layout_case, topic_layout
from rocketmq_capacity.recommendation.ordered_messages import moved_messages_sentence
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety, topic_safety
from rocketmq_capacity.recommendation.queue_changes import queue_changes, route, write_queues
from rocketmq_capacity.recommendation.queue_cost import queue_cost
from rocketmq_capacity.recommendation.shrinking import refusal, shrinking, smallest_count
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction
from rocketmq_capacity.vocabulary import is_clustering
from rocketmq_capacity.wording import counted


def _way_back(before: Mapping[str, Any]) -> str:
    return (
        f"Read and write queues up in one command for each broker (before: {write_queues(before)}); groups go on where"
        " they were."
    )


ACTION: Final = Action(
    name="SHRINK_QUEUES",
    title="Give {topic} fewer queues",
    meaning="In steps, so that no message is left unread.",
    place=30,
    changes="cluster",
    check=route,
    way_back=_way_back,
    offered=(
        "if a history (`plan --history`, or `history.runs` of the lake) shows that no group of the topic ever"
        " needed more, nor does now, no group is worse off, also if a broker is lost, and enough queues go to be"
        " worth it: some queues more than clients are healthy"
    ),
    moves_queues=True,
    details="""
    Four phases: write queues down, wait for routes, drained for every group, read queues down. Each step has its
    checks, what blocks the next one, and the way back. The commands are in `steps`, and as comments in `commands`,
    because nobody should run them in one go. It is never named for topics that are consumed in order, nor for
    PRIORITY, LITE, static, LMQ and retry topics. Without such a history, [try it as a
    what-if](how-to/what-if.md#how-to-bring-it-about).
    """,
)
TRIED: Final = 4
"""How many numbers of queues are tried: the smallest ones that can be divided evenly enough."""


def shrinking_cases(topic: AdvisedTopic) -> list[QueueChange]:
    """The numbers to try, the smallest first; none if the history does not show that nobody needs the queues."""
    bounds, past, layout = topic.policy.thresholds.SHRINK_QUEUES, topic.past, topic_layout(topic)
    if past is None or past.days < bounds.history_days or past.different_days < bounds.min_snapshots:
        return []
    if topic.cluster.undecided or topic.waits or topic.findings or topic.demands or refusal(topic) or layout is None:
        return []
    if topic.name in topic.cluster.lacking:
        return []  # another broker is to get as many queues as there are elsewhere
    smallest = smallest_count(topic)
    if smallest is None or layout.per_broker is None or topic_safety(topic).is_ordered:
        return []
    headroom = topic.policy.thresholds.EXPAND_QUEUES.headroom
    least = max(smallest, ceil(past.most_clients * (1 + headroom) / layout.brokers))
    saved = max(layout.per_broker * bounds.min_saved_ratio, bounds.min_saved_queues / layout.brokers)
    most = int(layout.per_broker - saved)
    even = (each for each in range(least, most + 1) if _is_even(topic, layout, each))
    return [layout_case(ACTION, topic, each) for each in islice(even, TRIED)]


def _is_even(topic: AdvisedTopic, layout: TopicLayout, per_broker: int) -> bool:
    """Whether every group can divide this number of queues about as evenly as today, or evenly enough.

    One queue matters more if clients own few: of 4 queues, one of three clients gets twice as many as the others.
    """
    allowed = topic.policy.thresholds.ALLOCATION_SKEW.excess

    def peak(queues: int, clients: int) -> float:
        return ceil(queues / clients) * clients / queues

    now, then = layout.queues(layout.least), layout.queues(per_broker)
    groups = (one for one in topic.readers if one.is_subscribed and one.distinct_client_ids)
    return all(
        peak(then, one.distinct_client_ids) <= max(allowed, peak(now, one.distinct_client_ids))
        for one in groups
        if is_clustering(one.message_model)
    )


def shrink_queues(
    topic: AdvisedTopic, case: QueueChange, outcome: CaseOutcome, safety: Safety
) -> tables.Recommendation:
    """The recommendation of one of the cases."""
    shrink, changes = shrinking(topic, safety, case.counts), queue_changes(topic, safety, case.counts)
    per_broker = case.counts[0].read_queue_nums
    before, after = outcome.sides()
    now = {place.place.broker_name: place.place.read_queue_nums or 0 for place in topic.places}
    then = now | {one.broker_name: one.read_queue_nums for one in case.counts}
    return answer(
        ACTION,
        topic=topic.name,
        target=per_broker,
        is_manual=True,
        reason=sentences(
            f"{counted(per_broker, 'queue')} on each writable broker {'serves' if per_broker == 1 else 'serve'} every"
            f" group of the topic: {_past(topic)}, and no group is worse off. A person carries it out step by step,"
            " since each step has a gate.",
            moved_messages_sentence(topic, {one.broker_name: one.write_queue_nums for one in case.counts}),
            preflight.blocked(shrink.forbids),
        ),
        rules=(),
        commands=preflight.commented(shrink.commands, is_forbidden=True),
        before={"queues": changes.before, "groups": before, "cost": msgspec.to_builtins(queue_cost(topic, now))},
        after={"queues": changes.after, "groups": after, "cost": msgspec.to_builtins(queue_cost(topic, then))},
        steps=msgspec.json.encode(shrink.steps).decode(),
    )


def _past(topic: AdvisedTopic) -> str:
    past = topic.past
    clients = max((one.distinct_client_ids for one in topic.readers if one.is_subscribed), default=0)
    if past is None:
        return f"none has more than {counted(clients, 'client')}"
    most = counted(max(clients, past.most_clients), "client")
    return f"over {int(past.days)} days none had more than {most}"


def _answers(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety) -> ActionResult:
    for case in shrinking_cases(topic):
        outcome = outcomes[case.case_id]
        if not outcome.worse and not outcome.uncomputed:
            return ActionResult((shrink_queues(topic, case, outcome, safety),))
    return ActionResult()


TOPIC_ACTIONS: Final = (TopicAction(_answers, shrinking_cases),)
