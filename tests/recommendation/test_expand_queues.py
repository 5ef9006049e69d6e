"""EXPAND_QUEUES: the fewest queues, equal on every writable broker, that leave fewer clients idle and harm no group."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import READ_ONLY, member, members, pops, takes
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import CONFIGURED, NAMESERVER, POLICY, Cases
from tests.simulation.clusters import queues, reads

CASES = Cases()
CAP = POLICY.thresholds.EXPAND_QUEUES.max_queues_per_broker


def _smallest(clients: int, brokers: int, least: int = 1, fixed: int = 0) -> int:
    """Queues on each broker: enough for all clients, one or two for each where that can be; at most the cap."""
    enough = [k for k in range(least, CAP + 1) if k * brokers + fixed >= clients]
    even = [k for k in enough if (k * brokers + fixed) / clients in (1, 2)]
    return min(even or enough)


def _set_to(answered: Answers, topic: str) -> dict[str | None, str | None]:
    """Queues by the address of each broker that the commands change; all their other options are checked."""
    found = [options(command) for command in answered.one("EXPAND_QUEUES", topic=topic)["commands"]]
    for one in found:
        assert one["-r"] == one["-w"]
        assert {**one, "-b": "", "-r": "", "-w": ""} == {
            "-n": NAMESERVER,
            "-b": "",
            "-t": topic,
            "-r": "",
            "-w": "",
            "-p": "6",
            "-o": "false",
        }
    return {one["-b"]: one["-w"] for one in found}


# Queues on each of two brokers, and clients of the one group that reads them.
LAYOUTS = [(1, 3), (2, 5), (2, 6), (4, 9), (4, 12), (4, 13), (3, 7), (4, 18), (6, 17), (8, 17)]
for _least, _clients in LAYOUTS:
    _layout = (queues("broker-a", _least), queues("broker-b", _least))
    CASES.case(f"expand_{_least}_{_clients}", members(_clients), *_layout)
_unknown = replace(queues("readonly", 4, perm=READ_ONLY), write_queue_nums=None)
CASES.case("expand_alone", members(CAP), queues("broker-a", 4))
CASES.case("expand_enough", members(8), queues("broker-a", 4), queues("broker-b", 4))
CASES.case("expand_beyond_the_cap", members(CAP + 1), queues("broker-a", CAP))
CASES.case("expand_partly_beyond_the_cap", members(2 * CAP + 1), queues("broker-a", 10), queues("broker-b", 10))
CASES.case("expand_unequal", members(11), queues("broker-a", 6), queues("broker-b", 2))
CASES.case("expand_unequal_is_enough", members(11), queues("broker-a", 6), queues("broker-b", 4))
CASES.case("expand_with_fixed", members(11), queues("broker-a", 4), queues("readonly", 4, perm=READ_ONLY))
CASES.case("expand_beside_unknown", members(11), queues("broker-a", 4), _unknown)
CASES.case("expand_read_only", members(5), queues("readonly", 4, perm=READ_ONLY))
CASES.topic("expand_shared", queues("broker-a", 4), queues("broker-b", 4))
CASES.group("expand_shared_small", members(3), "expand_shared")
CASES.group("expand_shared_large", members(10), "expand_shared")
CASES.group("expand_shared_larger", members(12), "expand_shared")
for _name, _rt_ms in (("expand_beside_busy", 32.5), ("expand_beside_less_busy", 29.0)):
    # Each of four clients gets 20 messages a second, and of ten queues the first gets 24.
    CASES.topic(_name, queues("broker-a", 4), queues("broker-b", 4))
    CASES.group(f"{_name}_asks", members(10), _name)
    CASES.group(
        f"{_name}_works",
        members(4, consume_threads=1, consume_batch_size=1, status=takes(_name, _rt_ms)),
        _name,
    )
CASES.topic("expand_with_duplicate", queues("broker-a", 3), queues("broker-b", 3))
CASES.group("expand_with_duplicate_asks", members(7), "expand_with_duplicate")
CASES.group("expand_duplicate", [member("c01"), member("c01"), member("c02")], "expand_with_duplicate")
CASES.topic(CONFIGURED, queues("broker-a", 1), queues("broker-b", 1))
CASES.group("expand_configured_asks", members(3), CONFIGURED)
CASES.group(CONFIGURED, members(2, allocate_strategy="CONFIG"), CONFIGURED)
CASES.topic("expand_popped")
CASES.group("expand_pops", members(20), "expand_popped", subscriptions=(pops("expand_popped"),))
CASES.topic("expand_mixed_pulled", queues("broker-a", 2), queues("broker-b", 2))
CASES.topic("expand_mixed_popped", queues("broker-a", 2), queues("broker-b", 2))
CASES.group(
    "expand_mixed",
    members(8),
    "expand_mixed_pulled",
    "expand_mixed_popped",
    subscriptions=(reads("expand_mixed_pulled"), pops("expand_mixed_popped")),
)
CASES.case("expand_broadcasts", members(20), message_model="BROADCASTING")
CASES.topic("%RETRY%expand_enough", queues("broker-a", 1))
CASES.topic("%DLQ%expand_enough", queues("broker-a", 1), rates={("broker-a", 0): 0.0})
CASES.topic("rmq_sys_expand", queues("broker-a", 1))
CASES.group("expand_system", members(8), "rmq_sys_expand", "%RETRY%expand_enough", "%DLQ%expand_enough")
for _name in ("across_1", "across_2", "across_3"):
    CASES.topic(_name, queues("broker-a", 2), queues("broker-b", 2))
CASES.group("across", members(3), "across_1", "across_2", "across_3")
for _name in ("both_1", "both_2"):
    CASES.topic(_name, queues("broker-a", 2), queues("broker-b", 2))
CASES.group("across_two", members(3), "both_1", "both_2")
CASES.topic("level", queues("broker-a", 6), queues("broker-b", 4))
CASES.topic(
    "expand_stranded",
    queues("broker-a", 2, 3),
    queues("broker-b", 2, 3),
    offsets={(broker, i): (0, 0 if i == 2 else 5_000) for broker in ("broker-a", "broker-b") for i in range(3)},
)
CASES.group("expand_stranded", members(8), "expand_stranded")
CASES.topic("expand_unknown", queues("broker-a", 2), queues("broker-b", None))
CASES.group("expand_unknown", members(8), "expand_unknown")


@pytest.mark.parametrize(("least", "clients"), LAYOUTS)
def test_every_writable_broker_gets_the_fewest_queues_that_do(answered: Answers, least: int, clients: int) -> None:
    name = f"expand_{least}_{clients}"
    wanted = _smallest(clients, brokers=2, least=least)

    found = answered.one("EXPAND_QUEUES", topic=name)

    assert _set_to(answered, name) == {"broker-a:10911": str(wanted), "broker-b:10911": str(wanted)}
    assert found["rules"] == ["IDLE_CONSUMERS"]
    assert found["consumer_group"] is None
    assert not found["is_manual"]
    assert found["reason"].startswith(
        f"{wanted} queues on each writable broker: idle clients of its groups go from {clients - 2 * least} to 0, and"
        " no group is worse off."
    )


@pytest.mark.parametrize(("least", "clients"), LAYOUTS)
def test_before_and_after_are_beside_the_commands(answered: Answers, least: int, clients: int) -> None:
    name = f"expand_{least}_{clients}"
    found = answered.one("EXPAND_QUEUES", topic=name)

    for side, per_broker in (("before", least), ("after", _smallest(clients, brokers=2, least=least))):
        all_queues = 2 * per_broker
        floor = -(-all_queues // clients) / (all_queues / clients)
        assert found[side]["queues"] == [
            {"broker_name": broker, "read_queue_nums": per_broker, "write_queue_nums": per_broker}
            for broker in ("broker-a", "broker-b")
        ]
        (group,) = found[side]["groups"]
        assert group["consumer_group"] == name
        assert group["idle"] == max(0, clients - all_queues)
        assert (group["orphan_queues"], group["doubly_owned_queues"]) == (0, 0)
        assert group["count"]["peak"] == pytest.approx(floor, abs=1e-4)
        assert group["count"]["excess"] == 1.0


def test_without_a_policy_a_broker_gets_64_at_most() -> None:
    assert Policy().thresholds.EXPAND_QUEUES.max_queues_per_broker == 64


def test_enough_queues_are_left_alone(answered: Answers) -> None:
    assert answered.actions(topic="expand_enough") == []
    assert answered.actions("expand_enough") == []


def test_the_cap_itself_is_allowed(answered: Answers) -> None:
    assert _set_to(answered, "expand_alone") == {"broker-a:10911": str(CAP)}


@pytest.mark.parametrize("name", ["expand_beyond_the_cap", "expand_partly_beyond_the_cap"])
def test_beyond_the_cap_fewer_clients_are_the_only_answer(answered: Answers, name: str) -> None:
    assert answered.all("EXPAND_QUEUES", topic=name) == []
    assert (
        f"More queues would not help: {CAP + 1} on each broker would be needed."
        in (answered.one("SCALE_CONSUMERS", name)["reason"])
    )


def test_unequal_brokers_become_equal_on_the_way(answered: Answers) -> None:
    """Six on each are twelve, but eleven on each are two for each client."""
    assert _smallest(11, brokers=2, least=6) == 11
    for name in ("expand_unequal", "expand_unequal_is_enough"):
        assert answered.one("EXPAND_QUEUES", topic=name)["rules"] == ["IDLE_CONSUMERS"]
        assert _set_to(answered, name) == {"broker-a:10911": "11", "broker-b:10911": "11"}


def test_unequal_brokers_are_left_as_they_are_if_nobody_asks_for_queues(answered: Answers) -> None:
    assert answered.all("EXPAND_QUEUES", topic="level") == []


def test_queues_that_cannot_be_added_to_still_count(answered: Answers) -> None:
    assert _set_to(answered, "expand_with_fixed") == {"broker-a:10911": str(_smallest(11, brokers=1, least=4, fixed=4))}


def test_a_topic_that_takes_no_messages_is_not_expanded(answered: Answers) -> None:
    assert answered.all("EXPAND_QUEUES", topic="expand_read_only") == []
    assert (
        "it cannot be both read and written on any broker"
        in answered.one("SCALE_CONSUMERS", "expand_read_only")["reason"]
    )


def test_unknown_counts_are_not_guessed(answered: Answers) -> None:
    assert answered.all("EXPAND_QUEUES", topic="expand_unknown") == []
    assert "it is unknown how many it has" in answered.one("SCALE_CONSUMERS", "expand_unknown")["reason"]


def test_one_layout_serves_all_groups_of_the_topic(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="expand_shared")

    assert _set_to(answered, "expand_shared") == {"broker-a:10911": "6", "broker-b:10911": "6"}
    assert [(group["consumer_group"], group["idle"]) for group in found["before"]["groups"]] == [
        ("expand_shared_large", 2),
        ("expand_shared_larger", 4),
        ("expand_shared_small", 0),
    ]
    assert [group["idle"] for group in found["after"]["groups"]] == [0, 0, 0]


@pytest.mark.parametrize(
    ("topic", "suffers"), [("expand_with_duplicate", "expand_duplicate"), (CONFIGURED, CONFIGURED)]
)
def test_no_other_group_of_the_topic_may_suffer(answered: Answers, topic: str, suffers: str) -> None:
    """More queues leave more of them to nobody, where an id stands twice or the clients' lists are fixed."""
    assert answered.all("EXPAND_QUEUES", topic=topic) == []
    asks = answered.one("SCALE_CONSUMERS", "expand_configured_asks" if topic == CONFIGURED else f"{topic}_asks")
    assert f"would make it worse for {suffers}" in asks["reason"]


