"""A rolling restart of real groups of six, two clients at a time under load, beside what was predicted.

``.make/env.sh python -m tests.cluster.rolling_restart`` restarts a group that consumes in any order and one that
consumes in order, with RocketMQ's own intervals, and prints a table; about three minutes.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.plan_file.rolling_restart import RestartTotals, RollingRestartResult
from rocketmq_capacity.simulation.changes.rolling_restart import RollingRestart as Asked
from rocketmq_capacity.simulation.rolling_restarts import rolling_restart
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables.dataset import Queue
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster, ClusterError
from tests.cluster.snapshots import committed_snapshot
from tests.cluster.transition_results import NOISE_S
from tests.cluster.transition_runs import OWN_PACE, Pace
from tests.fixtures.units import units_of

CLIENTS: Final = 6
BATCH: Final = 2
PAUSE_S: Final = 10.0
QUEUES: Final = 6
"""On each of two brokers: 12 in all, which 6 clients divide evenly, and 4 too."""
MSGS_PER_S: Final = 120.0
"""Of a topic, so that a queue gets one each 0.1 s."""
PATIENCE_S: Final = 180.0

Owners = Mapping[Queue, str]


@dataclass
class Restarted:
    """A group and its topic of the same name.

    Attributes:
        moved: by step, queues that got another owner when clients stopped, and when they had started again.
    """

    name: str
    orderly: bool
    folder: Path
    numbers: dict[int, int] = field(default_factory=dict)
    records: list[Path] = field(default_factory=list)
    moved: list[tuple[int, int]] = field(default_factory=list)

    def start(self, jvm: Clients, place: int, pace: Pace) -> None:
        """Start the client at a place of the order of restarts; its instanceName is set, so it keeps its id."""
        record = self.folder / f"{self.name}-{len(self.records)}"
        consumer = Consumer(
            self.name,
            f"{self.name}-{place}",
            [self.name],
            orderly=self.orderly,
            consume_from_where="CONSUME_FROM_LAST_OFFSET",
            record=str(record),
            **pace.of_consumers,
        )
        self.records.append(record)
        self.numbers[place] = jvm.start_consumer(consumer)

    def divided(self, jvm: Clients, clients: int) -> Owners:
        """The owner of each queue, once so many clients have divided them evenly. Errors: ClusterError."""
        deadline, share = time.monotonic() + PATIENCE_S, 2 * QUEUES // clients
        while True:
            held = {
                one.client_id: [Queue(*queue) for queue in one.queues if queue.topic == self.name]
                for one in jvm.owned()
                if one.consumer_group == self.name
            }
            owners = {queue: client_id for client_id, queues in held.items() for queue in queues}
            if len(owners) == 2 * QUEUES and [len(queues) for queues in held.values()] == [share] * clients:
                return owners
            if time.monotonic() > deadline:
                raise ClusterError(f"{clients} clients have not divided the queues of {self.name}: {held}")
            time.sleep(0.5)

    def consumed(self) -> Iterator[tuple[Queue, float, int]]:
        """Each message that was consumed: its queue, when, and its offset."""
        for record in self.records:
            for line in record.read_text("utf-8").splitlines(keepends=True):
                if not line.endswith("\n"):  # the client is writing it
                    continue
                at, topic, broker, queue, offset, _ = line.split()
                yield Queue(topic, broker, int(queue)), int(at) / 1000, int(offset)


@dataclass(frozen=True)
class Outcome:
    """What became of a group, beside what was predicted.

    Attributes:
        unread_s: the longest time between two messages of a queue.
        messages_twice: offsets that were consumed more than once, each as often as it was too many.
        lost: offsets between the first and the last consumed that nobody consumed.
    """

    group: Restarted
    predicted: RollingRestartResult
    unread_s: float
    messages_twice: int
    lost: int

    @property
    def asked(self) -> RestartTotals:
        """The prediction as a whole. Errors: ClusterError if there is none."""
        if self.predicted.asked is None:
            raise ClusterError(f"not computed: {self.predicted.undecided}")
        return self.predicted.asked

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        whole, found = self.asked, []
        if self.group.moved != [(one.moved_at_stop, one.moved_at_start) for one in self.predicted.steps]:
            found.append("moved")
        if whole.unread_longest_worst_s is None or self.unread_s > whole.unread_longest_worst_s + NOISE_S:
            found.append("unread")
        if whole.messages_twice_worst is None or self.messages_twice > whole.messages_twice_worst:
            found.append("messages")
        return [*found, "lost"] if self.lost else found

    @property
    def line(self) -> str:
        """Its line of the table."""
        whole = self.asked
        return (
            f"| {self.group.name} | {self.group.moved} | {whole.moved_queues} | {self.unread_s:.1f}"
            f" | {whole.unread_longest_expected_s:.1f}, {whole.unread_longest_worst_s} | {self.messages_twice}"
            f" | {whole.messages_twice_expected}, {whole.messages_twice_worst} | {self.lost}"
            f" | {', '.join(self.faults) or 'within'} |"
        )


HEAD: Final = (
    "| group | queues moved at stop and start | predicted in all | unread s | predicted | messages twice | predicted "
    "| lost | result |\n|---|---|---|---|---|---|---|---|---|"
)


def measured(pace: Pace = OWN_PACE, pause_s: float = PAUSE_S) -> list[Outcome]:
    """Restart both groups. Errors: OracleUnavailable, ClusterError."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rocketmq-rolling-")))
        cluster = stack.enter_context(Cluster([Broker("broker-a"), Broker("broker-b")]))
        jvm = stack.enter_context(Clients(cluster.nameserver, jvm=pace.jvm))
        groups = [Restarted("any_order", False, folder), Restarted("in_order", True, folder)]
        for group in groups:
            cluster.create_topic(group.name, {"broker-a": (QUEUES, QUEUES), "broker-b": (QUEUES, QUEUES)})
            for place in range(CLIENTS):
                group.start(jvm, place, pace)
        owners = {group.name: group.divided(jvm, CLIENTS) for group in groups}
        for group in groups:
            jvm.start_load(group.name, MSGS_PER_S, size_bytes=100)
        inventory = committed_snapshot([cluster.nameserver], {group.name: 2 * QUEUES for group in groups})
        predicted = {group.name: _predicted(inventory, group.name, pace, pause_s) for group in groups}
        for first in range(0, CLIENTS, BATCH):
            _restart(groups, jvm, range(first, first + BATCH), pace, owners)
            time.sleep(pause_s)
        jvm.stop_loads()
        return [_outcome(group, predicted[group.name]) for group in groups]


