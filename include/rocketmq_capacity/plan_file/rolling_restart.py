"""What happens while the clients of a group restart, some at a time."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.numbers import JsonObject

ClientIds = Literal["NEW", "SAME", "SOME_NEW"]


class RestartStep(Struct, frozen=True, kw_only=True):
    """One batch: its clients stop, and start again. Times are in seconds."""

    step: Annotated[int, means("its number, from 1 on")]
    client_ids: Annotated[tuple[str, ...], means("the clients that restart, by their ids before")]
    moved_at_stop: Annotated[int, means("queues that get another owner, or none, when the clients stop")]
    moved_at_start: Annotated[int, means("queues that get another owner when they have started again")]
    unread_longest_expected_s: Annotated[
        float, means("the longest mean time that nobody reads a queue, over both rebalances")
    ]
    unread_longest_worst_s: Annotated[float, means("the longest time, if a queue waits in both rebalances in one go")]
    lock_wait_worst_s: Annotated[float, means("the longest wait for the lock of a queue that is consumed in order")]
    messages_twice_expected: Annotated[
        float | None, means("messages consumed twice, on average; null if a rate is unknown")
    ]
    messages_twice_worst: Annotated[float | None, means("at worst")]


class RestartTotals(Struct, frozen=True, kw_only=True):
    """A whole rolling restart, from the first batch to the last one."""

    strategy: Annotated[str, means("the strategy of the clients")]
    batch: Annotated[int, means("clients that restart at the same time")]
    pause_s: Annotated[float, means("seconds from the start of a batch until the next one stops")]
    ending: Annotated[Literal["SHUTDOWN", "KILL", "SILENT"], means("how the clients end")]
    client_ids: Annotated[ClientIds, means("whether clients come back with other ids: all, none, or some of them")]
    steps: Annotated[int, means("batches; each causes two rebalances")]
    computed_steps: Annotated[
        int, means("batches that are computed; if fewer than `steps`, sums are estimated from them")
    ]
    rebalances: Annotated[int, means("changes of the members, upon which every client rebalances")]
    moved_queues: Annotated[int, means("queues that get another owner, summed over all rebalances")]
    unread_longest_expected_s: Annotated[float, means("the longest mean time that a queue is unread")]
    unread_longest_worst_s: Annotated[
        float | None,
        means(
            "the longest time at worst: of one step, or over all steps of a queue if the pause is shorter "
            "than `settles_s`; null if that would need steps that are not computed"
        ),
    ]
    lock_wait_worst_s: Annotated[float, means("the longest wait for a lock")]
    messages_twice_expected: Annotated[
        float | None, means("messages consumed twice in all, on average; null if a rate is unknown")
    ]
    messages_twice_worst: Annotated[float | None, means("at worst")]
    settles_s: Annotated[float, means("how long a batch takes at worst until every queue has one reader")]
    lasts_s: Annotated[float, means("how long the whole restart takes, with `down_s` for each batch")]
    busy_ratio: Annotated[
        float | None,
        means(
            "busy share of the busiest client at the peak while a batch is down, if the load spreads "
            "evenly; null if unknown"
        ),
    ]


class RollingRestartResult(Struct, frozen=True, kw_only=True):
    """What a rolling restart of a group means, and what other ways to do it would mean."""

    consumer_group: Annotated[str, means("the group")]
    undecided: Annotated[str | None, means("why nothing can be computed; null if it is computed")]
    down_s: Annotated[float, means("how long the clients of a batch are down (policy: rollout_s)")]
    asked: Annotated[RestartTotals | None, means("the restart of the scenario; null if undecided")]
    steps: Annotated[tuple[RestartStep, ...], means("its batches that are computed, in order")]
    alternatives: Annotated[
        tuple[RestartTotals, ...],
        means("with other strategies, batches, pauses, endings and client ids, the best first"),
    ]
    advice: Annotated[tuple[str, ...], means("what makes it shorter or gentler, in words")]
    timers: Annotated[JsonObject, means("the timers behind the figures, in seconds")]
