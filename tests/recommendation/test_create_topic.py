"""CREATE_TOPIC_ON_BROKER: a topic where it is missing, with as many queues as elsewhere."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import GroupSettings
from tests.assessment.cases import READ_ONLY, member, members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, Cases
from tests.simulation.clusters import queues

CASES = Cases()
_there = queues("broker-a", 5)
CASES.case("create", members(3), _there)
CASES.topic("create_unread", _there)
CASES.case("create_for_idle", members(7), _there)
CASES.case("create_normal", members(3), _there, message_type="DELAY")
CASES.case("create_unspecified", members(3), _there, message_type="UNSPECIFIED")
CASES.case("create_type_unknown", members(3), _there, message_type=None)
CASES.case("create_fifo", members(3), _there, message_type="FIFO")
CASES.case("create_order_unknown", members(3), _there, order=None)
CASES.topic("create_offline", _there)
CASES.group("create_offline", [], "create_offline")
CASES.case("create_short", members(3), queues("broker-a", 2, 4))
CASES.case("create_count_unknown", members(3), replace(_there, read_queue_nums=None))
CASES.case("create_perm", members(3), queues("broker-a", 5, perm=7))
CASES.case("create_of_read_only", members(3), queues("readonly", 3, perm=READ_ONLY))
for _name, _brokers in (("create_refused", ("broker-a",)), ("create_granted", ("broker-a", "broker-b"))):
    CASES.topic(_name, _there)
    CASES.group(_name, members(3), _name, settings=(GroupSettings(broker_names=_brokers),))
CASES.case("create_harms", [member("c01"), member("c01"), member("c02"), member("c03")], _there)
CASES.case("create_nothing", members(3), queues("broker-a", 5), queues("broker-b", 5))
CASES.group("subscribes_nothing", members(2), subscriptions=())


def test_the_topic_gets_what_it_has_elsewhere(answered: Answers) -> None:
    found = answered.one("CREATE_TOPIC_ON_BROKER", topic="create")

    (command,) = found["commands"]
    assert options(command) == {
        "-n": NAMESERVER,
        "-b": "broker-b:10911",
        "-t": "create",
        "-r": "5",
        "-w": "5",
        "-p": "6",
        "-o": "false",
        "-a": "+message.type=NORMAL",
    }
    assert not found["is_manual"]
    assert found["rules"] == ["TOPIC_COVERAGE"]
    assert found["reason"].startswith("Create it on broker-b with 5 queues, as elsewhere:")


def test_the_new_place_is_in_after_and_not_in_before(answered: Answers) -> None:
    found = answered.one("CREATE_TOPIC_ON_BROKER", topic="create")

    assert found["before"]["queues"] == [{"broker_name": "broker-a", "read_queue_nums": 5, "write_queue_nums": 5}]
    assert found["after"]["queues"] == [
        {"broker_name": "broker-a", "read_queue_nums": 5, "write_queue_nums": 5},
        {"broker_name": "broker-b", "read_queue_nums": 5, "write_queue_nums": 5, "perm": 6},
    ]
    (before,), (after,) = found["before"]["groups"], found["after"]["groups"]
    # 5 queues and then 10 for three clients: 2 of 5, and 4 of 10.
    assert (before["count"]["peak"], after["count"]["peak"]) == (1.2, 1.2)


def test_more_queues_elsewhere_are_more_queues_on_the_new_broker_too(answered: Answers) -> None:
    words = "If the topic gets more queues elsewhere (EXPAND_QUEUES), create it with as many as there are then."

    assert answered.actions(topic="create_for_idle") == ["CREATE_TOPIC_ON_BROKER", "EXPAND_QUEUES"]
    assert words in answered.one("CREATE_TOPIC_ON_BROKER", topic="create_for_idle")["reason"]
    assert words not in answered.one("CREATE_TOPIC_ON_BROKER", topic="create")["reason"]


def test_a_topic_that_nobody_reads_is_spread_as_well(answered: Answers) -> None:
    assert not answered.one("CREATE_TOPIC_ON_BROKER", topic="create_unread")["is_manual"]


def test_the_check_names_counts_only_if_all_of_them_are_known(answered: Answers) -> None:
    shown = {
        name: answered.one("CREATE_TOPIC_ON_BROKER", topic=name)["check_shows"]
        for name in ("create", "create_short", "create_count_unknown")
    }

    assert shown == {
        "create": "#ReadQueue and #WriteQueue are broker-a 5 and 5; broker-b 5 and 5.",
        "create_short": "#ReadQueue and #WriteQueue are as they were decided on.",
        "create_count_unknown": "#ReadQueue and #WriteQueue are as they were decided on.",
    }


def test_its_message_type_goes_with_it(answered: Answers) -> None:
    for name, attribute in (("create_normal", "+message.type=DELAY"), ("create_unspecified", None)):
        (command,) = answered.one("CREATE_TOPIC_ON_BROKER", topic=name)["commands"]
        assert options(command).get("-a") == attribute


def test_its_perm_goes_with_it(answered: Answers) -> None:
    (command,) = answered.one("CREATE_TOPIC_ON_BROKER", topic="create_perm")["commands"]

    assert options(command)["-p"] == "7"
    assert options(command)["-r"] == "5"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("create_fifo", "The topic is consumed in order"),
        ("create_type_unknown", "its message type is unknown, and the command would set none."),
        ("create_order_unknown", "its order flag is unknown, and the command would set it."),
        ("create_offline", "groups without a running client would start the new queues at their end: create_offline."),
        ("create_short", "the brokers where it can be written have no one number of queues."),
        (
            "create_refused",
            "broker-b creates no groups by itself (autoCreateSubscriptionGroup=false) and would refuse those that are"
            " not created there: create_refused.",
        ),
        ("create_of_read_only", "on no broker can it be both read and written today."),
    ],
)
def test_what_forbids_makes_it_a_comment(answered: Answers, name: str, reason: str) -> None:
    for found in answered.all("CREATE_TOPIC_ON_BROKER", topic=name):
        (command,) = found["commands"]
        assert found["is_manual"]
        assert reason in found["reason"]
        assert command.startswith("# mqadmin updateTopic ")
    assert answered.all("CREATE_TOPIC_ON_BROKER", topic=name)


def test_a_broker_that_creates_no_groups_may_have_a_topic_whose_groups_are_created_there(answered: Answers) -> None:
    assert not answered.one("CREATE_TOPIC_ON_BROKER", topic="create_granted")["is_manual"]


def test_it_is_not_created_where_a_group_would_be_worse_off(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", topic="create_harms")

    assert answered.all("CREATE_TOPIC_ON_BROKER", topic="create_harms") == []
    assert found["rules"] == ["TOPIC_COVERAGE"]
    assert "It is not created on more brokers: on broker-b it would make it worse for create_harms." in found["reason"]


def test_a_topic_on_every_broker_needs_no_answer(answered: Answers) -> None:
    assert answered.actions(topic="create_nothing") == []


def test_brokers_that_take_no_messages_are_not_missed(answered: Answers) -> None:
    commands = [c for row in answered.all("CREATE_TOPIC_ON_BROKER") for c in row["commands"]]

    assert commands
    assert not [c for c in commands if any(name in c for name in ("-b readonly", "-b masterless", "-b silent"))]
