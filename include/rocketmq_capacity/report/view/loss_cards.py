"""One card for each broker, room and name server that may be lost: first minutes, afterwards, until it is back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.limits import LOSSES, NAMED_IN_A_CELL
from rocketmq_capacity.report.losses import OF_THE_CLUSTER, FailureLoss, harm
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.lost_servers import ServerLine, everybody_reads, server_lines
from rocketmq_capacity.report.view.producer_failures import FAILING, ProducerLine, producer_lines
from rocketmq_capacity.tables.assess.failures import ClusterFailure, ProducerFailure
from rocketmq_capacity.vocabulary import BROKER, MASTER_LOST, NAME_SERVER_LOST, RESTART, ROOM
from rocketmq_capacity.wording import counted, listed

TITLES: Final = {BROKER: "Broker lost", ROOM: "Room lost", NAME_SERVER_LOST: "Name server lost"}
ENDS: Final = {"KILL": "If its process ends", "SILENT": "If its machine is gone"}

GROUPS: Final = {
    "CAPACITY": "Groups too busy",
    "REACHABILITY": "Groups cut off",
    "LOSS": "Groups whose messages wait",
}
"""Groups that are worse off, by the reason of that verdict."""


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A figure today and afterwards."""

    label: str
    name: Link | None
    """The group that it is about."""
    today: str
    then: str


@dataclass(frozen=True, slots=True)
class LossCard:
    """A loss, from its first minutes until it is over.

    Attributes:
        anchor: its id on the page.
        what: what is lost.
        name: its name.
        cause: the id of the cause that is its loss; None if there is none on the page.
        first: sentences on the first minutes.
        compared: figures today and afterwards.
        harmed: groups and topics that it harms, by how it does that.
        afterwards: sentences on the time after the first minutes.
        until_back: sentences on what waits or cannot be sent until it is back.
        figures: further figures, by title.
        servers: who can use its queues, and when.
        producers: what producers see of the loss.
    """

    anchor: str
    what: str
    name: str
    cause: str | None
    first: tuple[str, ...]
    compared: tuple[BeforeAfter, ...]
    harmed: tuple[tuple[str, First[Link]], ...]
    afterwards: tuple[str, ...]
    until_back: tuple[str, ...]
    figures: tuple[tuple[str, str], ...]
    servers: tuple[ServerLine, ...]
    producers: tuple[ProducerLine, ...]


@dataclass(frozen=True, slots=True)
class LossCards:
    """The cards, most harm first.

    Attributes:
        cards: those of losses that do harm, or of which it is unknown who reads.
        unknown: brokers and rooms whose loss does no harm as far as it is known.
        unknown_groups: groups of which it is unknown whether one of these losses makes them worse off.
        harmless: brokers, rooms and name servers whose loss does no harm that lasts.
        harmful: brokers and rooms whose loss makes groups worse off, or topics unreadable or unwritable.
        stuck: brokers whose queues nobody reads without the master.
    """

    cards: First[LossCard]
    unknown: First[Link]
    unknown_groups: First[Link]
    harmless: First[Link]
    harmful: int
    stuck: int


@dataclass(frozen=True, slots=True)
class _KnownLoss:
    """What is known of one loss."""

    what: str
    name: str
    loss: FailureLoss
    """Without groups and topics if nobody uses it."""
    servers: Sequence[ClusterFailure]
    producers: Sequence[ProducerFailure]
    is_alone: bool = False
    """It is the only name server."""

    @property
    def is_stuck(self) -> bool:
        return any(row.failure == MASTER_LOST and row.can_pull is False for row in self.servers)

    @property
    def has_card(self) -> bool:
        """Something that lasts goes wrong, or it is unknown who reads."""
        loss = self.loss
        lasting = [row for row in self.servers if row.failure != RESTART]
        does_harm = loss.worse or loss.unwritable or loss.unreadable or self.is_alone
        return bool(does_harm) or (self.what == BROKER and not lasting) or not all(map(everybody_reads, lasting))

    @property
    def order(self) -> tuple[int, int, int, bool, float, str]:
        """A sort key, most harm first."""
        *counts, rate, _ = harm(self.loss)
        unreadable, unwritable, worse = counts
        return unreadable, unwritable, worse, not self.is_stuck, rate, self.name


