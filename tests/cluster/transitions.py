"""Changes of a real cluster under load: how long queues were unread or read twice, beside what was predicted.

``.make/env.sh python -m tests.cluster.transitions`` makes 26 of them and prints a table; about six minutes. The clients
have RocketMQ's own intervals. Several groups go through a change at the same time, each with a topic of its own.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

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

Kind = Literal["SHUTDOWN", "KILL", "START", "EXPAND", "EXPAND_LATE", "SHRINK", "BROKER_LOST", "NAME_SERVER_CUT"]
"""EXPAND_LATE: the broker has deleted the first messages of the new queues before their readers come."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

QUEUES: Final = 3
"""On each broker of a topic."""
MSGS_PER_S: Final = 40.0
"""Of a topic, so that a queue gets one each 0.15 s."""
LARGE_BYTES: Final = 4_000
NOISE_S: Final = 1.0
"""A gap between two messages of a queue, and the time from its pull to its listener."""
STAYS: Final = ("c1", "c2")
ENDS: Final = "c3"
CLEANED: Final = {
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
    "cleanResourceInterval": "1000",
    "mappedFileSizeCommitLog": "1048576",
}
"""A broker that deletes each MiB of messages as soon as the next one begins."""
PATIENCE_S: Final = 180.0


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


class Consumed(NamedTuple):
    """A message that a client has consumed; moments in seconds of the clock."""

    at: float
    queue: Queue
    offset: int
    stored_at: float


@dataclass(frozen=True)
class Seen:
    """What happened to a queue that another client was to take.

    Attributes:
        row: the prediction.
        begins_s: when its new owner consumed the first message, after the change.
        unread_s: from the last message of the old owner to the first one of the new owner; 0 where they overlap.
        twice_s: how long both consumed.
        messages_twice: offsets that were consumed more than once.
        lost: offsets between the first and the last consumed that nobody consumed.
        skipped: of a new queue, offsets from 0 to the first consumed.
        late_s: by how much the machine was late meanwhile.
    """

    row: Transition
    begins_s: float
    unread_s: float
    twice_s: float
    messages_twice: int
    lost: int
    skipped: int
    late_s: float

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        row, noise = self.row, NOISE_S + self.late_s
        best, worst = (row.unread_best_s or 0.0) - NOISE_S, (row.unread_worst_s or 0.0) + noise
        found = []
        # Where the readers may overlap, either of the two intervals may be nothing.
        if not best <= self.unread_s <= worst and not (row.twice_worst_s > 0 and self.unread_s < best):
            found.append("unread")
        if self.twice_s > row.twice_worst_s + (noise if row.twice_worst_s else NOISE_S):
            found.append("twice")
        if row.messages_twice_worst is not None and self.messages_twice > row.messages_twice_worst:
            found.append("messages")
        if self.lost:
            found.append("lost")
        if row.messages_skipped_worst is not None and self.skipped > row.messages_skipped_worst:
            found.append("skipped")
        return found


@dataclass(frozen=True)
class Result:
    """A run and what became of it.

    Attributes:
        seen: the queues that moved and were read by their new owners.
        predicted: how many queues were to get another owner.
        stray: messages that a client consumed which does not own their queue, neither before nor after.
    """

    run: Run
    seen: Sequence[Seen]
    predicted: int
    stray: int

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        missing = ["missing"] if len(self.seen) < self.predicted else []
        stray = ["stray"] if self.stray else []
        return sorted({fault for one in self.seen for fault in one.faults}) + missing + stray


@dataclass(frozen=True)
class Prediction:
    """What the model says of a run.

    Attributes:
        rows: the queues that change hands.
        owners: by queue, the clients that own it before or after the change.
    """

    rows: Sequence[Transition]
    owners: Mapping[Queue, frozenset[str]]

    @classmethod
    def of(cls, inventory: Inventory, run: Run, policy: Policy) -> "Prediction":
        """From a snapshot of the cluster before."""
        scenario = Scenario.model_validate({"name": run.name, "changes": [run.change]})
        changed = apply(inventory, scenario, policy, "scenario")
        was, now = units_of(inventory, policy), units_of(changed, policy)
        before, after = (Group(one.group(run.name), one.cluster, policy, Strategies(policy)) for one in (was, now))
        timing = replace(Timing.of(was.cluster, policy), has_lost_nameserver=run.kind == "NAME_SERVER_CUT")
        passing = change_of(before, after, timing, scenario.ending)
        if passing is None:
            raise ClusterError(f"the snapshot does not tell who owns the queues of {run.name}")
        sides = passing.before.readers, passing.after.readers
        owners = {
            queue: frozenset(one for side in sides for one in side.get(queue, ())) for queue in {*sides[0], *sides[1]}
        }
        return cls(list(passing.rows()), owners)


