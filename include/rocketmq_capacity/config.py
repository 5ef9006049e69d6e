"""The policy file, as a frozen model: what a user may decide, and the default of each decision.

The defaults' units, reasons and sources stand in ``include/policy.yaml``; a test holds the two together.
"""

import difflib
import ipaddress
import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from rocketmq_capacity.errors import BadInput

Strategy = Literal[
    "AVG",
    "AVG_BY_CIRCLE",
    "CONFIG",
    "MACHINE_ROOM",
    "MACHINE_ROOM_NEARBY-AVG",
    "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE",
    "CONSISTENT_HASH",
    "POP",
]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)

# Strict, so that "2" and yes are no numbers; an upper bound is what Spark's int and bigint hold.
Whole = Annotated[int, Field(strict=True)]
Int: Final = 2**31 - 1
BigInt: Final = 2**63 - 1
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Model = TypeVar("Model", bound=BaseModel)


class Section(BaseModel):
    """A part of the policy: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    return pattern


class BrokerRoom(Section):
    """How a broker's machine room is told: by a pattern on its name, or by its exact name."""

    pattern: str | None = None
    broker_name: str | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _check_room_rule(self.pattern, self.broker_name, self.room, "broker_name")
        return self

    def room_of(self, broker_name: str) -> str | None:
        """The room, or None where this rule says nothing of the broker."""
        if self.pattern is not None:
            return _room_in(self.pattern, broker_name)
        return self.room if broker_name == self.broker_name else None


class ClientRoom(Section):
    """How a client's machine room is told: by a pattern on its client_id, or by a network of its address."""

    pattern: str | None = None
    cidr: str | None = None
    room: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _check_room_rule(self.pattern, self.cidr, self.room, "cidr")
        if self.cidr is not None:
            ipaddress.ip_network(self.cidr, strict=False)
        return self

    def room_of(self, client_id: str, client_addr: str | None) -> str | None:
        """The room, or None where this rule says nothing of the client."""
        if self.pattern is not None:
            return _room_in(self.pattern, client_id)
        host = (client_addr or "").rpartition(":")[0].strip("[]") or (client_addr or "")
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return None
        network = ipaddress.ip_network(self.cidr or "", strict=False)
        return self.room if address.version == network.version and address in network else None


def _check_room_rule(pattern: str | None, exact: str | None, room: str | None, exact_name: str) -> None:
    if (pattern is None) == (exact is None):
        raise ValueError(f"expected either pattern or {exact_name}")
    if pattern is not None:
        if "room" not in re.compile(_compiled(pattern)).groupindex:
            raise ValueError("pattern has no group (?P<room>…)")
        if room is not None:
            raise ValueError("room comes from the pattern's group; expected no room beside it")
    elif not room:
        raise ValueError(f"expected room beside {exact_name}")


def _room_in(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return (found["room"] or None) if found else None


class Rooms(Section):
    """Rules in order; the first that names a room wins."""

    brokers: tuple[BrokerRoom, ...] = ()
    clients: tuple[ClientRoom, ...] = ()

    def of_broker(self, broker_name: str) -> str | None:
        """The broker's room, or None where no rule matches."""
        return next((room for rule in self.brokers if (room := rule.room_of(broker_name))), None)

    def of_client(self, client_id: str, client_addr: str | None) -> str | None:
        """The client's room, or None where no rule matches."""
        return next((room for rule in self.clients if (room := rule.room_of(client_id, client_addr))), None)


class QueueName(Section):
    """A queue as it is written everywhere."""

    topic: str = Field(min_length=1)
    broker_name: str = Field(min_length=1)
    queue_id: Whole = Field(ge=0, le=65_536)


class CurrentStrategies(BaseModel):
    """What groups run where it cannot be observed; one entry a group beside the default."""

    model_config = ConfigDict(extra="allow", frozen=True)

    __pydantic_extra__: dict[str, Strategy]
    default: Strategy = "AVG"

    def of_group(self, consumer_group: str) -> Strategy | None:
        """The entry of the group, if it has one."""
        return (self.__pydantic_extra__ or {}).get(consumer_group)

    @property
    def by_group(self) -> dict[str, Strategy]:
        """The entries of groups."""
        return dict(self.__pydantic_extra__ or {})


class ConsistentHash(Section):
    """AllocateMessageQueueConsistentHash's constructor."""

    virtual_nodes: Whole = Field(default=10, ge=0, le=10_000)


class Exclude(Section):
    """What is not planned: regular expressions, searched in the name."""

    topics: tuple[Annotated[str, Field()], ...] = ()
    consumer_groups: tuple[str, ...] = ()

    @field_validator("topics", "consumer_groups")
    @classmethod
    def _patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_compiled(pattern) for pattern in patterns)


