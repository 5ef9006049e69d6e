"""The requests to name servers, brokers and Proxies, a small method for each; it begins with the request code."""

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.access import AccessEntry
from rocketmq_capacity.protocol.body.broker import MessageRequestMode, SubscriptionGroupConfig, TopicConfig
from rocketmq_capacity.protocol.body.cluster import ClusterInfo, TopicList, TopicRoute
from rocketmq_capacity.protocol.body.consumers import (
    ConsumerChannel,
    ConsumerConnection,
    ConsumerIds,
    ConsumerRunningInfo,
)
from rocketmq_capacity.protocol.body.offsets import CommittedOffsets, GroupProgress, MessageQueue, WrittenOffset
from rocketmq_capacity.settings.address import Address


class _Admin:
    """One process that is asked."""

    def __init__(self, address: Address, settings: ConnectionSettings) -> None:
        self._peer = Peer(address, settings)

    def give_up(self, reason: str) -> None:
        """Fail every request, those under way and all later ones, with the reason."""
        self._peer.give_up(reason)

    async def close(self) -> None:
        """End the connection."""
        await self._peer.close()


class NameServerAdmin(_Admin):
    """One name server; every method raises as those of `BrokerAdmin`."""

    async def cluster_info(self) -> ClusterInfo:
        """106: brokers and clusters."""
        return await self._peer.call(request.cluster_info())

    async def topic_list(self) -> TopicList:
        """206: the names of all topics."""
        return await self._peer.call(request.topic_list())

    async def topic_route(self, topic: str) -> TopicRoute:
        """105: where a topic's queues are; code 17 where it has none."""
        return await self._peer.call(request.topic_route(topic))


class BrokerAdmin(_Admin):
    """One broker.

    Every method raises `TransportError` if no answer came, `ResponseError` if the broker refused, and
    `RemoteProtocolError` if the answer is not valid.
    """

    async def topic_configs(self) -> tuple[TopicConfig, ...]:
        """21: the broker's topics."""
        return await self._peer.call(request.topic_configs())

    async def subscription_groups(self) -> tuple[SubscriptionGroupConfig, ...]:
        """201: the broker's consumer groups."""
        return await self._peer.call(request.subscription_groups())

    async def changed_topic_configs(self) -> tuple[tuple[TopicConfig, ...], int | None]:
        """21, with the time of the table's last change in ms since 1970."""
        return await self._peer.call(request.with_change(request.topic_configs()))

    async def changed_subscription_groups(self) -> tuple[tuple[SubscriptionGroupConfig, ...], int | None]:
        """201, likewise."""
        return await self._peer.call(request.with_change(request.subscription_groups()))

    async def runtime(self) -> dict[str, str]:
        """28: the broker's figures."""
        return await self._peer.call(request.broker_runtime())

    async def config(self) -> dict[str, str]:
        """26: the broker's settings, secrets among them."""
        return await self._peer.call(request.broker_config())

    async def message_request_modes(self) -> tuple[MessageRequestMode, ...]:
        """402: which group reads which topic by POP."""
        return await self._peer.call(request.message_request_modes())

    async def producers(self) -> dict[str, tuple[ConsumerChannel, ...]]:
        """328: the producers that have a channel to this broker, by group."""
        return await self._peer.call(request.producers())

    async def topic_stats(self, topic: str) -> dict[MessageQueue, WrittenOffset]:
        """202: how far the topic's queues on this broker are written."""
        return await self._peer.call(request.topic_stats(topic))

    async def consume_stats(self, consumer_group: str) -> dict[MessageQueue, GroupProgress]:
        """208: how far the group has read this broker's queues."""
        return await self._peer.call(request.consume_stats(consumer_group))

    async def committed_offsets(self) -> CommittedOffsets:
        """43: all offsets that groups have committed to this broker."""
        return await self._peer.call(request.committed_offsets())

    async def consumer_connection(self, consumer_group: str) -> ConsumerConnection:
        """203: the group's channels to this broker."""
        return await self._peer.call(request.consumer_connection(consumer_group))

    async def consumer_ids(self, consumer_group: str) -> ConsumerIds:
        """38: the client ids that rebalancing sees on this broker."""
        return await self._peer.call(request.consumer_ids(consumer_group))

    async def acl_of(self, access_key: str) -> tuple[AccessEntry, ...]:
        """3009: what a user of access control 2.0 may do."""
        return await self._peer.call(request.acl_of(access_key))

    async def acl_version(self) -> None:
        """52: whether we may ask for the version of the file of access control 1.0."""
        await self._peer.call(request.acl_version())

    async def consumer_running_info(self, consumer_group: str, client_id: str) -> ConsumerRunningInfo:
        """307: what a client says of itself, passed on by the broker."""
        return await self._peer.call(request.consumer_running_info(consumer_group, client_id))


class ProxyAdmin(_Admin):
    """One Proxy, at its remoting port; every method raises as those of `BrokerAdmin`."""

    @property
    def version(self) -> int | None:
        """RocketMQ's number of the Proxy's version, as its answers bear it; None where none has come."""
        return self._peer.version

    async def topic_route(self, topic: str) -> TopicRoute:
        """105: where clients of the topic are sent; code 17 where it has no route."""
        return await self._peer.call(request.topic_route(topic))

    async def consumer_connection(self, consumer_group: str) -> ConsumerConnection:
        """203: the group's members that this Proxy knows, its own and those of other Proxies."""
        return await self._peer.call(request.consumer_connection(consumer_group))

    async def consumer_ids(self, consumer_group: str) -> ConsumerIds:
        """38: the client ids of these."""
        return await self._peer.call(request.consumer_ids(consumer_group))
