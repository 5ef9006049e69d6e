"""What a what-if says of rolling restarts: the whole, its steps, other ways, and advice."""

from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.rolling_restart import RestartStep, RestartTotals, RollingRestart
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.facts import Fact, facts_of
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.wording import counted, listed

IDS = {"NEW": "new", "SAME": "same", "SOME_NEW": "some new"}


@dataclass(frozen=True, slots=True)
class RollingRestartView:
    """One rolling restart; `undecided` is empty if it is computed."""

    group: str
    undecided: str
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    more_steps: int
    ways: tuple[tuple[str, ...], ...]
    """The restart of the scenario, then the others."""
    timers: tuple[Fact, ...]


def rolling_restart_views(scenario: ScenarioResult) -> tuple[RollingRestartView, ...]:
    """The rolling restarts in the order of the changes."""
    return tuple(map(_view, () if scenario.rolling_restarts is UNSET else scenario.rolling_restarts))


def _view(one: RollingRestart) -> RollingRestartView:
    asked = one.asked
    return RollingRestartView(
        group=one.consumer_group,
        undecided=one.undecided or "",
        sentences=() if asked is None else _sentences(one, asked),
        advice=one.advice,
        steps=tuple(map(_step, one.steps[:TABLE_ROWS])),
        more_steps=max(0, len(one.steps) - TABLE_ROWS),
        ways=() if asked is None else tuple(map(_way, (asked, *one.alternatives[:TABLE_ROWS]))),
        timers=facts_of(one.timers),
    )


def _sentences(one: RollingRestart, asked: RestartTotals) -> tuple[str, ...]:
    ids = {
        "NEW": "Clients come back with new ids, because their instanceName is made from the process id and the time.",
        "SAME": "Clients come back with their own ids, because their instanceName is set.",
        "SOME_NEW": "Clients whose instanceName is made from the process id and the time come back with new ids.",
    }
    estimated = (
        f" Only {counted(asked.computed_steps, 'step')} of them are computed, evenly spread; sums are estimated."
        if asked.computed_steps < asked.steps
        else ""
    )
    return (
        f"{counted(asked.steps, 'step')}, {counted(asked.rebalances, 'rebalance')}: queues change their owner "
        f"{number(asked.moved_queues)} times in all. The longest that nobody reads a queue is "
        f"{number(asked.unread_longest_expected_s)} s on average, and {_seconds(asked.unread_longest_worst_s)} at "
        f"worst. {number(asked.messages_twice_expected)} messages come twice on average, "
        f"{number(asked.messages_twice_worst)} at worst.{estimated}",
        f"It takes about {number(asked.lasts_s)} s, if the clients of a step are down for {number(one.down_s)} s "
        "(rollout_s of the policy).",
        ids[asked.client_ids],
    )


def _step(one: RestartStep) -> tuple[str, ...]:
    return (
        number(one.step),
        listed(one.client_ids, 3),
        number(one.moved_at_stop),
        number(one.moved_at_start),
        _pair(one.unread_longest_expected_s, one.unread_longest_worst_s),
        f"{number(one.lock_wait_worst_s)} s",
        f"{number(one.messages_twice_expected)}, {number(one.messages_twice_worst)}",
    )


def _way(one: RestartTotals) -> tuple[str, ...]:
    busy = "" if one.busy_ratio is None else per_cent(one.busy_ratio)
    return (
        one.strategy,
        f"{number(one.batch)}, {number(one.pause_s)} s",
        f"{one.ending}, {IDS[one.client_ids]}",
        number(one.steps),
        number(one.moved_queues),
        _pair(one.unread_longest_expected_s, one.unread_longest_worst_s),
        f"{number(one.lock_wait_worst_s)} s",
        f"{number(one.messages_twice_expected)}, {number(one.messages_twice_worst)}",
        busy,
        f"{number(one.lasts_s)} s",
    )


def _pair(expected_s: float, worst_s: float | None) -> str:
    return f"{number(expected_s)} s, {_seconds(worst_s)}"


def _seconds(worst_s: float | None) -> str:
    return "unknown" if worst_s is None else f"{number(worst_s)} s"
