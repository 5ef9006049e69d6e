"""The first lines of a what-if: what is still carried, who is too busy, what waits; and the groups that it concerns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.before_after import BeforeAfterRatio
from rocketmq_capacity.plan_file.scenario import AffectedGroup, Carried, ScenarioResult
from rocketmq_capacity.report.charts import BusyPair, busy_chart
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import SCENARIO_BARS, SCENARIO_ROWS
from rocketmq_capacity.report.matters import busy_share_matters
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.report.view.pictures import Chart
from rocketmq_capacity.report.view.verdicts import ORDER, VERDICTS
from rocketmq_capacity.wording import counted, listed

NAMED: Final = 5
"""Groups of each verdict that are named on top."""


@dataclass(frozen=True, slots=True)
class AffectedLine:
    """What the changes do to a group as it runs today."""

    group: str
    verdict: str
    tone: str
    """The colour of the verdict's badge."""
    why: str
    cells: tuple[str, ...]
    """Busiest client at the peak before and after, messages that wait, queues moved."""


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The answer to "what would it do?", in a few lines and numbers."""

    title: str
    carried: tuple[str, ...]
    """What is still carried, who exceeds the bound, and what waits; empty in a plan of an earlier version."""
    groups: tuple[tuple[str, int, tuple[str, ...], int], ...]
    """Of each verdict the word, how many groups have it, the names of the first of them, and how many more."""
    moved: str
    picture: Chart | None
    """How busy the groups are before and after whose change matters or that exceed the bound."""
    lines: tuple[AffectedLine, ...]
    """Groups that are better or worse off, or undecided; worst first."""
    more_lines: int
    unchanged: tuple[AffectedLine, ...]
    more_unchanged: int


def verdict_view(scenario: ScenarioResult) -> VerdictView | None:
    """The verdict; None if an earlier version of this program made the plan."""
    if scenario.verdict is None or scenario.totals is None:
        return None
    affected = sorted(scenario.affected_groups, key=lambda group: (ORDER.index(group.verdict), group.consumer_group))
    concerned = [group for group in affected if group.verdict != "UNCHANGED"]
    unchanged = [group for group in affected if group.verdict == "UNCHANGED"]
    by_verdict = {word: [one.consumer_group for one in affected if one.verdict == word] for word in ORDER}
    return VerdictView(
        title=VERDICTS[scenario.verdict].title,
        carried=tuple(first_lines(scenario)),
        groups=tuple(
            (VERDICTS[word].of_groups, len(names), tuple(names[:NAMED]), max(0, len(names) - NAMED))
            for word, names in by_verdict.items()
            if names
        ),
        moved=number(scenario.totals.moved_queues),
        picture=None if scenario.carried is None else _picture(affected, scenario.carried.bound),
        lines=tuple(map(_affected, concerned[:SCENARIO_ROWS])),
        more_lines=max(0, len(concerned) - SCENARIO_ROWS),
        unchanged=tuple(map(_affected, unchanged[:SCENARIO_ROWS])),
        more_unchanged=max(0, len(unchanged) - SCENARIO_ROWS),
    )


def first_lines(scenario: ScenarioResult) -> Iterator[str]:
    """What is still carried, who exceeds the bound, what waits, and what is gone; nothing in an earlier version's."""
    if scenario.carried is None:
        return
    if scenario.lost_nameservers is not UNSET:
        yield (
            "The verdict is of the routes that are left. It does not count what clients miss without the lost name"
            " server: that is below."
        )
    yield from _carried(scenario.carried, {one.consumer_group: _busy(one) for one in scenario.affected_groups})
    yield from _gone(scenario.affected_groups)


