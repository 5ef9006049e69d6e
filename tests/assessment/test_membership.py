"""DUPLICATE_CLIENT_ID, MIXED_STRATEGIES, MEMBERSHIP_DISAGREEMENT."""

from tests.assessment.cases import OWN_STRATEGY, Part, ago, member, members, owned, pops
from tests.assessment.judge import Judgement
from tests.simulation.clusters import queues, reads

PART = Part()


# DUPLICATE_CLIENT_ID: eight queues over the list [twin, twin, zoe] give three, three and two; the second share is lost.
_twin = [
    member("twin", client_addr="10.0.0.1:40001", language="JAVA", version="V4_8_0"),
    member("twin", client_addr="10.0.0.2:40001", language="JAVA", version="V4_8_0"),
    member("zoe", client_addr="10.0.0.3:40001", language="GO", version="V4_9_8"),
]
PART.case("twins", _twin)
PART.case("twins_of_two_queues", [member("twin"), member("twin")], queues("broker-a", 1), queues("broker-b", 1))
PART.case("twins_own_strategy", [member("twin", allocate_strategy=OWN_STRATEGY) for _ in range(2)])
PART.case(
    "twins_that_say_that_they_pop",
    [
        member("twin", allocate_strategy=OWN_STRATEGY, owned_queues=owned(("twins_that_say_that_they_pop", name, -1)))
        for name in ("broker-a", "broker-b")
    ],
    subscriptions=(pops("twins_that_say_that_they_pop"),),
)
PART.case("twins_that_broadcast", _twin, message_model="BROADCASTING")
PART.case("one_machine_two_ids", [member("a", client_addr="10.0.0.1:1"), member("b", client_addr="10.0.0.1:1")])


def test_a_popped_queue_is_not_read_twice_by_equal_ids(judged: Judgement) -> None:
    found = judged.finding("DUPLICATE_CLIENT_ID", "twins_that_say_that_they_pop")

    assert found["evidence"]["doubly_owned_queues"] == 0
    assert found["severity"] == "WARNING"


def test_two_consumers_of_one_client_id_are_flagged_with_who_they_are(judged: Judgement) -> None:
    found = judged.finding("DUPLICATE_CLIENT_ID", "twins")

    assert found["severity"] == "CRITICAL"
    assert found["subjects"] == ["twin"]
    assert found["evidence"] == {
        "duplicates": [
            {
                "client_id": "twin",
                "copies": 2,
                "addresses": ["10.0.0.1:40001", "10.0.0.2:40001"],
                "languages": ["JAVA"],
                "versions": ["V4_8_0"],
            }
        ],
        "orphan_queues": 3,
        "doubly_owned_queues": 3,
    }
    assert found["message"] == (
        "Several consumers share a client id: twin. Now nobody reads 3 queues, and 3 queues are read twice."
    )


def test_one_queue_is_written_as_one_queue(judged: Judgement) -> None:
    found = judged.finding("DUPLICATE_CLIENT_ID", "twins_of_two_queues")

    assert found["message"] == (
        "Several consumers share a client id: twin. Now nobody reads 1 queue, and 1 queue is read twice."
    )


def test_a_repeated_id_whose_queues_are_unknown_is_a_warning_that_claims_nothing(judged: Judgement) -> None:
    found = judged.finding("DUPLICATE_CLIENT_ID", "twins_own_strategy")

    assert found["severity"] == "WARNING"
    assert (found["evidence"]["orphan_queues"], found["evidence"]["doubly_owned_queues"]) == (None, None)
    assert found["message"] == "Several consumers share a client id: twin."


def test_broadcasting_consumers_may_share_an_id(judged: Judgement) -> None:
    assert "DUPLICATE_CLIENT_ID" not in judged.rules("twins_that_broadcast")


def test_ids_that_differ_are_no_duplicates_though_the_address_is_one(judged: Judgement) -> None:
    assert judged.found("DUPLICATE_CLIENT_ID", "one_machine_two_ids") is None


