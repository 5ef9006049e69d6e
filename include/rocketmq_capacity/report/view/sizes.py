"""What if a group had n clients: a table, and a picture of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rocketmq_capacity.language.current import words
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.report.charts import SizeBar, size_chart
from rocketmq_capacity.report.figures import number, per_cent_number
from rocketmq_capacity.report.needed import ClientsOfGroup
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.report.view.groups import busy_text, metric
from rocketmq_capacity.tables.assess.groups import GroupSize
from rocketmq_capacity.wording import counted


@dataclass(frozen=True, slots=True)
class SizesView:
    """The table of a group, and its picture where there is one."""

    picture: Markup | None
    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    skips: bool
    """Whether some numbers in between have no row."""


def sizes_of(
    group: GroupPlan, staff: ClientsOfGroup, rows: Sequence[GroupSize], bound: float | None, chart_id: str | None
) -> SizesView | None:
    """The table of a group from its rows of ``group_size``; None where it has none.

    Args:
        group: the group.
        staff: how many clients it needs.
        rows: its rows, in any order.
        bound: busy share above which the busiest client is too busy; None if unknown.
        chart_id: of its picture; None where there is to be none.
    """
    ordered = sorted(rows, key=lambda row: row.clients)
    if not ordered:
        return None
    names = [_name(group, staff, row) for row in ordered]
    title = f"What if {group.consumer_group} had more or fewer clients"
    bars = [
        SizeBar(
            name,
            None if row.busy_ratio is None else per_cent_number(row.busy_ratio),
            row.idle_clients,
            row.is_today,
        )
        for name, row in zip(names, ordered, strict=True)
    ]
    described = (
        f"Bars for {len(bars)} numbers of clients: for how much of its time the busiest client would be busy, and how"
        " many clients would be idle. The table below holds the same numbers."
    )
    bound_per_cent = None if bound is None else per_cent_number(bound)
    chart = size_chart(bars, bound_per_cent)
    return SizesView(
        picture=None if chart_id is None else inline_svg(chart, chart_id, title, described),
        caption=title,
        headers=("Clients", "Busiest client is busy for", "Idle clients", "Most queues of a client", "PEAK by queues"),
        rows=tuple(
            (
                words(name),
                busy_text(row),
                number(row.idle_clients),
                number(row.most_queues),
                metric(row.peak),
            )
            for name, row in zip(names, ordered, strict=True)
        ),
        skips=len(ordered) < ordered[-1].clients,
    )


def _name(group: GroupPlan, staff: ClientsOfGroup, row: GroupSize) -> str:
    target = None if group.needed_clients is None else group.needed_clients.target
    notes = ["today"] if row.is_today else []
    notes += ["enough"] if row.clients == target else []
    notes += ["needed"] if row.clients == staff.needed else []
    return counted(row.clients, "client") + (f" ({', '.join(notes)})" if notes else "")