def loss_cards(rows: PageRows, group_anchors: Mapping[str, str], cause_anchors: Mapping[str, str]) -> LossCards:
    """The cards of what the whole cluster may lose."""
    lost = sorted(_lost(rows), key=lambda one: one.order)
    with_card = [one for one in lost if one.has_card]
    unknown = [one for one in lost if one.loss.undecided and not one.has_card]
    groups = sorted({name for one in unknown for name in one.loss.undecided})
    harmless = [one for one in lost if not (one.loss.undecided or one.has_card)]
    cards = (
        _card(one, f"loss-{place}", group_anchors, cause_anchors)
        for place, one in enumerate(with_card[:LOSSES], start=1)
    )
    return LossCards(
        cards=First(cards, len(with_card)),
        unknown=_names(unknown),
        unknown_groups=first_named(groups, group_anchors),
        harmless=_names(harmless),
        harmful=sum(1 for one in lost if one.loss.worse or one.loss.unwritable or one.loss.unreadable),
        stuck=sum(1 for one in lost if one.is_stuck),
    )


def _names(lost: Sequence[_KnownLoss]) -> First[Link]:
    return First((Link(one.name, None) for one in lost[:LOSSES]), len(lost))


def first_named(names: Sequence[str], anchors: Mapping[str, str]) -> First[Link]:
    """As many groups or topics as a cell holds, with links to those that have an anchor."""
    return First((Link(name, anchors.get(name)) for name in names[:NAMED_IN_A_CELL]), len(names))


def _lost(rows: PageRows) -> Iterator[_KnownLoss]:
    servers: dict[tuple[str, str], list[ClusterFailure]] = {}
    for row in rows.cluster_failure:
        servers.setdefault((NAME_SERVER_LOST if row.failure == NAME_SERVER_LOST else BROKER, row.lost), []).append(row)
    producers: dict[str, list[ProducerFailure]] = {}
    for failure in rows.producer_failure:
        producers.setdefault(failure.broker_name, []).append(failure)
    losses = {(one.failure, one.lost or ""): one for one in rows.losses if one.failure in OF_THE_CLUSTER}
    nameservers = sum(1 for what, _ in servers if what == NAME_SERVER_LOST)
    for what, name in dict.fromkeys((*losses, *servers)):
        yield _KnownLoss(
            what,
            name,
            losses.get((what, name)) or FailureLoss(what, name),
            servers.get((what, name), ()),
            producers.get(name, ()) if what == BROKER else (),
            is_alone=what == NAME_SERVER_LOST and nameservers == 1,
        )


def _card(
    lost: _KnownLoss, anchor: str, group_anchors: Mapping[str, str], cause_anchors: Mapping[str, str]
) -> LossCard:
    loss = lost.loss
    return LossCard(
        anchor=anchor,
        what=TITLES[lost.what],
        name=lost.name,
        cause=cause_anchors.get(lost.name) if lost.what == BROKER else None,
        first=tuple(_first(lost)),
        compared=tuple(_compared(loss, group_anchors)),
        harmed=tuple(_harmed(loss, group_anchors)),
        afterwards=tuple(_afterwards(loss)),
        until_back=tuple(_until_back(lost)),
        figures=_figures(loss),
        servers=server_lines(lost.servers),
        producers=producer_lines(lost.producers),
    )


def _first(lost: _KnownLoss) -> Iterator[str]:
    """Who cannot send and who reads nothing, until all clients know of the loss."""
    loss = lost.loss
    for ending in ENDS:
        yield from _sending(ending, [row for row in lost.producers if row.ending == ending], loss.msgs_per_s)
    if loss.groups:
        yield f"{counted(loss.groups, 'group')} read there: nobody reads these {counted(loss.lost_queues, 'queue')}."
        yield f"All other queues are read again after at most {number(loss.read_again_s)} s."


def _sending(ending: str, rows: Sequence[ProducerFailure], msgs_per_s: float | None) -> Iterator[str]:
    """What becomes of messages whose turn it is there; producers that send in several ways have a line for each."""
    if_it_ends = ENDS[ending]
    for failing in FAILING:
        alike = [row for row in rows if row.failing == failing]
        if not alike:
            continue
        names = sorted({name for row in alike for name in row.producer_groups})
        who = listed(names, NAMED_IN_A_CELL) if names else "all producers"
        if failing == "NONE":
            yield f"{if_it_ends}, messages are sent again elsewhere, and none fails ({who})."
        elif failing == "ONLY_THERE":
            yield f"{if_it_ends}, messages of topics that are only there fail ({who})."
        elif failing is None:
            yield f"{if_it_ends}, it is unknown whether messages fail ({who})."
        else:
            yield f"{if_it_ends}, messages whose turn it is there fail {_how_long(alike, msgs_per_s)} ({who})."


