"""A deterministic fleet of a size that nobody runs on a laptop, as the snapshot's tables in parquet."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.dataset import Dataset

CLUSTER: Final = "fleet"
ROOMS: Final = ("hz", "sh", "bj")
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Sizes and, by place, what belongs to what; names are made of the places."""

    broker_names: tuple[str, ...]
    queues_of: tuple[dict[int, int], ...]
    """Of each topic: broker → readable queues."""
    clients_of: Ints
    topics_of: tuple[tuple[int, ...], ...]
    share_of: Ints
    is_broadcasting: npt.NDArray[np.bool_]


def fleet_of(topics: int, groups: int, clients: int, *, brokers: int = 24, seed: int = 3) -> Fleet:
    """Topics of 16 to 64 queues on 4 to 8 brokers; groups on one to two topics, of a mean size of ``clients / groups``.

    Seven groups in ten are small, one in twenty is large. One in a hundred broadcasts. Under POP half of the groups pop
    everything, the others share with one or two clients.
    """
    seeded = np.random.default_rng(seed)
    queues = []
    for _ in range(topics):
        chosen = seeded.choice(brokers, size=int(seeded.integers(4, 9)), replace=False)
        per_broker = int(seeded.integers(4, 9))
        queues.append({int(broker): per_broker for broker in sorted(chosen)})
    return Fleet(
        broker_names=tuple(f"{ROOMS[b % len(ROOMS)]}@broker-{b:02}" for b in range(brokers)),
        queues_of=tuple(queues),
        clients_of=_sizes(seeded, groups, clients),
        topics_of=tuple(
            tuple(int(t) for t in seeded.choice(topics, size=int(seeded.integers(1, 3)), replace=False))
            for _ in range(groups)
        ),
        share_of=seeded.choice([-1, -1, 1, 2], size=groups),
        is_broadcasting=seeded.random(groups) < 0.01,
    )


def equal_groups(groups: int, queues: int, clients: int) -> Fleet:
    """One topic on eight brokers, and so many groups of one size that pull it."""
    per_broker = queues // 8
    return Fleet(
        broker_names=tuple(f"{ROOMS[b % len(ROOMS)]}@broker-{b:02}" for b in range(8)),
        queues_of=(dict.fromkeys(range(8), per_broker),),
        clients_of=np.full(groups, clients),
        topics_of=((0,),) * groups,
        share_of=np.full(groups, -1),
        is_broadcasting=np.zeros(groups, bool),
    )


