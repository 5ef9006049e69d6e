"""ORPHAN_QUEUE, IDLE_CONSUMERS, READ_ONLY_IDLE."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopic, TopicQueues
from tests.assessment.cases import (
    BROKERS,
    OWN_STRATEGY,
    READ_ONLY,
    WRITE_ONLY,
    Part,
    a_group,
    a_topic,
    ago,
    member,
    members,
    owned,
    pops,
)
from tests.assessment.judge import Judgement, judge, named
from tests.recommendation.answers import answer
from tests.simulation.clusters import broker, cluster, queues, reads

PART = Part()

# ORPHAN_QUEUE: two equal ids divide eight queues into halves and both take the first; broker-b's four are lost.
_twins = [member("twin"), member("twin")]
PART.case("half_is_lost", _twins, lag=7, rates={(b, i): 2.5 for b in ("broker-a", "broker-b") for i in range(4)})
PART.case("lost_lag_unknown", _twins, lags={("lost_lag_unknown", "broker-b", 3): None}, lag=7)
PART.case("lost_by_mixing", [member("a", allocate_strategy="AVG"), member("b", allocate_strategy="AVG_BY_CIRCLE")])
PART.topic("all_read_it")
PART.topic("half_read_it")
PART.group(
    "lost_by_subscription",
    [
        member("a", subscriptions=(reads("all_read_it"), reads("half_read_it"))),
        member("b", subscriptions=(reads("all_read_it"),)),
    ],
    "all_read_it",
    "half_read_it",
)
_seven = [("lost_as_observed", "broker-a", i) for i in range(4)] + [
    ("lost_as_observed", "broker-b", i) for i in range(3)
]
PART.case(
    "lost_as_observed",
    [
        member("a", allocate_strategy=OWN_STRATEGY, owned_queues=owned(*_seven)),
        member("b", allocate_strategy=OWN_STRATEGY, owned_queues=()),
    ],
)
for _seconds in (120, 121):
    _name = f"starting_{_seconds}_s_ago"
    PART.case(
        _name,
        [
            member(
                "a", allocate_strategy=OWN_STRATEGY, owned_queues=owned(*((_name, "broker-a", i) for i in range(4)))
            ),
            member("b", allocate_strategy=OWN_STRATEGY, owned_queues=(), started_at=ago(_seconds)),
        ],
    )
PART.case("twins_just_started", [member("twin", started_at=ago(5)), member("twin", started_at=ago(5))])
PART.case("nothing_reported", members(2, allocate_strategy=OWN_STRATEGY))
PART.case("nobody_runs", [])
PART.case("clients_unknown", None)
PART.case("every_queue_owned", members(3))
PART.case("not_readable", members(2), queues("broker-a", 4), queues("broker-b", 4, perm=WRITE_ONLY))
PART.case("broadcast_twins", _twins, message_model="BROADCASTING")
PART.topic("popped")
PART.group("popped", _twins, "popped", subscriptions=(pops("popped"),))


def test_queues_that_nobody_reads_are_flagged_with_what_waits_in_them(judged: Judgement) -> None:
    found = judged.finding("ORPHAN_QUEUE", "half_is_lost")

    assert found["severity"] == "CRITICAL"
    assert found["topic"] == "half_is_lost"
    assert (found["subjects"], found["queues"]) == ([], named("half_is_lost", "broker-b", 0, 1, 2, 3))
    assert found["evidence"] == {
        "orphans": 4,
        "queues": 8,
        "lag": 28,
        "msgs_per_s": 10.0,
        "current_strategy": "AVG",
        "cause": "DUPLICATE_CLIENT_ID",
    }
    assert found["message"] == "Nobody reads 4 of 8 queues: broker-b:0, broker-b:1, broker-b:2, broker-b:3."


def test_a_sum_of_lags_with_an_unknown_one_is_unknown(judged: Judgement) -> None:
    assert judged.finding("ORPHAN_QUEUE", "lost_lag_unknown")["evidence"]["lag"] is None


def test_strategies_that_differ_are_named_as_the_cause(judged: Judgement) -> None:
    found = judged.finding("ORPHAN_QUEUE", "lost_by_mixing")

    assert found["queues"] == named("lost_by_mixing", "broker-b", 0, 2)
    assert found["evidence"]["cause"] == "MIXED_STRATEGIES"


def test_subscriptions_that_differ_are_named_as_the_cause(judged: Judgement) -> None:
    found = judged.finding("ORPHAN_QUEUE", "lost_by_subscription")

    assert found["topic"] == "half_read_it"
    assert found["queues"] == named("half_read_it", "broker-b", *range(4))
    assert found["evidence"]["cause"] == "SUBSCRIPTION_MISMATCH"


def test_a_single_queue_is_enough(judged: Judgement) -> None:
    found = judged.finding("ORPHAN_QUEUE", "lost_as_observed")

    assert found["queues"] == named("lost_as_observed", "broker-b", 3)
    assert found["evidence"]["cause"] == f"strategy {OWN_STRATEGY}"
    assert found["message"] == "Nobody reads 1 of 8 queues: broker-b:3."


def test_owners_are_not_judged_by_observation_while_a_client_starts(judged: Judgement) -> None:
    assert judged.rules("starting_120_s_ago") == set()
    assert {"ORPHAN_QUEUE", "IDLE_CONSUMERS"} <= judged.rules("starting_121_s_ago")


def test_what_a_strategy_will_do_is_known_however_young_the_clients_are(judged: Judgement) -> None:
    assert judged.finding("ORPHAN_QUEUE", "twins_just_started")["evidence"]["orphans"] == 4


def test_where_every_readable_queue_has_a_client_there_is_no_orphan(judged: Judgement) -> None:
    assert judged.rules("every_queue_owned") == set()
    assert judged.found("ORPHAN_QUEUE", "not_readable") is None


def test_a_group_without_clients_has_no_orphans(judged: Judgement) -> None:
    assert judged.rules("nobody_runs") == set()
    assert judged.rules("clients_unknown") == set()


def test_where_nothing_says_who_owns_what_nothing_is_claimed(judged: Judgement) -> None:
    assert judged.rules("nothing_reported") == set()


def test_broadcast_and_popped_queues_are_no_orphans(judged: Judgement) -> None:
    assert judged.rules("broadcast_twins") == set()
    assert judged.found("ORPHAN_QUEUE", "popped") is None


# IDLE_CONSUMERS
PART.case("a_third_is_idle", members(12), order=False)
PART.case("as_many_as_queues", members(8))
PART.case("one_too_many", members(9))
PART.case("just_under_half_idle", members(15))
PART.case("half_is_idle", members(16))
PART.topic("small", queues("broker-a", 2), queues("broker-b", 2))
PART.topic("large")
PART.group("largest_topic_counts", members(9), "small", "large")
PART.case(
    "in_java_order", [member(f"10.0.0.{n}@1#1") for n in (1, 2, 10)], queues("broker-a", 1), queues("broker-b", 1)
)
PART.case("write_only_queues", members(5), queues("broker-a", 4), queues("writeonly", 4, perm=WRITE_ONLY))
PART.case("more_than_written", members(10), queues("broker-a", 4), queues("writeonly", 4, perm=WRITE_ONLY))
PART.case("read_too_few", members(10), queues("broker-a", 4, 8))
PART.case("no_readable_queue_for_one", members(1), queues("broker-a", 0, 0))
PART.case("no_readable_queue", members(2), queues("broker-a", 0, 0), queues("broker-b", 0, 0))
PART.case("one_queue", members(3), queues("broker-a", 1), queues("broker-b", 0, 0))
PART.topic("mixed_popped")
PART.topic("mixed_pulled", queues("broker-a", 1), queues("broker-b", 1))
PART.group(
    "mixed_modes",
    members(4),
    "mixed_popped",
    "mixed_pulled",
    subscriptions=(pops("mixed_popped"), reads("mixed_pulled")),
)
PART.topic("all_popped")
PART.group("many_poppers", members(20), "all_popped", subscriptions=(pops("all_popped"),))
PART.topic("many_retries", queues("broker-a", 1), queues("broker-b", 1))
PART.group("many_broadcasters", members(20), "many_retries", message_model="BROADCASTING")
PART.case("twins_count_once", [*members(7), member("c07"), member("c08")])


def test_clients_without_a_queue_are_named(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "a_third_is_idle")

    assert found["severity"] == "INFO"
    assert found["topic"] == "a_third_is_idle"
    assert found["subjects"] == ["c09", "c10", "c11", "c12"]
    assert found["evidence"] == {
        "clients": 12,
        "queues": 8,
        "idle": 4,
        "idle_ratio": 0.3333,
        "max_useful_clients": 8,
        "ordered": False,
    }
    assert found["message"] == "4 of 12 clients own no queue; the group's largest topic has 8 readable queues."


def test_as_many_clients_as_queues_are_all_busy(judged: Judgement) -> None:
    assert judged.rules("as_many_as_queues") == set()


def test_one_client_more_than_queues_is_idle(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "one_too_many")

    assert found["subjects"] == ["c09"]
    assert found["message"] == "1 of 9 clients owns no queue; the group's largest topic has 8 readable queues."


def test_half_of_the_clients_idle_is_a_warning_and_less_is_for_information(judged: Judgement) -> None:
    assert judged.finding("IDLE_CONSUMERS", "just_under_half_idle")["severity"] == "INFO"
    assert judged.finding("IDLE_CONSUMERS", "half_is_idle")["severity"] == "WARNING"


def test_a_client_is_idle_only_beyond_the_largest_topic(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "largest_topic_counts")

    assert found["topic"] == "large"
    assert found["subjects"] == ["c09"]


def test_the_idle_client_is_the_last_in_javas_order(judged: Judgement) -> None:
    assert judged.finding("IDLE_CONSUMERS", "in_java_order")["subjects"] == ["10.0.0.2@1#1"]


def test_who_will_own_queues_that_cannot_be_read_yet_is_not_one_too_many(judged: Judgement) -> None:
    # READ_LESS_THAN_WRITE finds these queues. With fewer clients, too few would be left once they can be read.
    assert judged.found("IDLE_CONSUMERS", "write_only_queues") is None
    for group in ("more_than_written", "read_too_few"):
        finding = judged.finding("IDLE_CONSUMERS", group)
        assert finding["subjects"] == ["c09", "c10"]
        assert finding["message"] == (
            "2 of 10 clients own no queue; the group's largest topic has 4 readable queues."
            " Not counted: clients for 4 queues that cannot be read yet."
        )


def test_without_a_readable_queue_everybody_is_idle(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "no_readable_queue")

    assert (found["severity"], found["subjects"]) == ("WARNING", ["c01", "c02"])
    assert found["message"] == "No broker has a readable queue of no_readable_queue: its 2 clients read nothing."


def test_a_single_client_without_a_readable_queue_reads_nothing(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "no_readable_queue_for_one")

    assert found["message"].endswith(": its 1 client reads nothing.")


@pytest.mark.parametrize(
    "place", [TopicQueues(broker_name="broker-a"), TopicQueues(broker_name="broker-a", read_queue_nums=4)]
)
def test_nobody_is_idle_where_nobody_knows_how_many_queues_can_be_read(place: TopicQueues) -> None:
    topic = InventoryTopic(topic="pay", queues=(place,))

    judged = judge(cluster([topic], [a_group("g", members(2), [topic])]), Policy())

    assert judged.found("IDLE_CONSUMERS", "g") is None


def test_one_readable_queue_is_written_as_one(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "one_queue")

    assert found["message"] == "2 of 3 clients own no queue; the group's largest topic has 1 readable queue."


def test_a_group_of_both_request_modes_is_judged_by_what_it_pulls(judged: Judgement) -> None:
    found = judged.finding("IDLE_CONSUMERS", "mixed_modes")

    assert (found["topic"], found["subjects"]) == ("mixed_pulled", ["c03", "c04"])
    assert judged.group("mixed_modes")["message_request_mode"] == "MIXED"
    assert judged.group("mixed_modes")["max_useful_clients"] == 2


def test_more_clients_than_queues_are_normal_where_they_pop_or_broadcast(judged: Judgement) -> None:
    for group in ("many_poppers", "many_broadcasters"):
        assert judged.rules(group) == set()
        assert judged.group(group)["max_useful_clients"] is None


def test_a_repeated_client_id_is_one_client(judged: Judgement) -> None:
    assert judged.finding("DUPLICATE_CLIENT_ID", "twins_count_once")
    # Nine consumers stand for eight ids; the ninth place owns nothing, and it is c08's.
    found = judged.finding("IDLE_CONSUMERS", "twins_count_once")
    assert (found["subjects"], found["evidence"]["clients"]) == (["c08"], 8)


# READ_ONLY_IDLE: AVG gives broker-a's queues to the first client and the other broker's to the second.
_drained = (queues("broker-a", 4), queues("readonly", 4, perm=READ_ONLY))
PART.case("only_drained_queues", members(2), *_drained, lag=0)
PART.case("not_yet_drained", members(2), *_drained, lag=0, lags={("not_yet_drained", "readonly", 2): 1})
PART.case("drained_or_not", members(2), *_drained, lag=0, lags={("drained_or_not", "readonly", 2): None})
PART.case("drained_for_all_alike", members(2, allocate_strategy="AVG_BY_CIRCLE"), *_drained, lag=0)
PART.case("without_master", members(2), queues("broker-a", 4), queues("masterless", 4), lag=0)
PART.case("three_share_two_dead", members(4), queues("broker-a", 4), queues("readonly", 4, perm=READ_ONLY), lag=0)
PART.topic("drained_popped", *_drained)
PART.group("drained_popped", members(2), "drained_popped", subscriptions=(pops("drained_popped"),), lag=0)
PART.topic("only_drained_popped", queues("readonly", 4, perm=READ_ONLY))
PART.group(
    "pops_what_is_drained", members(2), "only_drained_popped", subscriptions=(pops("only_drained_popped"),), lag=0
)
PART.topic("still_popped")
PART.topic("drained_pulled", *_drained)
PART.group(
    "pops_something_else",
    members(2),
    "still_popped",
    "drained_pulled",
    lag=0,
    subscriptions=(pops("still_popped"), reads("drained_pulled")),
)


def test_a_client_with_nothing_but_drained_queues_is_named(judged: Judgement) -> None:
    found = judged.group("only_drained_queues")

    assert (found["drained_clients"], found["drained_brokers"]) == (["c02"], ["readonly"])
    assert found["drained_topics"] == ["only_drained_queues"]
    assert judged.group("three_share_two_dead")["drained_clients"] == ["c03", "c04"]


def test_a_read_only_broker_that_is_read_to_its_end_is_one_finding_whatever_number_of_groups_it_has() -> None:
    topic = a_topic("t", *_drained)
    groups = [a_group(name, members(2), [topic], lag=0) for name in ("g", "h")]
    judged = judge(cluster([topic], groups, BROKERS))
    (found,) = [row for row in judged.findings if row["rule"] == "READ_ONLY_IDLE"]

    assert (found["severity"], found["consumer_group"], found["broker_name"]) == ("INFO", None, "readonly")
    assert found["subjects"] == ["readonly"]
    assert found["evidence"] == {
        "clients": 2,
        "consumer_groups": 2,
        "group_names": ["g", "h"],
        "topics": 1,
        "topic_names": ["t"],
        "brokers": ["readonly"],
    }
    assert found["message"] == (
        "2 clients of 2 groups (g, h) have nothing left to read: all of their queues are on readonly, take no new "
        "messages, and are read to their end."
    )


def test_of_clients_with_drained_queues_on_two_brokers_both_are_named() -> None:
    """Of two clients the second owns all queues of broker-c and readonly."""
    topic = a_topic("t", queues("broker-a", 4), *(queues(name, 2, perm=READ_ONLY) for name in ("broker-c", "readonly")))
    brokers = [*BROKERS, broker("broker-c", perm=READ_ONLY)]
    judged = judge(cluster([topic], [a_group("g", members(2), [topic], lag=0)], brokers))
    found = [row for row in judged.findings if row["rule"] == "READ_ONLY_IDLE"]

    assert [row["broker_name"] for row in found] == ["broker-c", "readonly"]
    for row in found:
        assert "all of its queues are on broker-c, readonly, take no new messages" in row["message"]


def test_a_topic_that_is_closed_on_one_broker_does_not_make_the_broker_writable_again() -> None:
    topic = a_topic("t", queues("broker-a", 4), queues("broker-b", 4, perm=READ_ONLY))
    told = answer(cluster([topic], [a_group("g", members(2), [topic], lag=0)], BROKERS[:2]))
    (of_topic,) = (row for row in told.all("INVESTIGATE") if "READ_ONLY_IDLE" in row["rules"])
    (of_broker,) = (row for row in answer(_read_only()).all("INVESTIGATE") if "READ_ONLY_IDLE" in row["rules"])

    assert "Find out whether readonly is meant to stay read-only." in of_broker["reason"]
    assert [line for line in of_broker["commands"] if "brokerPermission" in line]
    assert (
        "Find out whether these topics are meant to take no messages on broker-b, where they are read to the end: t. If"
        in of_topic["reason"]
    )
    assert not [line for line in of_topic["commands"] if "brokerPermission" in line]
    assert answer(_read_only()).all("CHANGE_STRATEGY") == told.all("CHANGE_STRATEGY") == []


def test_the_first_topics_that_are_closed_on_a_broker_are_named_and_all_are_counted() -> None:
    """Of broker-c only t00 is closed, whose group owns queues of broker-b and of broker-c."""
    closed = [queues(name, 2, perm=READ_ONLY) for name in ("broker-b", "broker-c")]
    topics = [a_topic(f"t{i:02}", queues("broker-a", 2), *closed[: 1 if i else 2]) for i in range(60)]
    groups = [a_group(f"g_{one.topic}", members(2), [one], lag=0) for one in topics]
    (of_b, of_c) = (row for row in answer(cluster(topics, groups)).rows if row["rules"] == ["READ_ONLY_IDLE"])

    assert "on broker-b, where they are read to the end: t00, t01, t02, t03, t04 and 55 more. If so" in of_b["reason"]
    assert "on broker-c, where they are read to the end: t00. If so" in of_c["reason"]


def _read_only() -> Inventory:
    topic = a_topic("t", *_drained)
    return cluster([topic], [a_group(name, members(2), [topic], lag=0) for name in ("g", "h")], BROKERS[:3])


def test_drained_queues_alone_are_no_uneven_traffic() -> None:
    """Two of four clients share what is written to broker-a, and get twice the mean."""
    topic = a_topic("t", *_drained, rates={**{("broker-a", i): 100.0 for i in range(4)}, ("readonly", 0): 0.0})
    judged = judge(cluster([topic], [a_group("g", members(4), [topic], lag=0)], BROKERS))
    even = replace(topic, queues=(queues("broker-a", 4), queues("broker-b", 4)))

    assert judged.group("g")["drained_clients"] == ["c03", "c04"]
    assert judged.found("TRAFFIC_SKEW", "g") is None
    assert (
        judge(cluster([even], [a_group("g", members(4), [even], lag=0)], BROKERS)).group("g")["drained_clients"] == []
    )


@pytest.mark.parametrize(
    "group",
    ["not_yet_drained", "drained_or_not", "drained_for_all_alike"],
    ids=["one message is left", "an unknown lag", "one live queue"],
)
def test_who_may_have_work_is_not_idle(judged: Judgement, group: str) -> None:
    assert judged.group(group)["drained_clients"] == []


def test_a_broker_without_a_master_receives_nothing_either_and_its_loss_is_what_is_found(judged: Judgement) -> None:
    assert judged.group("without_master")["drained_brokers"] == ["masterless"]
    assert [row["severity"] for row in judged.findings if row["broker_name"] == "masterless" and not row["topic"]] == [
        "CRITICAL"
    ]


def test_who_pops_is_not_idle(judged: Judgement) -> None:
    assert judged.rules("pops_what_is_drained") == set()
    assert judged.group("drained_popped")["drained_clients"] == []
    assert judged.group("pops_something_else")["drained_clients"] == []


# CONFIG gives clients queues that there are not; that is computed, too, so that nobody has to settle first.
def test_a_list_of_queues_that_there_are_not_leaves_every_queue_to_nobody() -> None:
    topic = a_topic("listed", queues("broker-a", 2))
    policy = Policy.model_validate({
        "current_strategies": {"default": "CONFIG"},
        "config_assignments": {
            "listed": {"c01": [{"topic": "listed", "broker_name": "broker-z", "queue_id": i} for i in range(2)]}
        },
    })

    judged = judge(cluster([topic], [a_group("listed", members(2, started_at=ago(5)), [topic])]), policy)

    assert judged.finding("ORPHAN_QUEUE", "listed")["evidence"]["orphans"] == 2
    assert judged.finding("IDLE_CONSUMERS", "listed")["subjects"] == ["c02"]


def test_a_strategy_that_gives_nobody_a_queue_is_known_however_young_the_clients_are() -> None:
    # No broker is named room@name, so that MACHINE_ROOM leaves every queue out.
    topic = a_topic("roomless", queues("broker-a", 2))
    clients = members(2, allocate_strategy="MACHINE_ROOM", started_at=ago(5))
    judged = judge(cluster([topic], [a_group("roomless", clients, [topic])]), Policy(machine_rooms=("hz",)))

    assert judged.finding("ORPHAN_QUEUE", "roomless")["evidence"]["orphans"] == 2
    assert len(judged.finding("IDLE_CONSUMERS", "roomless")["subjects"]) == 2