def _how_long(rows: Sequence[ProducerFailure], msgs_per_s: float | None) -> str:
    known = [row.until_s for row in rows if row.until_s is not None]
    if len(known) < len(rows):
        return "until it is back"
    if msgs_per_s is None:
        return f"for up to {number(max(known))} s"
    return f"for up to {number(max(known))} s, up to {counted(round(msgs_per_s * max(known)), 'message')}"


def _compared(loss: FailureLoss, group_anchors: Mapping[str, str]) -> Iterator[BeforeAfter]:
    if loss.busiest is not None:
        raised = loss.busiest
        link = Link(raised.consumer_group, group_anchors.get(raised.consumer_group))
        yield BeforeAfter("Busiest client of", link, per_cent(raised.busy_today), per_cent(raised.busy_ratio))
    if loss.groups and None not in (loss.clients_today, loss.clients_left):
        yield BeforeAfter("Clients", None, number(loss.clients_today), number(loss.clients_left))
    if loss.groups:
        unread = loss.lost_queues + loss.unread
        then = f"{unread:,} or more" if loss.unknown_readers else number(unread)
        yield BeforeAfter("Queues unread because of it", None, "0", then)


def _harmed(loss: FailureLoss, group_anchors: Mapping[str, str]) -> Iterator[tuple[str, First[Link]]]:
    for reason, title in GROUPS.items():
        if names := loss.reasons.get(reason, ()):
            yield title, first_named(names, group_anchors)
    for title, topics in (("Topics nobody can write", loss.unwritable), ("Topics nobody can read", loss.unreadable)):
        if topics:
            yield title, first_named(topics, {})


def _afterwards(loss: FailureLoss) -> Iterator[str]:
    if not loss.groups:
        return
    if not loss.worse:
        yield "No group is known to be worse off."
    if loss.busiest is None and loss.unknown_busy < loss.groups:
        yield "No group's busiest client gets busier."
    if loss.unknown_busy > len(loss.undecided):
        yield f"For {counted(loss.unknown_busy, 'group')} it is unknown how busy the clients become."
    if len(loss.undecided) == 1:
        yield "For 1 group it is unknown whether it is worse off."
    elif loss.undecided:
        yield f"For {counted(len(loss.undecided), 'group')} it is unknown whether they are worse off."


def _until_back(lost: _KnownLoss) -> Iterator[str]:
    """What waits, and what cannot be sent."""
    loss = lost.loss
    for row in lost.servers:
        if row.failure != RESTART:
            yield row.why
            if row.failure == MASTER_LOST and row.can_pull and row.read_again_s:
                yield f"Then its queues are read again after at most {number(row.read_again_s)} s."
    yield from _waiting(loss)
    if loss.unwritable:
        topics = counted(len(loss.unwritable), "topic")
        rate = loss.unsendable_msgs_per_s
        of = f"{number(rate)} messages/s" if rate is not None else "It is unknown how many messages"
        yield f"{of} of {topics} cannot be sent."
    elif loss.msgs_per_s:
        yield f"Producers write these {number(loss.msgs_per_s)} messages/s to the other brokers."
    for row in lost.servers:
        if row.failure == RESTART and row.read_again_s is not None:
            again = number(round(row.read_again_s))
            yield f"If it was killed and starts again, its queues are read after about {again} s."


def _waiting(loss: FailureLoss) -> Iterator[str]:
    if loss.groups and loss.groups == loss.unknown_waiting:
        yield "It is unknown how many messages wait there that groups have not read."
    elif loss.groups:
        waits = "waits" if loss.waiting == 1 else "wait"
        yield f"{counted(loss.waiting, 'message')} {waits} there that groups have not read, summed over the groups."
        if loss.unknown_waiting:
            yield f"For {counted(loss.unknown_waiting, 'group')} that is unknown."


def _figures(loss: FailureLoss) -> tuple[tuple[str, str], ...]:
    """Further figures of a broker or a room that groups or producers use."""
    if not (loss.groups or loss.msgs_per_s):
        return ()
    return (
        ("Written there, messages/s", number(loss.msgs_per_s)),
        ("Queues lost", number(loss.lost_queues)),
        ("Queues that move", moved(loss)),
    )


def moved(loss: FailureLoss) -> str:
    """Queues that stay and get another owner, with the number of groups for which that is unknown."""
    if loss.groups and loss.unknown == loss.groups:
        return UNKNOWN
    return number(loss.moved) + (f" ({loss.unknown:,} unknown)" if loss.unknown else "")
