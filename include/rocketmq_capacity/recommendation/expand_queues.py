"""EXPAND_QUEUES: more queues, equal on all writable brokers, if the simulation shows that they help.

- Against idle clients: a layout with fewer of them, and no group of the topic worse off. The best one has the fewest
  idle clients, then is even, then is the smallest.
- Against a client that is too busy: the number that its rule computed.
- Against remainders that add up over topics: the next multiple of the clients.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.model.cases import EffectOfCase, QueueChange
from rocketmq_capacity.model.kept_counts import kept_count
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.layouts import (
    BUSY,
    IDLE,
    UNEVEN,
    TriedLayout,
    layout_case,
    topic_layout,
    tried_layouts,
    writable,
)
from rocketmq_capacity.recommendation.ordered_messages import moved_messages_sentence
from rocketmq_capacity.recommendation.outcomes import CaseOutcome
from rocketmq_capacity.recommendation.preflight import Safety
from rocketmq_capacity.recommendation.queue_changes import queue_changes, route, write_queues
from rocketmq_capacity.recommendation.raise_read_queues import RULE as READ_LESS_THAN_WRITE
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction
from rocketmq_capacity.tables import Demand
from rocketmq_capacity.wording import counted, listed, percent


def _way_back(before: Mapping[str, Any]) -> str:
    return (
        "In two steps, since what lies in a queue must be read first. Lower the write queues alone (before:"
        f" {write_queues(before)}), with -r as it is now. Once every group has read the queues beyond that to their"
        " end, lower the read queues."
    )


ACTION: Final = Action(
    name="EXPAND_QUEUES",
    title="Give {topic} more queues",
    meaning="So that every consumer can own one, evenly.",
    place=20,
    changes="cluster",
    check=route,
    way_back=_way_back,
    answers=(IDLE, UNEVEN, BUSY),
    offered=(
        "if the same number of queues on every writable broker gives idle clients one, makes remainders vanish or"
        " ends an overload, and no group of the topic is worse off"
    ),
    moves_queues=True,
    thresholds=(
        "ALLOCATION_SKEW.excess",
        "CROSS_TOPIC_SKEW.excess",
    ),
    details="""
    Run it while every group of the topic is online: a group that is offline may start a new queue at its end.
    Manual for ordered topics, because keys move to other queues, and where a group is offline. For a FIFO topic the
    reason says which share of the message groups goes to another queue behind a Proxy: 1 - M/N of them from M to N
    queues on one broker, and more where new queues of several brokers come between the old ones.

    The number of queues of three kinds of topic is left as it is, and the other answers of the finding say why:

    - A **PRIORITY** topic (5.4): queue 0 has the messages of priority 0, queue 1 those of priority 1, and the last
      queue all higher ones.
    - A **LITE** topic (5.5): brokers and producers hash the lite topics over its write queues, and with more queues
      many lite topics move to other brokers. For the same reason CREATE_TOPIC_ON_BROKER is refused. A group that is
      bound to a LITE topic reads lite topics and no queues: more clients than queues are fine, and its lag on the
      queues says nothing.
    - A **static** topic: only `updateStaticTopic` and `remappingStaticTopic` may change it. RAISE_READ_QUEUES is
      refused too.
    """,
)
UNCOMPUTED: Final = "cannot be simulated, since what the clients run cannot be computed"
ONLINE: Final = (
    "Run it while every group of the topic is online: each starts a new queue at its first message only while"
    " that is still in memory."
)


@dataclass(frozen=True)
class Judged:
    """A layout that was tried, its outcome, and why it does not answer its rule, or None."""

    tried: TriedLayout
    case: QueueChange
    outcome: CaseOutcome
    refusal: str | None


@dataclass(frozen=True)
class Expansion:
    """The best layout of a topic.

    Attributes:
        best: the layout, with the first rule that it answers.
        rules: all rules that it answers.
        asking: the groups that ask for it by its first rule, sorted.
        helped: (rule, group) of the groups that ask for it by any rule.
    """

    best: Judged
    rules: frozenset[str]
    asking: Sequence[str]
    helped: frozenset[tuple[str, str]]


def expansion_cases(topic: AdvisedTopic) -> list[QueueChange]:
    """The layouts to try, the smallest first."""
    return [layout_case(ACTION, topic, each) for each in sorted({one.per_broker for one in tried_layouts(topic)})]


def judged_layouts(
    topic: AdvisedTopic, tried: Sequence[TriedLayout], outcomes: Mapping[str, CaseOutcome]
) -> list[Judged]:
    """The layouts with their outcomes."""
    bound = topic.policy.thresholds.CROSS_TOPIC_SKEW.excess
    judged = []
    for layout in tried:
        case = layout_case(ACTION, topic, layout.per_broker)
        outcome = outcomes[case.case_id]
        judged.append(Judged(layout, case, outcome, _refusal(layout, outcome, bound)))
    return judged


def expansion(judged: Sequence[Judged]) -> Expansion | None:
    """The best of the layouts that answer a rule, or None."""
    good = [one for one in judged if one.refusal is None]
    if not good:
        return None
    best = min(good, key=_place)
    same = [one.tried for one in good if one.tried.per_broker == best.tried.per_broker]
    return Expansion(
        best,
        rules=frozenset(tried.rule for tried in same),
        asking=sorted(tried.consumer_group for tried in same if tried.rule == best.tried.rule),
        helped=frozenset((tried.rule, tried.consumer_group) for tried in same),
    )


def expand_queues(topic: AdvisedTopic, chosen: Expansion, safety: Safety) -> tables.Recommendation:
    """The best layout as a recommendation."""
    best, outcome = chosen.best, chosen.best.outcome
    changes = queue_changes(topic, safety, best.case.counts)
    # The commands of RAISE_READ_QUEUES would set fewer queues again, if they were run after these.
    is_hidden = any(topic.answerable(READ_LESS_THAN_WRITE))
    forbids = changes.forbids + preflight.reasons(
        "queues of the topic that nobody can read come first (READ_LESS_THAN_WRITE), and then another plan"
        if is_hidden
        else None,
        preflight.offline_groups(safety),
        preflight.unseen_groups(safety),
        outcome.unknown(),
    )
    is_manual = bool(forbids) or safety.is_ordered
    before, after = outcome.sides()
    return answer(
        ACTION,
        topic=topic.name,
        target=best.tried.per_broker,
        is_manual=is_manual,
        reason=sentences(
            _why(chosen),
            preflight.ORDERED if safety.is_ordered else ONLINE,
            moved_messages_sentence(topic, {one.broker_name: one.write_queue_nums for one in best.case.counts}),
            preflight.blocked(forbids),
        ),
        rules=chosen.rules,
        commands=preflight.commented(changes.commands, is_manual),
        before={"queues": changes.before, "groups": before, **_busy_before(best.tried.demand)},
        after={"queues": changes.after, "groups": after, **_busy_after(best.tried.demand)},
    )


def expansion_refusal(topic: AdvisedTopic, judged: Iterable[Judged]) -> str | None:
    """Why the topic gets no more queues against idle clients (a sentence), or None."""
    clients = [demand.clients for demand in topic.demands if demand.rule == IDLE]
    refused = [one.refusal for one in judged if one.tried.rule == IDLE]
    if not clients or None in refused:
        return None
    why = "; ".join(sorted({reason for reason in refused if reason})) or _why_untried(topic, max(clients))
    return f"More queues would not help: {why}."


def _why_untried(topic: AdvisedTopic, clients: int) -> str:
    if not writable(topic):
        return "it cannot be both read and written on any broker"
    layout = topic_layout(topic)
    if layout is None:
        return "it is unknown how many it has"
    bounds = topic.policy.thresholds.EXPAND_QUEUES
    smallest = layout.smallest_for(clients, bounds.headroom)
    if smallest > bounds.max_queues_per_broker:
        return f"{smallest} on each broker would be needed"
    return "it has as many as it needs"


def _refusal(tried: TriedLayout, outcome: CaseOutcome, bound: float) -> str | None:
    """Why a layout does not answer its rule, or None; an uneven group's EXCESS must fall to ``bound``."""
    why = _of_asking(tried.rule, outcome.effects.get(tried.consumer_group), bound)
    if why is None and outcome.worse:
        why = f"would make it worse for {listed(outcome.worse)}"
    return why and f"{counted(tried.per_broker, 'queue')} on each broker {why}"


