"""A plan reads the same from a lake whose hours are put together as from every sample that was taken."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import pytest
from msgspec.structs import replace as with_members
from pyarrow import parquet

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.collect_sample import ClusterSample
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryTopic
from rocketmq_capacity.snapshot.past_samples import SampledDay, with_sampled_days
from rocketmq_capacity.steps.sample import MOST_FILES, store_sample
from rocketmq_capacity.steps.stored_samples import with_stored_samples
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.samples import sampled_days
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.sample import GroupSample, MemberSample, TopicSample
from tests.fixtures.samples import at, sample
from tests.simulation.clusters import cluster, group

CLUSTER = "C1"
BEGIN_MIN, END_MIN = 18 * 60, 54 * 60
TOPICS = ("pay", "ship", "new")
BROKERS = ("broker-a", "broker-b")


def samples(seed: int) -> Iterator[ClusterSample]:
    """Two days: brokers that do not answer, gaps, topics that begin late or are made anew, lags that nobody knows."""
    chance = random.Random(seed)
    ends = {(topic, broker): 0 for topic in TOPICS for broker in BROKERS}
    ids, minute = ["c1", "c2"], float(BEGIN_MIN)
    while minute < END_MIN:
        moment = at(minute)
        for place in ends:
            ends[place] = chance.randrange(99) if chance.random() < 0.01 else ends[place] + chance.randrange(9_000)
        answers = [broker for broker in BROKERS if chance.random() < 0.95]
        topics = [
            TopicSample(
                at=moment,
                topic=topic,
                broker_name=broker,
                after_s=chance.randrange(30) / 10,
                queues=4 if minute < 2_000 or broker == "broker-a" else 8,
                written=ends[topic, broker],
            )
            for topic in TOPICS
            for broker in BROKERS
            if broker in answers and (topic != "new" or minute > 1_500)
        ]
        if chance.random() < 0.05:
            ids = chance.sample(["c1", "c2", "c3"], 2)
        lag = chance.choice([None, *range(50)])
        yield replace(sample(moment, lags={"g": lag}, members={"g": ids}), topics=topics)
        minute += chance.choice([10.0] * 20 + [5.0, 12.5, 35.0, 80.0, 200.0])


def inventory(taken: datetime) -> Inventory:
    own = with_members(group("g", ()), clients=(Client(client_id="c1"),))
    whole = cluster([InventoryTopic(topic=topic) for topic in TOPICS], [own])
    return with_members(whole, cluster_name=CLUSTER, taken_at=utc_text(taken))


def from_all(taken: Sequence[ClusterSample], now: Inventory, thresholds: Thresholds) -> Inventory:
    days = [
        SampledDay(
            topics=[table_of(TopicSample, one.topics) for one in of_day],
            groups=[table_of(GroupSample, one.groups) for one in of_day],
            members=[table_of(MemberSample, one.members) for one in of_day],
        )
        for _, own in groupby(taken, key=lambda one: one.at[:10])
        for of_day in [list(own)]
    ]
    bounds = thresholds.PROVISION.sampled_days, thresholds.REBALANCE_FREQUENCY.window_h
    return with_sampled_days(now, days, most_days=bounds[0], window_h=bounds[1])


@pytest.fixture(autouse=True)
def _waits_for_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketmq_capacity.store.writing._sync", lambda _: None)


@pytest.mark.parametrize("seed", range(3))
def test_each_plan_reads_the_same_before_and_after_hours_are_put_together(tmp_path: Path, seed: int) -> None:
    lake, thresholds = Lake(tmp_path), Thresholds()
    folder, taken = tmp_path / CLUSTER, list(samples(seed))
    moments: list[Inventory] = []
    for number, one in enumerate(taken):
        store_sample(lake, one, 90)
        if number % 7 == 0:
            moments.append(inventory(datetime.fromisoformat(one.at) + timedelta(seconds=30)))
            assert with_stored_samples(moments[-1], folder, thresholds) == from_all(
                taken[: number + 1], moments[-1], thresholds
            )
    for now in moments[::5]:  # planned again
        until = [one for one in taken if one.at[:10] <= now.taken_at[:10]]
        assert with_stored_samples(now, folder, thresholds) == from_all(until, now, thresholds)
    last = with_stored_samples(moments[-1], folder, thresholds)
    known = [rate for topic in last.topics if topic.hourly for rate in topic.hourly.mean_msgs_per_s if rate]
    assert len(known) > 20
    assert all(len(day.listed("topic_sample")) <= MOST_FILES for day in sampled_days(folder))


def test_a_day_under_way_is_read_from_few_rows(tmp_path: Path) -> None:
    for minute in range(0, 10 * 60, 5):
        day = store_sample(Lake(tmp_path), sample(at(minute), {"pay": minute}, lags={"g": minute}), 90)
    rows = {name: sum(map(rows_of, day.files(name))) for name in ("topic_sample", "topic_hour_sample", "group_sample")}
    assert rows == {"topic_sample": 13, "topic_hour_sample": 9, "group_sample": 21}


def rows_of(file: Path) -> int:
    return int(parquet.read_metadata(file).num_rows)