class Sampling(Section):
    """How the snapshot of a live cluster measures rates."""

    sample_count: Whole = Field(default=3, ge=1, le=1_000)
    sample_interval_s: NonNegative = Field(default=5.0, le=86_400)


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


class HotQueue(Section):
    """HOT_QUEUE."""

    peak: NonNegative = 2.0
    share_factor: NonNegative = 2.0


class LowUtilisation(Section):
    """Groups below both bounds are exempt from the skew rules."""

    min_msgs_per_s: NonNegative = 1.0
    min_lag: Whole = Field(default=1_000, ge=0, le=BigInt)


class SubscriptionMismatch(Section):
    """SUBSCRIPTION_MISMATCH."""

    settled_s: NonNegative = 120.0


class SuspectSnapshot(Section):
    """SUSPECT_SNAPSHOT."""

    flagged_ratio: Ratio = 0.10
    min_groups: Whole = Field(default=20, ge=1, le=Int)


class Provision(Section):
    """The provision status of a group."""

    min_completeness: Ratio = 0.95
    max_unknown_rt_ratio: Ratio = 0.05
    under_utilisation: NonNegative = 0.7
    over_utilisation: NonNegative = 0.5
    over_removed_ratio: Ratio = 0.2
    min_clients: Whole = Field(default=2, ge=1, le=Int)


class ExpandQueues(Section):
    """EXPAND_QUEUES."""

    headroom: NonNegative = 0.0
    max_queues_per_broker: Whole = Field(default=64, ge=1, le=65_536)


class ChangeStrategy(Section):
    """CHANGE_STRATEGY."""

    min_improvement: Ratio = 0.05


class SwitchToPop(Section):
    """SWITCH_TO_POP."""

    pop_share_queue_num: Whole = Field(default=8, ge=-1, le=65_536)


class Thresholds(Section):
    """One entry a rule."""

    IDLE_CONSUMERS: IdleConsumers = IdleConsumers()
    ALLOCATION_SKEW: AllocationSkew = AllocationSkew()
    CROSS_TOPIC_SKEW: AllocationSkew = AllocationSkew()
    TRAFFIC_SKEW: TrafficSkew = TrafficSkew()
    LAG_SKEW: LagSkew = LagSkew()
    HOT_QUEUE: HotQueue = HotQueue()
    LOW_UTILISATION: LowUtilisation = LowUtilisation()
    SUBSCRIPTION_MISMATCH: SubscriptionMismatch = SubscriptionMismatch()
    SUSPECT_SNAPSHOT: SuspectSnapshot = SuspectSnapshot()
    PROVISION: Provision = Provision()
    EXPAND_QUEUES: ExpandQueues = ExpandQueues()
    CHANGE_STRATEGY: ChangeStrategy = ChangeStrategy()
    SWITCH_TO_POP: SwitchToPop = SwitchToPop()


class Policy(Section):
    """Everything a user may decide."""

    strategies: tuple[Strategy, ...] = (
        "AVG",
        "AVG_BY_CIRCLE",
        "CONFIG",
        "MACHINE_ROOM",
        "MACHINE_ROOM_NEARBY-AVG",
        "CONSISTENT_HASH",
        "POP",
    )
    rooms: Rooms | None = None
    machine_rooms: tuple[str, ...] | None = None
    config_assignments: dict[str, dict[str, tuple[QueueName, ...]]] = {}
    current_strategies: CurrentStrategies = CurrentStrategies()
    consistent_hash: ConsistentHash = ConsistentHash()
    exclude: Exclude = Exclude()
    snapshot: Sampling = Sampling()
    thresholds: Thresholds = Thresholds()

    @field_validator("strategies")
    @classmethod
    def _each_once(cls, strategies: tuple[Strategy, ...]) -> tuple[Strategy, ...]:
        if not strategies:
            raise ValueError("is empty; expected at least one strategy")
        if len(set(strategies)) != len(strategies):
            raise ValueError("names a strategy twice; expected each once")
        return strategies