def _of_asking(rule: str, asking: EffectOfCase | None, bound: float) -> str | None:
    """Why a layout does not help the group that asks for it, or None."""
    if asking is None or asking.before is None or asking.after is None:
        return UNCOMPUTED
    if rule == BUSY:
        return None  # the rule itself has computed the number
    if rule == IDLE:
        is_less = asking.after.pulls_none < asking.before.pulls_none
        return None if is_less else "would leave as many clients without any queue"
    before, after = asking.before.count, asking.after.count
    is_even = before and after and after["excess"] <= min(bound, before["excess"])
    return None if is_even else "would not make it even"


def _place(judged: Judged) -> tuple[bool, bool, bool, int, bool, int, str]:
    """A sort key: the best layout of a topic comes first."""
    tried = judged.tried
    return (
        tried.rule != BUSY,
        tried.rule != IDLE,
        tried.rule != UNEVEN,
        judged.outcome.idle_after,
        not tried.is_even,
        tried.per_broker,
        tried.consumer_group,
    )


def _why(chosen: Expansion) -> str:
    tried, outcome = chosen.best.tried, chosen.best.outcome
    layout = f"{counted(tried.per_broker, 'queue')} on each writable broker"
    if tried.rule == IDLE:
        return (
            f"{layout}: idle clients of its groups go from {outcome.idle_before} to {outcome.idle_after}, and no group"
            " is worse off."
        )
    if tried.rule == UNEVEN:
        return f"{layout}, in all a multiple of the clients of {listed(chosen.asking)}: no remainder is left."
    return _together(layout, tried.demand)


