"""What failures would do, as the page shows it: to the cluster, and to one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.contracts.group_failure import GroupFailure
from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.limits import LOSSES, NAMED_IN_A_CELL
from rocketmq_capacity.report.losses import OF_THE_CLUSTER, ORDER, Loss
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.vocabulary import BROKER, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE, ROOM, UNDER

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
    under: Named
    unwritable: Named
    unreadable: Named
    read_again: str
    is_harmless: bool
    """Nothing becomes too small, unreadable or unwritable."""


@dataclass(frozen=True, slots=True)
class Failures:
    """The lines, the most harmful of each kind first."""

    lines: tuple[FailureLine, ...]
    more: int
    harmful: int
    """Brokers and rooms whose loss does harm."""


@dataclass(frozen=True, slots=True)
class OwnFailure:
    """A failure as one group meets it."""

    what: str
    name: str | None
    cells: tuple[str, ...]
    """Queues lost, queues moved, busiest client afterwards, too small, all read again."""
    is_harmful: bool


def failures_of(losses: Sequence[Loss], group_anchors: Mapping[str, str]) -> Failures | None:
    """The table of the cluster; None where nothing was computed."""
    if not losses:
        return None
    shared = [loss for loss in losses if loss.failure in OF_THE_CLUSTER]
    shown = [loss for loss in losses if loss.failure not in OF_THE_CLUSTER or loss in shared[:LOSSES]]
    return Failures(
        lines=tuple(_line(loss, group_anchors) for loss in shown),
        more=max(0, len(shared) - LOSSES),
        harmful=sum(1 for loss in shared if loss.under or loss.unwritable or loss.unreadable),
    )


def own_failures(rows: Sequence[GroupFailure], status: str) -> tuple[OwnFailure, ...]:
    """The table of a group, by its rows and its provision status: brokers and rooms by name, then its clients."""
    ordered = sorted(rows, key=lambda row: (ORDER.index(row.failure), row.lost or ""))
    return tuple(
        OwnFailure(
            what=OWN[row.failure],
            name=row.lost,
            cells=(
                number(row.lost_queues) if row.failure in OF_THE_CLUSTER else NOTHING,
                _own_moved(row),
                _busy(row),
                _becomes(row, status),
                _seconds(row.read_again_s),
            ),
            is_harmful=row.becomes_under is True,
        )
        for row in ordered
    )


def _line(loss: Loss, group_anchors: Mapping[str, str]) -> FailureLine:
    is_shared = loss.failure in OF_THE_CLUSTER
    note = f"{loss.undecided:,} unknown" if loss.undecided else ""
    under = tuple(Link(name, group_anchors.get(name)) for name in loss.under[:NAMED_IN_A_CELL])
    return FailureLine(
        what=OWN[loss.failure] if is_shared else EACH_GROUP[loss.failure],
        name=loss.lost,
        written=f"{number(loss.msgs_per_s)}" if is_shared else NOTHING,
        lost_queues=number(loss.lost_queues) if is_shared else NOTHING,
        moved=_moved(loss),
        moved_note=f"{loss.unknown:,} unknown" if 0 < loss.unknown < loss.groups else "",
        busy=UNKNOWN if loss.busy_ratio is None else per_cent(loss.busy_ratio),
        under=Named(len(loss.under), under, note),
        unwritable=_topics(loss.unwritable),
        unreadable=_topics(loss.unreadable),
        read_again=_seconds(loss.read_again_s) if loss.groups else NOTHING,
        is_harmless=not (loss.under or loss.unwritable or loss.unreadable),
    )


def _own_moved(row: GroupFailure) -> str:
    if row.failure == BUSIEST_CLIENT:
        return NOTHING
    return UNKNOWN if row.moved_today is None else number(row.moved_today)


def _becomes(row: GroupFailure, status: str) -> str:
    if row.becomes_under is None:
        return UNKNOWN
    return "is already" if status == UNDER else "yes" if row.becomes_under else "no"


def _topics(names: Sequence[str]) -> Named:
    return Named(len(names), tuple(Link(name, None) for name in names[:NAMED_IN_A_CELL]))


def _moved(loss: Loss) -> str:
    if loss.failure == BUSIEST_CLIENT or not loss.groups:
        return NOTHING  # which queues move hangs on which client is the busiest, and is not computed
    return UNKNOWN if loss.unknown == loss.groups else number(loss.moved)


def _busy(row: GroupFailure) -> str:
    if row.busy_ratio is None or row.busy_lower is None or row.busy_upper is None:
        return UNKNOWN
    share = per_cent(row.busy_ratio)
    return share if row.busy_lower == row.busy_upper else f"{per_cent(row.busy_lower)} to {per_cent(row.busy_upper)}"


def _seconds(value: float) -> str:
    return f"{number(value)} s"
