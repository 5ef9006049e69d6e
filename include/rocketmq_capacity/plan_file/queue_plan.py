"""How to bring about what a what-if changed of queues and brokers, and what the queues cost."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.steps import RecommendationStep


class QueueCost(Struct, frozen=True, kw_only=True):
    """The least that the readable queues of a topic cost on a broker, whatever is written to them."""

    broker_name: Annotated[str, means("name of the broker")]
    replicas: Annotated[int, means("its master and slaves; each keeps the files")]
    files: Annotated[int, means("consume-queue files on each of them, at least")]
    files_bytes: Annotated[int, means("size of these files")]
    pulls_per_s: Annotated[float | None, means("pulls of all groups that divide the queues, at least; null if unknown")]


class QueuePlan(Struct, frozen=True, kw_only=True):
    """How to bring about what a what-if changed of a topic's queues or of a broker, from the cluster as it is."""

    action: Annotated[str, means("SHRINK_QUEUES, EXPAND_QUEUES, ADD_BROKER or REMOVE_BROKER")]
    topic: Annotated[str | None, means("the topic; null if it is about a broker")]
    broker_name: Annotated[str | None, means("the broker; null if it is about a topic")]
    manual: Annotated[bool, means("something forbids the change as it is, so its commands are comments")]
    reason: Annotated[str, means("what it does, and what forbids it")]
    smallest: Annotated[
        int | None, means("the fewest queues on each writable broker that serve every group; null if unknown")
    ] = None
    cost_before: Annotated[tuple[QueueCost, ...], means("by broker")] = ()
    cost_after: Annotated[tuple[QueueCost, ...], means("the same after the last step")] = ()
    steps: Annotated[tuple[RecommendationStep, ...], means("in order; none if it must not be done")] = ()