def test_only_the_pulled_topics_count_where_a_group_also_pops(answered: Answers) -> None:
    """The clients pop the other topic's queues, and four of them still own none of this one's four queues."""
    found = answered.one("EXPAND_QUEUES", topic="expand_mixed_pulled")

    assert _set_to(answered, "expand_mixed_pulled") == {"broker-a:10911": "4", "broker-b:10911": "4"}
    assert found["reason"].startswith("4 queues on each writable broker: idle clients of its groups go from 4 to 0,")
    assert [side["groups"][0]["idle"] for side in (found["before"], found["after"])] == [4, 0]


def test_who_pops_or_broadcasts_needs_no_queues(answered: Answers) -> None:
    assert answered.actions(topic="expand_popped") == []
    assert answered.actions(topic="expand_broadcasts") == []


@pytest.mark.parametrize("topic", ["%RETRY%expand_enough", "%DLQ%expand_enough", "rmq_sys_expand"])
def test_topics_of_rocketmq_itself_are_left_alone(answered: Answers, topic: str) -> None:
    assert answered.actions(topic=topic) == []
    assert not any(f"-t {topic}" in command for row in answered.rows for command in row["commands"])


def test_a_remainder_that_adds_up_over_topics_is_taken_away(answered: Answers) -> None:
    for topic in ("both_1", "both_2"):
        found = answered.one("EXPAND_QUEUES", topic=topic)
        (before,), (after,) = found["before"]["groups"], found["after"]["groups"]
        assert found["rules"] == ["CROSS_TOPIC_SKEW"]
        assert _set_to(answered, topic) == {"broker-a:10911": "3", "broker-b:10911": "3"}
        assert found["reason"].startswith(
            "3 queues on each writable broker, in all a multiple of the clients of across_two: no remainder is left."
        )
        # 4 of 8 queues lie with c01, where 3 would do; with six in one topic 4 of 10.
        assert (before["count"]["excess"], after["count"]["excess"]) == (1.3333, 1.0)