# MIXED_STRATEGIES: of eight queues AVG gives the first of two clients 0 to 3, the circle gives the second 1, 3, 5, 7.
PART.case(
    "two_strategies",
    [
        member("a", allocate_strategy="AVG"),
        member("b", allocate_strategy="AVG_BY_CIRCLE"),
    ],
)
PART.case("most_run_one", [*members(3, allocate_strategy="CONSISTENT_HASH"), member("d", allocate_strategy="AVG")])
PART.case("silent_on_strategy", [member("a", allocate_strategy="AVG_BY_CIRCLE"), member("b")])
PART.case(
    "broadcasters_differ",
    [
        member("a", allocate_strategy="AVG"),
        member("b", allocate_strategy="AVG_BY_CIRCLE"),
    ],
    message_model="BROADCASTING",
)
PART.topic("poppers_differ")
PART.group(
    "poppers_differ",
    [
        member("a", allocate_strategy="AVG"),
        member("b", allocate_strategy="AVG_BY_CIRCLE"),
    ],
    "poppers_differ",
    subscriptions=(pops("poppers_differ"),),
)


def test_clients_of_two_strategies_are_flagged_with_what_it_does(judged: Judgement) -> None:
    found = judged.finding("MIXED_STRATEGIES", "two_strategies")

    assert found["severity"] == "CRITICAL"
    assert found["subjects"] == ["b"]
    assert found["evidence"] == {
        "strategies": [{"strategy": "AVG", "clients": 1}, {"strategy": "AVG_BY_CIRCLE", "clients": 1}],
        "orphan_queues": 2,
        "doubly_owned_queues": 2,
    }
    assert found["message"] == (
        "Its clients run different strategies: AVG, AVG_BY_CIRCLE."
        " Now nobody reads 2 queues, and 2 queues are read twice."
    )


PART.case(
    "two_strategies_agree",
    [member("a", allocate_strategy="AVG"), member("b", allocate_strategy="AVG_BY_CIRCLE")],
    queues("broker-a", 1),
    queues("broker-b", 1),
)


def test_strategies_that_agree_today_hurt_once_queues_or_clients_change(judged: Judgement) -> None:
    """Of two queues both strategies give the first to a and the second to b."""
    found = judged.finding("MIXED_STRATEGIES", "two_strategies_agree")

    assert (found["severity"], found["evidence"]["orphan_queues"]) == ("WARNING", 0)


def test_the_clients_that_differ_from_most_are_named(judged: Judgement) -> None:
    assert judged.finding("MIXED_STRATEGIES", "most_run_one")["subjects"] == ["d"]


def test_a_client_that_reports_no_strategy_does_not_mix(judged: Judgement) -> None:
    assert judged.rules("silent_on_strategy") == set()


def test_strategies_of_groups_that_do_not_rebalance_do_not_matter(judged: Judgement) -> None:
    assert judged.rules("broadcasters_differ") == set()
    assert judged.rules("poppers_differ") == set()


# MEMBERSHIP_DISAGREEMENT
_both = ("broker-a", "broker-b")
PART.case("unknown_to_b", [*members(3, seen_on=_both), member("lost", seen_on=("broker-a",))])
PART.case("two_unknown", [*members(2, seen_on=_both), *(member(x, seen_on=("broker-a",)) for x in ("x", "y"))])
PART.case("known_to_both", members(3, seen_on=_both))
_behind = {"seen_on": ("10.0.8.1:8080", "10.0.8.2:8080")}
PART.case("some_behind_a_proxy", [*members(3, seen_on=_both), member("p", **_behind), member("q", **_behind)])
PART.case("all_behind_a_proxy", members(3, **_behind))
PART.case("locks_behind_a_proxy", [*members(3, seen_on=_both), member("p", **_behind)], orderly=True)
PART.case("at_a_lost_broker", [*members(2, seen_on=_both), member("p", seen_on=("broker-c",))])
PART.case("behind_a_local_proxy", [*members(2, seen_on=_both), member("p", seen_on=(*_both, "10.0.8.1:8080"))])
PART.case(
    "broadcasts_behind_a_proxy",
    [*members(3, seen_on=_both), member("p", **_behind)],
    message_model="BROADCASTING",
)
PART.case("pops_behind_a_proxy", [*members(3, seen_on=_both), member("p", **_behind)], message_request_mode="POP")
PART.case("unknown_at_120_s", [*members(3, seen_on=_both), member("new", seen_on=("broker-a",), started_at=ago(120))])
PART.case("unknown_at_121_s", [*members(3, seen_on=_both), member("new", seen_on=("broker-a",), started_at=ago(121))])
PART.case("no_broker_asked", members(3))
PART.case("b_names_nobody", members(3, seen_on=("broker-a",)))
PART.topic("only_on_a", queues("broker-a", 8))
PART.topic("on_both")
PART.group(
    "reads_what_a_has",
    [
        *members(2, seen_on=_both),
        member("z", seen_on=("broker-a",), subscriptions=(reads("only_on_a"),)),
    ],
    "only_on_a",
    "on_both",
)
PART.group("reads_only_on_a", [member("a", seen_on=_both), member("b", seen_on=("broker-a",))], "only_on_a")


