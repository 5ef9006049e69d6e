"""READ_LESS_THAN_WRITE, TOPIC_COVERAGE, HOT_QUEUE."""

import pytest

from tests.assessment.cases import BROKERS, READ_ONLY, READ_WRITE, WRITE_ONLY, Part, a_group, a_topic, members, takes
from tests.assessment.judge import Judgement, judge, named
from tests.simulation.clusters import broker, cluster, queues, reads

PART = Part()

# READ_LESS_THAN_WRITE: of broker-a's six queues 4 and 5 are written and not read.
_six = {("broker-a", i): (10, 100) for i in range(6)}
_read_four = (queues("broker-a", 4, 6), queues("broker-b", 4))
PART.topic("two_unread", *_read_four, offsets=_six)
PART.group("two_unread", members(2), "two_unread", lags={("two_unread", "broker-a", 4): 100_000 - 80})
PART.topic("never_read", *_read_four, offsets=_six)
PART.group("never_read", members(2), "never_read")
PART.topic("two_groups_left", *_read_four, offsets=_six)
PART.group("left_early", members(2), "two_groups_left", lags={("two_groups_left", "broker-a", 4): 100_000 - 30})
PART.group("left_late", members(2), "two_groups_left", lags={("two_groups_left", "broker-a", 4): 100_000 - 90})
PART.topic("read_beyond", *_read_four, offsets=_six)
PART.group("read_beyond", members(2), "read_beyond", lags={("read_beyond", "broker-a", 4): 100_000 - 101})
PART.topic("one_unread", queues("broker-a", 5, 6))
PART.topic("unread_unknown", *_read_four, offsets={("broker-a", i): (10, 100) for i in range(5)})
PART.topic("unread_end_unknown", *_read_four, offsets=_six | {("broker-a", 5): (10, None)})
PART.topic("read_as_written", queues("broker-a", 4, 4), queues("broker-b", 4, 4))
PART.topic("being_shrunk", queues("broker-a", 6, 4), queues("broker-b", 6, 4))
PART.topic("counts_unknown", queues("broker-a", None, None), queues("broker-b", None, None), offsets={})
for _name in (
    "%RETRY%g",
    "%DLQ%g",
    "%LMQ%g",
    "RMQ_SYS_TRACE_TOPIC",
    "rmq_sys_REVIVE_LOG_C1",
    "C1",
    "broker-a",
    "C1_REPLY_TOPIC",
    "bench_writes",
):
    # One hot queue, on one broker only, and some that nobody reads.
    PART.topic(_name, queues("broker-a", 4, 8), rates={("broker-a", i): 100.0 if i == 0 else 1.0 for i in range(8)})
OWN_TOPICS = [topic.topic for topic in PART.topics[-9:]]


def _of_layout(judged: Judgement, topic: str) -> set[str]:
    """The rules on a topic's queues that found something; most topics here have no readers, which is another rule."""
    return judged.rules(topic=topic) - {"TOPIC_UNREAD"}


def test_queues_that_are_written_and_not_read_are_flagged_with_the_messages_in_them(judged: Judgement) -> None:
    found = judged.finding("READ_LESS_THAN_WRITE", topic="two_unread")

    assert found["severity"] == "CRITICAL"
    assert (found["broker_name"], found["subjects"]) == ("broker-a", ["broker-a"])
    # Queue 4 was read up to 80 of 100, queue 5 never: it has what stands between 10 and 100.
    assert found["evidence"] == {"read_queue_nums": 4, "write_queue_nums": 6, "stranded": 20 + 90}
    assert found["message"] == "Consumers cannot see 2 queues that producers write to (read 4, write 6)."


