"""What failures would do, as the page shows it: to the cluster, and to one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.losses import OF_THE_CLUSTER, ORDER, FailureLoss
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.groups import busy_text
from rocketmq_capacity.report.view.loss_cards import LossCards, first_named, loss_cards, moved
from rocketmq_capacity.report.view.unrouted import UnroutedLine, unrouted_lines
from rocketmq_capacity.report.view.verdicts import verdict_word
from rocketmq_capacity.tables.assess.failures import GroupFailure
from rocketmq_capacity.vocabulary import BROKER, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE, ROOM

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
class ClientLine:
    """What each group loses or gets for itself."""

    what: str
    moved: str
    busiest: Link | None
    """The group whose busiest client gets busier by most."""
    busy: str
    """How busy that client is today and afterwards."""
    worse: First[Link]
    unknown: str
    """How many groups may be worse off too; empty if none."""
    read_again: str
    is_harmless: bool


@dataclass(frozen=True, slots=True)
class Failures:
    """What the cluster may lose, what each group may lose for itself, and topics without a route."""

    of_cluster: LossCards
    of_clients: tuple[ClientLine, ...]
    unrouted: tuple[UnroutedLine, ...] = ()

    @property
    def anchors(self) -> dict[str, str]:
        """The ids of the cards of brokers, by the broker."""
        return {card.name: card.anchor for card in self.of_cluster.cards if card.what == OWN[BROKER]}


@dataclass(frozen=True, slots=True)
class OwnFailure:
    """The effect of a failure on one group."""

    what: str
    name: str | None
    cells: tuple[str, ...]
    """Queues lost, queues moved, busiest client afterwards, verdict, all read again."""
    is_harmful: bool


def failures_of(rows: PageRows, group_anchors: Mapping[str, str], cause_anchors: Mapping[str, str]) -> Failures | None:
    """What failures would do to the cluster; None where nothing was computed.

    ``cause_anchors`` has the cause of a broker's loss, by the broker.
    """
    if not rows.losses:
        return None
    return Failures(
        of_cluster=loss_cards(rows, group_anchors, cause_anchors),
        of_clients=tuple(_line(one, group_anchors) for one in rows.losses if one.failure not in OF_THE_CLUSTER),
        unrouted=unrouted_lines(rows.unrouted_topic),
    )


def own_failures(rows: Sequence[GroupFailure]) -> tuple[OwnFailure, ...]:
    """The table of a group: brokers and rooms by name, then its clients."""
    ordered = sorted(rows, key=lambda row: (ORDER.index(row.failure), row.lost or ""))
    return tuple(
        OwnFailure(
            what=OWN[row.failure],
            name=row.lost,
            cells=(
                number(row.lost_queues) if row.failure in OF_THE_CLUSTER else NOTHING,
                number(row.moved_today),
                busy_text(row),
                verdict_word(row.verdict, row.reasons),
                _seconds(row.read_again_s),
            ),
            is_harmful=row.verdict == "WORSE",
        )
        for row in ordered
    )


def _line(loss: FailureLoss, group_anchors: Mapping[str, str]) -> ClientLine:
    raised = loss.busiest
    return ClientLine(
        what=EACH_GROUP[loss.failure],
        moved=moved(loss),
        busiest=raised and Link(raised.consumer_group, group_anchors.get(raised.consumer_group)),
        busy=_raised(loss),
        worse=first_named(loss.worse, group_anchors),
        unknown=f"{len(loss.undecided):,} unknown" if loss.undecided else "",
        read_again=_seconds(loss.read_again_s),
        is_harmless=not loss.worse,
    )


def _raised(loss: FailureLoss) -> str:
    if loss.busiest is not None:
        return f"{per_cent(loss.busiest.busy_today)} \u2192 {per_cent(loss.busiest.busy_ratio)}"
    return UNKNOWN if loss.unknown_busy == loss.groups else "no busier"


def _seconds(value: float) -> str:
    return f"{number(value)} s"
