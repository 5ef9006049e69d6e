"""The policy file, as a frozen model: all settings of a user, and their defaults.

``include/policy.yaml`` has the defaults with their units, reasons and sources; a test compares the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
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

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.settings.brokers import BrokerEntry
from rocketmq_capacity.settings.events import Event
from rocketmq_capacity.settings.freeze import Freeze
from rocketmq_capacity.settings.groups import GroupEntry, channels_of, check_kinds, entry_of
from rocketmq_capacity.settings.own_strategy import OwnAnswers, OwnStrategy
from rocketmq_capacity.settings.patterns import Compiling
from rocketmq_capacity.settings.placement import Placement
from rocketmq_capacity.settings.producers import ProducerEntry, Sending, sendings_of
from rocketmq_capacity.settings.proxies import ProxyAddress
from rocketmq_capacity.settings.rooms import RoomRules
from rocketmq_capacity.settings.score import ScorePolicy
from rocketmq_capacity.settings.section import BigInt, Int, NonNegative, Ratio, Section, Whole
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.settings.yaml_file import mapping_of_file, mapping_of_text, validated
from rocketmq_capacity.vocabulary import (
    AVG,
    AVG_BY_CIRCLE,
    CONFIG,
    CONSISTENT_HASH,
    ENGLISH,
    MACHINE_ROOM,
    MACHINE_ROOM_NEARBY,
    MACHINE_ROOM_NEARBY_AVG,
    POP,
    Language,
    Strategy,
)

POLICY_CHANGES: Final = "policy changes"
"""What errors call the changes of one run."""
OF_A_RUN: Final = (
    "strategies",
    "rooms",
    "machine_rooms",
    "report_cross_room",
    "config_assignments",
    "current_strategies",
    "consistent_hash",
    "client_heap_mib",
    "exclude",
    "placement",
    "producers",
    "events",
    "thresholds",
)
"""The keys that a run may change: what is computed, and how it is judged. Whoever may trigger a run decides no more: no
address that is asked, no time that is waited, nothing that is deleted, accepted or frozen."""


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
        entry = self._entry(consumer_group)
        return entry.class_name if isinstance(entry, OwnStrategy) else entry

    def own_of_group(self, consumer_group: str) -> OwnStrategy | None:
        """The strategy of the deployment's own that the group's entry names, if it names one."""
        entry = self._entry(consumer_group)
        return entry if isinstance(entry, OwnStrategy) else None

    def _entry(self, consumer_group: str) -> str | OwnStrategy | None:
        return (self.__pydantic_extra__ or {}).get(consumer_group)

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
        return tuple(Compiling.of(info.context).compile(pattern).pattern for pattern in patterns)


class Sampling(Section):
    """How the snapshot of a live cluster measures rates."""

    sample_count: Whole = Field(default=3, ge=1, le=1_000)
    sample_interval_s: NonNegative = Field(default=5.0, le=86_400)
    limit_s: NonNegative = Field(default=1_800.0, ge=1, le=86_400)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (took := (self.sample_count - 1) * self.sample_interval_s) >= self.limit_s:
            problem = f"take {took:g} s together, which is not below limit_s ({self.limit_s:g}); expected fewer samples"
            raise ValueError(f"sample_count and sample_interval_s {problem}, a shorter interval or a higher limit")
        return self


class Samples(Section):
    """How often live clusters are sampled between plans, and how long the samples are kept."""

    every_minutes: Whole = Field(default=5, ge=1, le=60)
    keep_days: Whole = Field(default=90, ge=1, le=3_660)

    @property
    def limit_s(self) -> float:
        """Seconds after which a sample asks no more, so that it never delays the next one."""
        return 0.8 * 60 * self.every_minutes


class History(Section):
    """The number of earlier runs of the lake that a run of a live cluster uses."""

    runs: Whole = Field(default=3, ge=0, le=100)


class Validity(Section):
    """How long a plan may be acted on."""

    hours: float = Field(default=24.0, gt=0, le=8_760, allow_inf_nan=False, strict=True)


class RetentionPolicy(Section):
    """How long the lake keeps the runs of a cluster."""

    days: Whole = Field(default=90, ge=1, le=36_500)
    count: Whole = Field(default=400, ge=1, le=Int)
    most_deleted_ratio: Ratio = 0.25


class ChangesPolicy(Section):
    """What a plan says of the plan before."""

    worse_factor: Annotated[float, Field(ge=1, allow_inf_nan=False, strict=True)] = 1.2


class Metrics(Section):
    """How many groups and topics have series in metrics.prom; the worst ones come first."""

    most_consumer_groups: Whole = Field(default=500, ge=0, le=1_000_000)
    most_topics: Whole = Field(default=500, ge=0, le=1_000_000)


class Autoscalers(Section):
    """What the objects of autoscalers.yaml scale by."""

    prometheus: Annotated[str, Field(pattern="^https?://[!-~]+$", max_length=1_000)] | None = None
    lag_messages: Whole = Field(default=1_000, ge=1, le=BigInt)
    cooldown_s: Whole = Field(default=300, ge=0, le=3_600)


DEFAULT_HEAP: Final = "default"
"""The key of ``client_heap_mib`` for groups without one of their own."""


class Policy(Section):
    """All settings of a user."""

    language: Language = ENGLISH
    strategies: tuple[Strategy, ...] = (
        AVG,
        AVG_BY_CIRCLE,
        CONFIG,
        MACHINE_ROOM,
        MACHINE_ROOM_NEARBY_AVG,
        CONSISTENT_HASH,
        POP,
    )
    rooms: RoomRules | None = None
    report_cross_room: Annotated[bool, Field(strict=True)] = False
    machine_rooms: tuple[str, ...] | None = None
    config_assignments: dict[str, dict[str, tuple[QueueName, ...]]] = Field(default_factory=dict)
    current_strategies: CurrentStrategies = CurrentStrategies()
    consistent_hash: ConsistentHash = ConsistentHash()
    client_heap_mib: dict[str, Annotated[Whole, Field(ge=1, le=BigInt)]] = Field(default_factory=dict)
    exclude: Exclude = Exclude()
    groups: tuple[GroupEntry, ...] = ()
    placement: tuple[Placement, ...] = ()
    brokers: tuple[BrokerEntry, ...] = ()
    producers: tuple[ProducerEntry, ...] = ()
    accepted: tuple[AcceptedRisk, ...] = ()
    freeze: tuple[Freeze, ...] = ()
    events: tuple[Event, ...] = ()
    proxies: tuple[ProxyAddress, ...] = ()
    snapshot: Sampling = Sampling()
    samples: Samples = Samples()
    history: History = History()
    retention: RetentionPolicy = RetentionPolicy()
    validity: Validity = Validity()
    changes: ChangesPolicy = ChangesPolicy()
    score: ScorePolicy = ScorePolicy()
    metrics: Metrics = Metrics()
    autoscalers: Autoscalers = Autoscalers()
    thresholds: Thresholds = Thresholds()
    _own_answers: dict[str, tuple[OwnAnswers, ...]] = PrivateAttr(default_factory=dict)

    @property
    def asks_rooms(self) -> bool:
        """Whether it asks for what crosses machine rooms, and says which they are."""
        return self.report_cross_room and self.rooms is not None

    def holds_verdicts(self, completeness_ratio: float) -> bool:
        """Whether verdicts hold on a snapshot that covers so much of the cluster."""
        return completeness_ratio >= self.thresholds.PROVISION.min_completeness

    def strategies_of(self, consumer_group: str) -> tuple[str, ...]:
        """The strategies that are computed for a group: the policy's, and a class of its own."""
        own_class = self.current_strategies.own_of_group(consumer_group)
        return self.strategies if own_class is None else (*self.strategies, own_class.class_name)

    def own_answers(self, consumer_group: str) -> tuple[OwnAnswers, ...]:
        """The answers of the group's own class."""
        return self._own_answers.get(consumer_group, ())

    def with_own_answers(self, answers: Mapping[str, tuple[OwnAnswers, ...]]) -> "Policy":
        """The same policy, with the answers of the groups' own classes."""
        copy = self.model_copy()
        copy._own_answers = dict(answers)
        return copy

    @field_validator("events")
    @classmethod
    def _event_names_once(cls, events: tuple[Event, ...]) -> tuple[Event, ...]:
        if len({one.name for one in events}) != len(events):
            raise ValueError("names an event twice; expected each name once")
        return events

    @field_validator("groups")
    @classmethod
    def _one_channel_and_kind_each(cls, groups: tuple[GroupEntry, ...]) -> tuple[GroupEntry, ...]:
        channels_of(groups)
        check_kinds(groups)
        return groups

    @property
    def channels(self) -> dict[str, str]:
        """By owner, the Airflow connection by which the owner gets notices."""
        return channels_of(self.groups)

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

    def group_entry(self, consumer_group: str) -> GroupEntry:
        """What the policy tells of a group: the first entry that matches its name."""
        return entry_of(self.groups, consumer_group)

    def min_clients(self, consumer_group: str) -> int:
        """The number of client ids that a group keeps in any case: its entry's, or that of all groups if it is more."""
        of_all = self.thresholds.PROVISION.min_clients
        return max(of_all, self.group_entry(consumer_group).min_clients or of_all)

    def with_config_assignment(self, consumer_group: str, lists: Mapping[str, Iterable[Any]]) -> "Policy":
        """The same policy where a group's clients are given these queues; a queue has the members of QueueName."""
        names = {
            client_id: tuple(
                QueueName(topic=one.topic, broker_name=one.broker_name, queue_id=one.queue_id) for one in listed
            )
            for client_id, listed in lists.items()
        }
        return self.model_copy(update={"config_assignments": {**self.config_assignments, consumer_group: names}})

    def placed_on(self, topic: str) -> tuple[str, ...] | None:
        """The brokers that a topic is meant to be on, by the first pattern that it matches; None if none does."""
        return next((one.brokers for one in self.placement if one.has(topic)), None)

    def broker(self, broker_name: str) -> BrokerEntry | None:
        """The first entry that matches the broker's name, or None."""
        return next((one for one in self.brokers if one.has(broker_name)), None)

    def sendings(self, producer_groups: Iterable[str]) -> dict[Sending, tuple[str, ...]]:
        """The producer groups by how they send; see :func:`~rocketmq_capacity.settings.producers.sendings_of`."""
        return sendings_of(self.producers, producer_groups)

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
        for key in changes:
            if key not in OF_A_RUN:
                problem = (
                    f"is not for one run: only the deployment's policy file has it; expected {', '.join(OF_A_RUN)}"
                )
                raise BadInput(POLICY_CHANGES, key, problem)
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
