"""What failures would do, as the page shows it: to the cluster, and to one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.limits import LOSSES, NAMED_IN_A_CELL
from rocketmq_capacity.report.losses import OF_THE_CLUSTER, ORDER, Loss
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.report.view.producer_failures import ProducerLine, producer_lines
from rocketmq_capacity.report.view.unrouted import UnroutedLine, unrouted_lines
from rocketmq_capacity.report.view.verdicts import verdict_word
from rocketmq_capacity.tables.assess.failures import ClusterFailure, GroupFailure
from rocketmq_capacity.vocabulary import (
    BROKER,
    BUSIEST_CLIENT,
    MASTER_LOST,
    NAME_SERVER_LOST,
    ONE_FEWER,
    ONE_MORE,
    RESTART,
    ROOM,
)

EACH_GROUP: Final = {
    BUSIEST_CLIENT: "The busiest client of each group is lost",
    ONE_FEWER: "Each group loses its last client by id",
    ONE_MORE: "Each group gets one more client",
}
OWN: Final = {
    BROKER: "Broker lost",
    ROOM: "Room lost",
    BUSIEST_CLIENT: "Busiest client lost",
    ONE_FEWER: "Last client by id lost",
    ONE_MORE: "One more client",
}
YES_OR_NO: Final = {True: "yes", False: "no", None: UNKNOWN}
OF_SERVERS: Final = {
    MASTER_LOST: "Master lost",
    RESTART: "Broker starts again",
    NAME_SERVER_LOST: "Name server lost",
}
NOTHING: Final = "\u2013"


@dataclass(frozen=True, slots=True)
class Named:
    """Some groups or topics in a cell: how many, and the first of them."""

    total: int
    links: tuple[Link, ...]
    note: str = ""
    """What is not known of others."""

    @property
    def more(self) -> int:
        """Those that are not named."""
        return self.total - len(self.links)


@dataclass(frozen=True, slots=True)
class FailureLine:
    """A failure of the cluster."""

    what: str
    name: str | None
    """Of the broker or room; None of what each group loses for itself."""
    written: str
    lost_queues: str
    moved: str
    moved_note: str
    """Of how many groups that is not known."""
    busy: str
    worse: Named
    unwritable: Named
    unreadable: Named
    read_again: str
    is_harmless: bool
    """No group is worse off, and no topic becomes unreadable or unwritable."""


@dataclass(frozen=True, slots=True)
class Failures:
    """The lines, the most harmful of each kind first."""

    lines: tuple[FailureLine, ...]
    more: int
    harmful: int
    """Brokers and rooms whose loss does harm."""
    stuck: int = 0
    """Brokers that nobody can read without their master."""
    servers: tuple["ServerLine", ...] = ()
    more_servers: int = 0
    producers: tuple[ProducerLine, ...] = ()
    more_producers: int = 0
    unrouted: tuple[UnroutedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerLine:
    """The loss of a master or a name server, or the restart of a broker."""

    what: str
    name: str
    cells: tuple[tuple[str, str], ...]
    """By title, whether it can be written, pulled, pulled in order and popped, and when it is read again."""
    why: str
    is_harmless: bool


@dataclass(frozen=True, slots=True)
class OwnFailure:
    """The effect of a failure on one group."""

    what: str
    name: str | None
    cells: tuple[str, ...]
    """Queues lost, queues moved, busiest client afterwards, verdict, all read again."""
    is_harmful: bool


def failures_of(rows: PageRows, group_anchors: Mapping[str, str]) -> Failures | None:
    """The tables of the cluster; None where nothing was computed."""
    losses = rows.losses
    if not losses:
        return None
    kinds = list(OF_SERVERS)
    ordered = sorted(rows.cluster_failure, key=lambda row: (_is_usable(row), kinds.index(row.failure), row.lost))
    shared = [loss for loss in losses if loss.failure in OF_THE_CLUSTER]
    of_producers = producer_lines(rows.producer_failure)
    shown = [loss for loss in losses if loss.failure not in OF_THE_CLUSTER or loss in shared[:LOSSES]]
    return Failures(
        lines=tuple(_line(loss, group_anchors) for loss in shown),
        more=max(0, len(shared) - LOSSES),
        harmful=sum(1 for loss in shared if loss.worse or loss.unwritable or loss.unreadable),
        stuck=sum(1 for row in ordered if row.failure == MASTER_LOST and row.can_pull is False),
        servers=tuple(map(_server_line, ordered[:LOSSES])),
        more_servers=max(0, len(ordered) - LOSSES),
        producers=of_producers[:LOSSES],
        more_producers=max(0, len(of_producers) - LOSSES),
        unrouted=unrouted_lines(rows.unrouted_topic),
    )


def _server_line(row: ClusterFailure) -> ServerLine:
    can = {
        "Can be written": row.is_writable,
        "Pulled": row.can_pull,
        "Pulled in order": row.can_pull_in_order,
        "Popped": row.can_pop,
    }
    return ServerLine(
        what=OF_SERVERS[row.failure],
        name=row.lost,
        cells=(
            *((title, YES_OR_NO[one]) for title, one in can.items()),
            ("Read again after", _until_read(row)),
        ),
        why=row.why,
        is_harmless=_is_usable(row),
    )


def _is_usable(row: ClusterFailure) -> bool:
    """Whether clients that pull can read in the end."""
    return row.can_pull is True


def _until_read(row: ClusterFailure) -> str:
    if row.read_again_s is None:
        return "not before it is back" if row.can_pull is False else UNKNOWN
    return f"about {_seconds(round(row.read_again_s))}" if row.is_estimated else _seconds(row.read_again_s)


def own_failures(rows: Sequence[GroupFailure]) -> tuple[OwnFailure, ...]:
    """The table of a group: brokers and rooms by name, then its clients."""
    ordered = sorted(rows, key=lambda row: (ORDER.index(row.failure), row.lost or ""))
    return tuple(
        OwnFailure(
            what=OWN[row.failure],
            name=row.lost,
            cells=(
                number(row.lost_queues) if row.failure in OF_THE_CLUSTER else NOTHING,
                _own_moved(row),
                _busy(row),
                verdict_word(row.verdict, row.reasons),
                _seconds(row.read_again_s),
            ),
            is_harmful=row.verdict == "WORSE",
        )
        for row in ordered
    )


def _line(loss: Loss, group_anchors: Mapping[str, str]) -> FailureLine:
    is_shared = loss.failure in OF_THE_CLUSTER
    note = f"{loss.undecided:,} unknown" if loss.undecided else ""
    worse = tuple(Link(name, group_anchors.get(name)) for name in loss.worse[:NAMED_IN_A_CELL])
    return FailureLine(
        what=OWN[loss.failure] if is_shared else EACH_GROUP[loss.failure],
        name=loss.lost,
        written=f"{number(loss.msgs_per_s)}" if is_shared else NOTHING,
        lost_queues=number(loss.lost_queues) if is_shared else NOTHING,
        moved=_moved(loss),
        moved_note=f"{loss.unknown:,} unknown" if 0 < loss.unknown < loss.groups else "",
        busy=UNKNOWN if loss.busy_ratio is None else per_cent(loss.busy_ratio),
        worse=Named(len(loss.worse), worse, note),
        unwritable=_topics(loss.unwritable),
        unreadable=_topics(loss.unreadable),
        read_again=_seconds(loss.read_again_s) if loss.groups else NOTHING,
        is_harmless=not (loss.worse or loss.unwritable or loss.unreadable),
    )


def _own_moved(row: GroupFailure) -> str:
    return UNKNOWN if row.moved_today is None else number(row.moved_today)


def _topics(names: Sequence[str]) -> Named:
    return Named(len(names), tuple(Link(name, None) for name in names[:NAMED_IN_A_CELL]))


def _moved(loss: Loss) -> str:
    if not loss.groups:
        return NOTHING
    return UNKNOWN if loss.unknown == loss.groups else number(loss.moved)


def _busy(row: GroupFailure) -> str:
    if row.busy_ratio is None or row.busy_lower is None or row.busy_upper is None:
        return UNKNOWN
    share = per_cent(row.busy_ratio)
    return share if row.busy_lower == row.busy_upper else f"{per_cent(row.busy_lower)} to {per_cent(row.busy_upper)}"


def _seconds(value: float) -> str:
    return f"{number(value)} s"
