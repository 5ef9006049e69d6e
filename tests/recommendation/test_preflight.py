"""The preflight: whatever makes a command harmful or doubtful turns it into a comment, and its reason is told."""

import shlex

import pytest

from rocketmq_capacity.snapshot.inventory import GroupSettings
from tests.assessment.cases import members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import SILENT, Cases
from tests.simulation.clusters import queues

CASES = Cases()
MODIFY = (
    "updateTopic",
    "setConsumeMode",
    "updateBrokerConfig",
    "updateSubGroup",
    "cloneGroupOffset",
    "deleteTopic",
    "deleteSubGroup",
)
"""The subcommands, of those that a plan may print, that change anything."""
LOOK = (
    "brokerStatus",
    "clusterList",
    "consumerConnection",
    "consumerProgress",
    "consumerStatus",
    "getConsumerConfig",
    "producer",
    "statsAll",
    "topicRoute",
    "topicStatus",
)

_narrow = (queues("broker-a", 2), queues("broker-b", 2))
CASES.case("safe", members(6), *_narrow)
CASES.case("with_order_flag", members(6), *_narrow, order=True)
CASES.case("with_message_groups", members(6), *_narrow, message_type="FIFO")
CASES.case("read_in_order", members(6), *_narrow, orderly=True)
CASES.case(
    "set_to_be_read_in_order",
    members(6),
    *_narrow,
    orderly=False,
    settings=(GroupSettings(broker_names=("broker-b",), consume_message_orderly=True),),
)
CASES.topic("also_read_in_order", *_narrow)
CASES.group("also_read_in_order", members(6), "also_read_in_order")
CASES.group("reads_in_order", members(2), "also_read_in_order", orderly=True)
CASES.topic("order_unknown", *_narrow, order=None)
CASES.group("order_unknown", members(6), "order_unknown")
CASES.topic("with_offline", *_narrow)
CASES.group("with_offline", members(6), "with_offline")
CASES.group("offline_1", [], "with_offline")
CASES.group("offline_2", None, "with_offline", subscriptions=())
CASES.case("partly_masterless", members(8), *_narrow, queues("masterless", 2))
CASES.case("partly_absent", members(8), *_narrow, queues("nowhere", 2))
CASES.case("partly_silent", members(8), *_narrow, queues(SILENT, 2))
CASES.topic("answered", queues("broker-a", 128))  # alone, the cases would be too much of a silent broker
CASES.case("shrinking", members(8), queues("broker-a", 4, 2), queues("broker-b", 2))
CASES.case("perm_unknown", members(6), queues("broker-a", 2, perm=None), queues("broker-b", 2))
CASES.case("inheriting", members(6), queues("broker-a", 2, perm=7), queues("broker-b", 2))
CASES.topic("uncomputed", *_narrow)
CASES.group("uncomputed_asks", members(6), "uncomputed")
CASES.group("uncomputed", members(2, allocate_strategy="com.acme.Own"), "uncomputed")
FORBIDDEN = {
    "order_unknown": "its order flag is unknown, and the command would set it.",
    "with_offline": "groups without a running client would start the new queues at their end: offline_1; these groups"
    " may be offline, and would then start the new queues at their end: offline_2.",
    "partly_masterless": "masterless has no master in the snapshot (MASTERLESS).",
    "partly_absent": "nowhere has no master in the snapshot (ABSENT).",
    "partly_silent": "silent did not answer every request.",
    "shrinking": "broker-a has more read than write queues, as in the middle of a shrink.",
    "perm_unknown": "the topic's own perm on broker-a is unknown.",
    "uncomputed": "what these groups of the topic would own cannot be computed: uncomputed.",
}
IN_ORDER = (
    "with_order_flag",
    "with_message_groups",
    "read_in_order",
    "set_to_be_read_in_order",
    "also_read_in_order",
)


