"""A whole plan as it lies in its folder, and what its tables say in plain Python, at any size."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.tables.dataset import Queue
from tests.cli.plan_file import read_plan
from tests.plan.official import Owned, readable

OWN_GROUPS: Final = ("CID_RMQ_SYS_", "TOOLS_CONSUMER")
EXCLUDED: Final = "bench_"
ALL_OF_BROKER: Final = -1
OfStrategy = tuple[str, str]
"""consumer_group, strategy."""


@dataclass
class Load:
    """What a strategy gives the clients of a group over its business topics.

    Attributes:
        queues: of each client id that owns any; queues of equal ids count once.
        readers: of each queue, how many consumers have it.
    """

    queues: Counter[str] = field(default_factory=Counter)
    readers: Counter[Queue] = field(default_factory=Counter)


@dataclass(frozen=True)
class Whole:
    """A plan's folder, the cluster that was planned, and its policy."""

    folder: Path
    cluster: Mapping[str, Any]
    policy: str

    @cached_property
    def plan(self) -> Plan:
        """plan.json, held to the contract."""
        return read_plan(self.folder / "plan.json")

    @cached_property
    def groups(self) -> dict[str, Mapping[str, Any]]:
        """The business groups of the cluster by their names."""
        every = {group["consumer_group"]: group for group in self.cluster["consumer_groups"]}
        return {name: group for name, group in every.items() if not name.startswith((*OWN_GROUPS, EXCLUDED))}

    @cached_property
    def queues(self) -> dict[str, list[Queue]]:
        """Topic -> its readable queues."""
        return {
            row["topic"]: [Queue(row["topic"], *queue) for queue in readable(row)] for row in self.cluster["topics"]
        }

    def rows(self, dataset: str) -> Iterator[dict[str, Any]]:
        """A dataset's rows."""
        for batch in pq.read_table(self.folder / "tables" / dataset).to_batches():
            yield from batch.to_pylist()

    @cached_property
    def owned(self) -> dict[OfStrategy, list[Owned]]:
        """The rows of ``allocation``."""
        columns = pq.read_table(self.folder / "tables" / "allocation").to_pydict()
        owned: dict[OfStrategy, list[Owned]] = defaultdict(list)
        for group, strategy, *row in zip(
            *(columns[name] for name in ("consumer_group", "strategy", *Owned._fields)), strict=True
        ):
            owned[group, strategy].append(Owned(*row))
        return owned

    def loads(self) -> Iterator[tuple[OfStrategy, Load]]:
        """What every strategy gives, by its rows of ``allocation``."""
        on_broker = defaultdict(list)
        for queues in self.queues.values():
            for queue in queues:
                on_broker[queue.topic, queue.broker_name].append(queue)
        for group in self.plan.groups:
            business = set(group.topics)
            for one in group.strategies:
                key, load, counted = (group.consumer_group, one.strategy), Load(), set()
                for row in self.owned.get(key, ()):
                    if row.topic not in business:
                        continue
                    queues = [Queue(row.topic, row.broker_name, row.queue_id)]
                    if row.queue_id == ALL_OF_BROKER:
                        queues = on_broker[row.topic, row.broker_name]
                    load.readers.update(queues)
                    if row not in counted:
                        counted.add(row)
                        load.queues[row.client_id] += len(queues)
                yield key, load
