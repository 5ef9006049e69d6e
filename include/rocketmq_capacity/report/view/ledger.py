"""What became of earlier recommendations, and how often what they predicted came."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.ledger import (
    ActionRate,
    Fate,
    Gate,
    Ledger,
    LedgerEntry,
    LedgerFigure,
    LedgerStanding,
    State,
)
from rocketmq_capacity.report.figures import number, per_cent, when
from rocketmq_capacity.report.foretold import UTILISATION
from rocketmq_capacity.report.limits import LEDGER
from rocketmq_capacity.report.wording import title_of

STATE_WORDS: Final[Mapping[State | Fate, str]] = {
    "NEW": "New",
    "OPEN": "Open",
    "APPROVED": "Approved",
    "EXPIRED": "Approval expired",
    "BEGUN": "Begun",
    "CARRIED_OUT": "Carried out",
    "VERIFIED": "Verified",
    "FAILED": "Failed",
    "GONE": "Gone",
}
FIGURE_WORDS: Final[Mapping[str, str]] = {
    "read_queue_nums": "read queues",
    "write_queue_nums": "write queues",
    "clients": "clients",
    "brokers": "brokers that take messages",
    "strategy": "strategy",
    "message_request_mode": "request mode",
    "idle": "clients without a queue",
    "orphan_queues": "queues without a reader",
    "doubly_owned_queues": "queues with several readers",
    "peak": "the busiest client's queues / the mean",
    "messages_twice_worst": "messages that come twice, at worst",
    "utilisation_ratio": "busy share of the busiest client",
}


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A figure: what it is, of which broker or group, and its values as texts."""

    title: str
    of: str | None
    before: str
    predicted: str
    came: str
    why: str


@dataclass(frozen=True, slots=True)
class GateLine:
    """The gate that a change in steps has come to."""

    next: str
    """What to do."""
    title: str
    """Of the step whose gate it is."""
    why: str


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An earlier recommendation."""

    title: str
    state: str
    is_bad: bool
    since: str
    approved_by: str | None
    right: int
    """Figures that came as asked for or predicted."""
    judged: int
    figures: tuple[FigureLine, ...]
    """Those that did not."""
    why: str
    gate: GateLine | None


@dataclass(frozen=True, slots=True)
class RateLine:
    """How often an action's predictions came."""

    action: str
    verified: int
    judged: int
    ratio: str
    otherwise: int


@dataclass(frozen=True, slots=True)
class LedgerView:
    """The ledger of a plan."""

    lines: tuple[LedgerLine, ...]
    more: int
    rates: tuple[RateLine, ...]
    verified: int
    judged: int
    ratio: str


def ledger_of(ledger: Ledger) -> LedgerView | None:
    """The plan's ``ledger``; None if nothing became of any recommendation yet."""
    if not ledger.entries and not ledger.rates:
        return None
    verified, judged = ledger.came
    return LedgerView(
        lines=tuple(map(_line, ledger.entries[:LEDGER])),
        more=len(ledger.entries[LEDGER:]) + ledger.left_out,
        rates=tuple(map(_rate, ledger.rates)),
        verified=verified,
        judged=judged,
        ratio=per_cent(verified / judged if judged else None),
    )


def standing_in_words(standing: LedgerStanding) -> str:
    """Where a recommendation of today stands."""
    parts = ["New in this plan."] if standing.state == "NEW" else [f"Recommended since {when(standing.since)}."]
    if standing.state == "APPROVED" and standing.expires_at is not None:
        parts.append(f"The approval holds until {when(standing.expires_at)}.")
    if standing.state == "EXPIRED" and standing.expires_at is not None:
        parts.append(f"It was approved, and the approval has expired on {when(standing.expires_at)}.")
    if standing.done is not None:
        parts.append(f"Of its {standing.done[1]} changes {standing.done[0]} are made.")
    return " ".join(parts)


def _gate_line(gate: Gate) -> GateLine:
    opens = {
        "OPEN": f"Step {gate.step} is done: go on with step {gate.step + 1}",
        "CLOSED": f"Step {gate.step} is not done yet",
        "UNKNOWN": f"Whether step {gate.step} is done is not known: run its checks",
    }
    return GateLine(opens[gate.state], gate.title, gate.why)


def _line(entry: LedgerEntry) -> LedgerLine:
    figures = (*entry.changes, *entry.predictions) if entry.state not in ("BEGUN", "GONE") else ()
    after = {one.figure: one.predicted for one in entry.changes if one.of is None}
    return LedgerLine(
        title=title_of(entry.action, entry.consumer_group, entry.topic, after),
        state=STATE_WORDS[entry.state],
        is_bad=entry.state == "FAILED",
        since=when(entry.since),
        approved_by=entry.approved_by,
        right=sum(one.is_right is True for one in figures),
        judged=sum(one.is_right is not None for one in figures),
        figures=tuple(_figure(one) for one in figures if one.is_right is False),
        why=entry.why or "",
        gate=None if entry.gate is None else _gate_line(entry.gate),
    )


def _figure(figure: LedgerFigure) -> FigureLine:
    before, predicted, came = (_text(figure.figure, value) for value in (figure.before, figure.predicted, figure.came))
    return FigureLine(
        FIGURE_WORDS.get(figure.figure, figure.figure), figure.of, before, predicted, came, figure.why or ""
    )


def _text(figure: str, value: float | int | str | None) -> str:
    if isinstance(value, str):
        return value
    return per_cent(value) if figure == UTILISATION else number(value)


def _rate(rate: ActionRate) -> RateLine:
    judged = rate.verified + rate.failed
    return RateLine(
        action=rate.action,
        verified=rate.verified,
        judged=judged,
        ratio=per_cent(rate.verified / judged if judged else None),
        otherwise=rate.otherwise,
    )
