"""The policy file, as a frozen model: all settings of a user, and their defaults.

``include/policy.yaml`` has the defaults with their units, reasons and sources; a test compares the two.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.settings.address import ip_of
from rocketmq_capacity.settings.own_strategy import OwnAnswers, OwnStrategy
from rocketmq_capacity.settings.patterns import Compiling, search
from rocketmq_capacity.settings.proxies import ProxyAddress
from rocketmq_capacity.settings.yaml_file import mapping_of_file, mapping_of_text, validated
from rocketmq_capacity.vocabulary import (
    AVG,
    AVG_BY_CIRCLE,
    CONFIG,
    CONSISTENT_HASH,
    MACHINE_ROOM,
    MACHINE_ROOM_NEARBY,
    MACHINE_ROOM_NEARBY_AVG,
    POP,
    Strategy,
)

POLICY_CHANGES: Final = "policy changes"
"""What errors call the changes of one run."""

# Strict, so that "2" and yes are not numbers. The upper bounds are those of Spark's int and bigint.
Whole = Annotated[int, Field(strict=True)]
Int: Final = 2**31 - 1
BigInt: Final = 2**63 - 1
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class Section(BaseModel):
    """A part of the policy: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class BrokerRoom(Section):
    """A rule for a broker's machine room: a pattern on its name, or its exact name."""

    pattern: str | None = None
    broker_name: str | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> Self:
        _check_room_rule(self.pattern, self.broker_name, self.room, "broker_name", info)
        return self

    def room_of(self, broker_name: str) -> str | None:
        """The room, or None if this rule does not match the broker."""
        if self.pattern is not None:
            return _room_in(self.pattern, broker_name)
        return self.room if broker_name == self.broker_name else None


def _network(cidr: object) -> object:
    if isinstance(cidr, str):
        with suppress(ValueError):
            return ip_network(cidr, strict=False)
    elif cidr is None or isinstance(cidr, IPv4Network | IPv6Network):
        return cidr
    raise ValueError(f"{shown(cidr)} is not a network; expected one such as 10.1.0.0/16")


Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]


class ClientRoom(Section):
    """A rule for a client's machine room: a pattern on its client_id, or a network that has its address."""

    pattern: str | None = None
    cidr: Network | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> Self:
        _check_room_rule(self.pattern, self.cidr, self.room, "cidr", info)
        return self

    def room_of(self, client_id: str, address: Callable[[], IPv4Address | IPv6Address | None]) -> str | None:
        """The room, or None if this rule does not match the client; ``address`` gives its address, if known."""
        if self.pattern is not None:
            return _room_in(self.pattern, client_id)
        ip = address()
        return self.room if self.cidr is not None and ip is not None and ip in self.cidr else None


def _compiling(info: ValidationInfo) -> Compiling:
    """What compiles the patterns of the policy that is validated; a new one if a pattern is validated alone."""
    return info.context if isinstance(info.context, Compiling) else Compiling()


def _check_room_rule(
    pattern: str | None, exact: object, room: str | None, exact_name: str, info: ValidationInfo
) -> None:
    if (pattern is None) == (exact is None):
        raise ValueError(f"expected either pattern or {exact_name}")
    if pattern is not None:
        if "room" not in _compiling(info).compile(pattern).groupindex:
            raise ValueError("pattern has no group (?P<room>…); expected one that finds the room")
        if room is not None:
            raise ValueError("is given a pattern and a room; expected only the pattern, whose group gives the room")
    elif not room:
        raise ValueError(f"expected room together with {exact_name}")


def _room_in(pattern: str, text: str) -> str | None:
    found = search(re.compile(pattern), text)
    return (found["room"] or None) if found else None


