"""Changes of a real cluster under load: how long queues were unread or read twice, beside what was predicted.

``.make/env.sh python -m tests.cluster.transitions`` runs them and prints a table; about six minutes. The clients have
RocketMQ's own intervals. Several groups go through the same change at the same time, each with a topic of its own.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.contracts import Transition
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import apply
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import change_of
from rocketmq_capacity.snapshot.collect import CollectOptions, collect
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster, ClusterError
from tests.fixtures.units import units_of

POLICY: Final = Policy.model_validate({"strategies": ["AVG"]})
QUEUES: Final = 2
"""On each of the two brokers."""
MSGS_PER_S: Final = 40.0
"""Of a topic, so that a queue gets one each 0.1 s."""
NOISE_S: Final = 1.0
"""A gap between two messages of a queue, and the time from its pull to its listener."""
OWN_INTERVALS: Final = ("-Drocketmq.client.rebalance.waitInterval=20000",)
INTERVALS: Final[Mapping[str, Any]] = {"poll_nameserver_ms": 30_000, "heartbeat_ms": 30_000, "persist_offset_ms": 5_000}
STAYS: Final = ("c1", "c2")
ENDS: Final = "c3"


@dataclass
class Run:
    """A group with a topic of the same name.

    Attributes:
        name: of both.
        kind: which change it goes through.
        orderly: whether it consumes in order.
        change: the change as a scenario has it.
        at: when it was made, in seconds of the clock.
        numbers: its consumers by name.
        until: when the next change of the cluster came, which moves its queues again.
    """

    name: str
    kind: str
    orderly: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    numbers: dict[str, int] = field(default_factory=dict)
    until: float = inf


def runs() -> list[Run]:
    """Every run."""
    counts = (("SHUTDOWN", 3, 1), ("KILL", 3, 2), ("START", 3, 1), ("EXPAND", 3, 0), ("SHRINK", 2, 0))
    found = [
        Run(f"t_{kind.lower()}_{number}", kind, number > plain)
        for kind, plain, ordered in counts
        for number in range(1, plain + ordered + 1)
    ]
    cut = [Run(f"t_cut_{number}", "NAME_SERVER_CUT") for number in (1, 2)]
    lost = [Run(f"t_lost_{number}", "BROKER_LOST") for number in (1, 2)]
    for run in (*found, *cut, *lost):
        run.change = _change(run)
    return [*found, *cut, *lost]


def _change(run: Run) -> Mapping[str, Any]:
    group = {"consumer_group": run.name, "client_ids": [client_id(ENDS)]}
    wider = {"change": "set_queues", "topic": run.name, "read_queue_nums": 3, "write_queue_nums": 3}
    each: dict[str, Mapping[str, Any]] = {
        "SHUTDOWN": {"change": "remove_clients", **group, "ending": "SHUTDOWN"},
        "KILL": {"change": "remove_clients", **group, "ending": "KILL"},
        "START": {"change": "add_clients", **group},
        "EXPAND": wider,
        "NAME_SERVER_CUT": {**wider, "broker_name": "broker-a"},
        "SHRINK": {**wider, "read_queue_nums": 1, "write_queue_nums": 1},
        "BROKER_LOST": {"change": "lose_broker", "broker_name": "broker-b"},
    }
    return each[run.kind]


def client_id(name: str) -> str:
    """The id of a client of any group."""
    return f"127.0.0.1@{name}"


@dataclass(frozen=True)
class Seen:
    """What happened to a queue that another client was to take.

    Attributes:
        row: the prediction.
        unread_s: from the last message of the old owner to the first one of the new owner; 0 where they overlap.
        twice_s: how long both consumed.
        messages_twice: offsets that were consumed more than once.
        lost: offsets between the first and the last consumed that nobody consumed.
        skipped: offsets from 0 to the first consumed of a new queue.
    """

    row: Transition
    unread_s: float
    twice_s: float
    messages_twice: int
    lost: int
    skipped: int

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        row = self.row
        unread = (row.unread_best_s or 0.0) - NOISE_S, (row.unread_worst_s or 0.0) + NOISE_S
        found = []
        # Where the readers may overlap, either of the two intervals may be nothing.
        if not unread[0] <= self.unread_s <= unread[1] and not (row.twice_worst_s > 0 and self.unread_s < unread[0]):
            found.append("unread")
        if self.twice_s > row.twice_worst_s + NOISE_S:
            found.append("twice")
        if row.messages_twice_worst is not None and self.messages_twice > row.messages_twice_worst:
            found.append("messages")
        if self.lost or (self.skipped and not row.messages_skipped_worst):
            found.append("lost")
        return found


Consumed = Mapping[str, Sequence[tuple[float, Queue, int]]]
"""By client id: when, from which queue, at which offset."""


def seen(run: Run, rows: Sequence[Transition], consumed: Consumed) -> Iterator[Seen]:
    """Each queue that moves and that got messages before and after."""
    for row in rows:
        queue = Queue(row.topic, row.broker_name, row.queue_id)
        of = {name: [(at, offset) for at, where, offset in all_ if where == queue] for name, all_ in consumed.items()}
        (new,) = row.new_owners or (None,)
        taken = [at for at, _ in of.get(new or "", ()) if at >= run.at]
        if not taken:
            continue
        old = [at for one in row.old_owners for at, _ in of.get(one, ())]
        begins, ends = min(taken), max(old, default=run.at)
        offsets = [offset for all_ in of.values() for _, offset in all_]
        different = set(offsets)
        yield Seen(
            row,
            unread_s=max(0.0, begins - ends),
            twice_s=max(0.0, ends - begins) if old else 0.0,
            messages_twice=len(offsets) - len(different),
            lost=max(different) - min(different) + 1 - len(different),
            skipped=0 if old else min(different),
        )


def predicted(inventory: Inventory, run: Run) -> list[Transition]:
    """What the model says of a run, from a snapshot of the cluster before."""
    scenario = Scenario.model_validate({"name": run.name, "changes": [run.change]})
    changed = apply(inventory, scenario, POLICY, "scenario")
    was, now = units_of(inventory, POLICY), units_of(changed, POLICY)
    groups = (Group(one.group(run.name), one.cluster, POLICY, Strategies(POLICY)) for one in (was, now))
    before, after = groups
    timing = replace(Timing.of(was.cluster, POLICY), has_lost_nameserver=run.kind == "NAME_SERVER_CUT")
    passing = change_of(before, after, timing, scenario.ending)
    return [] if passing is None else list(passing.rows())


def measured(log: Callable[[str], Any] = sys.stderr.write) -> list[tuple[Run, list[Seen]]]:
    """All runs on one cluster.

    Errors: OracleUnavailable, ClusterError.
    """
    every = runs()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rocketmq-transitions-")))
        brokers = [Broker("broker-a"), Broker("broker-b", own_process=True)]
        cluster = stack.enter_context(Cluster(brokers, two_nameservers=True))
        names = f"{cluster.nameserver};{cluster.second_nameserver}"
        for run in every:
            both = run.kind != "NAME_SERVER_CUT"  # those go on while the other broker is gone
            cluster.create_topic(run.name, {"broker-a": QUEUES} | ({"broker-b": QUEUES} if both else {}))
        jvms = {name: stack.enter_context(Clients(names, jvm=OWN_INTERVALS)) for name in ("stay", "end", "load")}

        def start(run: Run, name: str, jvm: str) -> None:
            consumer = Consumer(
                run.name, name, [run.name], orderly=run.orderly, record=str(folder / f"{run.name}-{name}"), **INTERVALS
            )
            run.numbers[name] = jvms[jvm].start_consumer(consumer)

        for run in every:
            for name in STAYS:
                start(run, name, "stay")
            if run.kind in ("SHUTDOWN", "KILL"):
                start(run, ENDS, "stay" if run.kind == "SHUTDOWN" else "end")
        time.sleep(25)
        for run in every:
            jvms["load"].start_load(run.name, MSGS_PER_S)
        time.sleep(8)
        options = CollectOptions(sample_count=2, sample_interval_s=3.0)
        inventory = asyncio.run(collect([cluster.nameserver], options=options))
        prediction = {run.name: predicted(inventory, run) for run in every}

        def of(*kinds: str) -> list[Run]:
            chosen = [run for run in every if run.kind in kinds]
            log(f"{time.strftime('%X')} {', '.join(run.name for run in chosen)}\n")
            for run in chosen:
                run.at = time.time()
            return chosen

        for run in of("KILL"):
            run.at = time.time()
        jvms["end"].close()
        for run in of("SHUTDOWN"):
            run.at = time.time()
            jvms["stay"].stop_consumer(run.numbers[ENDS])
        for run in of("START"):
            run.at = time.time()
            start(run, ENDS, "stay")
        for run in of("EXPAND", "SHRINK"):
            queues = int(run.change["read_queue_nums"])
            run.at = time.time()
            cluster.create_topic(run.name, {"broker-a": queues, "broker-b": queues})
        for run in of("EXPAND"):
            jvms["load"].start_load(run.name, MSGS_PER_S)
        time.sleep(65)
        for run in every:
            if run.kind not in ("BROKER_LOST", "NAME_SERVER_CUT"):
                run.until = time.time()
        cluster.kill("broker-b")
        of("BROKER_LOST")
        time.sleep(60)

        def results() -> list[tuple[Run, list[Seen]]]:
            return [(run, list(seen(run, prediction[run.name], _records(folder, run)))) for run in every]

        log(table(results()) + "\n")
        cluster.freeze_second_nameserver()
        for run in of("NAME_SERVER_CUT"):
            run.at = time.time()
            # The broker takes the change at once, and then waits for the name server that does not answer.
            with suppress(ClusterError):
                cluster.create_topic(run.name, {"broker-a": 3})
        time.sleep(85)
        return results()


def _records(folder: Path, run: Run) -> dict[str, list[tuple[float, Queue, int]]]:
    found = {}
    for name in (*STAYS, ENDS):
        file = folder / f"{run.name}-{name}"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        parts = [line.split() for line in lines]
        found[client_id(name)] = [
            (int(at) / 1000, Queue(topic, broker, int(queue)), int(offset))
            for at, topic, broker, queue, offset in (part for part in parts if len(part) == 5)
            if int(at) / 1000 < run.until
        ]
    return found


def table(results: Sequence[tuple[Run, Sequence[Seen]]]) -> str:
    """A line a run: the worst of its queues."""
    lines = [
        "| run | queues | unread s | predicted | read twice s | at most | messages twice | at most | lost | |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run, all_ in results:
        if not all_:
            lines.append(f"| {run.name} | 0 | | | | | | | | nothing moved |")
            continue
        longest = max(all_, key=lambda one: one.unread_s)
        row = longest.row
        faults = sorted({fault for one in all_ for fault in one.faults})
        worst = max((one.row.messages_twice_worst or 0.0 for one in all_), default=0.0)
        lines.append(
            f"| {run.name}{', in order' if run.orderly else ''} | {len(all_)} | {longest.unread_s:.1f}"
            f" | {row.unread_best_s:.1f}, {row.unread_expected_s:.1f}, {row.unread_worst_s:.1f}"
            f" | {max(one.twice_s for one in all_):.1f} | {max(one.row.twice_worst_s for one in all_):.1f}"
            f" | {max(one.messages_twice for one in all_)} | {worst:.0f} | {sum(one.lost for one in all_)}"
            f" | {', '.join(faults) or 'within'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(measured()) + "\n")
