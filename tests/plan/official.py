"""What RocketMQ's own classes give for groups of a generated cluster."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import yaml

from tests.oracle.java_oracle import Allocation, Case, JavaOracle

Row = Mapping[str, Any]
READ: Final = 4
NOT_PLANNED: Final = ("rmq_sys_", "bench_")
HZ_BROKER, HZ_NETWORK = "broker-02", "10.1."
"""What the policy of generated clusters says besides names that begin with a room."""


class Owned(NamedTuple):
    """A row of ``allocation`` of one group and strategy."""

    topic: str
    broker_name: str
    queue_id: int
    client_id: str


@dataclass(frozen=True)
class Answer:
    """Of a group and a strategy: what RocketMQ allocates.

    Attributes:
        allocated: the topics that it allocates.
        thrown: those for which it throws.
        rows: what each client has of the former, as often as it has it.
    """

    allocated: frozenset[str]
    thrown: frozenset[str]
    rows: Counter[Owned]


class Official:
    """The official classes, asked about groups of one cluster under ``policy_for_generated()``."""

    def __init__(self, cluster: Row, policy: str, oracle: JavaOracle) -> None:
        """``policy``: YAML."""
        self._policy = yaml.safe_load(policy)
        self._oracle = oracle
        self._readable = {row["topic"]: queues for row in cluster["topics"] if (queues := readable(row))}

    def answers(self, groups: Iterable[Row]) -> dict[tuple[str, str], Answer]:
        """(consumer_group, strategy) -> what the classes give, topic by topic (RebalanceImpl.rebalanceByTopic)."""
        asked = [
            (group, strategy, self._cases(group, strategy))
            for group in groups
            for strategy in self._policy["strategies"]
        ]
        given = iter(self._oracle.allocate([case for _, _, cases in asked for case in cases]))
        return {
            (group["consumer_group"], strategy): answer_of(group, [(case, next(given)) for case in cases])
            for group, strategy, cases in asked
        }

    def _cases(self, group: Row, strategy: str) -> list[Case]:
        """A case a topic; none where RocketMQ does not get as far."""
        is_set_up = {
            "POP": not group.get("orderly"),
            "CONFIG": group["consumer_group"] in self._policy["config_assignments"],
        }.get(strategy, True)
        if not is_set_up or not group["clients"]:
            return []
        return [self._case(group, topic, strategy) for topic in sorted(topics_of(group) & self._readable.keys())]

    def _case(self, group: Row, topic: str, strategy: str) -> Case:
        queues, clients = self._readable[topic], group["clients"]
        lists = self._policy["config_assignments"].get(group["consumer_group"], {})
        brokers = {name for name, _ in queues}
        return Case(
            # A retry topic is never popped: the broker gives it the mode PULL.
            "AVG" if strategy == "POP" and topic.startswith("%RETRY%") else strategy,
            queues,
            [client["client_id"] for client in clients],
            group["consumer_group"],
            topic,
            machine_rooms=self._policy["machine_rooms"],
            broker_rooms={name: room for name in brokers if (room := room_of_broker(name))},
            client_rooms=rooms_of_clients(clients),
            config={
                client_id: [(queue["topic"], queue["broker_name"], queue["queue_id"]) for queue in own]
                for client_id, own in lists.items()
            },
            pop_share_queue_num=share(group, topic),
        )


def readable(topic: Row) -> list[tuple[str, int]]:
    """The topic's readable queues."""
    return [
        (place["broker_name"], queue_id)
        for place in topic["queues"]
        if (place["perm"] or 0) & READ
        for queue_id in range(place["read_queue_nums"] or 0)
    ]


def topics_of(group: Row) -> set[str]:
    """What the group or one of its clients subscribes to, without what is not planned."""
    own = [subscription for client in group["clients"] for subscription in client.get("subscriptions") or ()]
    named = {subscription["topic"] for subscription in [*(group["subscriptions"] or ()), *own]}
    return {topic for topic in named if topic != "TBW102" and not topic.startswith(NOT_PLANNED)}


def room_of_broker(name: str) -> str | None:
    """The room that its name begins with."""
    room, at, _ = name.partition("@")
    if at and room:
        return room
    if name == HZ_BROKER:
        return "hz"
    return "broker" if name.startswith("broker-") else None


def rooms_of_clients(clients: Sequence[Row]) -> dict[str, str]:
    """Room of each client id that has one: the name's beginning, or the network's."""
    rooms: dict[str, str] = {}
    for client in clients:
        beginning, dash, _ = client["client_id"].partition("-")
        is_room = bool(dash) and beginning.isascii() and beginning.isalpha() and beginning.islower()
        if is_room:
            rooms.setdefault(client["client_id"], beginning)
        elif (client.get("client_addr") or "").startswith(HZ_NETWORK):
            rooms.setdefault(client["client_id"], "hz")
    return rooms


def share(group: Row, topic: str) -> int:
    """popShareQueueNum of the subscription, else of the group; -1 is not set."""
    of_topic = [one.get("pop_share_queue_num") for one in group["subscriptions"] or () if one["topic"] == topic]
    return next((one for one in (*of_topic, group.get("pop_share_queue_num")) if one is not None), -1)


def answer_of(group: Row, answers: Sequence[tuple[Case, Allocation]]) -> Answer:
    """All topics of a group together."""
    thrown = frozenset(case.topic for case, answer in answers if answer.refusals())
    return Answer(
        allocated=frozenset(case.topic for case, _ in answers) - thrown,
        thrown=thrown,
        rows=Counter(row for case, answer in answers for row in _rows(group, case, answer)),
    )


def _rows(group: Row, case: Case, answer: Allocation) -> Iterator[Owned]:
    """Each consumer that subscribes to the topic takes what its id was given; another takes nothing."""
    given = dict(zip(answer.client_ids, answer.owned, strict=True))
    for client in group["clients"]:
        own = client.get("subscriptions")
        subscribed = {one["topic"] for one in (group["subscriptions"] if own is None else own) or ()}
        owned = given[client["client_id"]]
        if isinstance(owned, list) and case.topic in subscribed:
            for queue in owned:
                if queue.topic == case.topic:  # CONFIG gives its list whatever the topic
                    yield Owned(queue.topic, queue.broker_name, queue.queue_id, client["client_id"])