def test_a_group_that_more_queues_help_is_not_left_over(answered: Answers) -> None:
    assert "INVESTIGATE" not in answered.actions("across_two")


def test_where_no_topic_alone_makes_a_group_even_none_gets_more_queues(answered: Answers) -> None:
    # 6 of 12 queues lie with c01; with six in one topic 6 of 14, where 5 would do: EXCESS 1.2 is above 1.1.
    for topic in ("across_1", "across_2", "across_3"):
        assert answered.all("EXPAND_QUEUES", topic=topic) == []
    more = answered.one("SCALE_CONSUMERS", "across")  # four clients own three queues each
    assert (more["before"]["clients"], more["after"]["clients"], more["after"]["count"]["excess"]) == (3, 4, 1.0)


def test_read_queues_are_raised_before_more_are_added(answered: Answers) -> None:
    """The other way round RAISE_READ_QUEUES would take queues away again."""
    found = answered.one("EXPAND_QUEUES", topic="expand_stranded")
    raised = answered.one("RAISE_READ_QUEUES", topic="expand_stranded")

    assert not raised["is_manual"]
    assert found["is_manual"]
    assert all(command.startswith("# ") for command in found["commands"])
    assert "Do not run the commands unchanged: queues of the topic that nobody can read come first" in found["reason"]


def test_what_is_unknown_is_no_number_in_the_check_and_the_way_back(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="expand_beside_unknown")

    assert found["check_shows"] == "#ReadQueue and #WriteQueue are broker-a 7 and 7."
    assert "(before: broker-a 4)" in found["way_back"]


@pytest.mark.parametrize(("name", "number"), [("expand_beside_busy", "10"), ("expand_beside_less_busy", "5")])
def test_no_other_group_gets_too_busy(answered: Answers, name: str, number: str) -> None:
    """One that is busy for 65 % would be for 78 % of its time; of twenty queues each of its clients has five."""
    assert set(_set_to(answered, name).values()) == {number}
