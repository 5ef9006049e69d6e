"""Dataset ``scenario_group``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, BigCount, Count, Dataset, one_of


class ScenarioGroup(Dataset, frozen=True, kw_only=True):
    """What a scenario does to a group as it runs today; only a what-if has it, and only for groups that it changes.

    Grain: one row a group.
    Units: queues, findings and messages, counted; utilisation is a ratio, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    verdict: Annotated[
        str,
        one_of("BETTER", "WORSE", "UNCHANGED", "UNDECIDED"),
        Meta(description="BETTER, WORSE, UNCHANGED or UNDECIDED, by capacity, reachability and loss"),
    ]
    reasons: Annotated[
        tuple[str, ...],
        Meta(description="what the verdict is based on: CAPACITY (busiest client at the peak), REACHABILITY, LOSS"),
    ]
    why: Annotated[str, Meta(description="the same in words; empty if nothing that matters changes")]
    before_utilisation: Annotated[Amount | None, Meta(description="busy share of its busiest client before")] = None
    after_utilisation: Annotated[Amount | None, Meta(description="busy share of its busiest client after")] = None
    before_peak_utilisation: Annotated[Amount | None, Meta(description="the same at the peak, before")] = None
    after_peak_utilisation: Annotated[Amount | None, Meta(description="the same at that peak, after")] = None
    is_over_bound: Annotated[
        bool | None, Meta(description="the busiest client exceeds the policy's bound after; null if unknown")
    ] = None
    before_clients: Annotated[Count, Meta(description="consumers before")]
    after_clients: Annotated[Count, Meta(description="consumers after")]
    before_queues: Annotated[Count, Meta(description="readable queues of its business topics before")]
    after_queues: Annotated[Count, Meta(description="readable queues of its business topics after")]
    unread_queues: Annotated[
        Count | None, Meta(description="queues that nobody reads only after the changes; null if owners are unknown")
    ] = None
    waiting_messages: Annotated[
        BigCount | None,
        Meta(description="messages not read on queues that are gone, or that nobody reads any more; null if unknown"),
    ] = None
    unreadable_topics: Annotated[
        tuple[str, ...], Meta(description="topics of which consumers see no queue any more, sorted")
    ] = ()
    unwritable_topics: Annotated[
        tuple[str, ...], Meta(description="topics of which producers see no queue any more, sorted")
    ] = ()
    before_lag: Annotated[BigCount | None, Meta(description="messages not read before; null if unknown")] = None
    after_lag: Annotated[
        BigCount | None, Meta(description="messages not read after, on the queues that are left; null if unknown")
    ] = None
    moved_queues: Annotated[
        Count | None,
        Meta(
            description="queues that are there before and after, and whose owner differs; null if an owner is unknown"
        ),
    ] = None
    findings_added: Annotated[Count, Meta(description="findings that only the changed cluster has")]
    findings_cleared: Annotated[
        Count, Meta(description="findings that were judged again on the same facts, and are gone")
    ]
    findings_undecided: Annotated[Count, Meta(description="findings that can no longer be judged")]
