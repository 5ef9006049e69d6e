"""Who owns which queue of a group under the strategy in use, and how much waits there: a heat map, with a table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.language.current import words
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import CHARTS, HEAT_CLIENTS, HEAT_QUEUES, ITEMS
from rocketmq_capacity.report.panels import Drawn
from rocketmq_capacity.report.rows import DrawnQueue, QueueLag
from rocketmq_capacity.tables.assess.clients import ClientLoad
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import POP, java_order
from rocketmq_capacity.wording import counted, listed

CELL: Final = 14
LABELS: Final = 210
"""Pixels for the names of clients."""
LABEL_CHARACTERS: Final = 28
TOP: Final = 18
"""Pixels for the numbers of topics."""
PALEST: Final = 0.25
NOBODY: Final = "no client"


@dataclass(frozen=True, slots=True)
class HeatMap(Drawn):
    """A picture of who owns which queue."""

    topics: str
    """The topics by their number."""


def heat_groups(plan: Plan, names: Sequence[str], loads: Iterable[ClientLoad]) -> dict[str, str]:
    """The first of these groups that divide so few queues among so few clients that a picture shows each of them.

    Each with the strategy in use. POP divides nothing.
    """
    by_name = {group.consumer_group: group for group in plan.groups}
    wanted = {
        name: now.strategy for name in names if (now := in_use(by_name[name])) is not None and now.strategy != POP
    }
    held: dict[str, list[int]] = {}
    for row in loads:
        if wanted.get(row.consumer_group) == row.strategy:
            held.setdefault(row.consumer_group, []).append(row.queues)
    small = [name for name in wanted if 1 < len(held.get(name, ())) <= HEAT_CLIENTS and sum(held[name]) <= HEAT_QUEUES]
    return {name: wanted[name] for name in small[:CHARTS]}


def heat_map(
    group: GroupPlan, clients: Sequence[str], owned: Sequence[DrawnQueue], lags: Sequence[QueueLag], chart_id: str
) -> HeatMap | None:
    """The picture; None if it has no queue, or more than fit.

    Args:
        group: the group.
        clients: its client ids.
        owned: who owns its queues under the strategy in use.
        lags: what waits on its queues.
        chart_id: of the picture.
    """
    waiting = {Queue(one.topic, one.broker_name, one.queue_id): one.lag for one in lags if one.topic in group.topics}
    now = in_use(group)
    # Of a queue that nobody has ever read there is no offset.
    owners: dict[Queue, list[str]] = {queue: [] for queue in (*waiting, *(() if now is None else now.orphan_queues))}
    for row in owned:
        if row.topic in group.topics:
            owners.setdefault(Queue(row.topic, row.broker_name, row.queue_id), []).append(row.client_id)
    queues = sorted(owners)
    if not owned or not 0 < len(queues) <= HEAT_QUEUES or not 0 < len(clients) <= HEAT_CLIENTS:
        return None
    names = sorted(clients, key=java_order)
    cells = {name: [queue for queue in queues if name in owners[queue]] for name in names}
    unread = [queue for queue in queues if not owners[queue]]
    rows = [*cells.items(), *([(NOBODY, unread)] if unread else [])]
    title = f"Who owns which queue of {group.consumer_group}"
    described = (
        f"One line for each of {counted(len(names), 'client')}, one column for each of {counted(len(queues), 'queue')}."
        " The table below holds the same."
    )
    topics = list(dict.fromkeys(queue.topic for queue in queues))
    return HeatMap(
        picture=_drawn(rows, queues, topics, waiting, (chart_id, title, described)),
        caption=title,
        topics=", ".join(f"{place + 1} {visible(topic)}" for place, topic in enumerate(topics)),
        headers=("Client", "Queues", "Messages that wait", "Which"),
        rows=tuple(_row(_said(name), held, waiting) for name, held in rows),
    )


def _row(name: str, held: Sequence[Queue], waiting: Mapping[Queue, int | None]) -> tuple[str, ...]:
    ids: dict[tuple[str, str], list[str]] = {}
    for queue in held:
        ids.setdefault((queue.topic, queue.broker_name), []).append(str(queue.queue_id))
    which = listed([f"{topic} {broker}:{','.join(found)}" for (topic, broker), found in ids.items()], ITEMS)
    return name, number(len(held)), number(sum_of(map(waiting.get, held))), which or "none"


def _drawn(
    rows: Sequence[tuple[str, Sequence[Queue]]],
    queues: Sequence[Queue],
    topics: Sequence[str],
    waiting: Mapping[Queue, int | None],
    texts: tuple[str, str, str],
) -> Markup:
    """The SVG is written here: each cell is a rectangle, and the charts' engine takes longer for them than the page."""
    chart_id, title, described = texts
    place = {queue: index for index, queue in enumerate(queues)}
    most = max((lag for lag in waiting.values() if lag is not None), default=0)
    width, height = LABELS + CELL * len(queues) + 2, TOP + CELL * len(rows) + 2
    parts = [
        Markup('<text class="name" x="{x}" y="{y}">{name}</text>').format(
            x=LABELS - 6, y=TOP + CELL * line + 11, name=_cut(_said(name))
        )
        for line, (name, _) in enumerate(rows)
    ]
    for number_of_topic, topic in enumerate(topics):
        first = next(index for index, queue in enumerate(queues) if queue.topic == topic)
        parts.append(
            Markup(
                '<text class="topic" x="{x}" y="12">{n}</text><line x1="{at}" x2="{at}" y1="0" y2="{end}"></line>'
            ).format(x=LABELS + CELL * first + 3, n=number_of_topic + 1, at=LABELS + CELL * first, end=height)
        )
    for line, (name, held) in enumerate(rows):
        kind = "unread" if name == NOBODY else "cell"
        parts += [
            Markup(
                '<rect class="{kind}" x="{x}" y="{y}" width="{size}" height="{size}" fill-opacity="{shade}"></rect>'
            ).format(
                kind=kind,
                x=LABELS + CELL * place[queue] + 1,
                y=TOP + CELL * line + 1,
                size=CELL - 2,
                shade="1" if name == NOBODY else f"{_shade(waiting.get(queue), most):.2f}",
            )
            for queue in held
        ]
    return Markup(
        '<svg class="chart heat" role="img" aria-labelledby="{id}-title {id}-text" viewBox="0 0 {width} {height}"'
        ' width="{width}" height="{height}"><title id="{id}-title">{title}</title><desc id="{id}-text">{text}</desc>'
        "{parts}</svg>"
    ).format(
        id=chart_id,
        width=width,
        height=height,
        title=visible(words(title)),
        text=visible(words(described)),
        parts=Markup().join(parts),
    )


def _shade(lag: int | None, most: int) -> float:
    """How strong a cell's colour is: palest without lag, or if that is unknown. Roots, so that small lags show too."""
    return PALEST if not lag else PALEST + (1 - PALEST) * math.sqrt(lag / most)


def _said(name: str) -> str:
    return words(name) if name == NOBODY else name


def _cut(name: str) -> str:
    text = visible(name)
    half = LABEL_CHARACTERS // 2
    return text if len(text) <= LABEL_CHARACTERS else f"{text[: half - 1]}…{text[-half:]}"