def test_a_broker_that_lets_nobody_read_hides_all_queues_from_the_groups_that_subscribe() -> None:
    topic = a_topic("pay", queues("broker-a", 4), queues("broker-b", 4, perm=WRITE_ONLY))
    group = a_group("g", members(2), [topic], lags={("pay", "broker-b", 0): 100_000 - 4_900})
    found = judge(cluster([topic], [group], BROKERS)).finding("READ_LESS_THAN_WRITE", topic="pay")

    assert (found["severity"], found["broker_name"]) == ("CRITICAL", "broker-b")
    # The group has read queue 0 up to 4,900 of 5,000, and the others never.
    assert found["evidence"] == {"read_queue_nums": 0, "write_queue_nums": 4, "stranded": 100 + 3 * 5_000}
    nobody = judge(cluster([topic], [], BROKERS))
    assert nobody.found("READ_LESS_THAN_WRITE", topic="pay") is None
    assert nobody.found("TOPIC_UNREAD", topic="pay")


def test_a_broker_whose_own_permission_hides_queues_is_told_apart_from_a_topic_s_there() -> None:
    topic = a_topic("pay", queues("broker-a", 4), queues("broker-b", 4, perm=WRITE_ONLY))
    group = a_group("g", members(2), [topic])
    for broker_perm, expected in ((WRITE_ONLY, WRITE_ONLY), (READ_WRITE, None), (None, None)):
        brokers = [broker("broker-a"), broker("broker-b", perm=broker_perm)]
        found = judge(cluster([topic], [group], brokers)).finding("READ_LESS_THAN_WRITE", topic="pay")
        assert found["evidence"].get("broker_perm") == expected
        is_said = found["message"].startswith("Consumers see no queue of broker-b, which lets only producers in")
        assert is_said == (expected is not None)


def test_queues_in_which_nothing_is_and_nothing_comes_hurt_later() -> None:
    layout = (queues("broker-a", 2, 4),)
    rates = {("broker-a", i): 10.0 for i in range(2)} | {("broker-a", i): 0.0 for i in (2, 3)}
    offsets: dict[tuple[str, int], tuple[int | None, int | None]] = dict.fromkeys(rates, (0, 0))
    empty = a_topic("pay", *layout, rates=rates, offsets=offsets)
    written = a_topic("pay", *layout, rates=dict.fromkeys(rates, 10.0), offsets=offsets)

    for topic, severity in ((empty, "WARNING"), (written, "CRITICAL")):
        found = judge(cluster([topic], [])).finding("READ_LESS_THAN_WRITE", topic="pay")
        assert (found["severity"], found["evidence"]["stranded"]) == (severity, 0)


@pytest.mark.parametrize(("rt_ms", "severity"), [(4.8, "INFO"), (4.9, "WARNING"), (None, "WARNING")])
def test_a_hot_queue_warns_unless_its_readers_are_known_to_have_time_left(rt_ms: float | None, severity: str) -> None:
    """One queue of 101 messages a second and seven of one; c01 owns the hot one and three others, c02 the rest."""
    rates = {(name, i): 1.0 for name in ("broker-a", "broker-b") for i in range(4)}
    topic = a_topic("pay", rates=rates | {("broker-a", 0): 101.0})
    clients = members(2, consume_threads=1, consume_batch_size=1, status=takes("pay", rt_ms))
    found = judge(cluster([topic], [a_group("g", clients, [topic])])).finding("HOT_QUEUE", topic="pay")

    # 104 messages a second of 4.8 ms are 49.9 % of a client's time.
    assert found["severity"] == severity


def test_what_no_group_ever_read_is_stranded_from_its_beginning(judged: Judgement) -> None:
    assert judged.finding("READ_LESS_THAN_WRITE", topic="never_read")["evidence"]["stranded"] == 90 + 90


def test_the_group_furthest_behind_says_what_is_stranded(judged: Judgement) -> None:
    assert judged.finding("READ_LESS_THAN_WRITE", topic="two_groups_left")["evidence"]["stranded"] == 70 + 90


