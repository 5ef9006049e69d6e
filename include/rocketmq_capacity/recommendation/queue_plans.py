"""Plans for another number of queues of a topic: fewer, more, and those of a retry topic."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.facts import Place
from rocketmq_capacity.model.kept_counts import kept_count
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.recommendation import commands, preflight
from rocketmq_capacity.recommendation.answer import sentences
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.ordered_messages import moved_messages_sentence
from rocketmq_capacity.recommendation.preflight import Safety, topic_safety
from rocketmq_capacity.recommendation.queue_changes import QueueChanges, queue_changes
from rocketmq_capacity.recommendation.queue_cost import queue_cost
from rocketmq_capacity.recommendation.shrinking import BROKERS_SHOWN, ORDERED, refusal, shrinking, smallest_count
from rocketmq_capacity.vocabulary import BUSINESS, RETRY, RETRY_PREFIX
from rocketmq_capacity.wording import listed

SHRINK: Final = "SHRINK_QUEUES"
EXPAND: Final = "EXPAND_QUEUES"


def plans_of_topic(topic: AdvisedTopic, counts: Sequence[QueueCounts]) -> Iterator[QueuePlan]:
    """The plans that give the topic these queues on brokers that have it."""
    now = {place.place.broker_name: place.place for place in topic.places}
    known = [one for one in counts if one.broker_name in now]
    fewer = [one for one in known if one.write_queue_nums < (now[one.broker_name].write_queue_nums or 0)]
    fewer += [one for one in known if one not in fewer and one.read_queue_nums < _larger(now[one.broker_name])]
    more = [
        one for one in known if one not in fewer and one.read_queue_nums > (now[one.broker_name].read_queue_nums or 0)
    ]
    if fewer:
        yield _with_costs(topic, counts, _shrink(topic, fewer))
    if more:
        yield _with_costs(topic, counts, _expand(topic, more))


def _larger(place: Place) -> int:
    return max(place.read_queue_nums or 0, place.write_queue_nums or 0)


def _shrink(topic: AdvisedTopic, counts: Sequence[QueueCounts]) -> QueuePlan:
    why = refusal(topic)
    reversed_at = [one.broker_name for one in counts if one.read_queue_nums < one.write_queue_nums]
    if why is None and reversed_at:
        why = f"{listed(reversed_at)} would have fewer read than write queues"
    if why is not None:
        return _refused(SHRINK, topic, f"It does not get fewer queues: {why}.")
    targets = [QueueCounts.both(one.broker_name, one.write_queue_nums) for one in counts]
    shrink = shrinking(topic, topic_safety(topic), targets)
    smallest = smallest_count(topic)
    too_few = [one.broker_name for one in targets if smallest is not None and one.read_queue_nums < smallest]
    counts_after = listed([f"{one.read_queue_nums} on {one.broker_name}" for one in targets], BROKERS_SHOWN)
    return QueuePlan(
        action=SHRINK,
        topic=topic.name,
        broker_name=None,
        manual=shrink.is_manual,
        reason=sentences(
            f"Fewer queues, {counts_after}: write queues first, read queues once every group has read the others.",
            f"With fewer than {smallest} on each writable broker some clients are left without a queue."
            if too_few
            else None,
            ORDERED if shrink.is_ordered else None,
            moved_messages_sentence(topic, {one.broker_name: one.write_queue_nums for one in counts}),
            preflight.blocked(shrink.forbids),
        ),
        steps=shrink.steps,
    )


def _refused(action: str, topic: AdvisedTopic, why: str) -> QueuePlan:
    """A plan without steps."""
    return QueuePlan(action=action, topic=topic.name, broker_name=None, manual=True, reason=why)


def _expand(topic: AdvisedTopic, counts: Sequence[QueueCounts]) -> QueuePlan:
    safety = topic_safety(topic)
    if topic.facts.kind == RETRY:
        return _expand_retry(topic, counts, safety)
    if (why := kept_count(topic.facts)) is not None:
        return _refused(EXPAND, topic, f"The number of its queues stays, since {why}.")
    changes = queue_changes(topic, safety, counts)
    forbids = changes.forbids + preflight.reasons(preflight.offline_groups(safety), preflight.unseen_groups(safety))
    is_manual = bool(forbids) or safety.is_ordered
    return QueuePlan(
        action=EXPAND,
        topic=topic.name,
        broker_name=None,
        manual=is_manual,
        reason=sentences(
            f"More queues, {_numbers(counts)}: read and write queues in one command for each broker.",
            preflight.ORDERED if safety.is_ordered else None,
            moved_messages_sentence(topic, {one.broker_name: one.write_queue_nums for one in counts}),
            preflight.blocked(forbids),
        ),
        steps=(_more(topic, changes, forbids, is_manual),),
    )


def _expand_retry(topic: AdvisedTopic, counts: Sequence[QueueCounts], safety: Safety) -> QueuePlan:
    """The plan for more queues of a retry topic: first the topic, and then the number of queues that brokers use."""
    group = topic.name.removeprefix(RETRY_PREFIX)
    changes = queue_changes(topic, _of_business(safety), counts)
    nameserver = topic.cluster.nameserver
    numbers = [
        commands.set_retry_queues(nameserver, topic.cluster.address(one.broker_name), group, one.write_queue_nums)
        for one in counts
    ]
    return QueuePlan(
        action=EXPAND,
        topic=topic.name,
        broker_name=None,
        manual=True,
        reason=sentences(
            f"More retry queues for {group}, {_numbers(counts)}: the topic first, and then the number that brokers send"
            " to. The other way round, messages that failed would be in queues that nobody reads.",
            preflight.blocked(changes.forbids),
        ),
        steps=(
            _more(topic, changes, changes.forbids, bool(changes.forbids)),
            RecommendationStep(
                title="Raise the number: brokers use the new retry queues",
                expect="Messages that fail are spread over all retry queues.",
                commands=tuple(preflight.commented(numbers, is_forbidden=True)),
                checks=(
                    StepCheck(
                        command=commands.consumer_config(nameserver, group),
                        shows=f"retryQueueNums is {_numbers(counts)}, and every other setting is as before.",
                    ),
                ),
                blocks=(
                    "The command replaces all settings of the group. Fill in each as getConsumerConfig shows it now:"
                    " what is left out gets another value, and broadcasting is switched off.",
                    "A number of 0 or less drops messages that failed.",
                ),
                way_back="The same command with the number as it was. The retry topic keeps its queues.",
            ),
        ),
    )


def _of_business(safety: Safety) -> Safety:
    """What forbids a change, without the reason that the topic is a retry topic."""
    return replace(safety, forbids=tuple(one for one in safety.forbids if one != preflight.kind(RETRY)))


def _more(topic: AdvisedTopic, changes: QueueChanges, forbids: tuple[str, ...], is_manual: bool) -> RecommendationStep:
    counts = [f"{one['broker_name']} {one['read_queue_nums']} and {one['write_queue_nums']}" for one in changes.after]
    back = [f"{one['broker_name']} {one['write_queue_nums']}" for one in changes.before]
    return RecommendationStep(
        title="Read and write up",
        expect="Within 30 s producers write to the new queues, and consumers divide them.",
        commands=tuple(preflight.commented(changes.commands, is_manual)),
        checks=(
            StepCheck(
                command=commands.topic_route(topic.cluster.nameserver, topic.name),
                shows=f"#ReadQueue and #WriteQueue are {listed(counts, BROKERS_SHOWN)}.",
            ),
        ),
        blocks=forbids,
        way_back=f"In four phases, as SHRINK_QUEUES, down to {listed(back, BROKERS_SHOWN)}.",
    )


def _numbers(counts: Sequence[QueueCounts]) -> str:
    return listed([f"{one.write_queue_nums} on {one.broker_name}" for one in counts], BROKERS_SHOWN)


def _with_costs(topic: AdvisedTopic, counts: Sequence[QueueCounts], plan: QueuePlan) -> QueuePlan:
    before = {place.place.broker_name: place.place.read_queue_nums or 0 for place in topic.places}
    after = before | {one.broker_name: one.read_queue_nums for one in counts if one.broker_name in before}
    smallest = smallest_count(topic) if topic.facts.kind == BUSINESS else None
    return structs.replace(
        plan, smallest=smallest, cost_before=queue_cost(topic, before), cost_after=queue_cost(topic, after)
    )
