"""Who can use the queues of a broker without its master, or while it starts again, and those of a lost name server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.report.figures import UNKNOWN, number
from rocketmq_capacity.tables.assess.failures import ClusterFailure
from rocketmq_capacity.vocabulary import MASTER_LOST, NAME_SERVER_LOST, RESTART

TITLES: Final = {
    MASTER_LOST: "Master lost",
    RESTART: "Broker starts again",
    NAME_SERVER_LOST: "Name server lost",
}
YES_OR_NO: Final = {True: "yes", False: "no", None: UNKNOWN}


@dataclass(frozen=True, slots=True)
class ServerLine:
    """The loss of a master or a name server, or the restart of a broker."""

    what: str
    cells: tuple[tuple[str, str], ...]
    """By title, whether it can be written, pulled, pulled in order and popped, and when it is read again."""
    why: str
    is_harmless: bool
    """Clients that pull can read in the end."""


def server_lines(rows: Sequence[ClusterFailure]) -> tuple[ServerLine, ...]:
    """The lines in the order of the titles."""
    kinds = list(TITLES)
    return tuple(map(_line, sorted(rows, key=lambda row: kinds.index(row.failure))))


def everybody_reads(row: ClusterFailure) -> bool:
    """Whether all clients can read in the end."""
    return row.can_pull is True and row.can_pull_in_order is True and row.can_pop is True


def _line(row: ClusterFailure) -> ServerLine:
    return ServerLine(
        what=TITLES[row.failure],
        cells=(
            ("Can be written", YES_OR_NO[row.is_writable]),
            ("Pulled", YES_OR_NO[row.can_pull]),
            ("Pulled in order", YES_OR_NO[row.can_pull_in_order]),
            ("Popped", YES_OR_NO[row.can_pop]),
            ("Read again after", _until_read(row)),
        ),
        why=row.why,
        is_harmless=row.can_pull is True,
    )


def _until_read(row: ClusterFailure) -> str:
    if row.read_again_s is None:
        return "not before it is back" if row.can_pull is False else UNKNOWN
    return f"about {number(round(row.read_again_s))} s" if row.is_estimated else f"{number(row.read_again_s)} s"
