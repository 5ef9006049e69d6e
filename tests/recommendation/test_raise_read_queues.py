"""RAISE_READ_QUEUES: as many read as write queues on the brokers that have fewer, and nothing else."""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.recommendation.raise_read_queues import OLD
from rocketmq_capacity.snapshot.inventory import TopicQueues
from tests.assessment.cases import READ_ONLY, WRITE_ONLY, a_group, a_topic, member, members
from tests.assessment.judge import Row
from tests.recommendation.answers import Answers, answer, options
from tests.recommendation.cases import NAMESERVER, SILENT, Cases, broker
from tests.simulation.clusters import cluster, queues

CASES = Cases()


def _case(name: str, *layout: TopicQueues, waiting: int | None = 0, **facts: Any) -> None:
    """A topic read by a group of two, with ``waiting`` messages on each queue that it cannot see."""
    ends = {
        (q.broker_name, i): (0, waiting if i >= (q.read_queue_nums or 0) else 5_000)
        for q in layout
        for i in range(max(q.read_queue_nums or 0, q.write_queue_nums or 0))
    }
    about_topic = {key: facts.pop(key) for key in ("order",) if key in facts}
    CASES.topic(name, *layout, offsets=facts.pop("ends", ends), **about_topic)
    CASES.group(name, facts.pop("clients", members(2)), name, **facts)


_short = (queues("broker-a", 2, 4), queues("broker-b", 4))
_case("raise_one", *_short)
_case("raise_both", queues("broker-a", 1, 3), queues("broker-b", 2, 8))
CASES.topic("raise_unread", queues("broker-a", 1, 2), queues("broker-b", 1, 2))
_case("raise_shrinking_too", queues("broker-a", 2, 4), queues("broker-b", 4, 2))
_case("raise_in_order", *_short, order=True)
_case("raise_silent", queues("broker-a", 4), queues("broker-b", 4), queues(SILENT, 2, 4))
_case("raise_masterless", queues("broker-a", 4), queues("broker-b", 4), queues("masterless", 2, 4))
_case("raise_beside_unknown", queues("broker-a", 2, 4), replace(queues("broker-b", 4), read_queue_nums=None))
_case("raise_read_only", queues("broker-a", 4), queues("broker-b", 4), queues("readonly", 2, 4, READ_ONLY))
_case("raise_drained", queues("broker-a", 2, 4, READ_ONLY), queues("broker-b", 4))
_case("raise_perm", queues("broker-a", 4, 4, WRITE_ONLY), queues("broker-b", 4))
_case("raise_static_perm", queues("__syslo__global", 4, 4, WRITE_ONLY))
_case("raise_nothing", queues("broker-a", 4), queues("broker-b", 4))
_case("raise_reads_more", queues("broker-a", 4, 2), queues("broker-b", 4, 2))

# Messages wait on queues 2 and 3 of broker-a; the places of groups that were there once count from 100,000 back.
_ends = {("broker-a", i): (10, 100_000) for i in range(4)} | {("broker-b", i): (10, 100_000) for i in range(4)}
_case("strand_all", *_short, waiting=70)
CASES.group("strand_too", members(1), "strand_all", lags={("strand_all", "broker-a", 2): 100_000 - 50})
CASES.group("strand_beyond", members(1), "strand_all", lags={("strand_all", "broker-a", 2): 100_000 - 71})
CASES.group("strand_unknown", members(1), "strand_all", offsets=None)
CASES.group("strand_minus_one", members(1), "strand_all", lags={("strand_all", "broker-a", 2): None})
CASES.group("strand_offline", [], "strand_all", subscriptions=())
CASES.group("strand_other", members(1), lags={("strand_all", "broker-a", 2): 0})
CASES.group("strand_broadcasting", members(1), "strand_all", message_model="BROADCASTING")
_case(
    "strand_read_before",
    *_short,
    ends=_ends,
    lags={("strand_read_before", "broker-a", 2): 30, ("strand_read_before", "broker-a", 3): 0},
)
_case(
    "strand_read_to_the_end",
    *_short,
    ends=_ends,
    lags={("strand_read_to_the_end", "broker-a", i): 0 for i in (2, 3)},
)
_case("strand_first", *_short, waiting=70, consume_from_where="CONSUME_FROM_FIRST_OFFSET")
CASES.group(
    "strand_first_all",
    members(1),
    "strand_first",
    message_model="BROADCASTING",
    consume_from_where="CONSUME_FROM_FIRST_OFFSET",
)
_case("strand_timestamp", *_short, waiting=70, consume_from_where="CONSUME_FROM_TIMESTAMP")
_case("strand_grpc", *_short, waiting=70, clients=[member("vm@1@1@1z", protocol="GRPC")])
_case("strand_end_unknown", *_short, waiting=None)
_case(
    "strand_beyond_write",
    *_short,
    ends=_ends | {("broker-a", 2): (0, 0), ("broker-a", 3): (0, 0), ("broker-a", 4): (3, 9)},
)


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