def test_a_client_that_a_broker_does_not_know_is_flagged(judged: Judgement) -> None:
    found = judged.finding("MEMBERSHIP_DISAGREEMENT", "unknown_to_b")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["lost"]
    assert found["evidence"] == {"unknown_to": [{"broker_name": "broker-b", "client_ids": ["lost"]}]}
    assert found["message"] == (
        "1 client is unknown to broker-b; clients that ask it who else reads divide the queues wrongly."
    )


def test_several_unknown_clients_are_counted(judged: Judgement) -> None:
    found = judged.finding("MEMBERSHIP_DISAGREEMENT", "two_unknown")

    assert found["subjects"] == ["x", "y"]
    assert found["message"].startswith("2 clients are unknown to broker-b;")


def test_clients_behind_a_proxy_and_clients_at_the_brokers_divide_all_queues_each(judged: Judgement) -> None:
    """A Proxy in cluster mode lists the clients that it knows, and brokers list theirs (ConsumerManagerActivity)."""
    found = judged.finding("MEMBERSHIP_DISAGREEMENT", "some_behind_a_proxy")

    assert (found["severity"], found["subjects"]) == ("CRITICAL", ["p", "q"])
    assert found["evidence"] == {
        "unknown_to": [{"broker_name": name, "client_ids": ["p", "q"]} for name in _both],
        "behind_proxies": ["p", "q"],
    }
    assert found["message"] == (
        "Proxies alone know 2 clients, and brokers know 3: each side divides all queues among its own clients, so that"
        " messages are consumed twice."
    )


def test_who_locks_its_queues_reads_none_of_the_other_sides(judged: Judgement) -> None:
    """Both sides lock at the broker: the Proxy passes the locks of its clients on (lockBatchMQ)."""
    found = judged.finding("MEMBERSHIP_DISAGREEMENT", "locks_behind_a_proxy")

    assert (found["severity"], found["evidence"]["behind_proxies"]) == ("WARNING", ["p"])
    assert found["message"] == (
        "Proxies alone know 1 client, and brokers know 3: each side divides all queues among its own clients, and who"
        " locks a queue first reads it."
    )


def test_who_owns_a_queue_that_both_sides_divide_is_unknown(judged: Judgement) -> None:
    assert judged.group("some_behind_a_proxy")["reading_status"] == "UNKNOWN"
    assert judged.group("some_behind_a_proxy")["provision_status"] == "UNDECIDED"
    assert judged.group("some_behind_a_proxy")["provision_reason"] == (
        "who owns which queue is unknown: clients behind a Proxy and clients at the brokers divide all queues, each"
        " side for itself"
    )
    for name in ("all_behind_a_proxy", "behind_a_local_proxy", "at_a_lost_broker"):
        assert judged.group(name)["reading_status"] == "READ"


def test_clients_that_are_all_on_one_side_agree(judged: Judgement) -> None:
    assert judged.rules("all_behind_a_proxy") == set()
    assert judged.rules("behind_a_local_proxy") == set()


def test_who_broadcasts_or_pops_divides_no_queues_behind_a_proxy(judged: Judgement) -> None:
    assert judged.found("MEMBERSHIP_DISAGREEMENT", "broadcasts_behind_a_proxy") is None
    assert judged.finding("MEMBERSHIP_DISAGREEMENT", "pops_behind_a_proxy")["severity"] == "WARNING"


def test_brokers_that_name_the_same_members_agree(judged: Judgement) -> None:
    assert judged.rules("known_to_both") == set()


def test_a_client_needs_two_minutes_to_be_known_everywhere(judged: Judgement) -> None:
    assert judged.rules("unknown_at_120_s") == set()
    assert judged.finding("MEMBERSHIP_DISAGREEMENT", "unknown_at_121_s")["subjects"] == ["new"]


def test_brokers_that_name_nobody_cannot_disagree(judged: Judgement) -> None:
    assert judged.rules("no_broker_asked") == set()
    assert judged.rules("b_names_nobody") == set()


def test_a_client_is_expected_only_where_a_topic_of_its_own_lies(judged: Judgement) -> None:
    assert judged.found("MEMBERSHIP_DISAGREEMENT", "reads_what_a_has") is None
    assert judged.found("MEMBERSHIP_DISAGREEMENT", "reads_only_on_a") is None
