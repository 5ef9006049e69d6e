"""The scenario file, as frozen models: the changes to try on a snapshot, in their order.

Names and numbers have the bounds of the inventory. Values are not converted: ``count: "2"`` is an error.
"""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from rocketmq_capacity.settings.section import Section
from rocketmq_capacity.settings.yaml_file import mapping_of_text, read_yaml, validated
from rocketmq_capacity.vocabulary import ClientStrategy, RequestMode

WHAT: Final = "a scenario file"

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0, le=65_536)]
MOST_CHANGES: Final = 100
"""Changes of a scenario. A person writes some ten of them, and each copies a part of the snapshot."""
MOST_CLIENTS: Final = 10_000
"""Clients that all changes of a scenario add or remove together. A broker tells every client of a group the ids of all
others, so a group has some hundred; each client that is added takes microseconds and half a KiB."""

# What a change is told; title and description are those of the what-if's form.
Group = Annotated[Name, Field(title="Consumer group")]
ClientIds = Annotated[
    tuple[Name, ...],
    Field(
        strict=False,
        min_length=1,
        max_length=MOST_CLIENTS,
        title="Client ids",
        description="one id a line; or their number",
    ),
]
Clients = Annotated[int, Field(ge=0, le=MOST_CLIENTS, title="Number of clients", description="where no ids are given")]
TopicName = Annotated[Name, Field(title="Topic", description="empty for all topics, where the change allows it")]
BrokerName = Annotated[Name, Field(title="Broker", description="empty for all brokers, where the change allows it")]
ReadQueues = Annotated[Count, Field(title="Read queues", description="for each broker")]
WriteQueues = Annotated[Count, Field(title="Write queues", description="for each broker")]
BrokerAddress = Annotated[Name, Field(title="Broker address", description="HOST:PORT for the commands, if it is known")]
TopicsLike = Annotated[Name, Field(title="Topics like broker", description="the new one has the topics of this one")]
Room = Annotated[Name, Field(title="Machine room")]
Factor = Annotated[float, Field(ge=0, allow_inf_nan=False, title="Times as many messages")]
LatencyMs = Annotated[
    float,
    Field(ge=0, le=600_000, allow_inf_nan=False, title="Milliseconds for each message"),
]
ForSeconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False, title="Seconds that it lasts")]
Ending = Literal["SHUTDOWN", "KILL", "SILENT"]
"""How a client ends.

SHUTDOWN: ``shutdown()`` commits its offsets, gives back its locks and unregisters. KILL: its process ends, and the
system closes its connections. SILENT: its machine or its network is gone, and no connection is closed."""
Ends = Annotated[
    Ending,
    Field(
        title="How they end", description="by shutdown(), as a killed process, or with their machine, without a word"
    ),
]
PopShare = Annotated[int, Field(ge=-(2**31), le=2**31 - 1, title="POP share", description="-1 is all queues")]


class _Change(Section):
    """One change; the member ``change`` has its name."""

    model_config = ConfigDict(strict=True)


class _Clients(_Change):
    """Clients of a group, given by their ids or by their number."""

    consumer_group: Group
    client_ids: ClientIds | None = None
    count: Clients | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.client_ids is None) == (self.count is None):
            raise ValueError("expected either client_ids or count")
        return self

    @property
    def clients(self) -> int:
        """How many clients are added or removed."""
        return len(self.client_ids or ()) or self.count or 0


class AddClients(_Clients):
    """New consumers of a group: with these ids, or ``count`` of them with made-up ids."""

    change: Literal["add_clients"]


class RemoveClients(_Clients):
    """Consumers of a group that leave: one for each mention of an id, or the last ``count`` in Java's order."""

    change: Literal["remove_clients"]
    ending: Ends = "SHUTDOWN"


class SetQueues(_Change):
    """New queue counts of a topic on one broker, or on every broker that has the topic."""

    change: Literal["set_queues"]
    topic: TopicName
    broker_name: BrokerName | None = None
    read_queue_nums: ReadQueues
    write_queue_nums: WriteQueues


class AddBroker(_Change):
    """A new master with the topics of another broker, each with as many queues as there."""

    change: Literal["add_broker"]
    broker_name: BrokerName
    broker_addr: BrokerAddress | None = None
    topics_like: TopicsLike


