"""Masters of a real cluster that are lost while their slaves stay: who reads on, when, and when the masters are back.

``.make/env.sh python -m tests.cluster.lost_master`` does it with RocketMQ's own intervals, once with masters that are
killed and once with masters that fall silent, and prints what was predicted and measured; about eight minutes.

The slave of ``broker-b`` has ``slaveReadEnable``, that of ``broker-c`` has not. A group reads a topic of each in any
order, and one reads ``broker-b`` in order. All have messages left when the masters are lost.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, get_args

from rocketmq_capacity.assessment.master_loss import MasterLoss, Use, Way
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster
from tests.cluster.transition_runs import OWN_PACE, Pace
from tests.fixtures.units import units_of
from tests.waiting import until

READ: Final = "broker-b"
REFUSED: Final = "broker-c"
BROKERS: Final = (READ, REFUSED)
TOPICS: Final = {"t_any": READ, "t_order": READ, "t_refused": REFUSED}
"""Each with its broker; a group of the same name reads it."""
IN_ORDER: Final = "t_order"
WAITING: Final[Mapping[str, Use]] = {"t_refused": "PULL", "t_order": "PULL_IN_ORDER"}
"""The groups that wait for the master, and how they read."""
QUEUES: Final = 2
DELAY_MS: Final = 200
"""So a client handles 20 messages a second, or 10 in order."""
HELD: Final = QUEUES * (10 + 5)
"""The most messages that a client holds: as many as it may, and one pull more, of each queue."""
QUIET_S: Final = 5.0
PATIENCE_S: Final = 400.0
Found = TypeVar("Found")


class Setting(NamedTuple):
    """How a run is made.

    Attributes:
        pace: the intervals of clients.
        way: how the masters are lost.
        messages: of each topic.
        lock_s: how long a client consumes in order after its last lock, and how often it locks.
    """

    pace: Pace
    way: Way
    messages: Mapping[str, int]
    lock_s: tuple[int, int] = (30, 20)


@dataclass
class Measured:
    """What happened, in seconds of the clock.

    Attributes:
        losses: by broker, what was predicted from a snapshot.
        setting: how the run was made.
        lost: when the masters were lost.
        started: when they were started again, or answered again.
        registered: by broker, when the name server listed its master again.
        read: by topic, when each message was consumed for the first time.
    """

    losses: Mapping[str, MasterLoss]
    setting: Setting
    lost: float = 0.0
    started: float = 0.0
    registered: dict[str, float] = field(default_factory=dict)
    read: dict[str, list[float]] = field(default_factory=dict)

    def consumed(self, topic: str, from_s: float, to_s: float) -> int:
        """How many messages of a topic were consumed between two moments."""
        return sum(from_s <= at < to_s for at in self.read[topic])

    def beyond_held_s(self, topic: str) -> float | None:
        """Seconds from the loss until a message is consumed that the client did not hold; None if there is none."""
        after = [at for at in self.read[topic] if at >= self.lost]
        return after[HELD] - self.lost if len(after) > HELD else None

    def back_s(self, topic: str) -> float:
        """Seconds from when the master registered until the group consumes again after its longest pause."""
        times = [self.lost, *(at for at in self.read[topic] if at >= self.lost)]
        return max((later - earlier, later) for earlier, later in pairwise(times))[1] - self.registered[TOPICS[topic]]


def measured(setting: Setting) -> Measured:
    """Make a run, on a cluster of its own."""
    with ExitStack() as stack:
        brokers = [
            Broker(name, broker_id, own_process=broker_id == 0, config={"slaveReadEnable": str(name == READ).lower()})
            for name in BROKERS
            for broker_id in (0, 1)
        ]
        cluster = stack.enter_context(Cluster(brokers))
        live_s, renewed_s = setting.lock_s
        locks = (
            f"-Drocketmq.client.rebalance.lockMaxLiveTime={live_s * 1000}",
            f"-Drocketmq.client.rebalance.lockInterval={renewed_s * 1000}",
        )
        clients = stack.enter_context(Clients(cluster.nameserver, jvm=(*setting.pace.jvm, *locks)))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for topic, name in TOPICS.items():
            cluster.create_topic(topic, {name: QUEUES})
            # A slave copies its master's topics once a minute: here nobody waits for that.
            slave = cluster.broker_addrs[name, 1]
            cluster.mqadmin(
                f"mqadmin updateTopic -n {cluster.nameserver} -b {slave} -t {topic} -r {QUEUES} -w {QUEUES}"
            )
            clients.produce(topic, setting.messages[topic])
        inventory = until(lambda: _copied(_snapshot(cluster)), PATIENCE_S)
        found = Measured(_losses(inventory, setting.pace.policy), setting)
        _run(found, cluster, clients, folder)
        return found


def _run(found: Measured, cluster: Cluster, clients: Clients, folder: Path) -> None:
    for topic in TOPICS:
        clients.start_consumer(_consumer(topic, folder, found.setting.pace.of_consumers))
    until(lambda: all(_consumed(folder, topic) for topic in TOPICS), PATIENCE_S)
    found.lost = time.time()
    for name in BROKERS:
        (cluster.kill if found.setting.way == "KILL" else cluster.freeze)(name)
    until(lambda: sum(at >= found.lost for at in _consumed(folder, "t_any")) > HELD + 2, PATIENCE_S)
    until(lambda: all(_is_quiet(folder, topic) for topic in WAITING), PATIENCE_S)
    found.started = time.time()
    for name in BROKERS:
        (cluster.start_again if found.setting.way == "KILL" else cluster.thaw)(name)
    until(lambda: _are_registered(found, cluster), PATIENCE_S)
    until(lambda: all(len(_consumed(folder, topic)) == found.setting.messages[topic] for topic in TOPICS), PATIENCE_S)
    found.read = {topic: _consumed(folder, topic) for topic in TOPICS}


def _are_registered(found: Measured, cluster: Cluster) -> bool:
    """Whether both masters are; notes when each of them was first seen to be."""
    for name in BROKERS:
        if name not in found.registered and cluster.is_registered(name):
            found.registered[name] = time.time()
    return len(found.registered) == len(BROKERS)


def _is_quiet(folder: Path, topic: str) -> bool:
    """Whether a group has consumed nothing for longer than a client waits after a failed pull."""
    return time.time() - _consumed(folder, topic)[-1] > QUIET_S


def _consumer(topic: str, folder: Path, intervals: Mapping[str, Any]) -> Consumer:
    return Consumer(
        topic,
        topic,
        [topic],
        orderly=topic == IN_ORDER,
        delay_ms=DELAY_MS,
        pull_threshold_for_queue=10,
        pull_batch_size=5,
        record=str(folder / topic),
        **intervals,
    )


def _snapshot(cluster: Cluster) -> Inventory:
    options = CollectOptions(sample_count=2, sample_interval_s=0.5)
    return collect_now([cluster.nameserver], options=options)


def _copied(inventory: Inventory) -> Inventory | None:
    """The inventory, if each slave has the topics and the messages of its master."""
    ends = {
        (one.broker_name, one.broker_id): (one.runtime or {}).get("commitLogMaxOffset") for one in inventory.brokers
    }
    is_same = all(ends.get((name, 0)) == ends.get((name, 1)) is not None for name in BROKERS)
    has_topics = all(one.drifted_topics == () for one in inventory.brokers if one.broker_id)
    return inventory if is_same and has_topics else None


def _losses(inventory: Inventory, policy: Policy) -> dict[str, MasterLoss]:
    brokers = sorted(units_of(inventory, policy).cluster.brokers, key=lambda one: one.broker_id)
    found = {}
    for name in BROKERS:
        master, *slaves = (one for one in brokers if one.broker_name == name)
        found[name] = MasterLoss.of(master, slaves, policy.thresholds.TRANSITION)
    return found


def _consumed(folder: Path, topic: str) -> list[float]:
    """When each message was consumed for the first time, sorted."""
    file = folder / topic
    first: dict[tuple[str, str], float] = {}
    for line in (file.read_text("utf-8") if file.exists() else "").splitlines(keepends=True):
        if line.endswith("\n"):
            at, _, _, queue, offset, *_ = line.split()
            first.setdefault((queue, offset), int(at) / 1000)
    return sorted(first.values())


def _lines(found: Measured) -> Iterator[str]:
    """What was predicted and measured, in seconds."""
    way = found.setting.way
    beyond_s, most_s = found.beyond_held_s("t_any"), found.losses[READ].served_s("PULL", way)
    yield f"{way}: t_any reads from the slave after {beyond_s or -1:.1f} s; predicted at most {most_s} s\n"
    for topic, use in WAITING.items():
        loss = found.losses[TOPICS[topic]]
        meanwhile = [at - found.lost for at in found.read[topic] if found.lost <= at < found.started]
        yield (
            f"{way}: {topic} consumes {len(meanwhile)} messages without the master, the last one after"
            f" {max(meanwhile, default=0.0):.1f} s, and again {found.back_s(topic):.1f} s after it has registered;"
            f" predicted at most {loss.back_s(use)} s\n"
        )


def main() -> None:
    """Both ways, with RocketMQ's own intervals."""
    for way in get_args(Way):
        setting = Setting(OWN_PACE, way, {"t_any": 300, "t_order": 600, "t_refused": 200})
        sys.stdout.writelines(_lines(measured(setting)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
