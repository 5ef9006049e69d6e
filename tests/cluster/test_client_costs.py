"""What clients cost a real broker, as predicted: its open connections, and its look-ups as it counts them.

The broker has short polling, so that a pull without messages waits 0.2 to 0.4 s and not 15 to 20 s.
"""

import contextlib
import time
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.tables import ClientCost
from rocketmq_capacity.vocabulary import BROADCASTING
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster
from tests.fixtures.costs import costs_of
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

BROKER: Final = "broker-a"
CONFIG: Final = {"longPollingEnable": "false", "shortPollingTimeMills": "200"}
LIMIT_S: Final = 180.0
"""A loaded machine may need so long until it is in step."""
MEAN_S: Final = 11.0
"""The shortest mean of a broker is of 10 s; what it counted before is out of it after this time."""
ESTABLISHED: Final = "01"


def test_a_broker_has_the_connections_and_counts_the_look_ups_that_are_predicted() -> None:
    cluster = started_or_skipped(Cluster([Broker(BROKER, config=CONFIG)]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        cluster.create_topic("pay", {BROKER: 8})
        cluster.create_topic("news", {BROKER: 2})
        for group in ("g_pay", "g_news"):
            cluster.create_group(group)
        port = int(cluster.broker_addrs[BROKER, 0].rpartition(":")[2])
        before = open_connections(port)
        for number in range(3):
            clients.start_consumer(Consumer("g_pay", f"pay-{number}", ["pay"]))
        for number in range(2):
            clients.start_consumer(Consumer("g_news", f"news-{number}", ["news"], message_model=BROADCASTING))

        # 8 queues and the retry topic's are pulled once each, the 2 of news by 2 clients: a pull without messages makes
        # two look-ups, one when it comes and one when its time is over.
        until(lambda: cost(cluster).waiting_pulls == 8 + 1 + 2 * 2, LIMIT_S)
        predicted = cost(cluster)
        assert (predicted.connections, predicted.offset_commits_per_s) == (5, (8 + 1) / 5)
        until(lambda: open_connections(port) - before == 5, LIMIT_S)
        assert (predicted.pulls_per_s_lower, predicted.pulls_per_s_upper) == pytest.approx((13 / 0.4, 13 / 0.2))
        until(lambda: is_between(cluster, 2 * 13 / 0.4, 2 * 13 / 0.2) and settled(cluster), LIMIT_S)


def settled(cluster: Cluster) -> bool:
    """Whether the next mean is within the prediction as well, when nothing of the clients' start is in it any more."""
    time.sleep(MEAN_S)
    return is_between(cluster, 2 * 13 / 0.4, 2 * 13 / 0.2)


def is_between(cluster: Cluster, lower: float, upper: float) -> bool:
    counted = cost(cluster).counted_reads_per_s
    return counted is not None and lower <= counted <= upper


def cost(cluster: Cluster) -> ClientCost:
    """What clients cost the broker, by a snapshot of this moment."""
    options = CollectOptions(sample_count=2, sample_interval_s=1.0)
    inventory = collect_now([cluster.nameserver], options=options)
    ((found,), _) = costs_of(inventory)
    return found


def open_connections(port: int) -> int:
    """The connections that the broker has open, as the kernel lists them; those of a snapshot are closed by then."""
    found = 0
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            found += state == ESTABLISHED and int(local.rpartition(":")[2], 16) == port
    return found
