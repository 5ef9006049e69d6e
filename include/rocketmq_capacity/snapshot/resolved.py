"""The inventory with look-ups for tables and units: kinds, rooms, request modes, and the topics of each group."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from rocketmq_capacity.model.facts import Refusal, RetryQueueNums, WhyRefused
from rocketmq_capacity.protocol.version import Version, version_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.rooms import RoomRules
from rocketmq_capacity.snapshot.filters import pass_ratios
from rocketmq_capacity.snapshot.holding import Ages, ages_of
from rocketmq_capacity.snapshot.inventory import (
    Client,
    Inventory,
    InventoryGroup,
    InventoryGroupOffset,
    InventorySubscription,
    parse_utc,
)
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.snapshot.offset_samples import OffsetSamples, offset_samples
from rocketmq_capacity.snapshot.past_rates import PastHours, past_rates
from rocketmq_capacity.snapshot.read import Read
from rocketmq_capacity.snapshot.seconds import Seconds
from rocketmq_capacity.snapshot.unseen import Unseen
from rocketmq_capacity.vocabulary import (
    ABSENT,
    BUSINESS,
    DEFAULT_PROTOCOL,
    DEFAULT_REQUEST_MODE,
    GRPC,
    LOGICAL_BROKER_PREFIX,
    MASTER,
    MASTERLESS,
    MIXED,
    POP,
    SQL92,
    SQL92_ENABLED,
    SYSTEM,
    TIMER_ENABLED,
    UnseenClients,
    distinct,
    is_broadcasting,
)

AUTO_CREATES_GROUPS: Final = "autoCreateSubscriptionGroup"
"""A setting of brokers: whether they create a group once a client of it asks for messages (BrokerConfig)."""
ANY_VERSION: Final = (0, 0, 0)
REFUSES_POPS: Final = (5, 1, 1)
"""The first version of a broker that refuses pops while its timer is off (PopMessageProcessor)."""


class Resolved:
    """An inventory with the look-ups that several tables and units share.

    Attributes:
        inventory: the inventory itself.
        history: earlier inventories of the same cluster, oldest first.
        kinds: the kind of every topic and group.
        failed_addresses: addresses that did not answer a request.
        name_at: the broker's name by address.
        topics_read: for each group the topics that it or any of its clients subscribes to, sorted.
        protocols: by group, its clients' protocol; MIXED if they differ, None without clients.
        reads: for each group the same topics, with how it reads them.
        seconds: times as numbers.
    """

    def __init__(self, inventory: Inventory, policy: Policy, history: Sequence[Inventory] = ()) -> None:
        self.inventory, self.history = inventory, history
        self.rebalances = policy.thresholds.REBALANCE_FREQUENCY
        self.stale_days = policy.thresholds.STALE_OBJECT.days
        self.trend_days = policy.thresholds.BROKER_DISK.trend_days
        self.kinds = Kinds(inventory, policy.exclude)
        self.failed_addresses = {failure.broker_addr for failure in inventory.unanswered}
        self.name_at = {b.broker_addr: b.broker_name for b in inventory.brokers if b.broker_addr}
        self.topics_read = [_topics_of(group) for group in inventory.consumer_groups]
        self.protocols = {group.consumer_group: _protocol_of(group) for group in inventory.consumer_groups}
        self.reads = [
            _reads_of(group, topics, is_proxied=self.protocols[group.consumer_group] == GRPC)
            for group, topics in zip(inventory.consumer_groups, self.topics_read, strict=True)
        ]
        self._unseen = Unseen(inventory)
        self.seconds = Seconds()
        self._taken_at = inventory.taken_at_utc
        self._up_s: dict[str, float] = {}
        self._topics = {topic.topic: topic for topic in inventory.topics}
        self._pass_ratios: dict[str, dict[str, float | None]] = {}
        self._rooms = policy.rooms or RoomRules()
        self.provision = policy.thresholds.PROVISION
        self._events = policy.events
        self._room_of_broker: dict[str, str | None] = {}
        self._rooms_of = {group.consumer_group: self._found_rooms(group) for group in inventory.consumer_groups}
        silent = {self.name_at[address] for address in self.failed_addresses if address in self.name_at}
        self._present = {broker.broker_name for broker in inventory.brokers}
        self._masters = {broker.broker_name for broker in inventory.brokers if broker.broker_id == 0}
        self._answering = self._present - silent
        self._creates_no_groups = self._masters_without(AUTO_CREATES_GROUPS)
        self._refuse_sql92 = self._masters_without(SQL92_ENABLED)
        self._refuse_pops = self._masters_without(TIMER_ENABLED, REFUSES_POPS)

    def _masters_without(self, setting: str, first: Version = ANY_VERSION) -> set[str]:
        """The brokers whose masters answered, and have switched the setting off; of this version or a later one."""
        return {
            broker.broker_name
            for broker in self.inventory.brokers
            if broker.broker_id == 0
            and broker.broker_name in self._answering
            and (broker.config or {}).get(setting) == "false"
            and (version_of(broker.version) or ANY_VERSION) >= first
        }

    @cached_property
    def past_hours(self) -> PastHours:
        """The rates of topics in the hours of the stored days."""
        rates = past_rates(self.inventory, self.history, self.provision)
        hourly = {topic.topic: topic.hourly for topic in self.inventory.topics if topic.hourly is not None}
        return PastHours(rates, self._taken_at, self.provision, hourly, self._events)

    @cached_property
    def offset_samples(self) -> OffsetSamples:
        """The offsets of groups over time, with those of the history."""
        return offset_samples((*self.history, self.inventory), self.seconds)

    def state(self, broker_name: str) -> str:
        """MASTER, MASTERLESS or ABSENT."""
        if broker_name in self._masters:
            return MASTER
        return MASTERLESS if broker_name in self._present else ABSENT

    def has_answered(self, broker_name: str) -> bool:
        """Whether the broker is present and answered every request."""
        # A logical broker is no process that could be asked.
        return broker_name in self._answering or broker_name.startswith(LOGICAL_BROKER_PREFIX)

    def refusals(self, group: InventoryGroup) -> tuple[Refusal, ...]:
        """The brokers that give the group no messages, and why, by name; none for settings that are unknown."""
        refused: dict[str, WhyRefused] = {}
        if self._refuse_sql92 and self._filters_by_sql92(group):
            refused |= dict.fromkeys(self._refuse_sql92, "SQL92_DISABLED")
        if self._refuse_pops and self._pops(group):
            refused |= dict.fromkeys(self._refuse_pops, "POP_DISABLED")
        if group.settings is not None:
            created = {name for one in group.settings for name in one.broker_names}
            refused |= dict.fromkeys(self._creates_no_groups - created, "NOT_CREATED")
        for settings in group.settings or ():
            if settings.consume_enable is False:
                refused |= dict.fromkeys(settings.broker_names, "CONSUME_DISABLED")
            elif settings.consume_broadcast_enable is False and is_broadcasting(group.message_model):
                refused |= dict.fromkeys(settings.broker_names, "BROADCAST_DISABLED")
        return tuple(Refusal(broker_name=name, why=why) for name, why in sorted(refused.items()))

    def _pops(self, group: InventoryGroup) -> bool:
        """Whether the group pops all of its business topics, as gRPC clients do in any case."""
        protocol = self.protocols[group.consumer_group]
        if protocol == GRPC:
            return True
        modes = {one.message_request_mode or group.message_request_mode for one in self._business(group)}
        return protocol != MIXED and not group.orderly and modes == {POP}

    def _business(self, group: InventoryGroup) -> list[InventorySubscription]:
        return [one for one in group.subscriptions or () if self.kinds.of_topic(one.topic) == BUSINESS]

    def _filters_by_sql92(self, group: InventoryGroup) -> bool:
        """Whether the group pulls all of its business topics by SQL92; brokers let clients pop by it in any case."""
        if self.protocols[group.consumer_group] in (GRPC, MIXED):
            return False
        business = self._business(group)
        return bool(business) and all(
            one.expression_type == SQL92 and (one.message_request_mode or group.message_request_mode) != POP
            for one in business
        )

    def retry_queues(self, group: InventoryGroup) -> tuple[RetryQueueNums, ...]:
        """The retry queues of each broker that does not use one for the group, by name; empty if unknown."""
        numbers = {
            name: one.retry_queue_nums
            for one in group.settings or ()
            if one.retry_queue_nums is not None and one.retry_queue_nums != 1
            for name in one.broker_names
        }
        return tuple(RetryQueueNums(broker_name=name, retry_queue_nums=each) for name, each in sorted(numbers.items()))

    def room_of_broker(self, broker_name: str) -> str | None:
        """The broker's room by the policy."""
        if broker_name not in self._room_of_broker:
            self._room_of_broker[broker_name] = self._rooms.of_broker(broker_name)
        return self._room_of_broker[broker_name]

    def rooms_of(self, group: InventoryGroup) -> list[str | None]:
        """Each consumer's room; None if unknown.

        Consumers with the same id have one room, the first that is known, because RocketMQ's resolver asks by id.
        """
        return self._rooms_of[group.consumer_group]

    def request_mode(self, group: InventoryGroup, reads: Sequence[Read]) -> str:
        """The mode of the group's business topics, MIXED if they differ; gRPC clients always pop."""
        if self.protocols[group.consumer_group] == GRPC:
            return POP
        modes = {read.message_request_mode for read in reads if self.kinds.of_topic(read.topic) == BUSINESS}
        if self.protocols[group.consumer_group] == MIXED:
            modes.add(POP)
        return MIXED if len(modes) > 1 else next(iter(modes), group.message_request_mode or DEFAULT_REQUEST_MODE)

    def pass_ratio(self, read: Read) -> float | None:
        """The share of the topic's messages that match the group's filter; None if unknown."""
        name = read.group.consumer_group
        if name not in self._pass_ratios:
            self._pass_ratios[name] = pass_ratios(read.group, self._topics, self.inventory.taken_at)
        return self._pass_ratios[name].get(read.topic, 1.0)

    def business_ratios(self, reads: Sequence[Read]) -> dict[str, float | None]:
        """By business topic of these, the share of its messages that match the group's filter; None if unknown."""
        return {read.topic: self.pass_ratio(read) for read in reads if self.kinds.of_topic(read.topic) == BUSINESS}

    def are_listed(self, group: InventoryGroup) -> list[bool]:
        """For each consumer, whether the group's remoting consumers see it as a member when they divide the queues.

        Remoting consumers ask a broker for the members, or the Proxy to which they are connected. A broker knows the
        gRPC consumers of a Proxy in local mode, and does not know those of a Proxy in cluster mode.
        """
        clients = group.clients or ()
        if self.protocols[group.consumer_group] != MIXED:
            return [True] * len(clients)
        asked = {server for client in clients if client.protocol != GRPC for server in client.seen_on or self._present}
        return [client.protocol != GRPC or not asked.isdisjoint(client.seen_on or ()) for client in clients]

    def unseen_clients(self, group: InventoryGroup) -> UnseenClients | None:
        """Why a group without known clients may have some; None if there is no sign of it."""
        return self._unseen.clients_of(group)

    def are_readers_known(self) -> bool:
        """Whether it is known of every group which topics it reads; RocketMQ's own groups do not count."""
        return self._unseen.are_seen and all(
            group.subscriptions is not None
            or group.offsets is not None
            or self.kinds.of_group(group.consumer_group) == SYSTEM
            for group in self.inventory.consumer_groups
        )

    def behind_s(self, offset: InventoryGroupOffset) -> float | None:
        """Seconds from the store time of the last message read to the snapshot."""
        if offset.last_timestamp is None:
            return None
        return self.seconds[self.inventory.taken_at] - self.seconds[offset.last_timestamp]

    def ages_of(self, client: Client) -> list[Ages]:
        """How long ago the client did something with each queue that it holds."""
        return ages_of(client, self.inventory.taken_at, self.seconds)

    def up_s(self, client: Client) -> float | None:
        """Seconds from the client's start to the snapshot."""
        if client.started_at is None:
            return None
        if client.started_at not in self._up_s:  # clients of one deployment start together
            self._up_s[client.started_at] = (self._taken_at - parse_utc(client.started_at)).total_seconds()
        return self._up_s[client.started_at]

    def _found_rooms(self, group: InventoryGroup) -> list[str | None]:
        rooms: dict[str, str | None] = {}
        for client in group.clients or ():
            if rooms.get(client.client_id) is None:
                rooms[client.client_id] = self._rooms.of_client(client.client_id, client.client_addr)
        return [rooms[client.client_id] for client in group.clients or ()]