def test_where_nothing_forbids_the_commands_can_be_run(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="safe")

    assert not found["is_manual"]
    assert "Do not run" not in found["reason"]
    assert [options(command)["-b"] for command in found["commands"]] == ["broker-a:10911", "broker-b:10911"]


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_forbids_a_change_is_named_and_its_commands_are_comments(answered: Answers, name: str) -> None:
    found = answered.one("EXPAND_QUEUES", topic=name)

    assert found["is_manual"]
    assert found["reason"].endswith(f"Do not run the commands unchanged: {FORBIDDEN[name]}")
    assert found["commands"]
    assert all(command.startswith("# mqadmin updateTopic ") for command in found["commands"])


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_is_consumed_in_order_is_for_a_person(answered: Answers, name: str) -> None:
    found = answered.one("EXPAND_QUEUES", topic=name)

    assert found["is_manual"]
    assert "The topic is consumed in order, and with other queue counts keys move to other queues." in found["reason"]
    assert all(command.startswith("# mqadmin updateTopic ") for command in found["commands"])


def test_the_order_flag_is_kept(answered: Answers) -> None:
    for name, flag in (("with_order_flag", "true"), ("with_message_groups", "false"), ("safe", "false")):
        for command in answered.one("EXPAND_QUEUES", topic=name)["commands"]:
            assert options(command.removeprefix("# "))["-o"] == flag


def test_each_brokers_perm_is_kept(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="inheriting")

    assert {options(command)["-b"]: options(command)["-p"] for command in found["commands"]} == {
        "broker-a:10911": "7",
        "broker-b:10911": "6",
    }


def test_a_value_that_is_not_known_is_left_to_be_filled_in(answered: Answers) -> None:
    (unknown, _) = answered.one("EXPAND_QUEUES", topic="perm_unknown")["commands"]
    (command, _) = answered.one("EXPAND_QUEUES", topic="order_unknown")["commands"]

    assert options(unknown.removeprefix("# "))["-p"] == "<perm of perm_unknown>"
    assert options(command.removeprefix("# "))["-o"] == "<order of order_unknown>"


def test_a_broker_without_a_known_master_is_a_placeholder(answered: Answers) -> None:
    for name in ("masterless", "nowhere"):
        topic = {"masterless": "partly_masterless", "nowhere": "partly_absent"}[name]
        addresses = [
            options(command.removeprefix("# "))["-b"]
            for command in answered.one("EXPAND_QUEUES", topic=topic)["commands"]
        ]
        assert addresses == ["broker-a:10911", "broker-b:10911", f"<address of {name}>"]


def test_every_command_that_changes_anything_can_be_run_or_is_a_comment(answered: Answers) -> None:
    for row in answered.rows:
        for command in row["commands"]:
            is_comment = command.startswith("# ")
            subcommand = shlex.split(command.removeprefix("# "))[1]
            assert subcommand in MODIFY + LOOK
            assert "\n" not in command or not is_comment
            if subcommand in MODIFY:
                assert is_comment == row["is_manual"], row
            else:  # what only looks is a comment if a terminal would obey a name in it
                assert is_comment == (not f"{row['consumer_group']}{row['topic']}".isprintable()), row


def test_no_command_leaves_fewer_read_than_write_queues(answered: Answers) -> None:
    for row in answered.rows:
        for command in row["commands"]:
            if command.startswith("mqadmin updateTopic "):
                given = options(command)
                assert int(given["-r"] or "") >= int(given["-w"] or ""), command


def test_no_command_takes_queues_away(answered: Answers) -> None:
    """Whatever may be run gives each broker at least the queues that it has."""
    for row in answered.rows:
        if row["is_manual"] or "queues" not in row["before"]:
            continue
        had = {place["broker_name"]: place for place in row["before"]["queues"]}
        for place in row["after"]["queues"]:
            was = had.get(place["broker_name"], {"read_queue_nums": 0, "write_queue_nums": 0})
            for kind in ("read_queue_nums", "write_queue_nums"):
                assert (place[kind] or 0) >= (was[kind] or 0), row
