"""NAMESERVER_DISAGREEMENT and SLAVE_DRIFT, and what is done about them."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    DriftedTopic,
    Inventory,
    InventoryBroker,
    InventoryNameserver,
    InventoryRoute,
    ListedBroker,
    TopicQueues,
)
from tests.assessment.cases import a_topic, ago
from tests.assessment.judge import Row, judge
from tests.recommendation.answers import Answers, answer, options
from tests.simulation.clusters import broker, cluster, queues

FIRST, SECOND = "10.0.9.1:9876", "10.0.9.2:9876"
BROKERS = (broker("broker-a"), broker("broker-b"))


def asked(*views: InventoryNameserver) -> Inventory:
    """A cluster with two brokers and a topic on both, four queues each."""
    inventory = cluster([a_topic(name, rates={}) for name in ("pay", "ship")], [], BROKERS)
    return replace(inventory, nameservers=(FIRST, SECOND), nameserver_views=views)


def says(*layout: TopicQueues, brokers: tuple[ListedBroker, ...] | None = None) -> InventoryNameserver:
    """The second name server, that gives this route of ``pay``."""
    return InventoryNameserver(
        nameserver_addr=SECOND, brokers=brokers, routes=(InventoryRoute(topic="pay", queues=layout),)
    )


def found(inventory: Inventory, policy: Policy | None = None) -> Row | None:
    return judge(inventory, policy).found("NAMESERVER_DISAGREEMENT")


def test_a_route_without_a_broker_divides_consumers() -> None:
    row = found(asked(InventoryNameserver(nameserver_addr=FIRST), says(queues("broker-a"))))

    assert row is not None
    assert (row["severity"], row["subjects"]) == ("CRITICAL", [SECOND])
    assert (row["consumer_group"], row["topic"], row["broker_name"]) == (None, None, None)
    assert row["evidence"] == {
        "topics": 1,
        "brokers": 1,
        "topic_names": ["pay"],
        "broker_names": ["broker-b"],
        "nameservers": [
            {
                "nameserver_addr": SECOND,
                "missing_brokers": [],
                "other_brokers": [],
                "topics": 1,
                "routes": [
                    {
                        "topic": "pay",
                        "broker_name": "broker-b",
                        "read_queue_nums": None,
                        "write_queue_nums": None,
                        "perm": None,
                    }
                ],
            }
        ],
        "divided_groups": [],
        "divided_queues": [],
        "groups_left_out": 0,
    }
    assert row["message"] == (
        f"{SECOND} differs from the other name servers in 1 topic and 1 broker (pay, broker-b). Consumers of one group"
        " then divide different lists of queues."
    )


@pytest.mark.parametrize(
    ("layout", "severity"),
    [
        ((queues("broker-a"), queues("broker-b", 6)), "CRITICAL"),
        ((queues("broker-a"), queues("broker-b", 4, 2)), "WARNING"),
        ((queues("broker-a"), queues("broker-b", perm=4)), "WARNING"),
        ((queues("broker-a"), queues("broker-b", perm=2)), "CRITICAL"),
        ((queues("broker-a"), queues("broker-b"), queues("broker-c")), "CRITICAL"),
        ((), "CRITICAL"),
    ],
)
def test_what_consumers_see_otherwise_is_critical(layout: tuple[TopicQueues, ...], severity: str) -> None:
    row = found(asked(says(*layout)))

    assert row is not None
    assert row["severity"] == severity


def test_a_list_without_a_broker_is_a_disagreement_by_itself() -> None:
    listed = (ListedBroker(broker_name="broker-a", broker_id=0, broker_addr=BROKERS[0].broker_addr),)
    row = found(asked(InventoryNameserver(nameserver_addr=SECOND, brokers=listed)))

    assert row is not None
    assert row["severity"] == "WARNING"
    (view,) = row["evidence"]["nameservers"]
    assert (view["missing_brokers"], view["other_brokers"], view["topics"]) == (["broker-b"], [], 0)


def test_a_broker_with_other_processes_is_a_disagreement() -> None:
    listed = tuple(
        ListedBroker(broker_name=one.broker_name, broker_id=0, broker_addr=f"10.0.0.9:{one.broker_id + 10911}")
        for one in BROKERS
    )
    row = found(asked(InventoryNameserver(nameserver_addr=SECOND, brokers=listed)))

    assert row is not None
    assert row["evidence"]["nameservers"][0]["other_brokers"] == ["broker-a", "broker-b"]


@pytest.mark.parametrize(
    "views", [(), (InventoryNameserver(nameserver_addr=FIRST), InventoryNameserver(nameserver_addr=SECOND))]
)
def test_name_servers_that_agree_are_no_finding(views: tuple[InventoryNameserver, ...]) -> None:
    assert found(asked(*views)) is None


def test_a_view_that_says_what_the_inventory_says_is_no_difference() -> None:
    assert found(asked(says(queues("broker-b"), queues("broker-a")))) is None


@pytest.mark.parametrize(
    "facts",
    [{"perm": None}, {"read_queue_nums": None}, {"read_queue_nums": None, "write_queue_nums": None, "perm": None}],
)
def test_what_the_inventory_does_not_know_of_a_route_is_no_difference(facts: dict[str, Any]) -> None:
    inventory = asked(says(queues("broker-a"), queues("broker-b")))
    pay, ship = inventory.topics
    partly = tuple(replace(each, **facts) for each in pay.queues or ())

    for known in (partly, None):
        assert found(replace(inventory, topics=(replace(pay, queues=known), ship))) is None


def test_what_a_name_server_does_not_tell_of_a_route_is_no_difference() -> None:
    half = replace(queues("broker-b"), perm=None)
    assert found(asked(says(queues("broker-a"), half))) is None

    for differs, severity in (({"read_queue_nums": 2}, "CRITICAL"), ({"write_queue_nums": 2}, "WARNING")):
        row = found(asked(says(queues("broker-a"), replace(half, **differs))))
        assert row is not None
        assert (row["severity"], row["evidence"]["broker_names"]) == (severity, ["broker-b"])


def test_a_broker_whose_address_is_unknown_is_no_difference() -> None:
    listed = tuple(
        ListedBroker(broker_name=one.broker_name, broker_id=0, broker_addr=one.broker_addr) for one in BROKERS
    )
    inventory = asked(InventoryNameserver(nameserver_addr=SECOND, brokers=listed))
    brokers = tuple(replace(one, broker_addr=None) for one in inventory.brokers)

    assert found(replace(inventory, brokers=brokers)) is None


def answers_of(inventory: Inventory) -> Answers:
    return answer(inventory)


def test_each_name_server_is_asked_for_its_brokers_and_a_route() -> None:
    (card,) = answers_of(asked(says(queues("broker-a")))).all("INVESTIGATE")

    assert card["rules"] == ["NAMESERVER_DISAGREEMENT"]
    assert card["reason"].startswith(f"Find out which brokers have lost {SECOND}:")
    assert [(line.split()[1], options(line)["-n"]) for line in card["commands"]] == [
        ("clusterList", FIRST),
        ("topicRoute", FIRST),
        ("clusterList", SECOND),
        ("topicRoute", SECOND),
    ]


def slave(**facts: Any) -> Inventory:
    own = InventoryBroker(broker_name="broker-a", broker_id=1, broker_addr="broker-a:10912", **facts)
    return cluster([a_topic("pay", rates={})], [], (*BROKERS, own))


MISSING = DriftedTopic(topic="pay", master_read_queue_nums=4, master_write_queue_nums=4)
FEWER = DriftedTopic(
    topic="ship", read_queue_nums=2, write_queue_nums=2, master_read_queue_nums=4, master_write_queue_nums=4
)


def copied(lacks: int, rate: str = "2048 2048 2048", **facts: Any) -> Inventory:
    """A slave whose commit log ends so many bytes before that of its master, which writes so many KiB a second."""
    end = 10 * 2**30
    inventory = slave(runtime={"commitLogMaxOffset": str(end - lacks)}, **facts)
    wrote = {"commitLogMaxOffset": str(end), "putTps": rate, "putMessageAverageSize": "1024.0"}
    first, *others = inventory.brokers
    return replace(inventory, brokers=(replace(first, runtime=wrote), *others))


def test_a_slave_that_has_not_copied_the_masters_last_messages_is_named_with_how_much_it_lacks() -> None:
    row = judge(copied(180 * 2**20)).finding("SLAVE_DRIFT")

    assert (row["severity"], row["broker_name"], row["subjects"]) == ("WARNING", "broker-a", ["broker-a:10912"])
    assert (row["evidence"]["uncopied_bytes"], row["evidence"]["uncopied_s"]) == (180 * 2**20, 90.0)
    assert row["message"] == (
        "Slave 1 of broker-a has not copied the last 180.0 MiB of its master's messages, as much as it writes in 1.5"
        " min."
    )


@pytest.mark.parametrize(
    ("lacks", "rate"),
    [(0, "2048"), (-(2**20), "2048"), (119 * 2**20, "2048"), (2**20 - 1, "0.0 0.0 0.0"), (180 * 2**20, "")],
    ids=["nothing", "ahead", "what is on its way", "between the two answers", "unknown rate"],
)
def test_what_a_slave_may_be_about_to_copy_is_no_finding(lacks: int, rate: str) -> None:
    assert judge(copied(lacks, rate)).found("SLAVE_DRIFT") is None


def test_a_slave_does_not_catch_up_with_a_master_that_writes_nothing() -> None:
    row = judge(copied(5 * 2**20, "0.0 0.0 0.0")).finding("SLAVE_DRIFT")

    assert row["evidence"]["uncopied_s"] is None
    assert row["message"].endswith(" 5.0 MiB of its master's messages, although it writes nothing.")


def test_what_a_slave_lacks_of_tables_and_of_messages_is_one_finding() -> None:
    row = judge(copied(180 * 2**20, drifted_topics=(MISSING,), master_changed_at=ago(1))).finding("SLAVE_DRIFT")

    assert (row["severity"], row["evidence"]["topics"]) == ("WARNING", 1)
    assert row["message"].startswith("Slave 1 of broker-a lacks 1 topic of its master (pay). Slave 1 of broker-a has")


def test_a_slave_that_lacks_what_its_master_has_is_named_with_it() -> None:
    row = judge(slave(drifted_topics=(FEWER, MISSING), missing_groups=("g",), master_changed_at=ago(300))).finding(
        "SLAVE_DRIFT"
    )

    assert (row["severity"], row["broker_name"], row["subjects"]) == ("WARNING", "broker-a", ["broker-a:10912"])
    evidence = row["evidence"]
    assert (evidence["missing_topics"], evidence["other_topics"], evidence["missing_groups"]) == (
        ["pay"],
        ["ship"],
        ["g"],
    )
    assert (evidence["topics"], evidence["groups"], evidence["changed_ago_s"]) == (2, 1, 300.0)
    assert row["message"] == (
        "Slave 1 of broker-a lacks 1 topic and 1 group of its master, and has 1 topic with other queues than its master"
        " (pay, ship, g)."
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"drifted_topics": (MISSING,)}, "lacks 1 topic of its master (pay)."),
        ({"missing_groups": ("g", "h")}, "lacks 2 groups of its master (g, h)."),
        ({"drifted_topics": (FEWER,)}, "has 1 topic with other queues than its master (ship)."),
    ],
)
def test_a_finding_about_a_slave_says_what_differs_and_counts_nothing_that_is_zero(
    facts: dict[str, Any], message: str
) -> None:
    assert judge(slave(**facts)).finding("SLAVE_DRIFT")["message"] == f"Slave 1 of broker-a {message}"


@pytest.mark.parametrize(
    ("version", "is_named"),
    [
        ("V5_3_1", False),
        ("V5_3_2", True),
        ("V5_3_3", True),
        ("V5_4_0", False),
        (None, False),
        ("HIGHER_VERSION", False),
    ],
)
def test_a_finding_says_if_a_slaves_version_cannot_copy_topics_with_a_message_type(
    version: str | None, is_named: bool
) -> None:
    row = judge(slave(drifted_topics=(MISSING,), version=version)).finding("SLAVE_DRIFT")
    no_topic = judge(slave(drifted_topics=(FEWER,), version=version)).finding("SLAVE_DRIFT")

    assert (row["evidence"]["known_fault"] == "apache/rocketmq#9403") is is_named
    assert ("apache/rocketmq#9403" in row["message"]) is is_named
    assert no_topic["evidence"]["known_fault"] is None


@pytest.mark.parametrize(
    ("version", "known_fault"),
    [("V5_3_1", None), ("V5_3_2", "apache/rocketmq#9984"), ("V5_4_0", "apache/rocketmq#9984"), ("V5_5_0", None)],
)
def test_a_slave_that_copies_for_long_has_not_stopped(version: str, known_fault: str | None) -> None:
    row = judge(slave(drifted_topics=(MISSING,), version=version, is_copying=True)).finding("SLAVE_DRIFT")

    assert (row["severity"], row["evidence"]["known_fault"]) == ("WARNING", known_fault)
    assert row["message"].startswith(
        "Slave 1 of broker-a lacks 1 topic of its master (pay). It was copying its master as long as it was watched."
    )


@pytest.mark.parametrize(("changed_ago_s", "severity"), [(70, "INFO"), (71, "WARNING"), (None, "WARNING")])
def test_what_changed_a_moment_ago_may_be_on_its_way(changed_ago_s: float | None, severity: str) -> None:
    changed_at = None if changed_ago_s is None else ago(changed_ago_s)
    row = judge(slave(drifted_topics=(MISSING,), master_changed_at=changed_at)).finding("SLAVE_DRIFT")

    assert row["severity"] == severity


def test_the_policy_says_how_long_that_is() -> None:
    policy = Policy.model_validate({"thresholds": {"SLAVE_DRIFT": {"settle_s": 10.0}}})
    row = judge(slave(drifted_topics=(MISSING,), master_changed_at=ago(11)), policy).finding("SLAVE_DRIFT")

    assert row["severity"] == "WARNING"


@pytest.mark.parametrize("facts", [{}, {"drifted_topics": (), "missing_groups": ()}])
def test_a_slave_that_is_like_its_master_or_was_not_asked_is_no_finding(facts: dict[str, Any]) -> None:
    assert judge(slave(**facts)).found("SLAVE_DRIFT") is None


def test_each_slave_has_a_finding_of_its_own() -> None:
    inventory = slave(missing_groups=("g",))
    second = InventoryBroker(broker_name="broker-b", broker_id=2, missing_groups=("h",))
    rows = judge(replace(inventory, brokers=(*inventory.brokers, second))).findings

    assert [row["subjects"] for row in rows if row["rule"] == "SLAVE_DRIFT"] == [["broker-a:10912"], ["broker-b 2"]]


def test_the_slaves_of_one_broker_are_one_finding() -> None:
    inventory = slave(missing_groups=("g",), master_changed_at=ago(300))
    second = InventoryBroker(
        broker_name="broker-a", broker_id=2, broker_addr="broker-a:10913", drifted_topics=(MISSING,)
    )
    (row,) = [
        row
        for row in judge(replace(inventory, brokers=(*inventory.brokers, second))).findings
        if row["rule"] == "SLAVE_DRIFT"
    ]

    assert (row["broker_name"], row["subjects"]) == ("broker-a", ["broker-a:10912", "broker-a:10913"])
    assert (row["evidence"]["slave_ids"], row["evidence"]["topics"], row["evidence"]["groups"]) == ([1, 2], 1, 1)
    assert row["message"] == (
        "Slave 1 of broker-a lacks 1 group of its master (g). Slave 2 of broker-a lacks 1 topic of its master (pay)."
    )


def test_the_slave_itself_is_looked_at() -> None:
    (card,) = answers_of(replace(slave(missing_groups=("g",)), nameservers=(FIRST,))).all("INVESTIGATE")

    assert card["rules"] == ["SLAVE_DRIFT"]
    assert [line.split()[1] for line in card["commands"]] == ["clusterList", "brokerStatus"]
    assert options(card["commands"][1])["-b"] == "broker-a:10912"
    # The address is the slave's, and no fault of its version is known.
    assert card["reason"].startswith("Find out why this slave (broker-a:10912) does not copy its master")
    assert "Upgrade" not in card["reason"]


def test_a_slave_whose_version_stops_copying_needs_another_version() -> None:
    drifted = (DriftedTopic(topic="pay", master_read_queue_nums=4),)
    (card,) = answers_of(slave(drifted_topics=drifted, version="V5_3_3")).all("INVESTIGATE")

    assert card["reason"].endswith("Upgrade it to 5.5.0 or later: with the known fault it stops copying again.")


def test_a_slave_that_takes_everything_away_first_is_not_to_be_switched_meanwhile() -> None:
    drifted = (DriftedTopic(topic="pay", master_read_queue_nums=4),)
    (card,) = answers_of(slave(drifted_topics=drifted, version="V5_4_0", is_copying=True)).all("INVESTIGATE")

    assert card["reason"].startswith(
        "Switch the master of this slave (broker-a:10912) only while it has its topics: from the line"
    )
    assert card["reason"].endswith("Upgrade it to 5.5.0 or later, which does not have the known fault.")


def test_a_long_list_is_counted_and_cut() -> None:
    many = tuple(DriftedTopic(topic=f"t{number:03}", master_read_queue_nums=1) for number in range(200))
    evidence = judge(slave(drifted_topics=many)).finding("SLAVE_DRIFT")["evidence"]

    assert (evidence["topics"], len(evidence["missing_topics"])) == (200, 50)
    assert len(json.dumps(evidence)) < 20_000
