"""CHECK_PRODUCER_KEYS and INVESTIGATE: what commands cannot mend, with commands that look."""

from rocketmq_capacity.recommendation.investigate import each_once
from rocketmq_capacity.snapshot.inventory import GroupSettings, InventoryOwnedQueue
from tests.assessment.cases import READ_ONLY, member, members
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, Cases
from tests.simulation.clusters import queues, reads

CASES = Cases()
_two = (queues("broker-a", 4), queues("broker-b", 4))
_places = [(name, i) for name in ("broker-a", "broker-b") for i in range(4)]
_hot: dict[tuple[str, int], float | None] = {place: 100.0 if place == ("broker-a", 2) else 1.0 for place in _places}
CASES.topic("hot", *_two, rates=_hot)
_preferred: dict[tuple[str, int], float | None] = {("broker-a", i): 100.0 for i in range(2)}
_preferred |= {("broker-b", i): 5.0 for i in range(8)}
CASES.topic("hot_broker", queues("broker-a", 2), queues("broker-b", 8), rates=_preferred)
CASES.topic("hot_fifo", *_two, rates=_hot, message_type="FIFO")
CASES.topic("not_hot", *_two)
CASES.group("reads_what_is_not_there", members(2), subscriptions=(reads("absent"),))
CASES.group("reads_it_too", members(2), subscriptions=(reads("absent"),))
CASES.case(
    "disagreed",
    [
        member("c01", seen_on=("broker-a", "broker-b")),
        member("c02", seen_on=("broker-a",)),
        member("c03", seen_on=("broker-a", "broker-b")),
    ],
    *_two,
)
CASES.case(
    "drained_only",
    members(2),
    queues("readonly", 2, perm=READ_ONLY),
    lag=0,
    rates={("readonly", 0): 0.0, ("readonly", 1): 0.0},
)
CASES.case(
    "behind",
    members(8),
    *_two,
    lags={("behind", "broker-a", 0): 9_000},
    samples={("behind", "broker-a", 0): [(80_000 + 1000 * i, 71_000 + 1000 * i) for i in range(9)]},
)
CASES.case(
    "offline_behind",
    [],
    *_two,
    lags={("offline_behind", "broker-a", 0): 9_000},
    samples={("offline_behind", "broker-a", 0): [(91_100 + 1000 * i, 91_000) for i in range(9)]},
)
CASES.case(
    "unknown_behind",
    None,
    *_two,
    lags={("unknown_behind", "broker-a", 0): 9_000},
    samples={("unknown_behind", "broker-a", 0): [(91_100 + 1000 * i, 91_000) for i in range(9)]},
)
CASES.case(
    "twelve_own_strategies",
    [member(f"c{i:02}", allocate_strategy=f"com.acme.Own{i}") for i in range(12)],
    *_two,
)
CASES.case("side_by_side", members(2), *_two, message_type="FIFO", orderly=False)
CASES.case("cannot_lock", members(2), queues("broker-a", 2), queues("masterless", 2), orderly=True)
_dropped = InventoryOwnedQueue(topic="stuck_owner", broker_name="broker-a", queue_id=0, dropped=True)
_refused = InventoryOwnedQueue(topic="refused", broker_name="broker-b", queue_id=0)
_off = GroupSettings(broker_names=("broker-b",), consume_enable=False)
CASES.case("refused", [member("c01", owned_queues=(_refused,))], queues("broker-b", 1), settings=(_off,))
CASES.case("stuck_owner", [member("c01", owned_queues=(_dropped,)), member("c02")], *_two)
CASES.case("old_client", [member("10.0.0.1@4711", language="JAVA", version="V4_6_1")], *_two)


def test_producers_choose_the_hot_queue(answered: Answers) -> None:
    found = answered.one("CHECK_PRODUCER_KEYS", topic="hot")

    (command,) = found["commands"]
    assert found["rules"] == ["HOT_QUEUE"]
    assert not found["is_manual"]
    assert command.startswith("mqadmin topicStatus ")
    assert options(command) == {"-n": NAMESERVER, "-t": "hot"}
    assert found["reason"] == (
        "Check how producers choose the queue, because broker-a:2 gets far more messages than the others. A key with"
        " more values spreads them, and so does no key, where order is not needed. More queues do not."
    )


def test_where_one_broker_is_preferred_no_key_is_to_blame(answered: Answers) -> None:
    reason = answered.one("CHECK_PRODUCER_KEYS", topic="hot_broker")["reason"]

    assert "no key chooses them" in reason
    assert "key with more values" not in reason


def test_the_key_of_a_fifo_topic_is_its_message_group(answered: Answers) -> None:
    assert answered.one("CHECK_PRODUCER_KEYS", topic="hot_fifo")["reason"].endswith("its message group is the key.")


def test_even_queues_need_no_answer(answered: Answers) -> None:
    assert answered.one("INVESTIGATE", topic="not_hot")["rules"] == ["TOPIC_UNREAD"]


