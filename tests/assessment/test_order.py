"""FIFO_BROKEN."""

import pytest

from rocketmq_capacity.snapshot.inventory import InventoryBroker
from tests.assessment.cases import Part, a_group, a_topic, member, members, pops
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import broker, cluster, queues, reads

PART = Part()
_half_gone = (queues("broker-a", 2), queues("masterless", 3))

# A FIFO topic and who reads it.
PART.case("fifo_side_by_side", members(3), message_type="FIFO", orderly=False)
PART.case(
    "fifo_quiet",
    members(3),
    message_type="FIFO",
    orderly=False,
    rates={(name, i): 0.0 for name in ("broker-a", "broker-b") for i in range(4)},
)
PART.case("fifo_in_order", members(3), message_type="FIFO", orderly=True)
PART.case("fifo_of_unknown_order", members(3), message_type="FIFO")
PART.case("fifo_popped", members(3), message_type="FIFO", orderly=False, subscriptions=(pops("fifo_popped"),))
PART.case("fifo_broadcast", members(3), message_type="FIFO", orderly=False, message_model="BROADCASTING")
PART.case("fifo_grpc", members(3, protocol="GRPC"), message_type="FIFO", orderly=False)
PART.case("fifo_without_clients", [], message_type="FIFO", orderly=False)
PART.case("normal_side_by_side", members(3), message_type="NORMAL", orderly=False)
PART.case("untyped_side_by_side", members(3), orderly=False, order=True)
PART.case(
    "fifo_of_one_client",
    [member("c1"), member("c2", subscriptions=()), member("c1")],
    message_type="FIFO",
    orderly=False,
)
PART.case("fifo_of_no_client", [member("c1", subscriptions=())], message_type="FIFO", orderly=False)
PART.topic("fifo_one_of_two", message_type="FIFO")
PART.topic("normal_one_of_two", message_type="NORMAL")
PART.group("reads_two", members(2), "fifo_one_of_two", "normal_one_of_two", orderly=False)
# An orderly group, and a broker without a master.
PART.case("orderly_without_master", members(3), *_half_gone, orderly=True)
PART.case("unordered_without_master", members(3), *_half_gone, orderly=False)
PART.case("unknown_without_master", members(3), *_half_gone)
PART.case("orderly_broadcast_without_master", members(3), *_half_gone, orderly=True, message_model="BROADCASTING")
PART.case("orderly_without_master_or_clients", [], *_half_gone, orderly=True)
PART.case("orderly_closed", members(3), queues("broker-a", 2), queues("masterless", 3, perm=2), orderly=True)
PART.case("orderly_on_an_absent_broker", members(3), queues("broker-a", 2), queues("gone", 3), orderly=True)


def test_a_fifo_topic_read_side_by_side_is_named_with_the_clients_that_do(judged: Judgement) -> None:
    found = judged.finding("FIFO_BROKEN", "fifo_side_by_side")

    assert (found["severity"], found["topic"], found["broker_name"]) == ("CRITICAL", "fifo_side_by_side", None)
    assert found["subjects"] == ["c01", "c02", "c03"]
    assert found["evidence"] == {"message_type": "FIFO", "orderly": False, "clients": 3}
    assert found["message"] == (
        "The topic is FIFO, and the group does not consume in order: messages of one key are handled side by side."
    )


@pytest.mark.parametrize("group", ["fifo_popped", "fifo_broadcast", "fifo_grpc"])
def test_however_the_group_gets_its_messages(judged: Judgement, group: str) -> None:
    assert judged.finding("FIFO_BROKEN", group)["severity"] == "CRITICAL"


def test_nothing_is_out_of_order_while_nothing_is_written(judged: Judgement) -> None:
    assert judged.finding("FIFO_BROKEN", "fifo_quiet")["severity"] == "WARNING"


@pytest.mark.parametrize(
    "group", ["fifo_in_order", "fifo_of_unknown_order", "normal_side_by_side", "untyped_side_by_side"]
)
def test_order_that_is_kept_not_known_or_not_asked_for_is_no_finding(judged: Judgement, group: str) -> None:
    assert judged.found("FIFO_BROKEN", group) is None


def test_a_group_without_clients_is_named_for_information(judged: Judgement) -> None:
    found = judged.finding("FIFO_BROKEN", "fifo_without_clients")

    assert (found["severity"], found["subjects"]) == ("INFO", [])


