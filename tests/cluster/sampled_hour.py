"""A real broker sampled for an hour of the clock under a changing load, beside what was sent and read.

``.make/env.sh python -m tests.cluster.sampled_hour`` waits for the next hour and samples it every five minutes, as the
Dag does. Then it prints a table, and plans the cluster with the samples; one to two hours. What happened is counted
from what the consumers wrote down of each message.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Inventory, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.steps.sample import in_a_few_words, store_sample, take_sample
from rocketmq_capacity.steps.stored_samples import with_stored_samples
from rocketmq_capacity.store.lake import Lake
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster

EVERY_S: Final = 300
MINUTE_S: Final = 60
BEFORE_S: Final = 20
"""A sample is taken so long before a full minute, when no load changes."""
TOLERANCE: Final = 0.02
"""Of a rate: it is taken to be even between two samples, and the load changes there."""
SLOW_MS: Final = 25
"""Of the group ``slow``: its one thread handles 40 messages a second."""
LOADS: Final[dict[str, Sequence[tuple[int, float]]]] = {
    "steady": [(0, 30.0)],
    "bursts": [(0, 20.0), (22, 150.0), (34, 20.0)],
    "stops": [(0, 60.0), (27, 0.0)],
    # More than the group can handle for a while, and less afterwards.
    "slow": [(0, 15.0), (12, 60.0), (24, 15.0)],
}
"""Topic -> from which minute of the hour on how many messages a second are sent. A group of its name reads each."""
AWAY: Final = (38, 49)
"""Minutes between which the second client of ``bursts`` has stopped."""
HEAD: Final = "| topic and group | figure | what happened | by the samples | result |\n|---|---|---:|---:|---|"


class Figure(NamedTuple):
    """A figure as it was, and by the samples; they may differ by a share and by an absolute bound."""

    name: str
    happened: float
    sampled: float | None
    share: float = 0.0
    absolute: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether it lies within the bounds."""
        bound = self.share * self.happened + self.absolute
        return self.sampled is not None and abs(self.sampled - self.happened) <= bound