def _restart(groups: list[Restarted], jvm: Clients, batch: range, pace: Pace, owners: dict[str, Owners]) -> None:
    """Stop and start a batch of each group; ``owners`` are brought up to date."""
    moved = {}
    for group in groups:
        for place in batch:
            jvm.stop_consumer(group.numbers[place])
    for group in groups:
        without = group.divided(jvm, CLIENTS - len(batch))
        moved[group.name] = _differ(owners[group.name], without)
        owners[group.name] = without
    for group in groups:
        for place in batch:
            group.start(jvm, place, pace)
    for group in groups:
        back = group.divided(jvm, CLIENTS)
        group.moved.append((moved[group.name], _differ(owners[group.name], back)))
        owners[group.name] = back


def _differ(before: Owners, after: Owners) -> int:
    return sum(after[queue] != client_id for queue, client_id in before.items())


def _predicted(inventory: Inventory, name: str, pace: Pace, pause_s: float) -> RollingRestartResult:
    units = units_of(inventory, pace.policy)
    group = AssessedGroup(units.group(name), units.cluster, pace.policy, Strategies(pace.policy))
    change = Asked(change="rolling_restart", consumer_group=name, batch=BATCH, pause_s=pause_s)
    return rolling_restart(group, change, Timing.of(units.cluster, pace.policy))


def _outcome(group: Restarted, predicted: RollingRestartResult) -> Outcome:
    """What the records say, once every message between the first and the last one is consumed or patience ends."""
    deadline = time.monotonic() + PATIENCE_S
    while (outcome := _seen(group, predicted)).lost and time.monotonic() < deadline:
        time.sleep(1.0)
    return outcome


def _seen(group: Restarted, predicted: RollingRestartResult) -> Outcome:
    times: dict[Queue, list[float]] = {}
    offsets: dict[Queue, Counter[int]] = {}
    for queue, at, offset in group.consumed():
        times.setdefault(queue, []).append(at)
        offsets.setdefault(queue, Counter())[offset] += 1
    gaps = [
        later - earlier
        for each in times.values()
        for earlier, later in zip(sorted(each), sorted(each)[1:], strict=False)
    ]
    twice = sum(each.total() - len(each) for each in offsets.values())
    lost = sum(max(each) - min(each) + 1 - len(each) for each in offsets.values())
    return Outcome(group, predicted, max(gaps, default=0.0), twice, lost)


if __name__ == "__main__":
    outcomes = measured()
    sys.stdout.write("\n".join([HEAD, *(one.line for one in outcomes)]) + "\n")
