"""What clients cost each master: connections, heartbeats, look-ups, commits, and pulls and pops that wait or come back.

- A client has one connection to each broker that it knows, whatever groups it is in, and sends each a heartbeat every
  30 s: MQClientInstance.sendHeartbeatToAllBroker, ClientConfig.heartbeatBrokerInterval. Java clients are producers too.
- At each rebalance it asks a broker of each topic, at random, for the members of its group, or for its queues where the
  broker assigns them: RebalanceImpl.doRebalance, MQClientInstance.findBrokerAddrByTopic, RebalanceService.
- Every 5 s it commits the offset of each queue that it pulls, changed or not: RemoteBrokerOffsetStore.persistAll.
- A pull without messages waits at the broker for 15 s. The broker looks after it every 5 s, so for 15 to 20 s; then the
  client pulls again at once: DefaultMQPushConsumerImpl.BROKER_SUSPEND_MAX_TIME_MILLIS, PullRequestHoldService.run.
- A message ends the wait. So each message costs a pull at most, and a 32nd of one where clients read in full batches:
  PullRequestHoldService.notifyMessageArriving, DefaultMQPushConsumer.pullBatchSize.
- A client that pops sends one pop for each broker, or for each queue where ``pop_share_queue_num`` limits it, and
  acknowledges each message: QueryAssignmentProcessor.allocate4Pop, PopLongPollingService, popBatchNums.

All of rocketmq-all-5.3.3. How many pulls a program sends that pulls by itself, or a Proxy for its clients, is unknown.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rocketmq_capacity.model.broker_figures import most_of_means
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.settings.thresholds import TransitionPolicy
from rocketmq_capacity.tables import Broker, ClientCost
from rocketmq_capacity.vocabulary import (
    CONSUME_ACTIVELY,
    GRPC,
    NOT_TOLD,
    OFFSETS_MOVE,
    OWN_CHOICE,
    POP,
    is_broadcasting,
    is_readable,
)

SUSPENDED_S: Final = 15.0
"""How long a client lets a pull or a pop wait, at least."""
POPPED_S: Final = 16.0
"""A pop waits no longer than this; a broker looks after those that wait every 20 ms."""
LOOKED_AFTER_S: Final = 5.0
"""How often a broker looks after the pulls that wait."""
SHORT_POLL_MS: Final = 1_000
"""BrokerConfig.shortPollingTimeMills: how long a pull waits, and how often it is looked after, without long polling."""
BATCH: Final = 32
EVERYTHING: Final = frozenset({"connections", "lookups", "commits", "pulls", "pops", "acks"})
"""What is unknown of a broker where clients are that nobody names."""
READS: Final = "getTotalTps"
"""StoreStatsService.getGetTotalTps: means over the last 10 s, 1 min and 10 min."""


class CostGroup(NamedTuple):
    """The columns of ``consumer_group`` that decide what its clients send."""

    consumer_group: str
    message_model: str | None
    consume_type: str | None
    is_orderly: bool | None
    protocol: str | None
    unseen_clients: str | None


class CostRead(NamedTuple):
    """The columns of ``subscription``."""

    consumer_group: str
    topic: str
    pass_ratio: float | None
    message_request_mode: str
    pop_share_queue_num: int


class CostClient(NamedTuple):
    """The columns of ``consumer``."""

    consumer_group: str
    client_id: str
    protocol: str
    seen_on: Sequence[str] | None
    only_topics: Sequence[str] | None
    allocate_strategy: str | None


class CostPlace(NamedTuple):
    """The columns of ``topic_queue``."""

    topic: str
    broker_name: str
    read_queue_nums: int | None
    perm: int | None


class CostProducer(NamedTuple):
    """The columns of ``producer``."""

    producer_group: str
    client_id: str
    seen_on: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is known of clients and queues.

    Attributes:
        groups: every consumer group.
        reads: the topics that each reads, retry topics too.
        clients: the running consumers.
        producers: the running producers.
        places: the queues of each topic on each broker.
        rates: messages a second written to a topic on a broker; None, or no entry, is unknown.
    """

    groups: Iterable[CostGroup]
    reads: Iterable[CostRead]
    clients: Iterable[CostClient]
    producers: Iterable[CostProducer]
    places: Iterable[CostPlace]
    rates: Mapping[tuple[str, str], float | None]


class _Polls(NamedTuple):
    """The pulls, or the pops, of a group for a topic on a broker.

    Attributes:
        waiting: how many wait while everything is read.
        least: messages a second that they bring, at least.
        most: the same, at most; None is unknown.
    """

    waiting: float
    least: float
    most: float | None

    @classmethod
    def of(cls, waiting: float, rate: float | None, read: CostRead) -> "_Polls":
        """Those for messages that come at this rate, of which a filter lets some through."""
        if rate is None:
            return cls(waiting, 0.0, None)
        return cls(
            waiting, rate * (read.pass_ratio or 0.0), rate * (1.0 if read.pass_ratio is None else read.pass_ratio)
        )

    def times(self, copies: int) -> "_Polls":
        """Those of so many clients that each read everything."""
        return _Polls(self.waiting * copies, self.least * copies, None if self.most is None else self.most * copies)


