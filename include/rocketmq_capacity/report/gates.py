"""The gates of a change in steps that is begun: fewer queues of a topic, or a new broker.

A gate is open if today's snapshot shows what the checks of its step ask for, closed if it shows something else, and
unknown, with the reason, where facts are missing. Source: recommendation/shrinking.py and add_broker.py, whose steps
they are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rocketmq_capacity.plan_file.ledger import Gate, GateState, LedgerEntry, LedgerFigure
from rocketmq_capacity.report.foretold import BROKERS
from rocketmq_capacity.wording import listed

NAMED: Final = 8
"""Groups and brokers that a sentence names."""
WRITE_DOWN, WAIT, DRAINED = -4, -3, -2
"""Places of the steps that have a gate, from the end; the last step is that read queues go down."""
START, SPREAD = -3, -2
"""The same of a new broker; that disks empty is seen over days, and no gate."""
Going = Mapping[str, tuple[int, int]]
"""By broker, the first id of the queues that go, and the number of read queues today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """What the snapshot says of queues that go.

    Attributes:
        msgs_per_s: messages a second that are still written to them; None if that of some queue is unknown.
        unread: by group that reads the topic, the messages that it has not read there; None if unknown.
        broadcasting: those of these groups whose clients keep their offsets themselves.
    """

    msgs_per_s: float | None
    unread: Mapping[str, int | None] = field(default_factory=dict)
    broadcasting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How business topics lie on the brokers that take messages: masters that can be read and written.

    Attributes:
        brokers: their names.
        empty: those of them on which no business topic has a queue.
        uneven: topics that have more writable queues on some of them than on others.
        unknown: topics of which that is not known.
        untaken: by group, the queues on these brokers that none of its clients owns, as they report it; asked for only
            where every broker has topics.
    """

    brokers: tuple[str, ...]
    empty: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    untaken: Callable[[], Mapping[str, int]] = dict


def gate_of(entry: LedgerEntry, leftover: Callable[[str, Going], Leftover]) -> Gate | None:
    """The gate that a change of queues in steps has come to; None for any other change.

    Args:
        entry: with what its changes have become today.
        leftover: topic, queues that go -> what the snapshot says of them.
    """
    if len(entry.steps) < -WAIT or entry.topic is None:
        return None
    not_yet = list(_not_yet(entry, "write_queue_nums"))
    above = [str(one.of) for one in not_yet if one.came is not None]
    if above:
        return _gate(entry, WRITE_DOWN, "CLOSED", f"the write queues of {listed(above, NAMED)} are not down yet")
    if not_yet:
        names = listed([str(one.of) for one in not_yet], NAMED)
        return _gate(entry, WRITE_DOWN, "UNKNOWN", f"it is not known how many write queues the topic has on {names}")
    going = {
        str(one.of): (one.predicted, one.came)
        for one in _not_yet(entry, "read_queue_nums")
        if isinstance(one.predicted, int) and isinstance(one.came, int)
    }
    left = leftover(entry.topic, going)
    if left.msgs_per_s is None:
        return _gate(entry, WAIT, "UNKNOWN", "it is not known how much is written to the queues that go")
    if left.msgs_per_s > 0:
        why = f"{left.msgs_per_s:,.3g} messages a second are still written to the queues that go"
        return _gate(entry, WAIT, "CLOSED", why)
    return _drained(entry, left)


def gate_of_broker(entry: LedgerEntry, spread: Spread | None) -> Gate | None:
    """The gate that the addition of brokers has come to; None for any other change, and if the brokers are unknown."""
    wanted = next((one.predicted for one in entry.changes if one.figure == BROKERS), None)
    if not isinstance(wanted, int) or spread is None or len(entry.steps) < -START:
        return None
    number = len(spread.brokers)
    if number < wanted:
        return _gate(entry, START, "CLOSED", f"{number} of {wanted} brokers take messages")
    if spread.empty:
        why = f"{number} brokers take messages, and no business topic has a queue on {listed(spread.empty, NAMED)}"
        return _gate(entry, START, "OPEN", why)
    if untaken := [f"{group} {queues:,}" for group, queues in sorted(spread.untaken().items())]:
        return _gate(entry, SPREAD, "CLOSED", f"queues that no client has taken: {listed(untaken, NAMED)}")
    if spread.unknown:
        why = f"it is not known how many queues these topics have on each broker: {listed(spread.unknown, NAMED)}"
        return _gate(entry, SPREAD, "UNKNOWN", why)
    if spread.uneven:
        why = (
            f"more queues on some brokers than on others have: {listed(spread.uneven, NAMED)}; a snapshot does not see"
            " whether that is meant"
        )
        return _gate(entry, SPREAD, "UNKNOWN", why)
    why = (
        f"every business topic has as many queues on each of {number} brokers, and groups whose clients say what they"
        " own have taken all of them"
    )
    return _gate(entry, SPREAD, "OPEN", why)


def _drained(entry: LedgerEntry, left: Leftover) -> Gate:
    behind = {group: number for group, number in left.unread.items() if number and group not in left.broadcasting}
    if behind:
        unread = [f"{group} {number:,}" for group, number in sorted(behind.items())]
        return _gate(entry, DRAINED, "CLOSED", f"not read yet in the queues that go: {listed(unread, NAMED)}")
    if left.broadcasting:
        why = f"broadcasting groups keep their offsets in their clients: {listed(sorted(left.broadcasting), NAMED)}"
        return _gate(entry, DRAINED, "UNKNOWN", why)
    unknown = sorted(group for group, number in left.unread.items() if number is None)
    if unknown:
        why = f"it is not known what these have read in the queues that go: {listed(unknown, NAMED)}"
        return _gate(entry, DRAINED, "UNKNOWN", why)
    return _gate(
        entry,
        DRAINED,
        "OPEN",
        "nothing is written to the queues that go, and every group has read them to their end; a snapshot does not see "
        "delayed, timed and transactional messages that are still to come",
    )


def _not_yet(entry: LedgerEntry, figure: str) -> Iterator[LedgerFigure]:
    """The queues of brokers that are not what they should become."""
    return (one for one in entry.changes if one.figure == figure and one.came != one.predicted)


def _gate(entry: LedgerEntry, place: int, state: GateState, why: str) -> Gate:
    number = len(entry.steps) + place + 1
    return Gate(step=number, title=entry.steps[number - 1], state=state, why=why)