class LoseBroker(_Change):
    """A broker, with its slaves, that the name server has removed: its queues have left the route."""

    change: Literal["lose_broker"]
    broker_name: BrokerName


class LoseMaster(_Change):
    """A master that the name server has removed; the slaves of its broker stay. Without slaves the broker is lost."""

    change: Literal["lose_master"]
    broker_name: BrokerName


class SlowBroker(_Change):
    """A broker that for some time takes this long for every message that is sent to it."""

    change: Literal["slow_broker"]
    broker_name: BrokerName
    latency_ms: LatencyMs
    for_s: ForSeconds


class ReadOnlyBroker(_Change):
    """A broker whose ``brokerPermission`` is 4: consumers still read it, producers avoid it."""

    change: Literal["read_only_broker"]
    broker_name: BrokerName


class LoseRoom(_Change):
    """A machine room that fails: every broker and every client that is in it by the policy's ``rooms``."""

    change: Literal["lose_room"]
    room: Room


class ScaleTraffic(_Change):
    """``factor`` times as many messages written to a topic, or to all topics."""

    change: Literal["scale_traffic"]
    topic: TopicName | None = None
    factor: Factor


class SetStrategy(_Change):
    """Another allocation strategy in every client of a group. POP is none: it is a request mode of the broker."""

    change: Literal["set_strategy"]
    consumer_group: Group
    strategy: ClientStrategy


class SetRequestMode(_Change):
    """Another request mode of a group for a topic, as ``mqadmin setConsumeMode`` sets it."""

    change: Literal["set_request_mode"]
    consumer_group: Group
    topic: TopicName
    message_request_mode: Annotated[RequestMode, Field(title="Request mode")]
    pop_share_queue_num: PopShare | None = None


Change = (
    AddClients
    | RemoveClients
    | SetQueues
    | AddBroker
    | LoseBroker
    | LoseMaster
    | SlowBroker
    | ReadOnlyBroker
    | LoseRoom
    | ScaleTraffic
    | SetStrategy
    | SetRequestMode
)


def _few(changes: object) -> object:
    """The changes as they are. Errors: ValueError for too many, before any is checked."""
    if isinstance(changes, list | tuple) and len(changes) > MOST_CHANGES:
        raise ValueError(f"has {len(changes):,} changes; expected at most {MOST_CHANGES}")
    return changes


class Scenario(Section):
    """A named list of changes; an empty one leaves the snapshot as it is."""

    name: Annotated[Name, Field(strict=True)]
    changes: Annotated[tuple[Annotated[Change, Field(discriminator="change")], ...], BeforeValidator(_few)]

    @field_validator("changes")
    @classmethod
    def _few_clients(cls, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        clients = sum(one.clients for one in changes if isinstance(one, _Clients))
        if clients > MOST_CLIENTS:
            problem = f"add and remove {clients:,} clients together; expected at most {MOST_CLIENTS:,}"
            raise ValueError(problem)
        return changes

    @property
    def ending(self) -> Ending:
        """The worst way in which clients of the scenario end; those of a lost machine room end SILENT."""
        ways = [one.ending for one in self.changes if isinstance(one, RemoveClients)]
        if "SILENT" in ways or any(isinstance(one, LoseRoom) for one in self.changes):
            return "SILENT"
        return "KILL" if "KILL" in ways else "SHUTDOWN"

    @property
    def lost_rooms(self) -> frozenset[str]:
        """The machine rooms that are lost."""
        return frozenset(one.room for one in self.changes if isinstance(one, LoseRoom))

    def changes_as_written(self) -> list[dict[str, Any]]:
        """The changes as plain values with the keys that the file gave, for the plan file."""
        return [change.model_dump(mode="json", exclude_unset=True) for change in self.changes]


def read_scenario(path: Path) -> Scenario:
    """Read and check a scenario file; whether it fits a cluster is checked when it is applied.

    Errors: :class:`BadInput` naming the file, the place in it and what was expected (an unknown key or change: the
    nearest known one).
    """
    return read_yaml(path, Scenario, WHAT)


def scenario_of_text(text: str, source: str) -> Scenario:
    """The same for a text; ``source`` is its name in errors."""
    return validated(mapping_of_text(text, source, WHAT), Scenario, source)