def read_policy(path: Path | None) -> Policy:
    """Read and check a policy file; without one, every default.

    Errors: :class:`BadInput` naming the file, the key and what was expected (an unknown key: the nearest known one).
    """
    return Policy() if path is None else read_yaml(path, Policy, "a policy file")


def read_yaml(path: Path, model: type[Model], what: str) -> Model:
    """Read a YAML file into a model, with errors that name the file and the place in it."""
    source = str(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(source, "", f"cannot be read ({error.strerror}); expected {what}") from None
    except UnicodeDecodeError as error:
        raise BadInput(source, f"byte {error.start}", "is not UTF-8; expected UTF-8 text") from None
    try:
        document = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506  (a SafeLoader that refuses repeated keys)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        raise BadInput(source, place, f"is not YAML ({getattr(error, 'problem', error)}); expected {what}") from None
    except RecursionError:
        raise BadInput(source, "", f"is nested too deeply; expected {what}") from None
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise BadInput(source, "", f"is a {type(document).__name__}; expected {what}, a mapping of keys")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _bad_input(source, error, model) from None


class _UniqueKeyLoader(yaml.SafeLoader):
    """A SafeLoader that refuses a key that stands twice: the first would be lost without a word."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, TypeError, ValueError):  # of a value that is not what its form says
            kind = node.tag.rpartition(":")[2]
            problem = f"{node.value!r:.100} is no {kind}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict | set):
                raise yaml.MarkedYAMLError(problem="a key is not a plain value", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} stands twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _bad_input(source: str, error: ValidationError, model: type[BaseModel]) -> BadInput:
    """The first thing that is wrong, in the words of the file; an unknown key goes before what its mapping lacks."""
    errors = error.errors(include_url=False)
    siblings = [e for e in errors if e["loc"][:-1] == errors[0]["loc"][:-1]]
    first = next((e for e in siblings if e["type"] == "extra_forbidden"), errors[0])
    place = _place(_written(model, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = [key for found in _models_at(model, first["loc"][:-1]) for key in found.model_fields]
        return BadInput(source, place, f"is not a known key{_nearest('key', first['loc'][-1], known)}")
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(first["ctx"]["discriminator"]).strip("'")
        members = _models_at(model, first["loc"])
        tags = [name for member in members for name in get_args(member.model_fields[tag].annotation)]
        if first["type"] == "union_tag_not_found":
            return BadInput(source, f"{place}.{tag}", f"is missing; expected one of {', '.join(tags)}")
        it = first["input"][tag]
        return BadInput(source, f"{place}.{tag}", f"{it!r:.200} is not a known {tag}{_nearest(tag, it, tags)}")
    if first["type"] == "missing":
        return BadInput(source, place, "is missing; expected a value")
    problem = _WORDS_OF_YAML.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return BadInput(source, place, f"{problem}; it is {first['input']!r}"[:400])


_WORDS_OF_YAML: Final = {
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping of keys",
    "model_type": "expected a mapping of keys",
    "model_attributes_type": "expected a mapping of keys",
}
"""What pydantic says in Python's words."""


def _nearest(what: str, name: object, known: list[str]) -> str:
    """The end of a sentence about an unknown name: which known one is most like it."""
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.0)
    return f"; the nearest known {what} is {near[0]!r}" if near else ""


def _place(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def _written(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place as the file shows it: pydantic puts the tag of a union's member between, which is no key."""
    return tuple(p for i, p in enumerate(loc) if isinstance(p, int) or len(_models_at(model, loc[:i])) == 1)


def _models_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """The model that stands at a place; several where a union's tag has not been told yet."""
    models = [model]
    for part in loc:
        if isinstance(part, int):
            continue
        if len(models) > 1:
            models = [m for m in models if any(part in get_args(f.annotation) for f in m.model_fields.values())]
        elif part in models[0].model_fields:
            models = _models_in(models[0].model_fields[part].annotation) or models
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation such as ``tuple[BrokerRoom, ...] | None`` is about."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