class Rooms(Section):
    """Rules in order; the first that gives a room wins."""

    brokers: tuple[BrokerRoom, ...] = ()
    clients: tuple[ClientRoom, ...] = ()

    def of_broker(self, broker_name: str) -> str | None:
        """The broker's room, or None if no rule matches."""
        return next((room for rule in self.brokers if (room := rule.room_of(broker_name))), None)

    def of_client(self, client_id: str, client_addr: str | None) -> str | None:
        """The client's room, or None if no rule matches."""
        address = cache(partial(ip_of, client_addr))  # parsed only for a client that a rule looks at by its address
        return next((room for rule in self.clients if (room := rule.room_of(client_id, address))), None)


class QueueName(Section):
    """A queue, in the form that is used everywhere."""

    topic: str = Field(min_length=1)
    broker_name: str = Field(min_length=1)
    queue_id: Whole = Field(ge=0, le=65_536)


def _own_or_named(entry: Any, named: ValidatorFunctionWrapHandler) -> Any:
    """A mapping is a class and its jar; anything else has to be a strategy's name."""
    if not isinstance(entry, dict):
        return named(entry)
    try:
        return OwnStrategy.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        problem = f"{key}: {first['msg'].removeprefix('Value error, ')}"
        raise ValueError(f"{problem}; expected a class and a jar, as {{class: com.acme.Own, jar: own.jar}}") from None


class CurrentStrategies(BaseModel):
    """The strategies of groups that cannot be observed: an entry for a group, and the default for all others."""

    model_config = ConfigDict(extra="allow", frozen=True)

    __pydantic_extra__: dict[str, Annotated[Strategy, WrapValidator(_own_or_named)]]
    default: Strategy = AVG

    def of_group(self, consumer_group: str) -> str | None:
        """The strategy of the group's entry, if it has one; a class by its full name."""
        own = self.own.get(consumer_group)
        return (self.__pydantic_extra__ or {}).get(consumer_group) if own is None else own.class_name

    @property
    def own(self) -> dict[str, OwnStrategy]:
        """By group, the strategies of the deployment's own."""
        entries: Iterable[tuple[str, Any]] = (self.__pydantic_extra__ or {}).items()
        return {group: entry for group, entry in entries if isinstance(entry, OwnStrategy)}


class ConsistentHash(Section):
    """The argument of AllocateMessageQueueConsistentHash's constructor."""

    virtual_nodes: Whole = Field(default=10, ge=0, le=10_000)


