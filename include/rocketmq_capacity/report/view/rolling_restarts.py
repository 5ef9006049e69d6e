"""What a what-if says of rolling restarts: the whole, its steps, other ways, and advice."""

from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.rolling_restart import RestartStep, RestartTotals, RollingRestartResult
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.facts import Fact, facts_of
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.wording import counted, listed

IDS = {"NEW": "new", "SAME": "same", "SOME_NEW": "some new"}


@dataclass(frozen=True, slots=True)
class RollingRestartView:
    """One rolling restart; `undecided` is empty if it is computed."""

    group: str
    undecided: str
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    steps: First[tuple[str, ...]]
    ways: tuple[tuple[str, ...], ...]
    """The restart of the scenario, then the others."""
    timers: tuple[Fact, ...]


def rolling_restart_views(scenario: ScenarioResult) -> tuple[RollingRestartView, ...]:
    """The rolling restarts in the order of the changes."""
    return tuple(map(_view, () if scenario.rolling_restarts is UNSET else scenario.rolling_restarts))


def _view(restart: RollingRestartResult) -> RollingRestartView:
    asked = restart.asked
    return RollingRestartView(
        group=restart.consumer_group,
        undecided=restart.undecided or "",
        sentences=() if asked is None else _sentences(restart, asked),
        advice=restart.advice,
        steps=First(map(_step, restart.steps[:TABLE_ROWS]), len(restart.steps)),
        ways=() if asked is None else tuple(map(_way, (asked, *restart.alternatives[:TABLE_ROWS]))),
        timers=facts_of(restart.timers),
    )


def _sentences(restart: RollingRestartResult, asked: RestartTotals) -> tuple[str, ...]:
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
        f"It takes about {number(asked.lasts_s)} s, if the clients of a step are down for {number(restart.down_s)} s "
        "(rollout_s of the policy).",
        ids[asked.client_ids],
    )


def _step(step: RestartStep) -> tuple[str, ...]:
    return (
        number(step.step),
        listed(step.client_ids, 3),
        number(step.moved_at_stop),
        number(step.moved_at_start),
        _pair(step.unread_longest_expected_s, step.unread_longest_worst_s),
        f"{number(step.lock_wait_worst_s)} s",
        f"{number(step.messages_twice_expected)}, {number(step.messages_twice_worst)}",
    )


def _way(totals: RestartTotals) -> tuple[str, ...]:
    busy = "" if totals.busy_ratio is None else per_cent(totals.busy_ratio)
    return (
        totals.strategy,
        f"{number(totals.batch)}, {number(totals.pause_s)} s",
        f"{totals.ending}, {IDS[totals.client_ids]}",
        number(totals.steps),
        number(totals.moved_queues),
        _pair(totals.unread_longest_expected_s, totals.unread_longest_worst_s),
        f"{number(totals.lock_wait_worst_s)} s",
        f"{number(totals.messages_twice_expected)}, {number(totals.messages_twice_worst)}",
        busy,
        f"{number(totals.lasts_s)} s",
    )


def _pair(expected_s: float, worst_s: float | None) -> str:
    return f"{number(expected_s)} s, {_seconds(worst_s)}"


def _seconds(worst_s: float | None) -> str:
    return "unknown" if worst_s is None else f"{number(worst_s)} s"
