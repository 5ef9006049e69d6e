"""What makes a rolling restart shorter or gentler, in words; each sentence has the figures that it rests on."""

from collections.abc import Iterator, Sequence
from math import ceil, inf

from rocketmq_capacity.plan_file.rolling_restart import RestartTotals
from rocketmq_capacity.wording import counted, percent


def badness(restart: RestartTotals) -> tuple[float, float, int, float, str, int]:
    """The key that sorts restarts, the best first: longest unread, then messages twice, queues moved and duration."""
    twice = inf if restart.messages_twice_expected is None else restart.messages_twice_expected
    unread = inf if restart.unread_longest_worst_s is None else restart.unread_longest_worst_s
    return unread, twice, restart.moved_queues, restart.lasts_s, restart.strategy, restart.batch


def advice(asked: RestartTotals, others: Sequence[RestartTotals], bound: float) -> Iterator[str]:
    """The sentences, the most helpful first.

    Args:
        asked: the restart that is asked for.
        others: other ways to do it, the best first.
        bound: the busy share above which a client is too busy.
    """
    if asked.pause_s < asked.settles_s:
        waits = "" if asked.unread_longest_worst_s is None else f", up to {asked.unread_longest_worst_s:,g} s in one go"
        yield (
            f"Pause for {ceil(asked.settles_s)} s or more: at worst a batch takes that long until each queue has one "
            f"reader. With {asked.pause_s:g} s, waits of a queue that moves in several steps may add up{waits}."
        )
    if asked.busy_ratio is not None and asked.busy_ratio > bound:
        yield (
            f"Restart fewer clients at a time: with {asked.batch} down, the busiest of the others is busy for "
            f"{percent(asked.busy_ratio)} of its time, above {percent(bound)}."
        )
    for other in others:
        if other.ending != asked.ending and badness(other) < badness(asked):
            yield (
                f"End the clients by shutdown() and not by {asked.ending}: each queue has one reader after at most "
                f"{other.settles_s:,g} s instead of {asked.settles_s:,g} s{_fewer_twice(asked, other)}."
            )
    for other in others:
        if other.client_ids != asked.client_ids and other.moved_queues < asked.moved_queues:
            yield (
                f"Set instanceName, so that clients keep their ids: {counted(other.moved_queues, 'queue')} "
                f"{'moves' if other.moved_queues == 1 else 'move'} in all instead of {asked.moved_queues:,}."
            )
    yield from _fewer_moves(asked, others, bound)


def _fewer_moves(asked: RestartTotals, others: Sequence[RestartTotals], bound: float) -> Iterator[str]:
    """The batch and the strategy that move the fewest queues, if that is fewer than now."""
    same = [one for one in others if one.ending == asked.ending and one.client_ids == asked.client_ids]
    same = [one for one in same if one.moved_queues < asked.moved_queues and one.pause_s == asked.pause_s]
    batches = [one for one in same if one.strategy == asked.strategy and _carries(one, bound)]
    if batches:
        best = min(batches, key=lambda one: (one.moved_queues, one.batch))
        yield (
            f"Restart {best.batch} at a time: {counted(best.moved_queues, 'queue')} "
            f"{'moves' if best.moved_queues == 1 else 'move'} in all instead of {asked.moved_queues:,}, in "
            f"{counted(best.steps, 'step')}, and the busiest client is busy for {percent(best.busy_ratio or 0.0)} of "
            "its time meanwhile."
        )
    strategies = [one for one in same if one.batch == asked.batch]
    if strategies:
        best = min(strategies, key=lambda one: (one.moved_queues, one.strategy))
        yield (
            f"With {best.strategy} {counted(best.moved_queues, 'queue')} "
            f"{'moves' if best.moved_queues == 1 else 'move'} in all instead of {asked.moved_queues:,}. The change "
            "to it needs a restart of every client itself, and divides the load in another way."
        )


def _carries(restart: RestartTotals, bound: float) -> bool:
    """Whether the clients that are left are known to carry the load."""
    return restart.busy_ratio is not None and restart.busy_ratio <= bound


def _fewer_twice(asked: RestartTotals, other: RestartTotals) -> str:
    if asked.messages_twice_expected is None or other.messages_twice_expected is None:
        return ""
    return f", and {other.messages_twice_expected:,g} messages come twice on average instead of " + (
        f"{asked.messages_twice_expected:,g}"
    )
