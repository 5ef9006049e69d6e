"""Changes of a real cluster under load: how long queues were unread or read twice, beside what was predicted.

``.make/env.sh python -m tests.cluster.transitions`` makes 26 of them and prints a table; about six minutes. The clients
have RocketMQ's own intervals. Several groups go through a change at the same time, each with a topic of its own.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.tables.dataset import Queue
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster, ClusterError
from tests.cluster.snapshots import committed_snapshot
from tests.cluster.transition_results import Consumed, Prediction, Result, result, table
from tests.cluster.transition_runs import ALL, ENDS, OWN_PACE, Kind, Pace, Run, runs

MSGS_PER_S: Final = 40.0
"""Of a topic, so that a queue gets one each 0.15 s."""
LARGE_BYTES: Final = 4_000
STAYS: Final = ("c1", "c2")
CLEANED: Final = {
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
    "cleanResourceInterval": "1000",
    "mappedFileSizeCommitLog": "1048576",
}
"""A broker that deletes each MiB of messages as soon as the next one begins."""
PATIENCE_S: Final = 180.0


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
        written = {run.name: sum(write for _, write in run.layout.values()) for run in self.every}
        inventory = committed_snapshot(self.nameservers, written)
        self.predictions = {run.name: Prediction.of(inventory, run, self.pace.policy) for run in self.every}

    @property
    def nameservers(self) -> list[str]:
        """The addresses of the cluster's name servers."""
        return [one for one in (self.cluster.nameserver, self.cluster.second_nameserver) if one]

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
        while topics & {
            row["topic"] for row in self.cluster.facts_of_brokers()["topic_stats"] if row["min_offset"] == 0
        }:
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


if __name__ == "__main__":
    sys.stdout.write(table(measured()) + "\n")