def test_the_check_leaves_out_a_broker_whose_counts_are_unknown_and_stay(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_beside_unknown")

    assert found["check_shows"] == "#ReadQueue and #WriteQueue are broker-a 4 and 4."


def test_each_broker_is_raised_to_its_own_write_queues(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_both")

    assert [(options(c)["-b"], options(c)["-r"], options(c)["-w"]) for c in found["commands"]] == [
        ("broker-a:10911", "3", "3"),
        ("broker-b:10911", "8", "8"),
    ]


def test_the_whole_layout_is_shown_before_and_after(answered: Answers) -> None:
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


def test_it_answers_the_hidden_queues_alone(answered: Answers) -> None:
    for name in ("raise_one", "raise_both", "raise_unread"):
        assert answered.one("RAISE_READ_QUEUES", topic=name)["rules"] == ["READ_LESS_THAN_WRITE"]


def test_a_broker_that_is_being_shrunk_is_left_alone(answered: Answers) -> None:
    (command,) = answered.one("RAISE_READ_QUEUES", topic="raise_shrinking_too")["commands"]

    assert options(command)["-b"] == "broker-a:10911"


def waits(row: Row, side: str = "before") -> dict[str, int | None]:
    """The messages that each group cannot see."""
    return {one["consumer_group"]: one["messages"] for one in row[side]["stranded"]}


def kept(row: Row) -> set[str]:
    """The groups whose offsets are to be committed."""
    lines = [line.removeprefix("# ") for line in row["commands"] if " cloneGroupOffset " in line]
    each = [options(line) for line in lines]
    assert all(one["-s"] == one["-d"] and one["-n"] == NAMESERVER for one in each)
    assert all(one["-t"] == f"%RETRY%{one['-s']}" for one in each)
    return {str(one["-s"]) for one in each}


def test_the_queues_that_a_group_cannot_see_are_listed(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_all")

    assert waits(found) == {
        "strand_all": 140,
        "strand_beyond": None,
        "strand_broadcasting": None,
        "strand_minus_one": None,
        "strand_offline": 140,
        "strand_too": 20 + 70,
        "strand_unknown": None,
    }
    assert set(waits(found, "after").values()) == {0}
    assert (
        "Messages on the queues that consumers cannot see, by group: strand_all 140, strand_beyond an unknown number,"
        in found["reason"]
    )


def test_where_messages_wait_a_person_decides_and_every_command_is_a_comment(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_all")

    assert found["is_manual"]
    assert all(command.startswith("# mqadmin ") for command in found["commands"])
    assert (
        "may begin at the end and skip them. To have them read, stop its clients, run the commands" in found["reason"]
    )
    assert "skip these messages unless they begin at the first offset: strand_broadcasting." in found["reason"]


def test_groups_that_may_skip_get_a_command_that_lets_them_begin_at_the_beginning(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_all")

    assert kept(found) == waits(found).keys() - {"strand_broadcasting"}
    assert " updateTopic " in found["commands"][0]


def test_a_group_with_offsets_there_goes_on_from_them_by_itself(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_read_before")

    assert found["is_manual"]
    assert (waits(found), waits(found, "after")) == ({"strand_read_before": 30}, {"strand_read_before": 0})
    assert kept(found) == set()
    assert "Every group has offsets there, and goes on from them." in found["reason"]
    assert f"Do not run the commands unchanged: {OLD}." in found["reason"]


def test_groups_that_begin_at_the_first_offset_skip_nothing(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_first")

    assert found["is_manual"]
    assert waits(found) == {"strand_first": 140, "strand_first_all": None}
    assert kept(found) == set()
    assert "its clients begin at the first message (CONSUME_FROM_FIRST_OFFSET)." in found["reason"]
    assert "skip" not in found["reason"]


def test_a_group_that_begins_at_a_time_may_skip_messages(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_timestamp")

    assert kept(found) == {"strand_timestamp"}
    assert "may begin at the end and skip them" in found["reason"]


def test_no_command_commits_offsets_for_grpc_clients_which_have_no_retry_topic_of_their_groups_name(
    answered: Answers,
) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_grpc")

    assert waits(found) == {"strand_grpc": 140}
    assert kept(found) == set()
    assert "mqadmin commits none for it" in found["reason"]
    assert "stop its clients" not in found["reason"]


def test_where_nothing_waits_the_commands_can_be_run(answered: Answers) -> None:
    for name in ("strand_read_to_the_end", "raise_one", "raise_unread"):
        found = answered.one("RAISE_READ_QUEUES", topic=name)

        assert not found["is_manual"]
        assert set(waits(found).values()) <= {0}
        assert "begin" not in found["reason"]


def test_what_is_not_known_is_no_number_and_a_person_decides(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_end_unknown")

    assert found["is_manual"]
    assert waits(found) == {"strand_end_unknown": None}


def test_messages_beyond_the_written_queues_stay_where_they_are(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="strand_beyond_write")

    assert (waits(found), waits(found, "after")) == ({"strand_beyond_write": 6}, {"strand_beyond_write": 6})
    assert kept(found) == set()


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

    command = found["commands"][0]
    assert found["is_manual"]
    assert reason in found["reason"]
    assert command.startswith("# mqadmin updateTopic ")


def test_no_key_moves_where_producers_see_the_queues_of_before(answered: Answers) -> None:
    found = answered.one("RAISE_READ_QUEUES", topic="raise_in_order")

    assert "Keys stay in their queues" in found["reason"]
    assert "wait until every group has read all of it" not in found["reason"]  # nobody can read what is hidden


def test_the_perm_of_the_topic_is_kept(answered: Answers) -> None:
    (command,) = answered.one("RAISE_READ_QUEUES", topic="raise_drained")["commands"]

    assert options(command)["-p"] == str(READ_ONLY)


def test_where_only_the_permission_hides_queues_that_is_said(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", topic="raise_perm")

    assert answered.actions(topic="raise_perm") == ["INVESTIGATE"]
    assert found["rules"] == ["READ_LESS_THAN_WRITE"]
    assert found["reason"].startswith("Find out why producers can write to broker-a")


def test_that_the_queues_of_a_static_topic_stay_as_they_are_does_not_hide_what_its_permission_does(
    answered: Answers,
) -> None:
    reason = answered.one("INVESTIGATE", topic="raise_static_perm")["reason"]

    assert reason.startswith("Find out why producers can write to __syslo__global")
    assert "static" not in reason


def test_brokers_on_which_a_topic_lacks_the_same_permission_are_named_together() -> None:
    topic = a_topic("pay", *(queues(name, 4, 4, WRITE_ONLY) for name in ("broker-b", "broker-a")))
    brokers = [broker("broker-a"), broker("broker-b")]

    answered = answer(cluster([topic], [a_group("g", members(2), [topic])], brokers))
    reason = answered.one("INVESTIGATE", topic="pay")["reason"]

    assert reason.startswith("Find out why producers can write to broker-a, broker-b and no consumer can read there")
    assert reason.count("Find out why") == 1


def test_a_broker_that_lets_nobody_read_is_mended_once_for_all_of_its_topics() -> None:
    layout = queues("broker-a", 4), queues("broker-b", 4, 4, WRITE_ONLY)
    topics = [a_topic(name, *layout) for name in ("pay", "refund")]
    brokers = [broker("broker-a"), broker("broker-b", broker_perm=WRITE_ONLY)]
    answered = answer(cluster(topics, [a_group("g", members(2), topics)], brokers))

    assert answered.actions(topic="pay") == answered.actions(topic="refund") == []
    (found,) = [one for one in answered.all("INVESTIGATE") if "READ_LESS_THAN_WRITE" in one["rules"]]
    assert (found["topic"], found["before"]) == (None, {"broker_names": ["broker-b"]})
    assert "the permission of the broker (brokerPermission) lacks READ" in found["reason"]
    look, mends = found["commands"]
    assert look.startswith("mqadmin getBrokerConfig -n ")
    assert look.endswith(" -b broker-b:10911")
    assert mends.startswith("# mqadmin updateBrokerConfig -n ")
    assert mends.endswith(" -b broker-b:10911 -k brokerPermission -v 6")
    assert (found["check_command"], found["check_shows"]) == (look, "brokerPermission is 6.")


def test_a_closed_broker_is_neither_raised_nor_counted_with_the_others_of_its_topic() -> None:
    """On broker-c the topic's own permission lacks READ: that is looked into with the topic."""
    short = [queues("broker-b", 2, 4, WRITE_ONLY), queues("broker-c", 2, 4, WRITE_ONLY)]
    topics = {
        name: a_topic(name, queues("broker-a", read, 4), *short, order=False, message_type="NORMAL")
        for name, read in (("raised", 2), ("whole", 4))
    }
    brokers = [broker("broker-a"), broker("broker-b", broker_perm=WRITE_ONLY), broker("broker-c")]
    groups = [a_group(f"g_{name}", members(2), [topic]) for name, topic in topics.items()]
    answered = answer(cluster(topics.values(), groups, brokers))
    found = answered.one("RAISE_READ_QUEUES", topic="raised")

    assert [options(line.removeprefix("# "))["-b"] for line in found["commands"] if "updateTopic" in line] == [
        "broker-a:10911"
    ]
    assert (waits(found), waits(found, "after")) == ({"g_raised": 10_000}, {"g_raised": 0})
    assert "Give every broker that lets consumers read as many" in found["reason"]
    assert "The permission hides all queues of broker-b, broker-c: that is mended apart" in found["reason"]
    assert "Do not run the commands unchanged" not in found["reason"]
    for topic, actions in (("raised", ["INVESTIGATE", "RAISE_READ_QUEUES"]), ("whole", ["INVESTIGATE"])):
        assert answered.actions(topic=topic) == actions
        reason = answered.one("INVESTIGATE", topic=topic)["reason"]
        assert reason.startswith("Find out why producers can write to broker-c")


@pytest.mark.parametrize("name", ["raise_nothing", "raise_reads_more"])
def test_as_many_or_more_read_queues_need_no_answer(answered: Answers, name: str) -> None:
    assert answered.all("RAISE_READ_QUEUES", topic=name) == []