def test_one_queue_is_enough(judged: Judgement) -> None:
    found = judged.finding("READ_LESS_THAN_WRITE", topic="one_unread")

    assert found["message"] == "Consumers cannot see 1 queue that producers write to (read 5, write 6)."


def test_offsets_that_are_not_known_leave_the_stranded_unknown(judged: Judgement) -> None:
    for topic in ("unread_unknown", "unread_end_unknown", "read_beyond"):
        assert judged.finding("READ_LESS_THAN_WRITE", topic=topic)["evidence"]["stranded"] is None


def test_as_many_to_read_as_to_write_or_more_is_as_it_should_be(judged: Judgement) -> None:
    assert _of_layout(judged, "read_as_written") == set()
    assert _of_layout(judged, "being_shrunk") == set()
    assert judged.rules(topic="counts_unknown") == set()


def test_rocketmqs_own_topics_and_excluded_ones_lie_as_they_like(judged: Judgement) -> None:
    assert {topic: judged.rules(topic=topic) for topic in OWN_TOPICS} == {topic: set() for topic in OWN_TOPICS}


# TOPIC_COVERAGE
PART.topic("only_on_broker_a", queues("broker-a"))
PART.topic("on_both_brokers")
PART.topic("unequal", queues("broker-a", 4), queues("broker-b", 6))
PART.topic("unequal_to_write", queues("broker-a", 6, 6), queues("broker-b", 6, 4))
PART.topic("partly_unknown", queues("broker-a", 4), queues("broker-b", None, None))
PART.topic("static", queues("__syslo__global", 16))
PART.topic("without_queues", queues("broker-a", 0), queues("broker-b", 0))
PART.group("reads_no_queues", members(1), "without_queues")
PART.group("reads_nothing_1", members(1), "on_both_brokers", subscriptions=(reads("nowhere"),))
PART.group("reads_nothing_2", members(1), "on_both_brokers", subscriptions=(reads("nowhere"), reads("on_both_brokers")))
PART.group("reads_bench", members(1), "on_both_brokers", subscriptions=(reads("bench_nowhere"),))
PART.group(
    "reads_own_retries",
    members(1),
    "on_both_brokers",
    subscriptions=(reads("on_both_brokers"), reads("%RETRY%reads_own_retries")),
)


def test_a_topic_on_a_single_broker_is_flagged(judged: Judgement) -> None:
    found = judged.finding("TOPIC_COVERAGE", topic="only_on_broker_a")

    assert (found["severity"], found["subjects"]) == ("INFO", ["broker-b"])


def test_a_topic_on_every_broker_alike_is_covered(judged: Judgement) -> None:
    # There are also a read-only, a write-only and a masterless broker, where it is not missed.
    assert judged.rules(topic="on_both_brokers") == set()


def test_unequal_and_unknown_counts_are_no_finding(judged: Judgement) -> None:
    for topic in ("unequal", "unequal_to_write", "partly_unknown"):
        assert _of_layout(judged, topic) == set()


def test_the_logical_queues_of_a_static_topic_lie_on_no_broker(judged: Judgement) -> None:
    assert _of_layout(judged, "static") == set()


def test_a_topic_that_groups_subscribe_and_no_broker_has_is_flagged(judged: Judgement) -> None:
    found = judged.finding("TOPIC_COVERAGE", topic="nowhere")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["reads_nothing_1", "reads_nothing_2"]
    assert found["evidence"] == {"brokers": 0, "consumer_groups": ["reads_nothing_1", "reads_nothing_2"]}


def test_a_topic_that_groups_subscribe_and_that_has_no_queue_is_flagged(judged: Judgement) -> None:
    found = judged.finding("TOPIC_COVERAGE", topic="without_queues")

    assert (found["subjects"], found["evidence"]["brokers"]) == (["reads_no_queues"], 0)
    assert found["message"] == "No broker has queues of this topic, but groups subscribe to it: reads_no_queues."


