"""The peak: the highest traffic that was seen, in the stored days or between samples, and never below the measured one.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryTopic, PastRate, Sample
from rocketmq_capacity.tables import GroupSize
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.assessment.judge import Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues

NOW = datetime(2026, 11, 20, 2, tzinfo=UTC)


def _topic(name: str, each: float | None, *past: float | None) -> InventoryTopic:
    """A topic of eight queues that get ``each``, and its rates at noon of the days before, the latest last."""
    rates = tuple(
        PastRate(at=utc_text(NOW - timedelta(days=len(past) - day, hours=14)), put_msgs_per_s=rate)
        for day, rate in enumerate(past)
    )
    topic = a_topic(name, queues("broker-a", 8), rates={("broker-a", i): each for i in range(8)})
    return replace(topic, rates=rates)


def _group(
    topics: Sequence[InventoryTopic], clients: int = 4, rt_ms: Mapping[str, float] | None = None
) -> InventoryGroup:
    status = tuple(one for topic in topics for one in takes(topic.topic, (rt_ms or {}).get(topic.topic, 10.0)))
    every = members(clients, consume_threads=10, consume_batch_size=1, status=status)
    return a_group("g", every, topics, lag=0)


def _inventory(topics: Sequence[InventoryTopic], **group: Any) -> Inventory:
    return cluster(topics, [_group(topics, **group)])


def _judged(*topics: InventoryTopic, **group: Any) -> Row:
    return judge(_inventory(topics, **group)).group("g")


def test_a_history_two_hundred_times_as_high_as_tonight_is_the_peak() -> None:
    # Eight queues of 1.28 msg/s tonight; at 2,060 msg/s two clients would be 103 % busy.
    found = _judged(_topic("t", 10.3 / 8, *[2_060.0] * 14), clients=3)

    assert found["peak_factor"] == pytest.approx(200.0)
    assert (found["peak_msgs_per_s"], found["peak_days"], found["peak_rates"]) == (pytest.approx(2_060.0), 14, 14)
    # Three of eight queues of 257.5 each; eight clients own one queue each, and four own two.
    assert found["provision_status"] == "UNDER_PROVISIONED"
    assert found["needed_clients_target"] == 4
    assert found["utilisation"] == pytest.approx(0.00386, rel=0.01)


def test_an_inventory_of_the_history_gives_its_rates() -> None:
    now = _inventory([_topic("t", 1.0)])
    before = [
        replace(_inventory([_topic("t", 50.0)]), taken_at=utc_text(NOW - timedelta(days=days)))
        for days in range(3, 0, -1)
    ]
    found = judge(now, history=before).group("g")

    assert (found["peak_factor"], found["peak_days"]) == (pytest.approx(50.0), 3)
    assert found["peak_at"] == "2026-11-19T02:00:00Z"


def _with_samples(inventory: Inventory, written: Sequence[int]) -> Inventory:
    """The inventory; so many messages came to each queue before each of the samples, a minute apart."""
    (group,) = inventory.consumer_groups
    offsets = []
    for one in group.offsets or ():
        end = one.broker_offset or 0
        behind = [sum(written[place:]) for place in range(len(written))]
        samples = tuple(
            Sample(
                at=utc_text(NOW - timedelta(minutes=len(written) - place)),
                broker_offset=end - less,
                consumer_offset=end - less,
            )
            for place, less in enumerate(behind)
        )
        offsets.append(replace(one, samples=samples))
    return replace(inventory, consumer_groups=(replace(group, offsets=tuple(offsets)),))


def test_ten_samples_whose_mean_is_high_are_a_peak_too() -> None:
    # 600 messages a minute came to each queue, 3,000 in one; the rate that is measured now is 1 msg/s.
    inventory = _with_samples(_inventory([_topic("t", 1.0)]), [600, 3_000, *[600] * 8])
    found = judge(inventory).group("g")

    assert found["peak_factor"] == pytest.approx(50.0)
    assert found["peak_at"] == "2026-11-20T01:52:00Z"


def test_what_came_with_an_event_that_is_over_is_no_peak() -> None:
    def sale(begins: datetime, ends: datetime) -> Policy:
        event = {"name": "sale", "from": begins, "to": ends, "topics": "^t$", "factor": 6.0}
        return Policy.model_validate({"events": [event]})

    sampled = _with_samples(_inventory([_topic("t", 1.0)]), [600, 3_000, *[600] * 8])
    stored = _inventory([_topic("t", 1.0, 160.0, 80.0)])
    minute, day = timedelta(minutes=1), timedelta(days=1)

    of_samples = judge(sampled, sale(NOW - 9 * minute, NOW - 8 * minute)).group("g")
    assert (of_samples["peak_factor"], of_samples["peak_at"]) == (pytest.approx(10.0), "2026-11-20T01:51:00Z")
    assert judge(sampled, sale(NOW - 9 * minute, NOW + minute)).group("g")["peak_factor"] == pytest.approx(50.0)
    assert judge(stored, sale(NOW - 3 * day, NOW - 2 * day)).group("g")["peak_factor"] == pytest.approx(10.0)


def test_the_higher_of_samples_and_stored_days_counts() -> None:
    sampled = _with_samples(_inventory([_topic("t", 1.0, 80.0)]), [600] * 10)

    assert judge(sampled).group("g")["peak_factor"] == pytest.approx(10.0)
    stored = _with_samples(_inventory([_topic("t", 1.0, 160.0)]), [600] * 10)
    assert judge(stored).group("g")["peak_factor"] == pytest.approx(20.0)


def test_a_peak_is_never_below_the_measured_rate() -> None:
    found = _judged(_topic("t", 100.0, 1.0, 2.0, 3.0))

    assert (found["peak_factor"], found["peak_msgs_per_s"], found["peak_at"]) == (1.0, pytest.approx(800.0), None)


def test_without_a_measured_message_the_peak_comes_evenly_to_the_queues() -> None:
    # Two of eight queues each: a quarter of 2,400.
    found = _judged(_topic("t", 0.0, 2_400.0))

    assert (found["utilisation"], found["peak_factor"]) == (0.0, None)
    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert found["headroom_factor"] == pytest.approx(0.7 / 0.6)
    assert found["needed_clients_target"] == 4
    assert _judged(_topic("t", 0.0, 3_600.0))["provision_status"] == "UNDER_PROVISIONED"


def test_without_a_response_time_of_the_topic_that_peaks_nothing_is_decided() -> None:
    # RocketMQ reports 0 where nothing was consumed in the last hour.
    found = _judged(_topic("t", 0.0, 2_400.0), rt_ms={"t": 0.0})

    assert found["provision_status"] == "UNDECIDED"
    assert "response time" in found["provision_reason"]
    busy, quiet = _topic("busy", 100.0, 800.0), _topic("quiet", 0.0, 2_400.0)
    both = _judged(busy, quiet, rt_ms={"quiet": 0.0})
    assert (both["provision_status"], both["utilisation"]) == ("UNDECIDED", pytest.approx(0.2))
    assert both["provision_reason"].startswith("no client reported a response time of quiet")


def test_each_topic_has_its_own_peak() -> None:
    # At noon the slow topic gets 240 msg/s of 100 ms instead of 8: two of its eight queues keep a client busy for 60 %.
    slow, quick = _topic("slow", 1.0, 240.0), _topic("quick", 100.0, 800.0)
    found = _judged(slow, quick, rt_ms={"slow": 100.0, "quick": 1.0})

    assert found["peak_factor"] == pytest.approx(1_040 / 808)
    assert found["headroom_factor"] == pytest.approx(0.7 / (0.6 + 0.02))
    assert found["headroom_measured_factor"] == pytest.approx(0.7 / (0.02 + 0.02))
    sizes = {row.clients: row.busy_ratio for row in _sizes(slow, quick)}
    assert sizes[4] == pytest.approx(0.62)
    assert sizes[8] == pytest.approx(0.31)


def _sizes(*topics: InventoryTopic) -> list[GroupSize]:
    plan = plain_plan(_inventory(topics, rt_ms={"slow": 100.0, "quick": 1.0}))
    return [row for assessment in plan.assessments for row in assessment.sizes]


def test_days_count_only_where_the_rates_of_all_topics_are_known() -> None:
    found = _judged(_topic("a", 1.0, 8.0, 8.0, 8.0), _topic("b", 1.0, None, 8.0, 8.0))

    assert found["peak_days"] == 2
