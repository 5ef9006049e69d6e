"""PRIORITY, LITE and static topics: what looks wrong with them and is not."""

from rocketmq_capacity.vocabulary import CLIENT_STRATEGIES
from tests.assessment.cases import Part, a_group, a_topic, members, takes
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster, queues

PART = Part()
FOUR = (queues("broker-a", 2), queues("broker-b", 2))
EIGHT = (queues("broker-a", 4), queues("broker-b", 4))
# Four clients, and two of them own a busy pair under AVG.
PAIRS = {(name, i): rate for name in ("broker-a", "broker-b") for i, rate in enumerate((120.0, 90.0, 1.0, 1.0))}
PART.case("levels", members(4), *EIGHT, rates=PAIRS, message_type="PRIORITY")
PART.case("no_levels", members(4), *EIGHT, rates=PAIRS, message_type="NORMAL")
PART.topic("levels_of_two", *EIGHT, rates=PAIRS, message_type="PRIORITY")
PART.topic("even_beside_levels", *EIGHT)
PART.topic("uneven_beside_levels", *EIGHT, rates=PAIRS)
PART.group("of_levels_and_even", members(4), "levels_of_two", "even_beside_levels")
PART.group("of_levels_and_uneven", members(4), "levels_of_two", "uneven_beside_levels")
PART.case("lite_stuck", members(6), *FOUR, message_type="LITE", message_model="LITE_SELECTIVE", lag=90_000)
PART.case("lite_of_unknown_model", members(6), *FOUR, message_type="LITE", message_model=None)
PART.case("normal_of_unknown_model", members(6), *FOUR, message_model=None)
PART.case(
    "lite_timed",
    members(6, consume_threads=1, consume_batch_size=1, status=takes("lite_timed", 50.0)),
    *FOUR,
    message_type="LITE",
    message_model="LITE_SELECTIVE",
)
STALLED = {("lite_stalled", "broker-a", 0): [(90_000 + 100 * i, 0) for i in range(12)]}


def test_the_levels_of_a_priority_topic_are_meant_to_differ(judged: Judgement) -> None:
    assert judged.finding("HOT_QUEUE", topic="no_levels")
    assert judged.rules("no_levels") == {"TRAFFIC_SKEW"}
    assert judged.found("HOT_QUEUE", topic="levels") is None
    assert judged.rules("levels") == set()


def test_traffic_is_judged_over_the_topics_that_have_no_levels(judged: Judgement) -> None:
    assert judged.rules("of_levels_and_even") == set()
    alone = judged.finding("TRAFFIC_SKEW", "no_levels")
    found = judged.finding("TRAFFIC_SKEW", "of_levels_and_uneven")
    assert (found["evidence"], found["subjects"]) == (alone["evidence"], alone["subjects"])
    # The metrics of a strategy are of all topics.
    loads = [judged.load(group, "AVG")["traffic"] for group in ("levels", "of_levels_and_uneven")]
    assert loads[0]["max"] == 210.0
    assert loads[1]["max"] == 420.0


def test_nothing_is_computed_for_a_group_of_a_lite_topic_whose_model_is_unknown(judged: Judgement) -> None:
    said = judged.group("lite_of_unknown_model")
    reason = "it reads a LITE topic, and its message model is unknown: to a LITE_SELECTIVE group no strategy applies"
    assert (said["message_model"], said["provision_status"], said["provision_reason"]) == (None, "UNDECIDED", reason)
    loads = [row for row in judged.strategy_loads if row["consumer_group"] == "lite_of_unknown_model"]
    assert {(row["is_applicable"], row["reason"]) for row in loads} == {(False, reason)}
    assert {row["strategy"] for row in loads} >= {*CLIENT_STRATEGIES} & {"AVG", "CONSISTENT_HASH"}
    assert judged.rules("lite_of_unknown_model") == set()
    assert judged.rules("normal_of_unknown_model") == {"IDLE_CONSUMERS"}


def test_the_clients_of_a_lite_group_do_not_each_read_all_of_the_topic(judged: Judgement) -> None:
    # 40 messages a second of 50 ms each would be two threads' work, and 6 clients have one thread each.
    assert judged.group("lite_timed")["utilisation"] is None
    assert judged.rules("lite_timed") == set()


def test_the_place_of_a_lite_group_on_the_queues_of_its_topic_says_nothing() -> None:
    topic = a_topic("lite_stalled", *FOUR, message_type="LITE")
    for model, rules in (("LITE_SELECTIVE", set()), ("CLUSTERING", {"LAG_STATE"})):
        group = a_group("g", members(4), [topic], message_model=model, samples=STALLED, lag=91_200)
        assert {row["rule"] for row in judge(cluster([topic], [group])).findings} == rules


def test_the_logical_broker_of_a_static_topic_is_no_broker_that_the_snapshot_lacks() -> None:
    topic = a_topic("static", queues("__syslo__global__", 4))
    judged = judge(cluster([topic], [a_group("g", members(4), [topic])], brokers=()))
    assert judged.findings == []
