"""Charts, each with a table of the same numbers under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.language.current import words
from rocketmq_capacity.plan_file.group import GroupPlan, StrategyPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.report.charts import PeakSpan, load_chart, overview_chart
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import OVERVIEW_GROUPS
from rocketmq_capacity.report.loads import COUNT, Bar, Loads, Measure, best_alternative, loads_of
from rocketmq_capacity.report.panels import Drawn
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.report.view.groups import metric
from rocketmq_capacity.tables.assess.clients import ClientLoad
from rocketmq_capacity.vocabulary import POP

UNEVEN: Final = 1.05
"""A group above this EXCESS says something in a chart; below it the bars are alike."""


@dataclass(frozen=True, slots=True)
class Chart(Drawn):
    """A picture of loads."""

    has_alternative: bool
    left_out: int
    """What the picture and its table do not show: groups, or clients that are part of an average."""
    is_only_safer: bool = False
    """The alternative leaves fewer queues unread or read twice, but shares them out less evenly than today's."""


def notable_loads(
    now: StrategyPlan | None, rows: Sequence[ClientLoad], measure: Measure, alternative: str | None
) -> Loads | None:
    """The loads of a group that is worth a chart: uneven, with idle clients, or with a better alternative.

    None under POP: the queues of its clients are the same ones, and bars would count each several times.
    """
    if now is None or not now.is_known or now.strategy == POP:
        return None
    skew = measure.of(now)
    is_uneven = skew is not None and (skew.excess or 0) > UNEVEN
    says_something = alternative is not None or is_uneven or now.idle_clients
    return loads_of(rows, measure, now.strategy, alternative) if says_something else None


def load_picture(loads: Loads, name: str, chart_id: str, *, is_only_safer: bool) -> Chart:
    """Bars of a group's clients."""
    measure = loads.measure
    beside = f", and under {loads.alternative}" if loads.alternative else ""
    title = f"{words(measure.title)} per client of {name}"
    drawn = sum(1 for bar in loads.bars if not bar.is_rest)
    described = (
        f"Bars for {drawn} of {loads.clients} clients under {loads.current}, which is in use{beside}. "
        f"The average is {number(loads.average)} {words(measure.unit)}. The table below holds the same numbers."
    )
    headers = ["Client", f"{loads.current} ({measure.unit})"]
    headers += [f"{loads.alternative} ({measure.unit})"] if loads.alternative else []
    return Chart(
        picture=inline_svg(load_chart(loads), chart_id, title, described),
        caption=title,
        headers=tuple(headers),
        rows=tuple(_cells(bar, loads) for bar in loads.bars),
        has_alternative=loads.alternative is not None,
        left_out=loads.clients - drawn,
        is_only_safer=is_only_safer,
    )


def overview_picture(groups: Sequence[GroupPlan]) -> Chart | None:
    """The groups whose queues could be shared out more evenly, the worst first; None where there are none."""
    spans = [span for group in groups if (span := _span(group)) is not None]
    if not spans:
        return None
    spans.sort(key=lambda span: (span.floor / span.peak, span.name))
    shown = spans[:OVERVIEW_GROUPS]
    title = "Groups that could share their queues more evenly"
    described = (
        f"For {len(shown)} groups the busiest client's load over the average: today, under the best other strategy, "
        "and the best that any division could reach. The table below holds the same numbers."
    )
    return Chart(
        picture=inline_svg(overview_chart(shown), "chart-overview", title, described),
        caption=title,
        headers=("Group", "PEAK today", "PEAK under the best other strategy", "FLOOR"),
        rows=tuple((span.name, metric(span.peak), _other(span), metric(span.floor)) for span in shown),
        has_alternative=any(span.alternative is not None for span in shown),
        left_out=len(spans) - len(shown),
    )


def _other(span: PeakSpan) -> str:
    return "today's is the best" if span.is_best else metric(span.alternative)


def _span(group: GroupPlan) -> PeakSpan | None:
    now = in_use(group)
    skew = None if now is None else now.count
    if skew is None or skew.peak is None or skew.floor is None or skew.excess is None or skew.excess <= UNEVEN:
        return None
    best = best_alternative(group.strategies, now, COUNT)
    other = None if best is None or best.count is None else best.count.peak
    # Below FLOOR it leaves some queues to nobody, or gives some to two: it divides other queues than the group has.
    # Above today's PEAK it is only safer.
    is_better = other is not None and skew.floor <= other <= skew.peak
    return PeakSpan(group.consumer_group, skew.peak, skew.floor, other if is_better else None, is_best=best is None)


def _cells(bar: Bar, loads: Loads) -> tuple[str, ...]:
    cells = (bar.name, number(bar.current))
    return (*cells, number(bar.alternative)) if loads.alternative else cells
