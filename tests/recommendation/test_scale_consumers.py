"""SCALE_CONSUMERS: as many clients as have work; the others own nothing."""

import pytest

from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import WRITE_ONLY, a_group, a_topic, ids, member, members, pops
from tests.fixtures.plain_plan import plain_plan
from tests.recommendation.answers import Answers
from tests.recommendation.cases import Cases, broker
from tests.simulation.clusters import cluster, queues, reads

CASES = Cases()
_four = (queues("broker-a", 2), queues("broker-b", 2))
CASES.case("scale_7", members(7), *_four)
CASES.case("scale_5", members(5), *_four)
CASES.case("scale_circle", members(7, allocate_strategy="AVG_BY_CIRCLE"), *_four)
CASES.case("scale_hash", members(7, allocate_strategy="CONSISTENT_HASH"), *_four)
CASES.case("scale_enough", members(4), *_four)
CASES.topic("scale_small", *_four)
CASES.topic("scale_large", queues("broker-a", 3), queues("broker-b", 3))
CASES.group("scale_over_topics", members(8), "scale_small", "scale_large")
CASES.case(
    "scale_to_nobody", members(3), queues("broker-a", 2, perm=WRITE_ONLY), queues("broker-b", 2, perm=WRITE_ONLY)
)
CASES.owning("scale_own_strategy", [2, 2, 0])
CASES.case("scale_duplicate", [member(c) for c in ("c01", "c02", "c03", "c04", "c05", "c05")], *_four)
_hashed = [member(c, allocate_strategy="CONSISTENT_HASH") for c in [*ids(7), "c06"]]
CASES.case("scale_read_twice", _hashed, *_four)
CASES.topic("scale_pulled", queues("broker-a", 1), queues("broker-b", 1))
CASES.topic("scale_popped", *_four)
CASES.group(
    "scale_pops_too",
    members(4),
    "scale_pulled",
    "scale_popped",
    subscriptions=(reads("scale_pulled"), pops("scale_popped")),
)


@pytest.mark.parametrize(("name", "clients"), [("scale_7", 7), ("scale_circle", 7), ("scale_5", 5)])
def test_the_clients_without_a_queue_may_go(answered: Answers, name: str, clients: int) -> None:
    """AVG and AVG_BY_CIRCLE give the clients beyond the number of queues nothing."""
    found = answered.one("SCALE_CONSUMERS", name)

    assert found["rules"] == ["IDLE_CONSUMERS"]
    assert found["commands"] == []
    assert not found["is_manual"]
    assert (found["before"]["clients"], found["after"]["clients"]) == (clients, 4)
    assert (found["before"]["idle"], found["after"]["idle"]) == (clients - 4, 0)
    assert (found["after"]["orphan_queues"], found["after"]["count"]["peak"]) == (0, 1.0)
    assert found["reason"].startswith(f"Run 4 instead of {clients} clients: {', '.join(ids(7)[4:clients])} own")


def test_one_and_many_have_their_own_words(answered: Answers) -> None:
    one, many = (answered.one("SCALE_CONSUMERS", name)["reason"] for name in ("scale_5", "scale_7"))

    assert "c05 owns no queue." in one
    assert one.endswith("If other clients leave instead, this one takes over their queues.")
    assert "c07 own no queue." in many
    assert many.endswith("If other clients leave instead, these take over their queues.")


def test_more_queues_are_the_alternative(answered: Answers) -> None:
    assert answered.one("EXPAND_QUEUES", topic="scale_7")["rules"] == ["IDLE_CONSUMERS"]


def test_who_goes_is_who_owns_nothing_under_the_groups_strategy(answered: Answers) -> None:
    found = answered.one("SCALE_CONSUMERS", "scale_hash")
    idle = answered.judged.load("scale_hash", "CONSISTENT_HASH")["idle_clients"]

    assert found["after"]["clients"] == 7 - len(idle)
    assert all(client in found["reason"] for client in idle)


def test_the_largest_topic_says_how_many_are_of_use(answered: Answers) -> None:
    found = answered.one("SCALE_CONSUMERS", "scale_over_topics")

    assert (found["before"]["clients"], found["after"]["clients"]) == (8, 6)


def test_an_id_that_is_listed_twice_goes_as_one_client(answered: Answers) -> None:
    found = answered.one("SCALE_CONSUMERS", "scale_duplicate")

    assert (found["before"]["clients"], found["after"]["clients"]) == (5, 4)


@pytest.mark.parametrize(("wanted", "is_offered"), [(1, True), (4, True), (5, False)])
def test_nobody_goes_below_the_number_of_the_policy_whatever_the_strategy(wanted: int, is_offered: bool) -> None:
    """By CONSISTENT_HASH four of seven clients own the queues."""
    topic = a_topic("scale_hash", *_four)
    group = a_group("scale_hash", members(7, allocate_strategy="CONSISTENT_HASH"), [topic])
    policy = Policy.model_validate({"groups": [{"match": "^scale_hash$", "min_clients": wanted}]})
    plan = plain_plan(cluster([topic], [group], [broker("broker-a"), broker("broker-b")]), policy)

    assert any(one.action == "SCALE_CONSUMERS" for one in plan.recommendations) == is_offered


def test_while_queues_are_read_twice_nobody_goes(answered: Answers) -> None:
    assert answered.judged.group("scale_read_twice")["reading_status"] == "TWICE"
    assert answered.judged.found("IDLE_CONSUMERS", "scale_read_twice") is not None
    assert answered.all("SCALE_CONSUMERS", "scale_read_twice") == []


def test_a_group_is_never_scaled_to_nobody(answered: Answers) -> None:
    assert answered.actions("scale_to_nobody") == ["INVESTIGATE"]
    assert answered.one("INVESTIGATE", "scale_to_nobody")["reason"] == (
        "Its clients read again once a broker has a queue to read of scale_to_nobody."
    )


def test_who_has_work_stays(answered: Answers) -> None:
    assert answered.actions("scale_enough") == []


def test_what_cannot_be_simulated_is_not_recommended(answered: Answers) -> None:
    assert answered.judged.found("IDLE_CONSUMERS", "scale_own_strategy") is not None
    assert answered.actions("scale_own_strategy") == ["INVESTIGATE"]
    assert answered.one("INVESTIGATE", "scale_own_strategy")["reason"] == (
        "More queues would not help: 6 queues on each broker cannot be simulated, since what the clients run cannot be"
        " computed."
    )


def test_who_pops_another_topic_would_be_missed(answered: Answers) -> None:
    """c03 and c04 own no queue of the pulled topic, and read the popped one; only more queues answer that."""
    assert answered.judged.finding("IDLE_CONSUMERS", "scale_pops_too")["subjects"] == ["c03", "c04"]
    assert answered.actions("scale_pops_too") == []
    assert answered.actions(topic="scale_pulled") == ["EXPAND_QUEUES"]
