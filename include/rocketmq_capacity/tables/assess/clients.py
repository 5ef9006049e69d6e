"""What is computed of each client: its load and its capacity."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Dataset


class ClientLoad(Dataset, frozen=True, kw_only=True):
    """Load of each client id over the group's business topics, under each strategy that applies to all of them.

    Grain: one row a client id and strategy; an idle client has zeros, equal ids count once.
    Units: queues, messages a second, messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "strategy", "client_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    strategy: Annotated[str, means("name of the strategy, as getName() gives it, or POP")]
    client_id: Annotated[str, means("client id; equal ids count once")]
    queues: Annotated[BigCount, means("queues owned over all business topics")]
    msgs_per_s: Annotated[
        Amount | None, means("messages a second written to its queues; null if a rate is unknown")
    ] = None
    lag: Annotated[BigCount | None, means("messages not read on its queues; null if a lag is unknown")] = None


class ClientCapacity(Dataset, frozen=True, kw_only=True):
    """The work of each client for each topic, as queues are owned today, and how much it can do.

    Grain: one row a client id and business topic of which it owns queues.
    Units: queues, messages a second, milliseconds a call, messages handled at the same time, ratios.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "client_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    client_id: Annotated[str, means("client id; equal ids count once")]
    queues: Annotated[BigCount, means("queues of the topic that it owns")]
    incoming_msgs_per_s: Annotated[
        Amount | None, means("messages a second that come to it, after the filter; null if unknown")
    ] = None
    consumed_msgs_per_s: Annotated[
        Amount | None, means("messages a second that it reports to handle, with or without success; null if unknown")
    ] = None
    consume_rt_ms: Annotated[
        Amount | None, means("how long a call takes; if it does not report that, the mean of its group's clients")
    ] = None
    is_rt_reported: Annotated[bool, means("the client itself reports how long a call takes")]
    handles_at_once: Annotated[
        Amount | None, means("messages at the same time: calls at once x messages a call; null if unknown")
    ] = None
    capacity_msgs_per_s: Annotated[
        Amount | None, means("messages a second if it handled nothing else; null if unknown")
    ] = None
    busy_lower: Annotated[Amount | None, means("busy_ratio with the shortest known response time")] = None
    busy_ratio: Annotated[Amount | None, means("busy share of its time: incoming / capacity")] = None
    busy_upper: Annotated[Amount | None, means("busy_ratio with the longest known response time")] = None
    measured_busy_ratio: Annotated[
        Amount | None, means("consumed / capacity, by Little's law; a check of busy_ratio")
    ] = None