@dataclass(slots=True)
class _Requests:
    """What is asked of a broker.

    Attributes:
        lookups: look-ups of members at each rebalance.
        queries: queries for assignments at each rebalance.
        commits: offsets at each commit.
        pulled: pulls, of each group and topic.
        popped: pops, of each group and topic.
        unknown: the figures to which someone adds of whom nobody knows how much.
    """

    lookups: float = 0.0
    queries: float = 0.0
    commits: float = 0.0
    pulled: list[_Polls] = field(default_factory=list)
    popped: list[_Polls] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)

    def rebalanced(self, asks: float, queues: int, *, pops: bool) -> None:
        """Add what clients ask at each rebalance, and the offsets that they commit of these queues."""
        if pops:
            self.queries += asks
        else:
            self.lookups += asks
            self.commits += queues


@dataclass(slots=True)
class _Members:
    """The remoting consumers of a group, and whether it has others."""

    clients: list[CostClient] = field(default_factory=list)
    has_grpc: bool = False
    chooses: bool = False

    def readers(self, topic: str) -> int:
        """Clients that subscribe to a topic."""
        return sum(one.only_topics is None or topic in one.only_topics for one in self.clients)


def client_costs(
    fleet: Fleet, masters: Iterable[Broker], silent: Iterable[str], intervals: TransitionPolicy
) -> Iterator[ClientCost]:
    """A row for each master, by name.

    Args:
        fleet: clients and queues.
        masters: the masters.
        silent: names of brokers that did not answer a request; who is connected to them is unknown.
        intervals: how often clients send what they send in any case.
    """
    asked: defaultdict[str, _Requests] = defaultdict(_Requests)
    places: defaultdict[str, list[CostPlace]] = defaultdict(list)
    for place in fleet.places:
        places[place.topic].append(place)
    members: defaultdict[str, _Members] = defaultdict(_Members)
    for client in fleet.clients:
        of_group = members[client.consumer_group]
        if client.protocol == GRPC:
            of_group.has_grpc = True
        else:
            of_group.clients.append(client)
            of_group.chooses |= client.allocate_strategy == OWN_CHOICE
    groups = {one.consumer_group: one for one in fleet.groups}
    read_by: defaultdict[str, set[str]] = defaultdict(set)
    for read in fleet.reads:
        group = groups.get(read.consumer_group)
        if group is None:
            continue
        on = places.get(read.topic, [])
        readable = [one for one in on if one.read_queue_nums is None or is_readable(one.perm, one.read_queue_nums)]
        read_by[read.consumer_group].update(one.broker_name for one in readable)
        _add_requests(group, members[read.consumer_group], read, readable, fleet.rates, asked)
    connections = _Connections()
    for name, of_group in members.items():
        connections.add(((one.client_id, one.seen_on or ()) for one in of_group.clients), read_by[name])
    producers: defaultdict[str, list[CostProducer]] = defaultdict(list)
    for producer in fleet.producers:
        producers[producer.producer_group].append(producer)
    for senders in producers.values():
        connections.add((one.client_id, one.seen_on) for one in senders)
    unanswered, connected = frozenset(silent), connections.by_broker()
    for broker in sorted(masters, key=lambda one: one.broker_name):
        name = broker.broker_name
        yield _row(broker, asked[name], connected[name], intervals, is_silent=name in unanswered)


class _Connections:
    """To which brokers each client has a connection.

    Equal ids are separate connections in one group, and the same connection in another group.
    """

    def __init__(self) -> None:
        self._brokers: dict[tuple[str, int], frozenset[str]] = {}

    def add(self, clients: Iterable[tuple[str, Sequence[str]]], always: Iterable[str] = ()) -> None:
        """Add the clients of a group: the brokers that name each, and those that all of them know."""
        known = frozenset(always)
        places: dict[tuple[str, ...], frozenset[str]] = {}
        before: dict[str, int] = {}
        for client_id, seen_on in clients:
            names = tuple(seen_on)
            if names not in places:
                places[names] = known.union(names)
            key = client_id, before.get(client_id, 0)
            before[client_id] = key[1] + 1
            other = self._brokers.get(key)
            self._brokers[key] = places[names] if other is None else other | places[names]

    def by_broker(self) -> Counter[str]:
        """How many connections each broker has."""
        connections: Counter[str] = Counter()
        for names, number in Counter(self._brokers.values()).items():
            for broker_name in names:
                connections[broker_name] += number
        return connections


