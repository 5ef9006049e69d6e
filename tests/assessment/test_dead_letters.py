"""RETRY_PRESSURE where few messages fail, and some of them go to the group's dead-letter topic."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopic, InventoryTopicOffset, parse_utc
from tests.assessment.cases import a_group, a_topic
from tests.assessment.judge import Row, judge
from tests.recommendation.cases import broker
from tests.simulation.clusters import AT, cluster, queues

DEAD = "%DLQ%g_pay"


def at(hours_ago: float, *ends: int | None, msgs_per_s: float | None = None) -> Inventory:
    """The cluster so many hours ago; the dead-letter topic has a queue with each of these ends."""
    offsets = tuple(
        InventoryTopicOffset(broker_name="broker-a", queue_id=queue, max_offset=end, put_msgs_per_s=msgs_per_s)
        for queue, end in enumerate(ends)
    )
    dead = InventoryTopic(topic=DEAD, queues=(queues("broker-a", max(1, len(ends))),), offsets=offsets)
    topic = a_topic("pay", queues("broker-a", 8))
    inventory = cluster([topic], [a_group("g_pay", (), [topic])], (broker("broker-a"),))
    moment = utc_text(parse_utc(AT) - timedelta(hours=hours_ago))
    return replace(inventory, taken_at=moment, topics=(*inventory.topics, dead))


def found(*inventories: Inventory) -> list[Row]:
    judged = judge(inventories[-1], history=inventories[:-1])
    return [one for one in judged.findings if one["rule"] == "RETRY_PRESSURE"]


def test_dead_letters_of_the_last_day_are_counted() -> None:
    # Two days ago is too long ago, and an hour ago is not a day.
    (one,) = found(at(48, 100, 0), at(24, 1_000, 0), at(1, 1_040, 7), at(0, 1_050, 7))

    assert (one["severity"], one["consumer_group"], one["topic"]) == ("WARNING", "g_pay", None)
    assert one["evidence"] == {
        "topic": DEAD,
        "dead_letters": 57,
        "elapsed_s": 86_400.0,
        "dead_letters_msgs_per_h": 2.375,
    }
    assert one["message"] == (
        "57 messages went to %DLQ%g_pay within 24 h: the listener failed on them as often as it may, and they are not"
        " delivered again."
    )


def test_a_young_history_counts_from_its_begin() -> None:
    (one,) = found(at(2, 10), at(1, 10), at(0, 11))
    assert (one["evidence"]["dead_letters"], one["evidence"]["dead_letters_msgs_per_h"]) == (1, 0.5)
    assert one["message"].startswith("1 message went to %DLQ%g_pay within 2 h: ")


def test_runs_whose_topics_the_lake_does_not_keep_do_not_count() -> None:
    """A lake's history has the topics of its latest run alone: here of one an hour ago."""
    yesterday = replace(at(24, 1_000), topics=())
    assert found(yesterday, at(1, 1_000), at(0, 1_000)) == []
    (one,) = found(yesterday, at(1, 1_000), at(0, 1_003))
    assert (one["evidence"]["dead_letters"], one["evidence"]["elapsed_s"]) == (3, 3_600.0)


def test_all_of_a_topic_that_was_not_there_are_new() -> None:
    before = at(24)
    (one,) = found(replace(before, topics=before.topics[:1]), at(0, 3))
    assert one["evidence"]["dead_letters"] == 3


def test_without_a_history_the_rates_tell() -> None:
    (one,) = found(at(0, 11, msgs_per_s=0.5))
    assert one["evidence"] == {
        "topic": DEAD,
        "dead_letters": None,
        "elapsed_s": None,
        "dead_letters_msgs_per_h": 1_800.0,
    }
    assert one["message"].startswith("1,800 messages an hour go to %DLQ%g_pay at the present rate: ")


@pytest.mark.parametrize(
    "inventories",
    [
        [at(0, 1_000)],
        [at(0, 1_000, msgs_per_s=0.0)],
        [at(24, 1_000), at(0, 1_000)],
        [at(24, 1_000), at(0, 10)],  # the topic was created again
        [at(24, None), at(0, 10)],
        [at(24, 10), at(0, 10, 5)],  # the second queue is new
        [at(0, 10), at(0, 20)],
    ],
    ids=["old ones", "no rate", "none came", "went back", "unknown before", "new queue", "one moment"],
)
def test_what_is_not_known_to_grow_is_no_finding(inventories: list[Inventory]) -> None:
    assert found(*inventories) == []
