"""The verdict on what a change or a failure does to a group, by three things alone: capacity, reachability and loss.

Capacity is how busy the busiest client is at the peak. Reachability is which queues somebody reads and writes. Loss is
the messages that wait on lost queues, or that nobody will read. What-ifs and failures have the same verdict.
"""

from typing import Final, NamedTuple

from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.provision import Provision
from rocketmq_capacity.plan_file.scenario import Reason, Verdict
from rocketmq_capacity.settings.thresholds import Thresholds

DIGITS: Final = 9
"""Decimals of a difference of shares; further ones are errors of floating point."""
OVERLOADED: Final = 1.0
"""Busy share from which on a client falls behind for ever."""


class Crossed(NamedTuple):
    """How many things of a kind a change makes bad, and how many of those that were bad it mends."""

    worse: int = 0
    better: int = 0


NONE: Final = Crossed()


class Shift(NamedTuple):
    """What a change does to a group, as far as the verdict needs it.

    Attributes:
        was_busy: the busy share of the busiest client at the peak before; None if unknown, or without clients.
        is_busy: the same afterwards.
        lag_grew: whether lag grew before although the clients had time left.
        lag_grows: the same afterwards; None if unknown.
        had_clients: whether it had clients.
        has_clients: whether it has clients afterwards.
        unread: queues that stay or are new, by whether nobody reads them; None if an owner is unknown.
        twice: the same, by whether two clients read every message of them.
        still_unknown: whether these two are None because owners are as unknown afterwards as before.
        unreadable: topics, by whether consumers see no queue of them.
        unwritable: topics, by whether producers see no queue of them; topics with an unknown number do not count.
        waiting: messages that wait on lost queues, or that nobody reads from now on; None if unknown.
        is_loss: whether the group loses queues, traffic, or clients with their room. What is lost mends nothing.
    """

    was_busy: Interval | None
    is_busy: Interval | None
    lag_grew: bool = False
    lag_grows: bool | None = False
    had_clients: bool = True
    has_clients: bool = True
    unread: Crossed | None = NONE
    twice: Crossed | None = NONE
    still_unknown: bool = False
    unreadable: Crossed = NONE
    unwritable: Crossed = NONE
    waiting: int | None = 0
    is_loss: bool = False


class JudgedEffect(NamedTuple):
    """A verdict, and what it is based on.

    Attributes:
        verdict: BETTER, WORSE, UNCHANGED or UNDECIDED.
        reasons: what got worse, or else better, or else can no longer be told.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...] = ()


UNCHANGED: Final = JudgedEffect("UNCHANGED")


def effect_of(shift: Shift, thresholds: Thresholds) -> JudgedEffect:
    """The verdict on a change of a group.

    It is WORSE if something gets worse, whatever else gets better; BETTER if something is mended that nothing was taken
    away for; UNDECIDED if something can no longer be told.
    """
    verdicts = _capacity(shift, thresholds), _reachability(shift), _loss(shift, thresholds)
    if verdicts == _NOTHING:
        return UNCHANGED
    for verdict in ("WORSE", "UNDECIDED", "BETTER"):
        if reasons := tuple(reason for reason, found in zip(_REASONS, verdicts, strict=True) if found == verdict):
            return UNCHANGED if verdict == "BETTER" and shift.is_loss else JudgedEffect(verdict, reasons)
    return UNCHANGED


def lag_grows_idly(provision: Provision, thresholds: Thresholds) -> bool:
    """Whether the lag of a group grows although its busiest client, outliers included, has time left."""
    use = provision.at_peak
    is_busy = use is not None and use.lower > thresholds.PROVISION.under_utilisation
    return provision.cause == "lag" and not is_busy


_NOTHING: Final[tuple[Verdict, ...]] = ("UNCHANGED", "UNCHANGED", "UNCHANGED")
_REASONS: Final[tuple[Reason, ...]] = ("CAPACITY", "REACHABILITY", "LOSS")


def _capacity(shift: Shift, thresholds: Thresholds) -> Verdict:
    """By the busiest client at the peak, which crosses a bound, or is clearly busier above half of its time."""
    before, after = shift.was_busy, shift.is_busy
    if not shift.has_clients:
        return "UNCHANGED"  # no client is too busy; reachability says that they are gone
    bounds = thresholds.PROVISION.under_utilisation, OVERLOADED
    if after is None:
        return "UNCHANGED" if before is None else "UNDECIDED"
    if before is None:
        is_fine = after.upper <= bounds[0] or not shift.had_clients
        return "UNCHANGED" if is_fine else "UNDECIDED"
    half, least = thresholds.EFFECT.busy_ratio, thresholds.EFFECT.min_change_ratio
    if max(before.upper, after.upper) <= min(half, bounds[0]) and not shift.lag_grew:
        return "UNCHANGED"  # nearly every group of a fleet is so calm, before and after nearly every failure
    rise = round(after.estimate - before.estimate, DIGITS)
    if any(before.upper <= bound < after.lower for bound in bounds) or (after.estimate > half and rise >= least):
        return "WORSE"
    is_unknown = shift.lag_grew and shift.lag_grows is None
    if is_unknown or any(before.upper <= bound < after.upper for bound in bounds):
        return "UNDECIDED"
    falls_below_half = before.estimate > half >= after.estimate and -rise >= least
    is_back = falls_below_half or any(after.upper <= bound < before.lower for bound in bounds)
    return "BETTER" if is_back or (shift.lag_grew and not shift.lag_grows) else "UNCHANGED"


def _reachability(shift: Shift) -> Verdict:
    """By the clients that are left, and by the queues and topics that can be read and written."""
    each_kind = shift.unread, shift.twice, shift.unreadable, shift.unwritable
    if each_kind == _NONE_OF_EACH and shift.had_clients == shift.has_clients:
        return "UNCHANGED"
    known = [each for each in each_kind if each is not None]
    if any(each.worse for each in known) or (shift.had_clients and not shift.has_clients):
        return "WORSE"
    if (shift.unread is None or shift.twice is None) and not shift.still_unknown:
        return "UNDECIDED"
    is_better = any(each.better for each in known) or (shift.has_clients and not shift.had_clients)
    return "BETTER" if is_better else "UNCHANGED"


_NONE_OF_EACH: Final = (NONE, NONE, NONE, NONE)


def _loss(shift: Shift, thresholds: Thresholds) -> Verdict:
    """By the messages that wait; a few come and go with every batch."""
    return "WORSE" if (shift.waiting or 0) >= max(1, thresholds.LOW_UTILISATION.min_lag) else "UNCHANGED"
