"""Samples between snapshots tell the rates of topics by hour, and which members came and went."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.thresholds import ProvisionPolicy, RebalanceFrequency
from rocketmq_capacity.snapshot import sampled_hours
from rocketmq_capacity.snapshot.inventory import Client, HourlyGroup, HourlyRates, Inventory, InventoryTopic
from rocketmq_capacity.snapshot.past_members import past_members
from rocketmq_capacity.snapshot.past_rates import PastHours
from rocketmq_capacity.snapshot.past_samples import SampledDay, with_sampled_days
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.sample import GroupSample, MemberSample, TopicSample
from tests.fixtures.samples import MIDNIGHT, at
from tests.simulation.clusters import cluster, group

TAKEN = MIDNIGHT + timedelta(days=2, hours=2)
BOUNDS = RebalanceFrequency()


def inventory(clients: Sequence[str] = ()) -> Inventory:
    own = replace(group("g", ()), clients=tuple(Client(client_id=one) for one in clients))
    return replace(cluster([InventoryTopic(topic="pay")], [own]), taken_at=utc_text(TAKEN))


def written(ends: Mapping[float, int], *, of: str = "pay", broker: str = "a", **members: Any) -> list[Any]:
    """Rows of one topic on one broker: minutes after midnight -> how far it is written."""
    told = {"after_s": 0.0, "queues": 4, **members}
    return [
        TopicSample(at=at(minutes), topic=of, broker_name=broker, written=end, **told) for minutes, end in ends.items()
    ]


def hourly(*days: list[Any], of: str = "pay") -> HourlyRates | None:
    taken = with_sampled_days(
        inventory(),
        [SampledDay([table_of(TopicSample, rows)]) for rows in days],
        most_days=3,
        window_h=24,
    )
    return next(one for one in taken.topics if one.topic == of).hourly


def known(rates: HourlyRates | None) -> dict[int, tuple[float, float]]:
    """Hours after midnight -> mean and highest rate."""
    if rates is None:
        return {}
    first = datetime.fromisoformat(rates.first_at)
    pairs = enumerate(zip(rates.mean_msgs_per_s, rates.most_msgs_per_s, strict=True))
    return {
        round((first - MIDNIGHT).total_seconds() / 3600) + place: (mean, most)
        for place, (mean, most) in pairs
        if mean is not None and most is not None
    }


def test_an_hour_has_its_mean_and_the_highest_rate_between_two_samples() -> None:
    rows = written({0: 0, 20: 1_200, 40: 6_000, 60: 7_200, 90: 9_000})
    assert known(hourly(rows)) == {0: (2.0, 4.0), 1: (1.0, 1.0)}


def test_the_moment_of_an_answer_counts_and_not_that_of_the_question() -> None:
    rows = [*written({0: 0}), *written({40: 2_430}, after_s=30.0)]
    assert known(hourly(rows)) == {0: (1.0, 1.0)}


def test_a_step_over_midnight_counts() -> None:
    rows = written({23 * 60 + 20: 0}), written({24 * 60 + 30: 4_200})
    assert known(hourly(*rows)) == {23: (1.0, 1.0)}


def test_the_rates_of_brokers_are_added_and_unknown_if_that_of_one_is() -> None:
    a, b = written({0: 0, 30: 1_800, 60: 3_600}), written({0: 0, 60: 7_200}, broker="b")
    assert known(hourly([*a, *b])) == {0: (3.0, 3.0)}
    assert known(hourly([*a, *written({0: 9, 60: 0}, broker="b")])) == {}


@pytest.mark.parametrize(
    "rows",
    [
        written({0: 100, 40: 50}),  # the topic was created anew
        [*written({0: 0}), *written({40: 50}, queues=8)],
        written({0: 0, 20: 100}),  # less than half of an hour
        written({0: 0, 120: 100}),  # nobody knows in which hour they came
        written({2 * 24 * 60 + 120: 0, 2 * 24 * 60 + 170: 100}),  # the hour of the snapshot is not over
    ],
)
def test_what_samples_cannot_tell_is_unknown(rows: list[Any]) -> None:
    assert known(hourly(rows)) == {}


def test_only_the_last_days_count() -> None:
    day = written({0: 0, 60: 3_600})
    late = [
        replace(row, at=at(minutes, MIDNIGHT + timedelta(days=1))) for row, minutes in zip(day, (0, 60), strict=True)
    ]
    taken = with_sampled_days(
        inventory(), [SampledDay([table_of(TopicSample, rows)]) for rows in (day, late)], most_days=1, window_h=24
    )
    assert known(taken.topics[0].hourly) == {}
    assert set(known(hourly(day, late))) == {0, 24}


def test_the_peak_is_the_busy_hour_of_the_week_and_the_most_stands_beside_it() -> None:
    means = [float(hour % 100) for hour in range(100)]
    rates = HourlyRates(
        first_at=utc_text(TAKEN - timedelta(hours=100)),
        mean_msgs_per_s=tuple(means),
        most_msgs_per_s=(*means[:-1], 500.0),
    )
    past = PastHours({}, TAKEN, ProvisionPolicy(), {"pay": rates}).of_group({"pay": 0.5})
    assert past is not None
    assert past.msgs_per_s == {"pay": 94.0}
    assert (past.most_msgs_per_s, past.most_s) == (250.0, (TAKEN - timedelta(hours=1)).timestamp())
    assert (past.hours, past.days) == (100, 6)
    assert past.daily_msgs_per_s == ()  # days with samples would look busier than those without


def test_an_hour_without_samples_has_what_snapshots_say() -> None:
    rates = HourlyRates(first_at=utc_text(MIDNIGHT), mean_msgs_per_s=(1.0, None), most_msgs_per_s=(2.0, None))
    past = PastHours({}, TAKEN, ProvisionPolicy(), {"pay": rates})
    assert np.array_equal(past.courses_of({"pay": 1.0}), [[1.0], [2.0]])


def test_a_long_day_is_looked_at_topic_by_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: dict[float, int] = {0: 0, 20: 1_200, 40: 6_000, 60: 7_200}
    day = [*written(ends), *written(ends, broker="b"), *written({0: 0, 60: 3_600}, of="ship")]
    monkeypatch.setattr(sampled_hours, "AT_A_TIME", 1)
    files = [SampledDay([table_of(TopicSample, day[1::2]), table_of(TopicSample, day[::2])])]
    both = replace(inventory(), topics=(InventoryTopic(topic="pay"), InventoryTopic(topic="ship")))
    taken = with_sampled_days(both, files, most_days=3, window_h=24)
    assert [known(topic.hourly) for topic in taken.topics] == [{0: (4.0, 8.0)}, {0: (1.0, 1.0)}]


def lags(of_minutes: Mapping[float, int | None]) -> SampledDay:
    rows = [GroupSample(at=at(minutes), consumer_group="g", lag=lag) for minutes, lag in of_minutes.items()]
    return SampledDay(groups=[table_of(GroupSample, rows)])


def reading(*days: SampledDay) -> HourlyGroup | None:
    (own,) = with_sampled_days(inventory(), days, most_days=3, window_h=24).consumer_groups
    return own.hourly


def test_an_hour_has_the_most_that_a_group_had_not_read_and_one_without_a_known_lag_is_unknown() -> None:
    told = reading(
        lags({60: 5, 65: 90, 70: None, 120: None, 200: 0, 3_000: 7})
    )  # the last is in the hour of the snapshot
    assert told == HourlyGroup(first_at=at(60), most_lag=(90, None, 0), clients=(None, None, None))
    assert reading(lags({0: None})) is None


def test_an_hour_has_the_most_different_clients_of_the_stretches_that_touch_it() -> None:
    told = reading(members((30, 130, "a a b"), (135, 150, "a b c")))
    assert told == HourlyGroup(first_at=at(0), most_lag=(None, None, None), clients=(2, 2, 3))
    later = reading(members((0, 10, "a"), day=MIDNIGHT + timedelta(days=9)))
    assert later is None


def members(*stretches: tuple[float, float, str], broker: str = "a", day: datetime = MIDNIGHT) -> SampledDay:
    """Minutes of the first and the last sample of each stretch, and the ids."""
    rows = [
        MemberSample(
            consumer_group="g",
            first_at=at(first, day),
            last_at=at(last, day),
            broker_name=broker,
            client_ids=tuple(ids.split()),
        )
        for first, last, ids in stretches
    ]
    return SampledDay(members=[table_of(MemberSample, rows)])


def came(clients: str, *days: SampledDay, window_h: float = 48.0) -> tuple[int, int, int] | None:
    """How many came and left, and the steps with a change."""
    taken = with_sampled_days(inventory(clients.split()), days, most_days=7, window_h=window_h)
    bounds = BOUNDS.model_copy(update={"window_h": window_h})
    past = past_members(taken, [], bounds).get("g")
    return None if past is None else (past.came, past.left, past.changed)


YESTERDAY = MIDNIGHT + timedelta(days=1)
HOURS_26 = 26 * 60


def test_members_that_come_and_go_between_samples_are_counted() -> None:
    flapping = members((0, 5, "h@1 h@2"), (10, 10, "h@1"), (15, HOURS_26 - 5, "h@1 h@3"), day=YESTERDAY)
    assert came("h@1 h@3", flapping) == (1, 1, 2)
    assert came("h@1 h@4", flapping) == (2, 2, 3)


def test_a_long_stretch_is_no_gap_and_a_gap_without_samples_is_none_of_a_change() -> None:
    still = members((0, HOURS_26 - 5, "h@1"), day=YESTERDAY)
    assert came("h@1", still) is None
    assert came("h@2", still) == (1, 1, 1)
    long_ago = members((0, 5, "h@1"), day=MIDNIGHT)
    assert came("h@2", long_ago) is None


def test_only_samples_of_the_window_and_of_one_broker_are_compared() -> None:
    early = members((0, 5, "h@1"), (10, 60, "h@2"), day=MIDNIGHT)
    late = members((HOURS_26 - 60, HOURS_26 - 5, "h@3"), day=YESTERDAY)
    assert came("h@3", early, late, window_h=3) is None
    other = members((HOURS_26 - 60, HOURS_26 - 40, "h@9"), broker="b", day=YESTERDAY)
    assert came("h@3", other, members((HOURS_26 - 35, HOURS_26 - 5, "h@3"), day=YESTERDAY)) is None
