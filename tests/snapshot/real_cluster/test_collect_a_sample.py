"""A sample of a real cluster says what its admin client says, with few requests."""

import runpy
import time
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.snapshot.collect_sample import ClusterSample, sample_now
from rocketmq_capacity.store.samples import sampled_days
from rocketmq_capacity.tables.rows import rows_in
from rocketmq_capacity.tables.sample import TopicSample
from tests.cluster.rocketmq import Clients, Cluster
from tests.fixtures.environment import ROOT
from tests.snapshot.real_cluster.conftest import PLACED, Taken, facts_when_quiet, read_by_groups

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

MSGS_PER_S: Final = 200.0
QUEUES: Final = [(broker_name, queue_id) for broker_name, count in PLACED.items() for queue_id in range(count)]


def written(sample: ClusterSample, topic: str) -> dict[str, int]:
    return {one.broker_name: one.written for one in sample.topics if one.topic == topic}


def test_offsets_and_members_are_those_of_the_cluster(running: Cluster, taken: Taken) -> None:
    read = read_by_groups(facts_when_quiet(running))  # other tests have sent messages since the cluster was taken
    sample = sample_now([running.nameserver])
    of_pay = {(broker, queue): end for (_, topic, broker, queue), (end, _) in read.items() if topic == "pay"}
    assert sample.failures == []
    assert {one.broker_name for one in sample.brokers} == set(PLACED)
    assert written(sample, "pay") == {
        name: sum(end for (broker, _), end in of_pay.items() if broker == name) for name in PLACED
    }
    lags = {one.consumer_group: one.lag for one in sample.groups}
    assert lags["g_circle"] == 0
    assert lags["g_avg"] is None  # queues of ship are written that nobody can read
    members = {one.consumer_group: one.client_ids for one in sample.members}
    for group in ("g_avg", "g_twice", "g_mixed"):
        assert members[group] == tuple(sorted(one.client_id for one in taken.clients(group)))


def test_two_samples_give_the_rate_of_a_topic(running: Cluster, clients: Clients, taken: Taken) -> None:
    clients.start_load("fifo", 1.0)  # nobody reads it: no sample has it
    # Other tests look at what broker-b had when the cluster was taken.
    clients.start_load("pay", MSGS_PER_S, weights={queue: float(queue[0] == "broker-a") for queue in QUEUES})
    try:
        first, begin = sample_now([running.nameserver]), time.monotonic()
        time.sleep(10)
        last, end = sample_now([running.nameserver]), time.monotonic()
    finally:
        clients.stop_loads()
    came = sum(written(last, "pay").values()) - sum(written(first, "pay").values())
    assert came / (end - begin) == pytest.approx(MSGS_PER_S, rel=0.2)
    assert written(last, "fifo") == {}


def test_the_app_stores_what_it_takes(running: Cluster, taken: Taken, tmp_path: Path) -> None:
    app = runpy.run_path(str(ROOT / "spark_apps" / "sample.py"))["main"]
    for _ in range(2):
        app([f"--lake={tmp_path}", "--run-id=r1", f"--nameserver={running.nameserver}"])
        time.sleep(1.1)
    (day,) = sampled_days(tmp_path / "C1")
    rows = list(rows_in(day.files("topic_sample"), TopicSample))
    assert {one.topic for one in rows} >= {"pay", "ship", "popped"}
    assert len({one.at for one in rows}) == 2
    assert day.listed("sample_failure") == []
