"""The verdict of a what-if: its first lines, a picture before and after, and the groups that it concerns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.scenario import AffectedGroup, ScenarioResult
from rocketmq_capacity.report.charts import BusyPair, busy_chart
from rocketmq_capacity.report.figures import number, per_cent, per_cent_number
from rocketmq_capacity.report.limits import SCENARIO_BARS, SCENARIO_ROWS
from rocketmq_capacity.report.matters import busy_share_matters
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.pictures import Chart
from rocketmq_capacity.report.view.verdicts import ORDER, VERDICTS
from rocketmq_capacity.report.what_if_lines import busy_share, first_lines
from rocketmq_capacity.wording import counted

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
    lines: First[AffectedLine]
    """Groups that are better or worse off, or undecided; worst first."""
    unchanged: First[AffectedLine]


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
        lines=First(map(_affected, concerned[:SCENARIO_ROWS]), len(concerned)),
        unchanged=First(map(_affected, unchanged[:SCENARIO_ROWS]), len(unchanged)),
    )


def _picture(groups: Sequence[AffectedGroup], bound: float) -> Chart | None:
    """Bars before and after of the groups whose change matters, or that exceed the bound; None if there are none."""
    shares = [(one.consumer_group, busy_share(one)) for one in groups]
    shown = [
        (name, use)
        for name, use in shares
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
    return None if ratio is None else per_cent_number(ratio)


def _affected(group: AffectedGroup) -> AffectedLine:
    use = busy_share(group)
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