def result(run: Run, prediction: Prediction, consumed: Mapping[str, Sequence[Consumed]]) -> Result:
    """What the clients' records say of a run, until the next change."""
    # A message may be consumed after a later one, and after the next change: it is lost if it never is.
    ever = {(one.queue, one.offset) for all_ in consumed.values() for one in all_}
    consumed = {client: [one for one in all_ if one.at < run.until] for client, all_ in consumed.items()}
    found = list(_seen(run, prediction, consumed, ever))
    stray = sum(
        client not in prediction.owners.get(one.queue, ())
        for client, all_ in consumed.items()
        for one in all_
        if one.queue.topic == run.name
    )
    return Result(run, found, sum(bool(row.new_owners) for row in prediction.rows), stray)


def _seen(
    run: Run,
    prediction: Prediction,
    consumed: Mapping[str, Sequence[Consumed]],
    ever: Container[tuple[Queue, int]],
) -> Iterator[Seen]:
    """Each queue that moves and that its new owner has read."""
    moved = {Queue(row.topic, row.broker_name, row.queue_id) for row in prediction.rows}
    # A queue that keeps its owner tells how late the machine is.
    late_s = max(
        (one.at - one.stored_at for all_ in consumed.values() for one in all_ if one.queue not in moved), default=0.0
    )
    for row in prediction.rows:
        queue = Queue(row.topic, row.broker_name, row.queue_id)
        of = {client: [one for one in all_ if one.queue == queue] for client, all_ in consumed.items()}
        (new,) = row.new_owners or (None,)
        taken = [one.at for one in of.get(new or "", ()) if one.at >= run.at]
        if not taken:
            continue
        old = [one.at for client in row.old_owners for one in of.get(client, ())]
        begins, ends = min(taken), max(old, default=run.at)
        offsets = Counter(one.offset for all_ in of.values() for one in all_)
        yield Seen(
            row,
            begins_s=begins - run.at,
            unread_s=max(0.0, begins - ends),
            twice_s=max(0.0, ends - begins) if old else 0.0,
            messages_twice=offsets.total() - len(offsets),
            lost=sum((queue, offset) not in ever for offset in range(min(offsets), max(offsets))),
            skipped=0 if old else min(offsets),
            late_s=late_s,
        )


