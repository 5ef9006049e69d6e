"""Dataset ``consumer``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import BigCount, Count, Dataset, Facts
from rocketmq_capacity.vocabulary import DEFAULT_PROTOCOL, GRPC, Protocol


class ConsumerFacts(Facts, frozen=True, kw_only=True):
    """What rules use of a running consumer."""

    consumer_index: Annotated[Count, Meta(description="position of the consumer in its group in the inventory, from 0")]
    client_id: Annotated[str, Meta(description="id by which RocketMQ sorts and hashes it")]
    client_addr: Annotated[str | None, Meta(description="host:port, as the first broker of seen_on sees it")] = None
    protocol: Annotated[Protocol, Meta(description="REMOTING, or GRPC behind a Proxy")] = DEFAULT_PROTOCOL
    is_listed: Annotated[
        bool,
        Meta(description="it is in the list of members among which remoting consumers of the group divide the queues"),
    ] = True
    language: Annotated[str | None, Meta(description="client library, such as JAVA")] = None
    version: Annotated[str | None, Meta(description="version of the client library, such as V5_3_3")] = None
    seen_on: Annotated[
        tuple[str, ...] | None,
        Meta(description="names of the brokers, and addresses of the Proxies, that named it as a member"),
    ] = None
    started_at: Annotated[str | None, Meta(description="start of the consumer, UTC ISO-8601")] = None
    allocate_strategy: Annotated[
        str | None,
        Meta(
            description="strategy that it reports: its getName(), MACHINE_ROOM_NEARBY without the inner strategy, or another class's full name"
        ),
    ] = None
    consume_threads: Annotated[Count | None, Meta(description="listener threads")] = None
    consume_batch_size: Annotated[Count | None, Meta(description="maximum of messages in one listener call")] = None
    pull_threshold_for_queue: Annotated[Count | None, Meta(description="maximum of messages cached for one queue")] = (
        None
    )
    pull_threshold_size_for_queue_mib: Annotated[
        Count | None, Meta(description="maximum of MiB cached for one queue")
    ] = None
    pull_threshold_for_topic: Annotated[
        BigCount | None, Meta(description="maximum of messages cached for one topic; it divides this by its queues")
    ] = None
    pull_threshold_size_for_topic_mib: Annotated[
        BigCount | None, Meta(description="maximum of MiB cached for one topic; it divides this by its queues")
    ] = None
    room: Annotated[
        str | None, Meta(description="machine room by the policy, the same for equal ids; null if no rule matches")
    ] = None
    only_topics: Annotated[
        tuple[str, ...] | None,
        Meta(description="the topics that it subscribes to, if these are not all of its group's; else null"),
    ] = None
    has_owned_queues: Annotated[bool, Meta(description="it reported what it owns")]
    has_subscriptions: Annotated[bool, Meta(description="it reported its own subscriptions")]
    up_s: Annotated[float | None, Meta(description="seconds from its start to the snapshot")] = None

    @property
    def is_grpc(self) -> bool:
        """Whether a Proxy assigns its queues."""
        return self.protocol == GRPC

    def reads(self, topic: str) -> bool:
        """Whether it subscribes to this topic of its group."""
        return self.only_topics is None or topic in self.only_topics


class Consumer(ConsumerFacts, Dataset, frozen=True, kw_only=True):
    """Running consumers; equal client ids have separate rows.

    Grain: one row a consumer.
    Units: seconds, threads, messages and MiB, as each column says.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "consumer_index")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