def only_topics(group: InventoryGroup, topics: Sequence[str]) -> list[list[str] | None]:
    """For each client the topics that it subscribes to, sorted; None if these are all topics of its group."""
    of_clients = [_topics_of_client(client, group) for client in group.clients or ()]
    return [None if len(of_client) == len(topics) else distinct(of_client) for of_client in of_clients]


def _protocol_of(group: InventoryGroup) -> str | None:
    """The protocol of the group's clients, MIXED if they differ; None without clients."""
    protocols = {client.protocol or DEFAULT_PROTOCOL for client in group.clients or ()}
    return MIXED if len(protocols) > 1 else next(iter(protocols), None)


def _topics_of(group: InventoryGroup) -> list[str]:
    """The topics that the group or any of its clients subscribes to, sorted."""
    clients = (client.subscriptions or () for client in group.clients or ())
    return distinct(s.topic for s in chain(group.subscriptions or (), chain.from_iterable(clients)))


def _reads_of(group: InventoryGroup, topics: Sequence[str], *, is_proxied: bool) -> list[Read]:
    subscriptions = {subscription.topic: subscription for subscription in group.subscriptions or ()}
    return [Read(group, topic, subscriptions.get(topic), is_proxied) for topic in topics]


def _topics_of_client(client: Client, group: InventoryGroup) -> set[str]:
    """The topics that this client subscribes to: its own, or its group's if it did not report its own."""
    subscriptions = group.subscriptions if client.subscriptions is None else client.subscriptions
    return {subscription.topic for subscription in subscriptions or ()}