def test_topics_that_are_not_planned_may_be_nowhere(judged: Judgement) -> None:
    assert judged.rules(topic="bench_nowhere") == set()
    assert judged.rules(topic="%RETRY%reads_own_retries") == set()


# HOT_QUEUE: four queues with a mean of ten.
def _hot(name: str, *rates: float | None) -> None:
    PART.topic(
        name,
        queues("broker-a", 2),
        queues("broker-b", 2),
        message_type="FIFO",
        rates={
            ("broker-a", 0): rates[0],
            ("broker-a", 1): rates[1],
            ("broker-b", 0): rates[2],
            ("broker-b", 1): rates[3],
        },
    )


_hot("twice_the_mean", 20.0, 10.0, 5.0, 5.0)
_hot("more_than_twice", 21.0, 9.0, 5.0, 5.0)
_hot("all_alike", 10.0, 10.0, 10.0, 10.0)
_hot("hot_and_slow", 0.96, 0.01, 0.01, 0.01)
_hot("hot_at_one", 0.97, 0.01, 0.01, 0.01)
_hot("hot_or_not", 21.0, 9.0, 5.0, None)
_hot("silent", 0.0, 0.0, 0.0, 0.0)
PART.topic(
    "rest_is_read_only",
    queues("broker-a", 2),
    queues("broker-b", 2),
    queues("readonly", 12, perm=READ_ONLY),
    rates={(b, i): 10.0 for b in ("broker-a", "broker-b") for i in range(2)}
    | {("readonly", i): 0.0 for i in range(12)},
)
PART.topic(
    "rest_has_no_master",
    queues("broker-a", 2),
    queues("broker-b", 2),
    queues("masterless", 12),
    rates={(b, i): 10.0 for b in ("broker-a", "broker-b") for i in range(2)}
    | {("masterless", i): 0.0 for i in range(12)},
)
PART.topic(
    "rest_is_not_written",
    queues("broker-a", 8, 2),
    queues("broker-b", 8, 2),
    rates={(b, i): 10.0 if i < 2 else 0.0 for b in ("broker-a", "broker-b") for i in range(8)},
)


def test_a_queue_with_more_than_twice_the_mean_is_flagged(judged: Judgement) -> None:
    found = judged.finding("HOT_QUEUE", topic="more_than_twice")

    assert found["severity"] == "WARNING"
    (hot,) = named("more_than_twice", "broker-a", 0)
    assert (found["subjects"], found["queues"]) == ([], [hot])
    assert found["evidence"] == {
        "queues": 4,
        "peak": 2.1,
        "share": 0.525,
        "msgs_per_s": 40.0,
        "hottest": [{"queue": hot, "msgs_per_s": 21.0}],
        "message_type": "FIFO",
        "kind": "KEYED",
    }
    assert found["message"] == "The busiest of its 4 queues receives 2.1 times the mean."


def test_twice_the_mean_is_not_hot_yet(judged: Judgement) -> None:
    assert "HOT_QUEUE" not in judged.rules(topic="twice_the_mean")
    assert _of_layout(judged, "all_alike") == set()


def test_below_one_message_a_second_nothing_is_hot(judged: Judgement) -> None:
    assert judged.rules(topic="hot_and_slow") == set()
    assert judged.rules(topic="silent") == set()
    assert judged.finding("HOT_QUEUE", topic="hot_at_one")["evidence"]["msgs_per_s"] == 1.0


def test_with_an_unknown_rate_there_is_no_mean(judged: Judgement) -> None:
    assert _of_layout(judged, "hot_or_not") == set()


def test_queues_that_producers_do_not_see_do_not_lower_the_mean(judged: Judgement) -> None:
    assert judged.found("HOT_QUEUE", topic="rest_is_read_only") is None
    assert judged.found("HOT_QUEUE", topic="rest_has_no_master") is None
    assert judged.found("HOT_QUEUE", topic="rest_is_not_written") is None
