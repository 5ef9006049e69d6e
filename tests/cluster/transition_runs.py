"""Which changes are made of a real cluster, each to a group of its own, and at which pace its clients work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal, get_args

from rocketmq_capacity.settings.policy import Policy

Kind = Literal["SHUTDOWN", "KILL", "START", "EXPAND", "EXPAND_LATE", "SHRINK", "BROKER_LOST", "NAME_SERVER_CUT"]
"""EXPAND_LATE: the broker has deleted the first messages of the new queues before their readers come."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

QUEUES: Final = 3
"""On each broker of a topic."""
ENDS: Final = "c3"


@dataclass(frozen=True, slots=True)
class Pace:
    """The intervals of clients, in seconds."""

    route_s: int
    heartbeat_s: int
    rebalance_s: int
    persist_s: int

    @property
    def policy(self) -> Policy:
        """A policy that says the same."""
        intervals = {
            "poll_nameserver_s": self.route_s,
            "heartbeat_s": self.heartbeat_s,
            "rebalance_s": self.rebalance_s,
            "persist_offset_s": self.persist_s,
        }
        return Policy.model_validate({"strategies": ["AVG"], "thresholds": {"TRANSITION": intervals}})

    @property
    def jvm(self) -> tuple[str, ...]:
        """Options of the clients' JVM."""
        return (f"-Drocketmq.client.rebalance.waitInterval={self.rebalance_s * 1000}",)

    @property
    def of_consumers(self) -> Mapping[str, Any]:
        """Settings of each consumer."""
        return {
            "poll_nameserver_ms": self.route_s * 1000,
            "heartbeat_ms": self.heartbeat_s * 1000,
            "persist_offset_ms": self.persist_s * 1000,
        }


OWN_PACE: Final = Pace(route_s=30, heartbeat_s=30, rebalance_s=20, persist_s=5)
"""RocketMQ's own."""
QUICK: Final = Pace(route_s=2, heartbeat_s=2, rebalance_s=2, persist_s=1)


@dataclass
class Run:
    """A group with a topic of the same name.

    Attributes:
        name: of both.
        kind: which change it goes through.
        orderly: whether it consumes in order.
        at: when the change was made, in seconds of the clock.
        numbers: its consumers by name.
        until: when the next change of the cluster came, which moves its queues again.
    """

    name: str
    kind: Kind
    orderly: bool = False
    at: float = inf
    numbers: dict[str, int] = field(default_factory=dict)
    until: float = inf

    @property
    def change(self) -> Mapping[str, Any]:
        """The change as a scenario has it. Each moves a queue between clients that stay, too."""
        group = {"consumer_group": self.name, "client_ids": [self.client_id(ENDS)]}
        ends = {"change": "remove_clients", **group, "ending": self.kind}
        queues = {"change": "set_queues", "topic": self.name}
        more = {**queues, "read_queue_nums": QUEUES + 2, "write_queue_nums": QUEUES + 2}
        each: Mapping[Kind, Mapping[str, Any]] = {
            "SHUTDOWN": ends,
            "KILL": ends,
            "START": {"change": "add_clients", **group},
            "EXPAND": {**more, "broker_name": "broker-b"},
            "EXPAND_LATE": {**more, "broker_name": "broker-c"},
            "NAME_SERVER_CUT": {**more, "broker_name": "broker-a"},
            "SHRINK": {**queues, "read_queue_nums": 1, "write_queue_nums": 1, "broker_name": "broker-a"},
            "BROKER_LOST": {"change": "lose_broker", "broker_name": "broker-b"},
        }
        return each[self.kind]

    @property
    def layout(self) -> dict[str, tuple[int, int]]:
        """Read and write queues of its topic by broker; those that go were drained before."""
        if self.kind == "EXPAND_LATE":
            return {"broker-c": (QUEUES, QUEUES)}
        of_a = QUEUES, 1 if self.kind == "SHRINK" else QUEUES
        # A topic of the last changes is on the broker that is still there.
        return {"broker-a": of_a} | ({} if self.kind == "NAME_SERVER_CUT" else {"broker-b": (QUEUES, QUEUES)})

    def client_id(self, name: str) -> str:
        """The id of one of its clients: each has its own, since clients of one id share their timers."""
        return f"127.0.0.1@{self.name}-{name}"


def runs(numbers: Mapping[Kind, tuple[int, int]]) -> list[Run]:
    """Runs of each kind: so many that consume in any order, and so many in order."""
    return [
        Run(f"t_{kind.lower()}_{number}", kind, number > plain)
        for kind, (plain, ordered) in numbers.items()
        for number in range(1, plain + ordered + 1)
    ]


ALL: Final[Mapping[Kind, tuple[int, int]]] = {
    "SHUTDOWN": (3, 1),
    "KILL": (3, 2),
    "START": (3, 1),
    "EXPAND": (3, 1),
    "EXPAND_LATE": (2, 0),
    "SHRINK": (2, 1),
    "BROKER_LOST": (2, 0),
    "NAME_SERVER_CUT": (2, 0),
}
