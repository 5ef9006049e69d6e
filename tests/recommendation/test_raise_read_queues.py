"""RAISE_READ_QUEUES: as many read as write queues on the brokers that have fewer, and nothing else."""

import pytest

from tests.assessment.cases import READ_ONLY, WRITE_ONLY, members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, SILENT, Cases
from tests.simulation.clusters import queues

CASES = Cases()
CASES.case("raise_one", members(2), queues("broker-a", 2, 4), queues("broker-b", 4))
CASES.case("raise_both", members(2), queues("broker-a", 1, 3), queues("broker-b", 2, 8))
CASES.topic("raise_unread", queues("broker-a", 1, 2), queues("broker-b", 1, 2))
CASES.case("raise_shrinking_too", members(2), queues("broker-a", 2, 4), queues("broker-b", 4, 2))
CASES.case("raise_in_order", members(2), queues("broker-a", 2, 4), queues("broker-b", 4), order=True)
CASES.case("raise_silent", members(2), queues("broker-a", 4), queues("broker-b", 4), queues(SILENT, 2, 4))
CASES.case("raise_masterless", members(2), queues("broker-a", 4), queues("broker-b", 4), queues("masterless", 2, 4))
CASES.case(
    "raise_read_only", members(2), queues("broker-a", 4), queues("broker-b", 4), queues("readonly", 2, 4, READ_ONLY)
)
CASES.case("raise_write_only", members(2), queues("broker-a", 2, 4, WRITE_ONLY), queues("broker-b", 4))
CASES.case("raise_nothing", members(2), queues("broker-a", 4), queues("broker-b", 4))
CASES.case("raise_reads_more", members(2), queues("broker-a", 4, 2), queues("broker-b", 4, 2))


def test_only_the_broker_that_is_short_gets_a_command(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_one")

    (command,) = found["commands"]
    assert options(command) == {
        "-n": NAMESERVER,
        "-b": "broker-a:10911",
        "-t": "raise_one",
        "-r": "4",
        "-w": "4",
        "-p": "6",
        "-o": "false",
    }
    assert not found["is_manual"]


def test_each_broker_is_raised_to_its_own_write_queues(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_both")

    assert [(options(c)["-b"], options(c)["-r"], options(c)["-w"]) for c in found["commands"]] == [
        ("broker-a:10911", "3", "3"),
        ("broker-b:10911", "8", "8"),
    ]


def test_the_whole_layout_stands_before_and_after(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_one")

    assert found["before"]["queues"] == [
        {"broker_name": "broker-a", "read_queue_nums": 2, "write_queue_nums": 4},
        {"broker_name": "broker-b", "read_queue_nums": 4, "write_queue_nums": 4},
    ]
    assert found["after"]["queues"] == [
        {"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4},
        {"broker_name": "broker-b", "read_queue_nums": 4, "write_queue_nums": 4},
    ]
    assert [group["consumer_group"] for group in found["after"]["groups"]] == ["raise_one"]


def test_a_topic_without_readers_is_raised_as_well(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_unread")

    assert len(found["commands"]) == 2
    assert found["before"]["groups"] == found["after"]["groups"] == []


def test_a_layout_that_becomes_equal_is_an_answer_to_unequal_brokers(answered: Answers) -> None:
    rule = "READ_LESS_THAN_WRITE"
    assert answered.one("RAISE_READ_QUEUES", topic="raise_one")["rules"] == [rule, "TOPIC_COVERAGE"]
    assert answered.one("RAISE_READ_QUEUES", topic="raise_both")["rules"] == [rule]
    assert answered.one("RAISE_READ_QUEUES", topic="raise_unread")["rules"] == [rule]


def test_a_broker_that_is_being_shrunk_is_left_alone(answered: Answers) -> None:
    (command,) = answered.one("RAISE_READ_QUEUES", topic="raise_shrinking_too")["commands"]

    assert options(command)["-b"] == "broker-a:10911"


def test_messages_that_stand_there_may_be_skipped_and_that_is_told(answered: Answers) -> None:
    reason = answered.one("RAISE_READ_QUEUES", topic="raise_one")["reason"]

    assert "may start at the end of these queues and skip what stands in them now" in reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raise_in_order", "The topic is consumed in order"),
        ("raise_silent", "silent did not answer every request."),
        ("raise_masterless", "masterless has no master in the snapshot (MASTERLESS)."),
        ("raise_read_only", "the topic's own perm on readonly is unknown."),
    ],
)
def test_what_forbids_makes_it_a_comment(answered: Answers, name: str, reason: str) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic=name)

    (command,) = found["commands"]
    assert found["is_manual"]
    assert reason in found["reason"]
    assert command.startswith("# mqadmin updateTopic ")


def test_the_perm_of_the_topic_is_kept(answered: Answers) -> None:
    (command,) = answered.one("RAISE_READ_QUEUES", topic="raise_write_only")["commands"]

    assert options(command)["-p"] == str(WRITE_ONLY)


@pytest.mark.parametrize("name", ["raise_nothing", "raise_reads_more"])
def test_as_many_or_more_read_queues_need_no_answer(answered: Answers, name: str) -> None:
    assert answered.all("RAISE_READ_QUEUES", topic=name) == []
