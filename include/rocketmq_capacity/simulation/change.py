"""What a change of a scenario is: its fields, what it does to the snapshot, and what else follows from it.

Each change is one module of :mod:`rocketmq_capacity.simulation.changes`, found there. The scenario file, the form of
the what-if, its examples and the comparison have all that they know of a change from its class.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, ClassVar, Final, Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from rocketmq_capacity.catalogue.offered import kinds
from rocketmq_capacity.plan_file.lost_nameserver import Loss
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.section import Section
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory

ROOM: Final = "rocketmq_capacity.simulation.changes"
MOST_CLIENTS: Final = 10_000
"""Clients that all changes of a scenario add or remove together. A broker tells every client of a group the ids of all
others, so a group has some hundred; each client that is added takes microseconds and half a KiB."""

NAMES: Final = "names"
"""The member of a field's JSON schema with the kind of names that it takes: ``groups``, ``topics``, …"""

# Fields that several changes have; title and description are those of the what-if's form.
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0, le=65_536)]
Group = Annotated[Name, Field(title="Consumer group", json_schema_extra={NAMES: "groups"})]
TopicName = Annotated[Name, Field(title="Topic", json_schema_extra={NAMES: "topics"})]
BrokerName = Annotated[Name, Field(title="Broker", json_schema_extra={NAMES: "brokers"})]

Ending = Literal["SHUTDOWN", "KILL", "SILENT"]
"""How a client ends.

SHUTDOWN: ``shutdown()`` commits its offsets, gives back its locks and unregisters. KILL: its process ends, and the
system closes its connections. SILENT: its machine or its network is gone, and no connection is closed."""
HowTheyEnd = Annotated[
    Ending,
    Field(
        title="How they end", description="by shutdown(), as a killed process, or with their machine, without a word"
    ),
]


@dataclass(frozen=True, slots=True)
class BrokerTrouble:
    """What a change does to brokers that producers send to.

    Attributes:
        slow: by broker, how long a message takes in ms, and for how many seconds.
        lost: brokers that are gone.
        lost_if_masterless: brokers that are gone, unless they have a master after the changes.
        read_only: brokers that consumers may still read.
    """

    slow: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    lost_if_masterless: frozenset[str] = frozenset()
    read_only: frozenset[str] = frozenset()


NO_TROUBLE: Final = BrokerTrouble()


class ScenarioChange(Section, ABC):
    """One change; its docstring's first sentence and its fields are what the form says.

    Attributes:
        EXAMPLE: its fields in a scenario file, with names in braces: {broker}, {topic}, {group}, {client}, {room},
            {nameserver}.
        CHANGES_QUEUES: whether queues come, go or get another perm, so that there is a plan with steps.
        ALTERS: what it changes without taking a broker or a room away: the number of queues, what is written to them,
            or who owns those of its consumer group; None if it alters none of them.
    """

    model_config = ConfigDict(strict=True)
    EXAMPLE: ClassVar[str]
    CHANGES_QUEUES: ClassVar[bool] = False
    ALTERS: ClassVar[Literal["queues", "messages", "owners"] | None] = None

    @classmethod
    def change_name(cls) -> str:
        """Its name, the member ``change`` of the file."""
        name: str
        (name,) = get_args(cls.model_fields["change"].annotation)
        return name

    @abstractmethod
    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The inventory with the change; the given one stays as it is.

        Errors: :class:`BadInput` naming the field that does not fit the cluster, and the nearest existing name.
        """

    @property
    def clients(self) -> int:
        """How many clients it adds or removes."""
        return 0

    @property
    def ends(self) -> Ending | None:
        """How clients end because of it; None if none do."""
        return None

    @property
    def divided_anew(self) -> str | None:
        """The group whose queues get other owners although no queue is lost; None if there is none."""
        group: str | None = getattr(self, "consumer_group", None)
        return group if self.ALTERS == "owners" else None

    @property
    def lost_room(self) -> str | None:
        """The machine room that is lost with it."""
        return None

    @property
    def lost_nameserver(self) -> tuple[str, Loss] | None:
        """The name server that is lost with it, and how."""
        return None

    @property
    def trouble(self) -> BrokerTrouble:
        """What it does to brokers that producers send to, besides those of a lost room."""
        return NO_TROUBLE


@cache
def changes() -> Sequence[type[ScenarioChange]]:
    """The class of each change, by name."""
    return sorted(kinds(ROOM, ScenarioChange), key=lambda model: model.change_name())  # type: ignore[type-abstract]  # only its subclasses


class ChangeOfClients(ScenarioChange):
    """A change of clients of a group, given by their ids or by their number."""

    ALTERS = "owners"

    consumer_group: Group
    client_ids: (
        Annotated[
            tuple[Name, ...],
            Field(
                strict=False,
                min_length=1,
                max_length=MOST_CLIENTS,
                title="Client ids",
                description="one id a line; or their number",
            ),
        ]
        | None
    ) = None
    count: (
        Annotated[
            int,
            Field(ge=0, le=MOST_CLIENTS, title="Number of clients", description="where no ids are given"),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.client_ids is None) == (self.count is None):
            raise ValueError("expected either client_ids or count")
        return self

    @property
    def clients(self) -> int:
        """How many clients are added or removed."""
        return len(self.client_ids or ()) or self.count or 0