def _together(layout: str, demand: Demand) -> str:
    """What more queues do for a group that is too busy, with as many clients as are then enough."""
    group, clients, then = demand.consumer_group, demand.clients, demand.then_clients
    before, after = percent(demand.busy_before or 0.0), percent(demand.busy_after or 0.0)
    falls = f"the busiest client of {group} goes from {before} to {after} of its time"
    if demand.in_days is not None:
        falls = (
            f"by the traffic in {demand.in_days:g} days, the busiest client of {group} would be busy for {before} of"
            f" its time, and for {after} with them"
        )
    if then is None or then == clients:
        return f"{layout}: {falls}."
    if then > clients:
        return (
            f"{layout} together with {then} instead of {counted(clients, 'client')}: {falls}. Neither is enough alone."
        )
    return f"{layout}: {falls}. {then} of its {counted(clients, 'client')} are enough then."


def _busy_before(demand: Demand) -> dict[str, float | int | None]:
    return {"clients": demand.clients, "utilisation_ratio": demand.busy_before} if demand.rule == BUSY else {}


def _busy_after(demand: Demand) -> dict[str, float | int | None]:
    clients = max(demand.clients, demand.then_clients or 0)
    return {"clients": clients, "utilisation_ratio": demand.busy_after} if demand.rule == BUSY else {}


def _answers(topic: AdvisedTopic, outcomes: Mapping[str, CaseOutcome], safety: Safety) -> ActionResult:
    if (why := kept_count(topic.facts)) is not None:
        return ActionResult(refusals={IDLE: f"The number of its queues stays as it is, since {why}."})
    judged = judged_layouts(topic, tried_layouts(topic), outcomes)
    chosen, refusal = expansion(judged), expansion_refusal(topic, judged)
    return ActionResult(
        (expand_queues(topic, chosen, safety),) if chosen else (),
        refusals={IDLE: refusal} if refusal else {},
        helped=chosen.helped if chosen else frozenset(),
    )


TOPIC_ACTIONS: Final = (TopicAction(_answers, expansion_cases),)
