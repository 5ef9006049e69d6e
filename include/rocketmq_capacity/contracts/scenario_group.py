"""Dataset ``scenario_group``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class ScenarioGroup(Dataset, frozen=True, kw_only=True):
    """What a scenario does to a group as it runs today; only a what-if has it, and only for groups that it changes.

    Grain: one row a group.
    Key: consumer_group.
    Units: queues, findings and messages, counted; utilisation is a ratio, 1 is always busy.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    verdict: Annotated[
        str, Meta(description="BETTER, WORSE, UNCHANGED or UNDECIDED, by capacity, reachability and loss")
    ]
    reasons: Annotated[
        tuple[str, ...],
        Meta(description="what the verdict is based on: CAPACITY (busiest client at the peak), REACHABILITY, LOSS"),
    ]
    why: Annotated[str, Meta(description="the same in words; empty if nothing that matters changes")]
    before_utilisation: Annotated[float | None, Meta(description="busy share of its busiest client before")] = None
    after_utilisation: Annotated[float | None, Meta(description="busy share of its busiest client after")] = None
    before_peak_utilisation: Annotated[float | None, Meta(description="the same at the peak, before")] = None
    after_peak_utilisation: Annotated[float | None, Meta(description="the same at that peak, after")] = None
    is_over_bound: Annotated[
        bool | None, Meta(description="the busiest client exceeds the policy's bound after; null if unknown")
    ] = None
    before_clients: Annotated[Int, Meta(description="consumers before")]
    after_clients: Annotated[Int, Meta(description="consumers after")]
    before_queues: Annotated[Int, Meta(description="readable queues of its business topics before")]
    after_queues: Annotated[Int, Meta(description="readable queues of its business topics after")]
    unread_queues: Annotated[
        Int | None, Meta(description="queues that nobody reads only after the changes; null if owners are unknown")
    ] = None
    waiting_messages: Annotated[
        int | None,
        Meta(description="messages not read on queues that are gone, or that nobody reads any more; null if unknown"),
    ] = None
    unreadable_topics: Annotated[
        tuple[str, ...], Meta(description="topics of which consumers see no queue any more, sorted")
    ] = ()
    unwritable_topics: Annotated[
        tuple[str, ...], Meta(description="topics of which producers see no queue any more, sorted")
    ] = ()
    before_lag: Annotated[int | None, Meta(description="messages not read before; null if unknown")] = None
    after_lag: Annotated[
        int | None, Meta(description="messages not read after, on the queues that are left; null if unknown")
    ] = None
    moved_queues: Annotated[
        Int | None,
        Meta(
            description="queues that are there before and after, and whose owner differs; null if an owner is unknown"
        ),
    ] = None
    findings_added: Annotated[Int, Meta(description="findings that only the changed cluster has")]
    findings_cleared: Annotated[
        Int, Meta(description="findings that were judged again on the same facts, and are gone")
    ]
    findings_undecided: Annotated[Int, Meta(description="findings that can no longer be judged")]
