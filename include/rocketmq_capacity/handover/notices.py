"""What an owner is told of a plan: the causes that are new, worse or gone since the last notice.

It is compared with what the owner was told, and not with the plan before: a plan of which no notice could be sent, or a
second one on the same day, leaves its causes to the next notice.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.handover.tickets import Ticket, Tickets
from rocketmq_capacity.plan_file.changes import WorsenedFigure, grown
from rocketmq_capacity.plan_file.finding import Impact
from rocketmq_capacity.vocabulary import SEVERITIES, Severity

EVERYBODY: Final = ""
"""Stands for an owner where all causes are told, whoever they belong to."""


class CauseRecord(Struct, frozen=True, kw_only=True):
    """A cause as an owner was told of it."""

    severity: Severity
    title: str
    message: str
    impact: Impact


class OwnerRecord(Struct, frozen=True, kw_only=True):
    """What an owner was told; ``day`` is the UTC day of the last plan of which there was a notice."""

    day: str = ""
    causes: dict[str, CauseRecord] = {}


class NoticeRecord(Struct, frozen=True, kw_only=True):
    """What the owners of a cluster were told."""

    owners: dict[str, OwnerRecord] = {}

    def with_owner(self, owner: str, record: OwnerRecord) -> "NoticeRecord":
        """The same, with what one owner was told now."""
        return NoticeRecord(owners={**self.owners, owner: record})


class WorseCause(Struct, frozen=True, kw_only=True):
    """A cause that is worse than the owner was told."""

    ticket: Ticket
    severity_before: Severity
    figures: tuple[WorsenedFigure, ...]


class News(Struct, frozen=True, kw_only=True):
    """What a notice says; each list has the worst first.

    Attributes:
        new: causes that the owner was not told of.
        worse: causes whose severity or figures are worse than the owner was told.
        gone: causes that are not found any more, as the owner was told of them.
        known: what the owner was told, this notice included.
    """

    new: tuple[Ticket, ...]
    worse: tuple[WorseCause, ...]
    gone: tuple[CauseRecord, ...]
    known: OwnerRecord

    @property
    def is_any(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.new or self.worse or self.gone)


def news_of(
    tickets: Tickets,
    owner: str,
    before: OwnerRecord,
    *,
    is_complete: bool,
    worse_factor: float,
    once_a_day: bool = True,
) -> News | None:
    """What is to be said to an owner; None if there was a notice of that day, or of a later one.

    What is accepted, or only for information, is silent. It is neither new nor gone.

    Args:
        tickets: of the plan.
        owner: whose causes are told; `EVERYBODY` for all.
        before: what the owner was told before.
        is_complete: whether everything answered; otherwise nothing is gone, because it may only be unseen.
        worse_factor: a figure of an impact that is at least this many times what it was is worse.
        once_a_day: whether a second notice of a day waits for the next day.
    """
    day = tickets.taken_at[:10]
    if day < before.day or (once_a_day and day == before.day):
        return None
    tickets_of_owner = [one for one in tickets.tickets if owner == EVERYBODY or owner in one.owners]
    known = {one.key for one in tickets_of_owner}
    elsewhere = {one.key for one in tickets.tickets}.union(tickets.still_found)
    lost = [key for key in before.causes if key not in known and key not in elsewhere]
    new = tuple(one for one in tickets_of_owner if one.key not in before.causes)
    worse = tuple(_worse(tickets_of_owner, before.causes, worse_factor))
    changed = {one.key: _record_of(one) for one in (*new, *(each.ticket for each in worse))}
    kept = {key: cause for key, cause in before.causes.items() if key in known or (key in lost and not is_complete)}
    gone = [before.causes[key] for key in lost] if is_complete else []
    said = bool(changed or gone)
    return News(
        new=new,
        worse=worse,
        gone=tuple(sorted(gone, key=lambda one: (SEVERITIES.index(one.severity), one.title))),
        known=OwnerRecord(day=day if said else before.day, causes={**kept, **changed}),
    )


def _worse(tickets: Sequence[Ticket], told_causes: Mapping[str, CauseRecord], factor: float) -> Iterator[WorseCause]:
    for ticket in tickets:
        if (before := told_causes.get(ticket.key)) is not None:
            figures = tuple(grown(before.impact, ticket.impact, factor))
            if figures or SEVERITIES.index(ticket.severity) < SEVERITIES.index(before.severity):
                yield WorseCause(ticket=ticket, severity_before=before.severity, figures=figures)


def _record_of(ticket: Ticket) -> CauseRecord:
    return CauseRecord(severity=ticket.severity, title=ticket.title, message=ticket.message, impact=ticket.impact)


def record_in(content: bytes) -> NoticeRecord:
    """What a stored file says was told. Errors: ValueError, RecursionError if it is damaged."""
    return msgspec.json.decode(content, type=NoticeRecord)


def content_of(record: NoticeRecord) -> bytes:
    """The bytes that `record_in` reads."""
    return msgspec.json.encode(record)