def _sizes(seeded: np.random.Generator, groups: int, clients: int) -> Ints:
    """Group sizes whose sum is ``clients``."""
    kind = seeded.choice(3, size=groups, p=[0.7, 0.25, 0.05])
    low, high = np.array([2, 16, 64])[kind], np.array([12, 48, 200])[kind]
    weight: Ints = seeded.integers(low, high + 1)
    sizes: Ints = np.maximum(1, weight * clients // weight.sum())
    sizes[: clients - int(sizes.sum())] += 1
    return sizes


def write_tables(fleet: Fleet, folder: Path) -> None:
    """The tables that allocation reads, one parquet file each, under ``folder/<dataset>``."""
    _write(folder, contracts.TopicQueue, _topic_queue(fleet))
    _write(folder, contracts.ConsumerGroup, _consumer_group(fleet))
    _write(folder, contracts.Subscription, _subscription(fleet))
    _write(folder, contracts.Consumer, _consumer(fleet))


def _write(folder: Path, dataset: type[Dataset], columns: dict[str, Any]) -> None:
    schema = to_arrow_schema(dataset.spark_schema())
    rows = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    target = folder / dataset.dataset_name()
    target.mkdir(parents=True)
    pq.write_table(pa.Table.from_arrays(arrays, names=schema.names), target / "part-0.parquet")


def _named(prefix: str, places: Ints) -> list[str]:
    return [f"{prefix}{place:06}" for place in places.tolist()]


def _topic_queue(fleet: Fleet) -> dict[str, Any]:
    rows = [(topic, b, n) for topic, queues in enumerate(fleet.queues_of) for b, n in queues.items()]
    topics, brokers, queues = (np.array(column) for column in zip(*rows, strict=True))
    rooms = np.array([name.partition("@")[0] for name in fleet.broker_names])
    return {
        "topic": _named("topic-", topics),
        "broker_name": np.array(fleet.broker_names)[brokers],
        "read_queue_nums": queues,
        "write_queue_nums": queues,
        "perm": np.full(len(rows), 6),
        "room": rooms[brokers],
        "kind": ["BUSINESS"] * len(rows),
        "broker_state": ["MASTER"] * len(rows),
        "has_answered": np.ones(len(rows), bool),
    }


def _consumer_group(fleet: Fleet) -> dict[str, Any]:
    groups = len(fleet.clients_of)
    return {
        "consumer_group": _named("group-", np.arange(groups)),
        "kind": ["BUSINESS"] * groups,
        "message_model": np.where(fleet.is_broadcasting, "BROADCASTING", "CLUSTERING"),
        "message_request_mode": ["PULL"] * groups,
        "connections": fleet.clients_of,
        "distinct_client_ids": fleet.clients_of,
    }


def _subscription(fleet: Fleet) -> dict[str, Any]:
    rows = [(group, topic) for group, topics in enumerate(fleet.topics_of) for topic in topics]
    groups, topics = (np.array(column) for column in zip(*rows, strict=True))
    return {
        "consumer_group": _named("group-", groups),
        "topic": _named("topic-", topics),
        "kind": ["BUSINESS"] * len(rows),
        "message_request_mode": ["PULL"] * len(rows),
        "pop_share_queue_num": fleet.share_of[groups],
        "is_declared_by_group": np.ones(len(rows), bool),
    }


def _consumer(fleet: Fleet) -> dict[str, Any]:
    groups = np.repeat(np.arange(len(fleet.clients_of)), fleet.clients_of)
    index = np.arange(len(groups)) - np.repeat(np.cumsum(fleet.clients_of) - fleet.clients_of, fleet.clients_of)
    ids = [client_id(int(g), int(i)) for g, i in zip(groups, index, strict=True)]
    return {
        "consumer_group": _named("group-", groups),
        "consumer_index": index,
        "client_id": ids,
        "room": np.array(ROOMS)[index % len(ROOMS)],
        "has_owned_queues": np.zeros(len(ids), bool),
        "has_subscriptions": np.zeros(len(ids), bool),
    }


def client_id(group: int, index: int) -> str:
    """As a Java client calls itself: address, process and start time."""
    return f"10.{group % 250}.{index // 250}.{index % 250}@{1000 + index}#{73_000_000_000_000 + group}"


def official_lines(fleet: Fleet, *, with_shares: bool = False) -> Iterator[str]:
    """The same fleet for the official classes: clustering groups alone, no strategy allocates for the others.

    ``with_shares`` gives each group its share number, which POP alone looks at.
    """
    for topic, queues in enumerate(fleet.queues_of):
        yield json.dumps({
            "topic": f"topic-{topic:06}",
            "queues": [[fleet.broker_names[b], n] for b, n in queues.items()],
        })
    rooms = {name: name.partition("@")[0] for name in fleet.broker_names}
    yield json.dumps({"broker_rooms": rooms})
    clients: dict[str, str] = {}
    for group, size in enumerate(fleet.clients_of.tolist()):
        if fleet.is_broadcasting[group]:
            continue
        ids = [client_id(group, index) for index in range(size)]
        clients |= {cid: ROOMS[index % len(ROOMS)] for index, cid in enumerate(ids)}
        yield json.dumps({
            "consumer_group": f"group-{group:06}",
            "client_ids": ids,
            "topics": _topic_names(fleet, group),
            **({"pop_share_queue_num": int(fleet.share_of[group])} if with_shares else {}),
        })
    yield json.dumps({"client_rooms": clients})


def _topic_names(fleet: Fleet, group: int) -> Sequence[str]:
    return [f"topic-{topic:06}" for topic in fleet.topics_of[group]]