@dataclass
class Stage:
    """A cluster, its clients and the runs on it.

    Attributes:
        folder: where the clients record what they consume.
        cluster: two brokers, and a third where messages are to be deleted.
        jvms: those clients that stay or shut down, and those that are killed.
        pace: the clients' intervals.
        every: the runs.
    """

    folder: Path
    cluster: Cluster
    jvms: Mapping[str, Clients]
    pace: Pace
    every: Sequence[Run]
    predictions: dict[str, Prediction] = field(default_factory=dict)

    def set_up(self) -> None:
        """Topics, consumers, load, and what the model predicts from a snapshot."""
        for run in self.every:
            self.cluster.create_topic(run.name, run.layout)
        for run in self.every:
            for name in STAYS:
                self.start(run, name)
            if run.kind in ("SHUTDOWN", "KILL"):
                self.start(run, ENDS, "end" if run.kind == "KILL" else "stay")
        self._wait_until_divided()
        for run in self.every:
            self._load(run)
        inventory = self._snapshot()
        self.predictions = {run.name: Prediction.of(inventory, run, self.pace.policy) for run in self.every}

    def _snapshot(self) -> Inventory:
        """The first snapshot in which each group has an offset on each queue that is written."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            options = CollectOptions(sample_count=2, sample_interval_s=3.0)
            inventory = asyncio.run(collect([self.cluster.nameserver], options=options))
            known = Counter(
                one.topic
                for group in inventory.consumer_groups
                for one in group.offsets or ()
                if one.consumer_offset is not None
            )
            if all(known[run.name] >= sum(write for _, write in run.layout.values()) for run in self.every):
                return inventory
            if time.monotonic() > deadline:
                raise ClusterError(f"the clients have not committed their offsets: {known}")

    def start(self, run: Run, name: str, jvm: str = "stay") -> None:
        """Start a consumer of a run; it begins a queue without an offset at its end, as RocketMQ's do by default."""
        consumer = Consumer(
            run.name,
            f"{run.name}-{name}",
            [run.name],
            orderly=run.orderly,
            consume_from_where="CONSUME_FROM_LAST_OFFSET",
            record=str(self.folder / f"{run.name}-{name}"),
            **self.pace.of_consumers,
        )
        run.numbers[name] = self.jvms[jvm].start_consumer(consumer)

    def _load(self, run: Run) -> None:
        size = LARGE_BYTES if run.kind == "EXPAND_LATE" else 100
        # A producer that follows the route finds new queues while one of the name servers does not answer.
        by_route = run.kind == "NAME_SERVER_CUT"
        self.jvms["stay"].start_load(run.name, MSGS_PER_S, size_bytes=size, by_route=by_route)

    def _wait_until_divided(self) -> None:
        """Until each queue of each topic has one owner, and as many queues have one as there are."""
        deadline = time.monotonic() + PATIENCE_S + self.pace.rebalance_s + self.pace.route_s
        wanted = Counter({run.name: sum(read for read, _ in run.layout.values()) for run in self.every})
        while True:
            held = [queue for jvm in self.jvms.values() for one in jvm.owned() for queue in one.queues]
            number = Counter(queue.topic for queue in held if queue.topic in wanted)
            if number == wanted and len(set(held)) == len(held):
                return
            if time.monotonic() > deadline:
                raise ClusterError(f"the clients have not divided the queues: {number} of {wanted}")
            time.sleep(1.0)

    def of(self, kind: Kind) -> Iterator[Run]:
        """The runs of a kind; the change of each comes now."""
        for run in self.every:
            if run.kind == kind:
                run.at = time.time()
                yield run

    def change_clients(self) -> None:
        """Kill clients, shut clients down, and start some."""
        for _ in self.of("KILL"):
            pass
        self.jvms["end"].close()
        for run in self.of("SHUTDOWN"):
            self.jvms["stay"].stop_consumer(run.numbers[ENDS])
        for run in self.of("START"):
            self.start(run, ENDS)

    def wait_for_deletions(self) -> None:
        """Until brokers delete messages, which they begin to do a minute after their start."""
        topics = {run.name for run in self.every if run.kind == "EXPAND_LATE"}
        deadline = time.monotonic() + PATIENCE_S
        while topics & {row["topic"] for row in self.cluster.facts()["topic_stats"] if row["min_offset"] == 0}:
            if time.monotonic() > deadline:
                raise ClusterError("the broker deletes no messages")
            time.sleep(1.0)

    def change_queues(self) -> None:
        """Expand and shrink topics."""
        for kind in ("EXPAND", "EXPAND_LATE", "SHRINK"):
            for run in self.of(kind):
                self.cluster.create_topic(run.name, self._new_counts(run))
        for run in self.every:
            if run.kind in ("EXPAND", "EXPAND_LATE"):
                self._load(run)  # a load keeps to the queues that there are when it begins

    def _new_counts(self, run: Run) -> dict[str, int]:
        return {str(run.change["broker_name"]): int(run.change["read_queue_nums"])}

    def lose_broker(self) -> None:
        """Kill the process of broker-b."""
        for _ in self.of("BROKER_LOST"):
            pass
        self.cluster.kill("broker-b")

    def cut_nameserver(self) -> None:
        """One of two name servers answers no more, and topics expand."""
        self.cluster.freeze_second_nameserver()
        for run in self.of("NAME_SERVER_CUT"):
            # The broker takes the change at once, and then waits for the name server that does not answer.
            with suppress(ClusterError):
                self.cluster.create_topic(run.name, self._new_counts(run))

    def end(self, *kinds: Kind) -> None:
        """What comes now is no part of the runs of these kinds."""
        for run in self.every:
            if run.kind in kinds:
                run.until = min(run.until, time.time())

    def results(self) -> list[Result]:
        """What became of each run up to now."""
        return [result(run, self.predictions[run.name], self._records(run)) for run in self.every if run.at < inf]

    def final_results(self, beyond_s: float) -> list[Result]:
        """What became of each run once every queue that was to move is read by its new owner, and so many seconds more.

        Then the load ends, and all of it is consumed. What does not happen in time shows in the results.
        """
        deadline = time.monotonic() + PATIENCE_S
        while any(len(one.seen) < one.predicted for one in self.results()) and time.monotonic() < deadline:
            time.sleep(1.0)
        time.sleep(beyond_s)
        self.jvms["stay"].stop_loads()
        while any(one.lost for each in self.results() for one in each.seen) and time.monotonic() < deadline:
            time.sleep(1.0)
        return self.results()

    def _records(self, run: Run) -> dict[str, list[Consumed]]:
        return {run.client_id(name): list(self._record(run, name)) for name in (*STAYS, ENDS)}

    def _record(self, run: Run, name: str) -> Iterator[Consumed]:
        file = self.folder / f"{run.name}-{name}"
        lines: Iterable[str] = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else ()
        for line in lines:
            if line.endswith("\n"):  # else the client was killed while it wrote
                at, topic, broker, queue, offset, stored_at = line.split()
                yield Consumed(int(at) / 1000, Queue(topic, broker, int(queue)), int(offset), int(stored_at) / 1000)


