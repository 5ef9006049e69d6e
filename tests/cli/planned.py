"""What a plan left in its folder, read without the package that wrote it, and what its tables say in plain Python."""

import json
import os
import pty
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.tables.dataset import Queue
from tests.cli.plan_file import read_plan
from tests.cli.program import TIME_LIMIT_S, command, run
from tests.fixtures.environment import SHORT_LIVED
from tests.plan import program

SAMPLE: Final = sample_inventory()
NOTHING_SET: Final = {"SPARK_SUBMIT_OPTS": SHORT_LIVED, "SPARK_LOCAL_IP": ""}
"""No setting that would keep Spark quiet."""
READ: Final = 4
Owners = Mapping[Queue, Counter[str]]


@dataclass(frozen=True)
class Planned:
    """A folder that ``plan`` wrote, the cluster that it is a plan of, and what was said on standard error meanwhile."""

    folder: Path
    cluster: Mapping[str, Any]
    said: str = ""

    @cached_property
    def plan(self) -> Plan:
        """plan.json, held to the contract."""
        return read_plan(self.folder / "plan.json")

    @cached_property
    def readable(self) -> dict[tuple[str, str], int]:
        """(topic, broker name) -> how many queues consumers see there."""
        return {
            (topic["topic"], one["broker_name"]): one["read_queue_nums"]
            for topic in self.cluster["topics"]
            for one in topic["queues"]
            if one["perm"] & READ
        }

    def rows(self, dataset: str) -> list[dict[str, Any]]:
        """A dataset's rows."""
        rows: list[dict[str, Any]] = pq.read_table(self.folder / "tables" / dataset).to_pylist()
        return rows

    @cached_property
    def owners(self) -> dict[tuple[str, str], dict[Queue, Counter[str]]]:
        """(group, strategy) -> queue -> its owners' client ids; queue -1 of POP is every queue of its broker."""
        owners: dict[tuple[str, str], dict[Queue, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for row in self.rows("allocation"):
            of_strategy = owners[row["consumer_group"], row["strategy"]]
            for queue_id in self._ids(row):
                of_strategy[Queue(row["topic"], row["broker_name"], queue_id)][row["client_id"]] += 1
        return owners

    def _ids(self, row: Mapping[str, Any]) -> range:
        if row["queue_id"] == -1:
            return range(self.readable[row["topic"], row["broker_name"]])
        return range(row["queue_id"], row["queue_id"] + 1)

    def queues_of(self, group: str) -> set[Queue]:
        """Every readable queue of the group's business topics."""
        topics = next(one.topics for one in self.plan.groups if one.consumer_group == group)
        return {
            Queue(topic, broker_name, queue_id)
            for (topic, broker_name), count in self.readable.items()
            if topic in topics
            for queue_id in range(count)
        }

    def clients_of(self, group: str) -> set[str]:
        """The group's distinct client ids."""
        clients = next(one for one in self.cluster["consumer_groups"] if one["consumer_group"] == group)["clients"]
        return {client["client_id"] for client in clients}

    def loads(self) -> Iterator[tuple[str, str, dict[str, int]]]:
        """(group, strategy, client id -> queues of business topics), for every strategy that applies."""
        for group in self.plan.groups:
            for one in group.strategies:
                if one.applicable:
                    counts = dict.fromkeys(self.clients_of(group.consumer_group), 0)
                    owned = self.owners[group.consumer_group, one.strategy]
                    for queue in owned.keys() & self.queues_of(group.consumer_group):
                        for client_id in owned[queue]:
                            counts[client_id] += 1
                    yield group.consumer_group, one.strategy, counts


def planned(folder: Path, inventory: Path) -> Planned:
    """What is in the folder, and the inventory that it was made from."""
    return Planned(folder, json.loads(inventory.read_bytes()))


def plain_sample(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The sample, planned without any option: once for all processes that share the tests. Nobody changes it."""
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "plain-sample"
    out, said = shared / "plain" / "out", shared / "said.txt"
    out.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(shared / "lock"):
        if not said.exists():
            said.write_text(plan_of(SAMPLE, out).said, encoding="utf-8")
    return replace(planned(out, SAMPLE), said=said.read_text(encoding="utf-8"))


def plan_on_terminal(inventory: Path, out: Path, *options: object) -> Planned:
    """Run the command on a terminal without colours to its good end; ``said`` is what it has drawn there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("plan", "--inventory", inventory, "--out", out.name, *options),
        cwd=out.parent,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as planning:
        os.close(theirs)
        drawn = program.read_to_the_end(ours)
        assert planning.wait(TIME_LIMIT_S) == 0, drawn
        assert planning.stdout is not None
        assert planning.stdout.read().endswith(f"\nReport: {out.name}/report.html\n")
    return replace(planned(out, inventory), said=drawn)


def plan_of(inventory: Path, out: Path, *options: object) -> Planned:
    """Run the command to its good end."""
    done = run("plan", "--inventory", inventory, "--out", out, *options, cwd=out.parent, env=NOTHING_SET)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Cluster "), done.stdout
    assert done.stdout.endswith(f"\nReport: {out / 'report.html'}\n"), done.stdout
    assert "Traceback" not in done.stderr, done.stderr
    return replace(planned(out, inventory), said=done.stderr)