class Exclude(Section):
    """What is left out of the plan: regular expressions, searched in the name."""

    topics: tuple[Annotated[str, Field()], ...] = ()
    consumer_groups: tuple[str, ...] = ()

    @field_validator("topics", "consumer_groups")
    @classmethod
    def _patterns(cls, patterns: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return tuple(_compiling(info).compile(pattern).pattern for pattern in patterns)


class Sampling(Section):
    """How the snapshot of a live cluster measures rates."""

    sample_count: Whole = Field(default=3, ge=1, le=1_000)
    sample_interval_s: NonNegative = Field(default=5.0, le=86_400)


class History(Section):
    """The number of earlier runs of the lake that a run of a live cluster uses."""

    runs: Whole = Field(default=3, ge=0, le=100)


class Retention(Section):
    """How long the lake keeps the runs of a cluster."""

    days: Whole = Field(default=90, ge=1, le=36_500)
    count: Whole = Field(default=400, ge=1, le=Int)


class IdleConsumers(Section):
    """IDLE_CONSUMERS."""

    critical_ratio: Ratio = 0.5


class AllocationSkew(Section):
    """ALLOCATION_SKEW and CROSS_TOPIC_SKEW."""

    excess: NonNegative = 1.10
    min_gap_queues: Whole = Field(default=2, ge=0, le=Int)
    critical_excess: NonNegative = 2.0


class TrafficSkew(Section):
    """TRAFFIC_SKEW."""

    peak: NonNegative = 1.5
    excess: NonNegative = 1.10
    critical_peak: NonNegative = 3.0


class LagSkew(Section):
    """LAG_SKEW."""

    peak: NonNegative = 3.0


class LagState(Section):
    """LAG_STATE."""

    allowed_lag: Whole = Field(default=10, ge=0, le=BigInt)


class RetentionRisk(Section):
    """RETENTION_RISK."""

    warning_hours: NonNegative = 12.0
    critical_hours: NonNegative = 3.0


class RetryPressure(Section):
    """RETRY_PRESSURE."""

    failed_ratio: Ratio = 0.01
    critical_ratio: Ratio = 0.1


class ClientMemory(Section):
    """CLIENT_MEMORY."""

    heap_ratio: Ratio = 0.5
    lost_clients: Whole = Field(default=1, ge=0, le=Int)


class HotQueue(Section):
    """HOT_QUEUE."""

    peak: NonNegative = 2.0
    share_factor: NonNegative = 2.0


class ProducerBalance(Section):
    """PRODUCER_BALANCE."""

    level: Ratio = 0.001
    dispersion: float = Field(default=1.0, gt=0, le=1_000_000, allow_inf_nan=False)
    min_messages: NonNegative = 5.0
    min_difference: NonNegative = 0.1


class BrokerDisk(Section):
    """BROKER_DISK."""

    warning_ratio: Ratio = 0.75
    critical_ratio: Ratio = 0.85


class BrokerLoss(Section):
    """BROKER_LOSS."""

    min_brokers: Whole = Field(default=2, ge=1, le=65_536)


class BrokerRestart(Section):
    """A broker that starts again."""

    start_s: NonNegative = Field(default=20.0, le=86_400)
    recovered_mib_per_s: NonNegative = Field(default=100.0, ge=1, le=1_000_000)


class CrossRoom(Section):
    """CROSS_ROOM."""

    share: Ratio = 0.1


class RoomStarvation(Section):
    """ROOM_STARVATION."""

    share: Ratio = 0.1


class LowUtilisation(Section):
    """Groups below both bounds are exempt from the skew rules."""

    min_msgs_per_s: NonNegative = 1.0
    min_lag: Whole = Field(default=1_000, ge=0, le=BigInt)


class SubscriptionMismatch(Section):
    """SUBSCRIPTION_MISMATCH."""

    settled_s: NonNegative = 120.0


class BadVersion(Section):
    """BAD_VERSION."""

    ignored_issues: tuple[Annotated[int, Field(strict=True, ge=1)], ...] = ()


class SlaveDrift(Section):
    """SLAVE_DRIFT."""

    settle_s: NonNegative = 70.0


class StuckQueue(Section):
    """STUCK_QUEUE."""

    dropped_s: NonNegative = 30.0
    lock_s: NonNegative = 60.0
    no_progress_s: NonNegative = 60.0
    pull_s: NonNegative = 120.0


class SuspectSnapshot(Section):
    """SUSPECT_SNAPSHOT."""

    flagged_ratio: Ratio = 0.10
    min_groups: Whole = Field(default=20, ge=1, le=Int)


class Provision(Section):
    """The provision status of a group."""

    min_completeness: Ratio = 0.95
    max_unknown_rt_ratio: Ratio = 0.5
    max_disagreement_ratio: Ratio = 0.5
    under_utilisation: NonNegative = 0.7
    over_utilisation: NonNegative = 0.5
    over_removed_ratio: Ratio = 0.2
    min_clients: Whole = Field(default=2, ge=1, le=Int)


class ExpandQueues(Section):
    """EXPAND_QUEUES."""

    headroom: NonNegative = 0.0
    max_queues_per_broker: Whole = Field(default=64, ge=1, le=65_536)


class ShrinkQueues(Section):
    """SHRINK_QUEUES."""

    history_days: NonNegative = 14.0
    min_snapshots: Whole = Field(default=14, ge=1, le=Int)
    min_saved_ratio: Ratio = 0.5


class ChangeStrategy(Section):
    """CHANGE_STRATEGY."""

    min_improvement: Ratio = 0.05
    max_config_queues: Whole = Field(default=256, ge=0, le=65_536)


class SwitchToPop(Section):
    """SWITCH_TO_POP."""

    pop_share_queue_num: Whole = Field(default=8, ge=-1, le=65_536)


class Transition(Section):
    """How quickly clients notice a change; clients do not report their intervals."""

    poll_nameserver_s: NonNegative = Field(default=30.0, le=86_400)
    heartbeat_s: NonNegative = Field(default=30.0, le=86_400)
    rebalance_s: NonNegative = Field(default=20.0, le=86_400)
    persist_offset_s: NonNegative = Field(default=5.0, le=86_400)
    rollout_s: NonNegative = Field(default=60.0, le=86_400)


class ProducerTimeline(Section):
    """What producers do while brokers are slow, read-only or lost; no client tells how it sends."""

    send_interval_ms: Whole = Field(default=100, ge=10, le=60_000)
    usual_latency_ms: Whole = Field(default=5, ge=0, le=2_999)


class Thresholds(Section):
    """One entry a rule."""

    IDLE_CONSUMERS: IdleConsumers = IdleConsumers()
    ALLOCATION_SKEW: AllocationSkew = AllocationSkew()
    CROSS_TOPIC_SKEW: AllocationSkew = AllocationSkew()
    TRAFFIC_SKEW: TrafficSkew = TrafficSkew()
    LAG_SKEW: LagSkew = LagSkew()
    LAG_STATE: LagState = LagState()
    RETENTION_RISK: RetentionRisk = RetentionRisk()
    RETRY_PRESSURE: RetryPressure = RetryPressure()
    CLIENT_MEMORY: ClientMemory = ClientMemory()
    HOT_QUEUE: HotQueue = HotQueue()
    PRODUCER_BALANCE: ProducerBalance = ProducerBalance()
    BROKER_DISK: BrokerDisk = BrokerDisk()
    BROKER_LOSS: BrokerLoss = BrokerLoss()
    BROKER_RESTART: BrokerRestart = BrokerRestart()
    CROSS_ROOM: CrossRoom = CrossRoom()
    ROOM_STARVATION: RoomStarvation = RoomStarvation()
    LOW_UTILISATION: LowUtilisation = LowUtilisation()
    SUBSCRIPTION_MISMATCH: SubscriptionMismatch = SubscriptionMismatch()
    BAD_VERSION: BadVersion = BadVersion()
    SLAVE_DRIFT: SlaveDrift = SlaveDrift()
    STUCK_QUEUE: StuckQueue = StuckQueue()
    SUSPECT_SNAPSHOT: SuspectSnapshot = SuspectSnapshot()
    PROVISION: Provision = Provision()
    EXPAND_QUEUES: ExpandQueues = ExpandQueues()
    SHRINK_QUEUES: ShrinkQueues = ShrinkQueues()
    CHANGE_STRATEGY: ChangeStrategy = ChangeStrategy()
    SWITCH_TO_POP: SwitchToPop = SwitchToPop()
    TRANSITION: Transition = Transition()
    PRODUCER_TIMELINE: ProducerTimeline = ProducerTimeline()


DEFAULT_HEAP: Final = "default"
"""The key of ``client_heap_mib`` for groups without one of their own."""


class Policy(Section):
    """All settings of a user."""

    strategies: tuple[Strategy, ...] = (
        AVG,
        AVG_BY_CIRCLE,
        CONFIG,
        MACHINE_ROOM,
        MACHINE_ROOM_NEARBY_AVG,
        CONSISTENT_HASH,
        POP,
    )
    rooms: Rooms | None = None
    machine_rooms: tuple[str, ...] | None = None
    config_assignments: dict[str, dict[str, tuple[QueueName, ...]]] = {}
    current_strategies: CurrentStrategies = CurrentStrategies()
    consistent_hash: ConsistentHash = ConsistentHash()
    client_heap_mib: dict[str, Annotated[Whole, Field(ge=1, le=BigInt)]] = {}
    exclude: Exclude = Exclude()
    proxies: tuple[ProxyAddress, ...] = ()
    snapshot: Sampling = Sampling()
    history: History = History()
    retention: Retention = Retention()
    thresholds: Thresholds = Thresholds()
    _own_answers: dict[str, tuple[OwnAnswers, ...]] = PrivateAttr(default_factory=dict)

    def strategies_of(self, consumer_group: str) -> tuple[str, ...]:
        """The strategies that are computed for a group: the policy's, and a class of its own."""
        own = self.current_strategies.own.get(consumer_group)
        return self.strategies if own is None else (*self.strategies, own.class_name)

    def own_answers(self, consumer_group: str) -> tuple[OwnAnswers, ...]:
        """The answers of the group's own class."""
        return self._own_answers.get(consumer_group, ())

    def with_own_answers(self, answers: Mapping[str, tuple[OwnAnswers, ...]]) -> "Policy":
        """The same policy, with the answers of the groups' own classes."""
        copy = self.model_copy()
        copy._own_answers = dict(answers)
        return copy

    @field_validator("strategies")
    @classmethod
    def _each_once(cls, strategies: tuple[Strategy, ...]) -> tuple[Strategy, ...]:
        if not strategies:
            raise ValueError("is empty; expected at least one strategy")
        if len(set(strategies)) != len(strategies):
            raise ValueError("names a strategy twice; expected each once")
        return strategies

    def heap_mib(self, consumer_group: str) -> int | None:
        """The heap of a client of a group; None if the policy has none."""
        return self.client_heap_mib.get(consumer_group, self.client_heap_mib.get(DEFAULT_HEAP))

    def with_config_assignment(self, consumer_group: str, lists: Mapping[str, Iterable[Any]]) -> "Policy":
        """The same policy where a group's clients are given these queues; a queue has the members of QueueName."""
        names = {
            client_id: tuple(
                QueueName(topic=one.topic, broker_name=one.broker_name, queue_id=one.queue_id) for one in listed
            )
            for client_id, listed in lists.items()
        }
        return self.model_copy(update={"config_assignments": {**self.config_assignments, consumer_group: names}})

    def computed(self, reported: str) -> str:
        """The strategy that is computed for one that a client reports.

        Clients do not report the inner strategy of MACHINE_ROOM_NEARBY. The policy's first one is used.
        """
        if reported != MACHINE_ROOM_NEARBY:
            return reported
        return next((name for name in self.strategies if name.startswith(f"{reported}-")), reported)


@dataclass(frozen=True, slots=True)
class PolicyChanges:
    """What one run changes in its policy.

    Attributes:
        strategies: replace the policy's strategies; empty keeps them.
        text: YAML in the form of a policy file; a mapping is merged into the policy's; any other value replaces it.
    """

    strategies: tuple[str, ...] = ()
    text: str = ""

    def mapping(self) -> dict[Any, Any]:
        """The keys of a policy file that change. Errors: BadInput naming the key and what was expected."""
        changes = mapping_of_text(self.text, POLICY_CHANGES, "keys of a policy file")
        if self.strategies:
            changes = changes | {"strategies": list(self.strategies)}
        changed = validated(changes, Policy, POLICY_CHANGES, Compiling())
        for group in changed.current_strategies.own:
            problem = (
                "names a class and a jar; expected a strategy's name: only the deployment's policy file names code"
            )
            raise BadInput(POLICY_CHANGES, f"current_strategies.{group}", problem)
        return changes


def read_policy(path: Path | None, changes: PolicyChanges = PolicyChanges()) -> Policy:
    """Read and check a policy file; without a file, use every default.

    Errors: BadInput naming the file, the key and what was expected (an unknown key: the nearest known one).
    """
    changed = changes.mapping()
    if path is None:
        return validated(changed, Policy, POLICY_CHANGES, Compiling())
    in_file = mapping_of_file(path, "a policy file")
    validated(in_file, Policy, str(path), Compiling())
    return validated(_merged(in_file, changed), Policy, f"{path} with {POLICY_CHANGES}", Compiling())


def _merged(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**ours, **{key: _merged(ours.get(key), value) for key, value in theirs.items()}}
    return theirs