def test_a_topic_that_no_broker_has_is_created_or_given_up(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", topic="absent")

    assert found["reason"] == "Create the topic, or end the subscription of reads_it_too, reads_what_is_not_there."
    assert [command.split()[1] for command in found["commands"]] == ["topicRoute", "topicStatus"]


def test_clients_of_a_topic_that_no_broker_has_are_told_that_they_wait_for_it(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "reads_it_too")

    assert found["reason"] == "Its clients read again once a broker has a queue to read of absent."


def test_every_broker_is_asked_for_members_that_differ(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "disagreed")

    assert found["rules"] == ["MEMBERSHIP_DISAGREEMENT"]
    assert [command.split()[1] for command in found["commands"]] == ["consumerConnection"] * 2
    assert [options(command)["-b"] for command in found["commands"]] == ["broker-a:10911", "broker-b:10911"]


def test_whether_order_is_needed_is_for_a_person(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "side_by_side")

    assert found["rules"] == ["FIFO_BROKEN"]
    assert "whether side_by_side has to be consumed in order" in found["reason"]
    assert [command.split()[1] for command in found["commands"]] == [
        "consumerProgress",
        "consumerStatus",
        "consumerStatus",
        "topicRoute",
    ]


def test_a_broker_without_a_master_gets_it_back(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "cannot_lock")

    assert "FIFO_BROKEN" in found["rules"]
    assert "Bring back the master of masterless:" in found["reason"]
    assert "topicRoute" in {command.split()[1] for command in found["commands"]}


def test_a_broker_that_refuses_a_group_is_asked_for_its_settings_and_a_person_fills_in_the_command(
    answered: Answers,
) -> None:
    found = answered.one("INVESTIGATE", "refused")

    assert found["reason"].startswith("Find out who has switched consumption off on broker-b (consumeEnable=false)")
    look, mend = (line for line in found["commands"] if "ConsumerConfig" in line or "updateSubGroup" in line)
    assert look.startswith("mqadmin getConsumerConfig ")
    assert mend.startswith("# mqadmin updateSubGroup ")
    given = options(mend.removeprefix("# "))
    assert (given["-s"], given["-p"]) == ("true", "<groupRetryPolicy of refused as JSON>")
    assert found["is_manual"]


def test_the_owner_of_a_stuck_queue_is_asked_for_its_stacks(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "stuck_owner")

    assert "STUCK_QUEUE" in found["rules"]
    (stack,) = [command for command in found["commands"] if command.split()[1] == "consumerStatus"]
    assert options(stack) == {"-n": NAMESERVER, "-g": "stuck_owner", "-i": "c01", "-s": None}


def test_every_broker_is_asked_for_the_versions_of_clients_that_are_to_be_upgraded(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "old_client")

    assert found["rules"] == ["BAD_VERSION"]
    assert found["reason"].startswith("Upgrade to V4_9_8 or later: 1 client runs V4_6_1 with known faults: ")
    assert [command.split()[1] for command in found["commands"]] == ["consumerConnection"] * 2


def test_whether_a_drained_broker_comes_back_is_for_a_person(answered: Answers) -> None:
    (found,) = [one for one in answered.all("INVESTIGATE") if "READ_ONLY_IDLE" in one["rules"]]
    steps = [command for command in found["commands"] if command.startswith("#")]

    assert found["consumer_group"] is None
    assert found["is_manual"]
    assert steps == [f"# mqadmin updateBrokerConfig -n '{NAMESERVER}' -b readonly:10911 -k brokerPermission -v 6"]
    assert found["commands"][-1] == steps[0]
    assert "sets back to what it was" in found["way_back"]


def test_who_is_behind_is_asked_what_it_does(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "behind")

    assert found["rules"] == ["LAG_SKEW", "LAG_STATE"]
    assert "c01" in found["reason"]
    assert [options(command) for command in found["commands"]] == [
        {"-n": NAMESERVER, "-g": "behind", "-s": "true"},
        {"-n": NAMESERVER, "-g": "behind", "-i": "c01"},
    ]


def test_of_many_clients_a_few_are_asked(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "twelve_own_strategies")

    asked = [options(command).get("-i") for command in found["commands"]]
    assert asked == [None, "c01", "c02", "c03", "c04", "c05"]


def test_a_group_without_clients_has_no_listener_that_waits(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "offline_behind")

    assert found["rules"] == ["LAG_STATE"]
    assert found["reason"] == (
        "Find out whether this group is still needed: it has no clients. If it is, start them, and messages that are"
        " kept are read; if not, nothing is lost."
    )


def test_nobody_says_of_a_group_whose_clients_are_unknown_that_it_has_none(answered: Answers) -> None:
    found = answered.one("INVESTIGATE", "unknown_behind")

    assert found["rules"] == ["LAG_STATE"]
    assert found["reason"].startswith("Find out who reads for this group: its clients are unknown")
    assert answered.judged.finding("LAG_STATE", "unknown_behind")["evidence"]["clients"] is None


def test_advice_with_which_another_one_begins_is_given_once() -> None:
    find_out = "Find out what the group needs."
    twice = ["Look.", find_out, f"{find_out} Or give it more queues.", "Look."]

    assert each_once(twice) == f"Look. {find_out} Or give it more queues."