def staged(stack: ExitStack, numbers: Mapping[Kind, tuple[int, int]], pace: Pace) -> Stage:
    """A stage whose cluster and clients run.

    Errors: OracleUnavailable, ClusterError.
    """
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rocketmq-transitions-")))
    brokers = [Broker("broker-a"), Broker("broker-b", own_process="BROKER_LOST" in numbers)]
    if "EXPAND_LATE" in numbers:
        brokers.append(Broker("broker-c", config=CLEANED))
    cluster = stack.enter_context(Cluster(brokers, two_nameservers="NAME_SERVER_CUT" in numbers))
    names = ";".join(filter(None, (cluster.nameserver, cluster.second_nameserver)))
    jvms = {name: stack.enter_context(Clients(names, jvm=pace.jvm)) for name in ("stay", "end")}
    return Stage(folder, cluster, jvms, pace, runs(numbers))


def measured(log: Callable[[str], Any] = sys.stderr.write) -> list[Result]:
    """All runs on one cluster.

    Errors: OracleUnavailable, ClusterError.
    """
    with ExitStack() as stack:
        stage = staged(stack, ALL, OWN_PACE)
        stage.set_up()
        log(f"{time.strftime('%X')} clients and queues change\n")
        stage.change_clients()
        stage.wait_for_deletions()
        stage.change_queues()
        time.sleep(65)
        stage.end("SHUTDOWN", "KILL", "START", "EXPAND", "EXPAND_LATE", "SHRINK")
        log(f"{time.strftime('%X')} a broker is lost\n")
        stage.lose_broker()
        time.sleep(60)
        stage.end("BROKER_LOST")
        log(f"{time.strftime('%X')} a name server is lost\n{table(stage.results())}\n")
        stage.cut_nameserver()
        time.sleep(95)
        return stage.final_results(beyond_s=0.0)


def table(results: Sequence[Result]) -> str:
    """A line a run: the worst of its queues."""
    lines = [
        "| run | queues | unread s | predicted | read twice s | at most | messages twice | at most | skipped | at most "
        "| lost | late s | result |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        name = f"{one.run.name}{', in order' if one.run.orderly else ''}"
        if not one.seen:
            lines.append(f"| {name} | 0 of {one.predicted} | | | | | | | | | | | {', '.join(one.faults)} |")
            continue
        longest = max(one.seen, key=lambda each: each.unread_s)
        row = longest.row
        twice_worst = max(each.row.messages_twice_worst or 0.0 for each in one.seen)
        skipped_worst = max(each.row.messages_skipped_worst or 0.0 for each in one.seen)
        lines.append(
            f"| {name} | {len(one.seen)} of {one.predicted} | {longest.unread_s:.1f}"
            f" | {row.unread_best_s:.1f}, {row.unread_expected_s:.1f}, {row.unread_worst_s:.1f}"
            f" | {max(each.twice_s for each in one.seen):.1f} | {max(each.row.twice_worst_s for each in one.seen):.1f}"
            f" | {max(each.messages_twice for each in one.seen)} | {twice_worst:.0f}"
            f" | {max(each.skipped for each in one.seen)} | {skipped_worst:.0f} | {sum(each.lost for each in one.seen)}"
            f" | {longest.late_s:.1f} | {', '.join(one.faults) or 'within'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(measured()) + "\n")