def _add_requests(
    group: CostGroup,
    members: _Members,
    read: CostRead,
    places: Sequence[CostPlace],
    rates: Mapping[tuple[str, str], float | None],
    asked: Mapping[str, _Requests],
) -> None:
    """What the clients of a group ask the brokers of a topic that they read."""
    pops = read.message_request_mode == POP and not (group.is_orderly and group.protocol != GRPC)
    polls = {"pops", "acks"} if pops else {"pulls"}
    clients, is_broadcast = members.readers(read.topic), is_broadcasting(group.message_model)
    polls_themselves = members.chooses or group.consume_type == CONSUME_ACTIVELY
    unknown = _unknown(group, members) | (polls if clients and polls_themselves else set())
    queues = sum(one.read_queue_nums or 0 for one in places)
    for place in places:
        of_broker, on_broker = asked[place.broker_name], place.read_queue_nums
        of_broker.unknown |= unknown
        if not clients:
            continue
        if on_broker is None:
            of_broker.unknown |= polls | {"commits"}
            continue
        if not (is_broadcast or members.chooses):
            of_broker.rebalanced(clients / len(places), on_broker, pops=pops)
        if polls_themselves:
            continue
        rate = rates.get((read.topic, place.broker_name))
        if pops:
            of_broker.popped.append(_Polls.of(_pops(clients, queues, on_broker, read.pop_share_queue_num), rate, read))
        else:
            of_broker.pulled.append(_Polls.of(on_broker, rate, read).times(clients if is_broadcast else 1))


def _unknown(group: CostGroup, members: _Members) -> frozenset[str]:
    """The figures of its brokers that nobody knows because of a group's clients; a Proxy pops for its own."""
    if group.unseen_clients in (OFFSETS_MOVE, NOT_TOLD):
        return EVERYTHING
    return frozenset({"pops", "acks"} if members.has_grpc or group.unseen_clients is not None else ())


def _pops(clients: int, queues: int, on_broker: int, share: int) -> float:
    """Pops of a group that wait on a broker, where ``queues`` of the topic's are readable in all."""
    if share <= 0 or share >= clients - 1:
        return float(clients)
    if clients <= queues:
        return float(on_broker * (share + 1))
    return clients * on_broker / queues


def _row(
    broker: Broker, asked: _Requests, connected: int, intervals: TransitionPolicy, *, is_silent: bool
) -> ClientCost:
    unknown = asked.unknown | (EVERYTHING if is_silent else frozenset())
    connections = None if "connections" in unknown else connected
    shortest, longest = _held_s(broker)
    return ClientCost(
        broker_name=broker.broker_name,
        connections=connections,
        heartbeats_per_s=None if connections is None else _per_s(connections, intervals.heartbeat_s),
        member_lookups_per_s=None if "lookups" in unknown else _per_s(asked.lookups, intervals.rebalance_s),
        assignment_queries_per_s=None if "lookups" in unknown else _per_s(asked.queries, intervals.rebalance_s),
        offset_commits_per_s=None if "commits" in unknown else _per_s(asked.commits, intervals.persist_offset_s),
        waiting_pulls=None if "pulls" in unknown else _waiting(asked.pulled),
        waiting_pops=None if "pops" in unknown else _waiting(asked.popped),
        pulls_per_s_lower=_least(asked.pulled, longest),
        pulls_per_s_upper=None if "pulls" in unknown else _most(asked.pulled, shortest),
        pops_per_s_lower=_least(asked.popped, POPPED_S),
        pops_per_s_upper=None if "pops" in unknown else _most(asked.popped, SUSPENDED_S),
        acks_per_s=None if "acks" in unknown else _messages(asked.popped),
        counted_reads_per_s=most_of_means(broker.runtime, READS),
    )


def _waiting(polls: Sequence[_Polls]) -> int:
    return round(sum(one.waiting for one in polls))


def _least(polls: Sequence[_Polls], longest_s: float) -> float:
    return sum((max(one.waiting / longest_s, one.least / BATCH) for one in polls), 0.0)


def _most(polls: Sequence[_Polls], shortest_s: float) -> float | None:
    messages = _messages(polls)
    return None if messages is None else messages + sum(one.waiting for one in polls) / shortest_s


def _messages(polls: Sequence[_Polls]) -> float | None:
    """Messages a second, at most; None if unknown."""
    return sum_of(one.most for one in polls)


def _held_s(broker: Broker) -> tuple[float, float]:
    """How long a pull without messages waits, at least and at most."""
    config = broker.config or {}
    if config.get("longPollingEnable") != "false":
        return SUSPENDED_S, SUSPENDED_S + LOOKED_AFTER_S
    short_s = (whole_number(config.get("shortPollingTimeMills")) or SHORT_POLL_MS) / 1_000
    return short_s, 2 * short_s


def _per_s(number: float, every_s: float) -> float | None:
    """Requests a second; None if the policy's interval is 0."""
    return number / every_s if every_s else None