def test_clients_that_do_not_subscribe_to_the_topic_do_not_break_its_order(judged: Judgement) -> None:
    assert judged.finding("FIFO_BROKEN", "fifo_of_one_client")["subjects"] == ["c1"]
    assert judged.found("FIFO_BROKEN", "fifo_of_no_client") is None


def test_of_several_topics_the_fifo_one_is_named(judged: Judgement) -> None:
    assert judged.finding("FIFO_BROKEN", "reads_two")["topic"] == "fifo_one_of_two"


def test_an_orderly_group_cannot_lock_the_queues_of_a_broker_without_a_master(judged: Judgement) -> None:
    found = judged.finding("FIFO_BROKEN", "orderly_without_master")

    assert (found["severity"], found["topic"], found["broker_name"]) == (
        "CRITICAL",
        "orderly_without_master",
        "masterless",
    )
    assert found["subjects"] == ["masterless"]
    assert found["evidence"] == {
        "orderly": True,
        "queues": 3,
        "slave_ids": [1],
        "slave_may_act_as_master": None,
    }
    assert found["message"] == (
        "masterless has no master, so that the group cannot lock 3 queues there, and nobody reads them unless a slave"
        " acts as master."
    )


@pytest.mark.parametrize(
    "group",
    [
        "unordered_without_master",
        "unknown_without_master",
        "orderly_broadcast_without_master",
        "orderly_closed",
        "orderly_on_an_absent_broker",
    ],
)
def test_nothing_is_locked_by_others_nor_on_queues_that_nobody_can_read(judged: Judgement, group: str) -> None:
    assert judged.found("FIFO_BROKEN", group) is None


def test_without_clients_nobody_waits_for_a_lock(judged: Judgement) -> None:
    assert judged.finding("FIFO_BROKEN", "orderly_without_master_or_clients")["severity"] == "INFO"


@pytest.mark.parametrize(
    ("setting", "severity", "says"),
    [
        ("true", "WARNING", ": a slave may act as master."),
        ("false", "CRITICAL", ", and nobody reads them."),
        (None, "CRITICAL", ", and nobody reads them unless a slave acts as master."),
    ],
)
def test_a_slave_that_may_act_as_master_makes_it_a_warning(setting: str | None, severity: str, says: str) -> None:
    config = None if setting is None else {"enableSlaveActingMaster": setting}
    slaves = (
        InventoryBroker(broker_name="broker-b", broker_id=2, config={"enableSlaveActingMaster": "false"}),
        InventoryBroker(broker_name="broker-b", broker_id=1, config=config),
    )
    topic = a_topic("orders", queues("broker-a", 2), queues("broker-b", 2))
    group = a_group("g", members(2), [topic], orderly=True, subscriptions=(reads("orders"),))

    found = judge(cluster([topic], [group], (broker("broker-a"), *slaves))).finding("FIFO_BROKEN", "g")

    assert found["severity"] == severity
    assert found["evidence"]["slave_ids"] == [1, 2]
    assert found["evidence"]["slave_may_act_as_master"] is {"true": True, "false": False, None: None}[setting]
    assert found["message"].endswith(f"cannot lock 2 queues there{says}")


@pytest.mark.parametrize(
    ("reads_slaves", "severity", "says"),
    [
        ("true", "WARNING", "cannot lock 2 queues there: a slave may act as master."),
        (
            "false",
            "CRITICAL",
            "so that nobody reads 2 queues there in order: a slave may act as master, but it refuses every pull.",
        ),
    ],
)
def test_a_slave_that_refuses_pulls_does_so_as_well_where_it_acts_as_master(
    reads_slaves: str, severity: str, says: str
) -> None:
    """Its role stays that of a slave (PullMessageProcessor.rejectRequest)."""
    config = {"enableSlaveActingMaster": "true", "slaveReadEnable": reads_slaves}
    slave = InventoryBroker(broker_name="broker-b", broker_id=1, config=config)
    topic = a_topic("orders", queues("broker-a", 2), queues("broker-b", 2))
    group = a_group("g", members(2), [topic], orderly=True, subscriptions=(reads("orders"),))
    judged = judge(cluster([topic], [group], (broker("broker-a"), slave)))
    found = judged.finding("FIFO_BROKEN", "g")

    assert (found["severity"], found["evidence"]["slave_may_act_as_master"]) == (severity, True)
    assert found["message"].endswith(says)
    assert judged.group("g")["reading_status"] == ("UNREAD" if severity == "CRITICAL" else "UNKNOWN")
