"""What producers see when a broker is lost: ways to send of which it is the same share a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocketmq_capacity.report.figures import UNKNOWN, number
from rocketmq_capacity.report.limits import NAMED_IN_A_CELL
from rocketmq_capacity.report.view.sending import in_words
from rocketmq_capacity.settings.producers import Sending
from rocketmq_capacity.tables.assess.failures import ProducerFailure
from rocketmq_capacity.wording import listed

ENDINGS: Final = {"KILL": "Killed", "SILENT": "Silent"}
FAILING: Final = {"ALL": "all", "ONLY_THERE": "those of topics that are only there", None: UNKNOWN, "NONE": "none"}
NOTICED_BY: Final = {"EXCEPTION": "exception of send", "CALLBACK": "onException", "NOBODY": "nobody"}


@dataclass(frozen=True, slots=True)
class ProducerLine:
    """What some producers see of a lost broker."""

    what: str
    cells: tuple[tuple[str, str], ...]
    """By title: the producers, tries and messages that fail, who notices, how long it takes, until when."""
    is_harmless: bool
    """No message fails."""


class _SeenByProducers(NamedTuple):
    ending: str
    failed_tries: int | None
    failing: str | None
    noticed_by: str
    worst_ms: int
    until_s: float | None


def producer_lines(rows: Sequence[ProducerFailure]) -> tuple[ProducerLine, ...]:
    """The lines of one broker, the most harmful first."""
    sendings: dict[_SeenByProducers, list[Sending]] = {}
    groups: dict[Sending, tuple[str, ...]] = {}
    for row in rows:
        sending = Sending(row.sending, row.retries, row.timeout_ms)
        groups[sending] = row.producer_groups
        sendings.setdefault(_SeenByProducers(*(getattr(row, name) for name in _SeenByProducers._fields)), []).append(
            sending
        )
    return tuple(_line(seen, sendings[seen], groups) for seen in sorted(sendings, key=_order))


def _order(seen: _SeenByProducers) -> tuple[int, bool, bool, int]:
    """A sort key: messages that fail, whether nobody notices, silent brokers, time."""
    harm = list(FAILING).index(seen.failing)
    return harm, seen.noticed_by != "NOBODY", seen.ending != "SILENT", -seen.worst_ms


def _line(seen: _SeenByProducers, sendings: Sequence[Sending], groups: dict[Sending, tuple[str, ...]]) -> ProducerLine:
    return ProducerLine(
        what=ENDINGS[seen.ending],
        cells=(
            ("Producers", "; ".join(_producers(sending, groups) for sending in sendings)),
            ("Tries that fail", number(seen.failed_tries)),
            ("Messages that fail", FAILING[seen.failing]),
            ("Noticed by", NOTICED_BY[seen.noticed_by]),
            ("Known after at most", f"{number(seen.worst_ms)} ms"),
            ("Fails until", "it is back" if seen.until_s is None else f"{number(seen.until_s)} s"),
        ),
        is_harmless=seen.failing == "NONE",
    )


def _producers(sending: Sending, groups: dict[Sending, tuple[str, ...]]) -> str:
    """All producers if they send alike, else the groups; and how they send."""
    names = groups[sending]
    who = listed(list(names), NAMED_IN_A_CELL) if names and len(groups) > 1 else "all"
    return in_words(sending) if len(groups) > 1 and not names else f"{who}: {in_words(sending)}"