def _carried(found: Carried, busy: Mapping[str, BeforeAfterRatio]) -> Iterator[str]:
    """Three sentences: is everything carried, who exceeds the bound, what waits."""
    if found.is_carried:
        yield "Everything is still carried."
    elif found.is_carried is None:
        names = listed(found.undecided)
        yield f"Nothing is known to be lost, but {counted(len(found.undecided), 'group')} cannot be judged: {names}."
    else:
        yield f"Not everything is still carried: {'; '.join(_lost(found))}."
    bound = per_cent(found.bound)
    if found.over_bound:
        new = found.newly_over_bound
        since = f", only by these changes {listed(new)}" if new else ", all of them as before"
        groups = counted(len(found.over_bound), "group")
        over = listed([_with_shares(name, busy.get(name)) for name in (*new, *_without(found.over_bound, new))])
        yield f"The busiest client exceeds {bound} at the peak in {groups}: {over}{since}."
    else:
        yield f"No group's busiest client exceeds {bound} at the peak, as far as that is known."
    waiting = counted(found.waiting_messages, "message") if found.waiting_messages else "No message"
    verb = "wait" if found.waiting_messages > 1 else "waits"
    yield f"{waiting} {verb} on queues that are gone or lose all readers."


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


def _with_shares(name: str, use: BeforeAfterRatio | None) -> str:
    """A group with how busy it is: ``g_pay (60 % → 82 %)``; a group that the changes do not touch has no figures."""
    return name if use is None else f"{name} ({per_cent(use.before)} \u2192 {per_cent(use.after)})"


def _gone(groups: Sequence[AffectedGroup]) -> Iterator[str]:
    """What vanishes with its queues is no gain."""
    losses = [
        lost
        for one in groups
        if one.queues is not None and (lost := (one.queues.before or 0) - (one.queues.after or 0)) > 0
    ]
    if losses:
        queues, readers = counted(sum(losses), "queue"), counted(len(losses), "group")
        yield f"Gone: {queues} of {readers}. What falls with them, such as lag, is not better."


def _busy(group: AffectedGroup) -> BeforeAfterRatio:
    return group.peak_utilisation or group.utilisation


def _picture(groups: Sequence[AffectedGroup], bound: float) -> Chart | None:
    """Bars before and after of the groups whose change matters, or that exceed the bound; None if there are none."""
    told = [(one.consumer_group, _busy(one)) for one in groups]
    shown = [
        (name, use)
        for name, use in told
        if use.after is not None and (use.after > bound or busy_share_matters(use.before, use.after, bound))
    ]
    if not shown:
        return None
    shown.sort(key=lambda pair: (-(pair[1].after or 0.0), pair[0]))
    bars = [BusyPair(name, _percent(use.before), _percent(use.after)) for name, use in shown[:SCENARIO_BARS]]
    title = "Busiest client at the peak, before and after"
    described = (
        f"Two bars for each of {counted(len(bars), 'group')}: for how much of its time the busiest client is busy,"
        " before and after the changes. The table below holds the same numbers."
    )
    return Chart(
        picture=inline_svg(busy_chart(bars, bound * 100), "chart-what-if", title, described),
        caption=title,
        headers=("Group", "before", "after"),
        rows=tuple((name, per_cent(use.before), per_cent(use.after)) for name, use in shown[:SCENARIO_BARS]),
        has_alternative=False,
        left_out=max(0, len(shown) - SCENARIO_BARS),
    )


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio * 100, 1)


def _lost(found: Carried) -> Iterator[str]:
    both = [name for name in found.unreadable_topics if name in found.unwritable_topics]
    lines: tuple[tuple[str, Sequence[str]], ...] = (
        ("nobody can read or write", both),
        ("nobody can read", [name for name in found.unreadable_topics if name not in both]),
        ("nobody can write", [name for name in found.unwritable_topics if name not in both]),
        ("no client is left of", found.without_clients),
        ("clients are busy all of their time in", found.falling_behind),
    )
    for words, names in lines:
        if names:
            yield f"{words} {listed(names)}"
    if found.unread_queues:
        yield f"{counted(found.unread_queues, 'more queue')} {'has' if found.unread_queues == 1 else 'have'} no reader"


def _affected(group: AffectedGroup) -> AffectedLine:
    use = _busy(group)
    return AffectedLine(
        group=group.consumer_group,
        verdict=VERDICTS[group.verdict].word,
        tone=VERDICTS[group.verdict].tone,
        why=group.why,
        cells=(
            per_cent(use.before),
            per_cent(use.after),
            number(group.waiting_messages),
            number(group.moved_queues),
        ),
    )
