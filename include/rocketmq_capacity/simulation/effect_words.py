"""Why a what-if leaves a group as well off as it does, in words."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rocketmq_capacity.assessment.effect import JudgedEffect
from rocketmq_capacity.plan_file.scenario import Reason, Verdict
from rocketmq_capacity.simulation.group_shift import GroupShift
from rocketmq_capacity.wording import counted, listed, percent

SERVICE_UNKNOWN: Final = "whether its clients can read from a slave without the master is not known"


def why(change: GroupShift, effect: JudgedEffect, bound: float) -> str:
    """The reasons of a verdict, joined; empty if nothing that matters changes.

    Args:
        change: what changes of the group.
        effect: the verdict on it.
        bound: the busy share above which a client is too busy.
    """
    return "; ".join(part for reason in effect.reasons for part in PARTS[reason](change, effect.verdict, bound))


def _capacity(change: GroupShift, verdict: Verdict, bound: float) -> Iterator[str]:
    before, after = change.shift.was_busy, change.shift.is_busy
    if verdict == "UNDECIDED" or before is None or after is None:
        yield "how busy its clients would be is not known"
        return
    side = "above" if after.estimate > bound else "within"
    yield (
        f"the busiest client is busy for {percent(after.estimate)} of its time at the peak, {side} {percent(bound)}; "
        f"before it was {percent(before.estimate)}"
    )


def _reachability(change: GroupShift, verdict: Verdict, _bound: float) -> Iterator[str]:
    shift = change.shift
    if verdict == "UNDECIDED":
        yield SERVICE_UNKNOWN if change.is_service_unknown else "who would own which queue is not known"
        return
    if shift.had_clients and not shift.has_clients:
        yield f"no client is left: nobody reads its {counted(change.after_queues, 'queue')}"
    yield from gone_topics(change.unreadable_topics, change.unwritable_topics)
    if verdict == "BETTER":
        if shift.has_clients and not shift.had_clients:
            yield "it has clients again"
        if shift.unread is not None and shift.unread.better:
            yield f"{counted(shift.unread.better, 'queue')} that nobody read {_have(shift.unread.better)} a reader"
        if shift.twice is not None and shift.twice.better:
            yield f"{counted(shift.twice.better, 'queue')} {_are(shift.twice.better)} no longer read twice"
        if shift.unreadable.better or shift.unwritable.better:
            yield "topics that nobody could read or write can be read and written again"
        return
    if shift.unread is not None and shift.unread.worse:
        yield f"{shift.unread.worse} more {'queue has' if shift.unread.worse == 1 else 'queues have'} no reader"
    if shift.twice is not None and shift.twice.worse:
        yield f"{counted(shift.twice.worse, 'queue')} {_are(shift.twice.worse)} read twice"


def gone_topics(unreadable: tuple[str, ...], unwritable: tuple[str, ...]) -> Iterator[str]:
    """What becomes of topics that lose their last readable or writable queue, with what producers notice."""
    both = [name for name in unreadable if name in unwritable]
    if both:
        yield f"{listed(both)} {_have(len(both))} no readable queue any more, and producers cannot send to {_it(both)}"
    if read := [name for name in unreadable if name not in unwritable]:
        yield f"{listed(read)} {_have(len(read))} no readable queue any more; producers still send to {_it(read)}"
    if written := [name for name in unwritable if name not in unreadable]:
        yield f"producers cannot send to {listed(written)} any more"


def _loss(change: GroupShift, _verdict: Verdict, _bound: float) -> Iterator[str]:
    yield f"{counted(change.shift.waiting or 0, 'message')} would wait that {_are(change.shift.waiting or 0)} not read"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


PARTS: Final[Mapping[Reason, Callable[[GroupShift, Verdict, float], Iterator[str]]]] = {
    "CAPACITY": _capacity,
    "REACHABILITY": _reachability,
    "LOSS": _loss,
}