@dataclass
class Hour:
    """The cluster and its clients.

    Attributes:
        begin: when the hour begins, in seconds since 1970.
        folder: what consumers write down, the samples, and the plan.
        sampled_at: when each sample was about to be taken.
        second: the number of the second client of ``bursts``.
    """

    begin: float
    folder: Path
    cluster: Cluster
    clients: Clients
    sampled_at: list[float] = field(default_factory=list)
    second: int = 0

    @property
    def lake(self) -> Path:
        """The folder of the samples."""
        return self.folder / "lake"

    def start(self, group: str, name: str) -> int:
        """Start a client that writes each message down."""
        record = self.folder / "records" / f"{group}-{name}-{time.time():.0f}"
        record.parent.mkdir(exist_ok=True)
        record.touch()
        is_slow = group == "slow"
        return self.clients.start_consumer(
            Consumer(
                group,
                f"{group}-{name}",
                [group],
                record=str(record),
                delay_ms=SLOW_MS if is_slow else 0,
                consume_threads=1 if is_slow else 4,
            )
        )

    def prepare(self) -> None:
        """Make the topics, and start the clients and the first load."""
        for topic in LOADS:
            self.cluster.create_topic(topic, {"broker-a": 4})
            self.start(topic, "1")
        self.second = self.start("bursts", "2")
        self.clients.settled()
        self.send(0)

    def acts(self) -> Iterator[tuple[float, Callable[[], object]]]:
        """What is to be done when."""
        for minute in {minute for steps in LOADS.values() for minute, _ in steps if minute}:
            yield self.begin + minute * MINUTE_S, partial(self.send, minute)
        yield self.begin + AWAY[0] * MINUTE_S, lambda: self.clients.stop_consumer(self.second)
        yield self.begin + AWAY[1] * MINUTE_S, lambda: self.start("bursts", "2")
        for number in range(-1, HOUR_S // EVERY_S + 2):
            at = self.begin + number * EVERY_S - BEFORE_S
            if at > time.time():
                yield at, self.sample

    def send(self, minute: int) -> None:
        """Send from now on what is due at a minute of the hour."""
        self.clients.stop_loads()
        for topic, steps in LOADS.items():
            rate = steps[bisect_right([at for at, _ in steps], minute) - 1][1]
            if rate:
                self.clients.start_load(topic, rate)

    def sample(self) -> None:
        """Take a sample, and store it."""
        self.sampled_at.append(time.time())
        policy = Policy()
        taken = take_sample(self.cluster.nameserver, policy, ConnectionSettings())
        store_sample(Lake(self.lake), taken, policy.samples.keep_days)
        say(in_a_few_words(taken))

    def known(self) -> Inventory:
        """A snapshot, with what the samples tell."""
        inventory = collect_now([self.cluster.nameserver])
        return with_stored_samples(inventory, self.lake / inventory.cluster_name, Thresholds())

    def messages(self, group: str) -> tuple[list[float], list[float]]:
        """When each message was stored, and when each was read first; sorted."""
        times: dict[tuple[str, str], tuple[float, float]] = {}
        for record in (self.folder / "records").glob(f"{group}-*"):
            for line in record.read_text("utf-8").splitlines():
                read_ms, _, _, queue, offset, stored_ms = line.split()
                times.setdefault((queue, offset), (int(stored_ms) / 1000, int(read_ms) / 1000))
        stored, read = zip(*times.values(), strict=True)
        return sorted(stored), sorted(read)

    def figures(self, topic: str, known: Inventory) -> list[Figure]:
        """What happened to a topic and its group in the hour, beside what the samples tell."""
        stored, read = self.messages(topic)
        (rates,) = (one.hourly for one in known.topics if one.topic == topic)
        (group,) = (one for one in known.consumer_groups if one.consumer_group == topic)
        assert rates
        assert group.hourly
        hour, hour_of_group = (
            int(self.begin - parse_utc(one.first_at).timestamp()) // HOUR_S for one in (rates, group.hourly)
        )
        end = self.begin + HOUR_S
        most = max(
            between(stored, early, late) / (late - early)
            for early, late in zip(self.sampled_at[:-1], self.sampled_at[1:], strict=True)
            if late > self.begin and early < end
        )
        unread = max(
            bisect_right(stored, at) - bisect_right(read, at) for at in self.sampled_at if self.begin <= at < end
        )
        has_two = topic == "bursts"
        return [
            Figure(
                "messages a second",
                between(stored, self.begin, end) / HOUR_S,
                rates.mean_msgs_per_s[hour],
                share=TOLERANCE,
            ),
            Figure("most between two samples", most, rates.most_msgs_per_s[hour], share=TOLERANCE),
            # Clients commit each second.
            Figure("most unread", unread, group.hourly.most_lag[hour_of_group], share=TOLERANCE, absolute=2 * most),
            Figure("most clients", 2 if has_two else 1, group.hourly.clients[hour_of_group]),
            Figure("sets of clients, if they changed", 3 if has_two else 0, len(group.past_members or ())),
        ]


def main() -> int:
    """Take the samples, and compare; 1 if a figure lies outside of its bounds."""
    begin = (int(time.time()) // HOUR_S + 1) * HOUR_S
    folder = Path(tempfile.mkdtemp(prefix="sampled-hour-"))
    say(f"everything stays in {folder}")
    with contextlib.closing(Cluster([Broker("broker-a")]).start()) as cluster, Clients(cluster.nameserver) as clients:
        hour = Hour(begin, folder, cluster, clients)
        hour.prepare()
        for at, act in sorted(hour.acts(), key=lambda due: due[0]):
            time.sleep(max(0.0, at - time.time()))
            act()
        clients.stop_loads()
        known = hour.known()
        say(HEAD)
        are_right = True
        for topic in LOADS:
            for one in hour.figures(topic, known):
                are_right &= one.is_right
                result = "right" if one.is_right else "WRONG"
                say(f"| {topic} | {one.name} | {one.happened:.2f} | {one.sampled} | {result} |")
        history = str(hour.lake / known.cluster_name)
        options = ["--nameserver", cluster.nameserver, "--history", history, "--out", str(folder / "plan")]
        subprocess.run([sys.executable, "-m", "rocketmq_capacity", "plan", *options], check=True)
    return 0 if are_right else 1


def between(moments: Sequence[float], early: float, late: float) -> int:
    """How many moments lie between two."""
    return bisect_right(moments, late) - bisect_right(moments, early)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
