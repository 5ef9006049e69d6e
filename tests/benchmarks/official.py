"""The official classes over a planned fleet: each asked once for every client and topic.

They are asked about the groups that the strategy could run for in the plan. The rows that they give are about as many
as the plan's, not just as many: they are asked for a client's share of every topic of its group, also of those that it
does not subscribe, and of a retry topic as of any other.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import CONFIG, EXCLUDED, MACHINE_ROOM, POP, SYSTEM, is_readable
from tests.oracle.fleet_benchmark import FleetTiming, time_official_classes

Rows = list[dict[str, Any]]


def time_official(
    tables: Path, policy: Policy, folder: Path, *, threads: int, warm_up_s: float, sorts: bool
) -> Iterator[FleetTiming]:
    """One strategy after the other.

    The lists are read and built before the clock starts.

    Args:
        tables: the tables of the fleet's plan, which say who reads what, and which rooms there are.
        policy: the plan's.
        folder: for the files that the classes are asked by.
        threads: that ask at the same time.
        warm_up_s: seconds for which the classes are asked before the clock starts; 0 is a cold start, as a plan's is.
        sorts: whether each call sorts its queues and client ids inside the clock, as each client does in RocketMQ
            (``RebalanceImpl.rebalanceByTopic``); else the clock is around ``allocate()`` alone, on sorted lists.
    """
    fleet = _Fleet(tables, policy)
    for strategy in policy.strategies:
        file = folder / f"official_{strategy}.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(line)}\n" for line in fleet.lines(strategy))
        rooms = {"machine_rooms": list(policy.machine_rooms or ())} if strategy == MACHINE_ROOM else {}
        yield time_official_classes(file, strategy, threads=threads, params=rooms, warm_up_s=warm_up_s, sorts=sorts)


class _Fleet:
    """What strategies are asked about: groups, and their topics that are neither RocketMQ's own nor excluded."""

    def __init__(self, tables: Path, policy: Policy) -> None:
        self._policy = policy
        self._queues: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._broker_rooms: dict[str, str] = {}
        for row in _read(tables, "topic_queue", "topic", "broker_name", "read_queue_nums", "perm", "kind", "room"):
            if row["kind"] not in {SYSTEM, EXCLUDED} and is_readable(row["perm"], row["read_queue_nums"]):
                self._queues[row["topic"]].append((row["broker_name"], row["read_queue_nums"]))
                self._broker_rooms[row["broker_name"]] = row["room"]
        self._clients: dict[str, list[str]] = defaultdict(list)
        self._client_rooms: dict[str, str] = {}
        for row in _read(tables, "consumer", "consumer_group", "client_id", "room"):
            self._clients[row["consumer_group"]].append(row["client_id"])
            self._client_rooms[row["client_id"]] = row["room"]
        status = _read(tables, "strategy_status", "consumer_group", "strategy", "is_applicable")
        self._applicable = {(row["consumer_group"], row["strategy"]) for row in status if row["is_applicable"]}
        self._reads: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for row in _read(tables, "subscription", "consumer_group", "topic", "pop_share_queue_num"):
            if row["topic"] in self._queues:
                self._reads[row["consumer_group"]].append((row["topic"], row["pop_share_queue_num"]))

    def lines(self, strategy: str) -> Iterator[dict[str, Any]]:
        """As the Java side reads them: topics, rooms, groups."""
        for topic, queues in self._queues.items():
            yield {"topic": topic, "queues": queues}
        yield {"broker_rooms": self._broker_rooms}
        yield {"client_rooms": self._client_rooms}
        for group, reads in self._reads.items():
            if (group, strategy) not in self._applicable:
                continue
            for parameters, topics in self._asked(strategy, group, reads):
                yield {"consumer_group": group, "client_ids": self._clients[group], "topics": topics, **parameters}

    def _asked(
        self, strategy: str, group: str, reads: list[tuple[str, int]]
    ) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """A group's topics, by what its strategy is constructed with."""
        if strategy == POP:
            for share in sorted({share for _, share in reads}):
                yield {"pop_share_queue_num": share}, [topic for topic, own in reads if own == share]
            return
        lists = self._policy.config_assignments.get(group) if strategy == CONFIG else None
        config = {
            client: [(queue.topic, queue.broker_name, queue.queue_id) for queue in queues]
            for client, queues in (lists or {}).items()
        }
        yield ({"config": config} if config else {}), [topic for topic, _ in reads]


def _read(tables: Path, dataset: str, *columns: str) -> Rows:
    rows: Rows = pq.read_table(tables / dataset, columns=list(columns)).to_pylist()
    return rows
