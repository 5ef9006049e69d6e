"""CHANGE_STRATEGY: another strategy of the policy, where it is better and nothing is worse."""

import pytest

from tests.assessment.cases import READ_ONLY, member, members, owned, pops
from tests.recommendation.answers import Answers
from tests.recommendation.cases import CONFIGURED, Cases
from tests.simulation.clusters import queues

CASES = Cases()
_two = (queues("broker-a", 4), queues("broker-b", 4))


def _rates(on_a: float, on_b: float) -> dict[tuple[str, int], float | None]:
    return {(name, i): rate for name, rate in (("broker-a", on_a), ("broker-b", on_b)) for i in range(4)}


ENOUGH_BETTER, LITTLE_BETTER = "strategy_little_better_1", "strategy_little_better_2"
for _name, _moved in ((ENOUGH_BETTER, 5.35), (LITTLE_BETTER, 5.4)):
    # AVG gives its first client 85 of 100 messages, AVG_BY_CIRCLE 80.7 or 80.8.
    _on_a, _on_b = (35.0, 7.5, 35.0, 7.5), (_moved, 7.5 - _moved, _moved, 7.5 - _moved)
    CASES.case(
        _name,
        members(2),
        *_two,
        rates={(name, i): rate for name, on in (("broker-a", _on_a), ("broker-b", _on_b)) for i, rate in enumerate(on)},
    )
CASES.case("strategy_all_drained", members(2), queues("readonly", 4, perm=READ_ONLY), lag=0)
CASES.case("strategy_hot_broker", members(2), *_two, rates=_rates(100.0, 1.0))
CASES.case("strategy_popped", members(2), *_two, rates=_rates(100.0, 1.0), subscriptions=(pops("strategy_popped"),))
CASES.case("strategy_pops_in_order", members(2), *_two, rates=_rates(100.0, 1.0), orderly=True)
CASES.case("strategy_even", members(2), *_two, rates=_rates(10.0, 10.0))
CASES.case("strategy_duplicate", [member("c01"), member("c01"), member("c02")], *_two, rates=_rates(100.0, 1.0))
CASES.case(
    "strategy_mixed",
    [
        member("c01", allocate_strategy="AVG_BY_CIRCLE"),
        member("c02", allocate_strategy="AVG_BY_CIRCLE"),
        member("c03", allocate_strategy="AVG"),
    ],
    *_two,
)
CASES.case(
    "strategy_mixed_evenly",
    [member("c01", allocate_strategy="AVG_BY_CIRCLE"), member("c02", allocate_strategy="AVG")],
    *_two,
)
for _name, _rate in (("strategy_busy", 100.0), ("strategy_quiet", 1.0)):
    CASES.topic(
        _name,
        queues("broker-a", 2),
        queues("broker-b", 2),
        rates={(name, i): _rate for name in ("broker-a", "broker-b") for i in range(2)},
    )
CASES.group("strategy_two_rates", members(9), "strategy_busy", "strategy_quiet")
CASES.case(
    "strategy_mixed_with_one_id",
    [
        member("c05", allocate_strategy="AVG"),
        member("c06", allocate_strategy="AVG_BY_CIRCLE"),
        member("c07", allocate_strategy="AVG"),
        member("c07", allocate_strategy="AVG"),
    ],
    *_two,
)
CASES.case(
    "strategy_mixed_unknown",
    [member("c01", allocate_strategy="com.acme.Own"), member("c02", allocate_strategy="AVG")],
    *_two,
)
CASES.case(
    "strategy_drained",
    members(2),
    queues("broker-a", 4),
    queues("readonly", 4, perm=READ_ONLY),
    lag=0,
    rates={**{("broker-a", i): 10.0 for i in range(4)}, **{("readonly", i): 0.0 for i in range(4)}},
)
CASES.case(
    "strategy_hash_idle", members(4, allocate_strategy="CONSISTENT_HASH"), queues("broker-a", 2), queues("broker-b", 2)
)
CASES.case(
    "strategy_hash_skew", members(3, allocate_strategy="CONSISTENT_HASH"), queues("broker-a", 6), queues("broker-b", 6)
)
CASES.case(
    "strategy_of_other_rooms",
    [
        member(
            f"c{n:02}",
            allocate_strategy="MACHINE_ROOM",
            owned_queues=owned(*(("strategy_of_other_rooms", "broker-b", i) for i in mine)),
        )
        for n, mine in ((1, (0, 1)), (2, (2, 3)))
    ],
    *_two,
)


def test_messages_are_shared_better(answered: Answers) -> None:
    """AVG gives the busy broker to one client (400 of 404 messages a second), AVG_BY_CIRCLE halves both."""
    found = answered.one("CHANGE_STRATEGY", "strategy_hot_broker")

    assert found["rules"] == ["TRAFFIC_SKEW"]
    assert found["commands"] == []
    assert (found["before"]["strategy"], found["after"]["strategy"]) == ("AVG", "AVG_BY_CIRCLE")
    assert found["before"]["traffic"]["peak"] == pytest.approx(400 / 202, abs=1e-4)
    assert found["after"]["traffic"]["peak"] == 1.0
    assert found["reason"].startswith(
        "Let every client run AVG_BY_CIRCLE instead of AVG: EXCESS by messages goes from 1.98 to 1.00."
    )


def test_an_orderly_group_may_change_its_strategy_too(answered: Answers) -> None:
    assert answered.one("CHANGE_STRATEGY", "strategy_pops_in_order")["after"]["strategy"] == "AVG_BY_CIRCLE"


@pytest.mark.parametrize("name", ["strategy_popped", "strategy_even"])
def test_without_a_finding_or_under_pop_nothing_changes(answered: Answers, name: str) -> None:
    assert answered.all("CHANGE_STRATEGY", name) == []


def test_shared_ids_come_first(answered: Answers) -> None:
    assert answered.judged.found("TRAFFIC_SKEW", "strategy_duplicate") is not None
    assert answered.actions("strategy_duplicate") == ["FIX_CLIENT_ID"]
    assert set(answered.one("FIX_CLIENT_ID", "strategy_duplicate")["rules"]) >= {"DUPLICATE_CLIENT_ID", "TRAFFIC_SKEW"}


def test_clients_that_differ_take_what_most_of_them_run(answered: Answers) -> None:
    found = answered.one("CHANGE_STRATEGY", "strategy_mixed")

    assert (found["before"]["strategy"], found["after"]["strategy"]) == ("MIXED", "AVG_BY_CIRCLE")
    assert found["rules"] == ["MIXED_STRATEGIES", "ORPHAN_QUEUE"]
    assert found["reason"].startswith(
        "Let every client run AVG_BY_CIRCLE, as 2 of 3 do: queues that nobody reads go from "
    )
    assert (found["after"]["orphan_queues"], found["after"]["doubly_owned_queues"]) == (0, 0)


def test_of_equally_many_the_first_name_wins(answered: Answers) -> None:
    found = answered.one("CHANGE_STRATEGY", "strategy_mixed_evenly")

    assert found["after"]["strategy"] == "AVG"
    assert found["reason"].startswith("Let every client run AVG, as 1 of 2 does:")


def test_idle_clients_get_no_work_at_the_price_of_busier_ones(answered: Answers) -> None:
    """CONSISTENT_HASH leaves three idle instead of five, and gives one client two of the four busy queues."""
    loads = [answered.judged.load("strategy_two_rates", name) for name in ("AVG", "CONSISTENT_HASH")]

    assert [len(load["idle_clients"]) for load in loads] == [5, 3]
    assert [load["traffic"]["excess"] for load in loads] == [1.01, 2.0]
    assert answered.all("CHANGE_STRATEGY", "strategy_two_rates") == []


def test_consumers_that_share_an_id_do_not_choose_the_strategy_of_mixed_ones(answered: Answers) -> None:
    """Only CONSISTENT_HASH leaves no queue unread while c07 is there twice; once it is not, AVG does too."""
    assert answered.one("CHANGE_STRATEGY", "strategy_mixed_with_one_id")["after"]["strategy"] == "AVG"
    assert answered.one("FIX_CLIENT_ID", "strategy_mixed_with_one_id") is not None


def test_strategies_that_no_plan_can_compute_are_left_to_a_person(answered: Answers) -> None:
    assert answered.all("CHANGE_STRATEGY", "strategy_mixed_unknown") == []
    assert "MIXED_STRATEGIES" in answered.one("INVESTIGATE", "strategy_mixed_unknown")["rules"]


def test_a_drained_broker_is_no_reason_for_another_strategy(answered: Answers) -> None:
    assert answered.judged.group("strategy_drained")["drained_clients"] == ["c02"]
    assert answered.all("CHANGE_STRATEGY", "strategy_drained") == []


def test_orphans_of_a_fixed_list_find_a_reader(answered: Answers) -> None:
    """The configured group's queues all have a reader; no other strategy is better."""
    assert answered.actions(CONFIGURED) == []


def test_whoever_hashes_is_given_an_even_share(answered: Answers) -> None:
    skewed = answered.judged.load("strategy_hash_skew", "CONSISTENT_HASH")["count"]["excess"]
    found = answered.one("CHANGE_STRATEGY", "strategy_hash_skew")

    assert found["before"]["count"]["excess"] == pytest.approx(skewed, abs=1e-4)
    assert found["after"]["count"]["excess"] == 1.0
    assert found["after"]["strategy"] == "AVG"


def test_what_is_promised_is_what_the_strategy_gives_and_nothing_is_worse(answered: Answers) -> None:
    found = answered.all("CHANGE_STRATEGY")

    assert found
    for row in found:
        load = answered.judged.load(row["consumer_group"], row["after"]["strategy"])
        assert load["is_applicable"]
        for name, shown in (("idle_clients", "idle"), ("orphan_queues",) * 2, ("doubly_owned_queues",) * 2):
            assert len(load[name]) == row["after"][shown]
            before = row["before"][shown]
            assert before is None or row["after"][shown] <= before
        for name in ("count", "traffic"):
            for metric in ("peak", "floor", "excess", "gini", "cv"):
                assert row["after"][name][metric] == pytest.approx(load[name][metric], abs=5e-5)


def test_a_change_without_a_gain_is_none(answered: Answers) -> None:
    """All queues of the group are drained, whoever owns them."""
    assert answered.judged.group("strategy_all_drained")["drained_clients"] == ["c01", "c02"]
    assert answered.actions("strategy_all_drained") == []


@pytest.mark.parametrize(
    ("name", "gain", "answers"),
    [(ENOUGH_BETTER, 0.0506, ["CHANGE_STRATEGY"]), (LITTLE_BETTER, 0.0494, ["INVESTIGATE"])],
)
def test_less_than_a_twentieth_is_no_improvement(answered: Answers, name: str, gain: float, answers: list[str]) -> None:
    avg, circle, hashed = (
        answered.judged.load(name, strategy)["traffic"]["excess"]
        for strategy in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
    )

    assert hashed > avg, "the name of this case is to be one that hashes badly"
    assert 1 - circle / avg == pytest.approx(gain, abs=1e-4)
    assert answered.actions(name) == answers


def test_queues_that_a_strategy_leaves_out_are_read_by_another_one(answered: Answers) -> None:
    """MACHINE_ROOM is not computed without its rooms: the queues that no client reports are unread."""
    found = answered.one("CHANGE_STRATEGY", "strategy_of_other_rooms")

    assert found["rules"] == ["ORPHAN_QUEUE"]
    assert (found["before"], found["after"]["strategy"], found["after"]["orphan_queues"]) == (
        {"strategy": "MACHINE_ROOM", "idle": None, "orphan_queues": 4, "doubly_owned_queues": None},
        "AVG",
        0,
    )
    assert found["reason"].startswith(
        "Let every client run AVG instead of MACHINE_ROOM: queues that nobody reads go from 4 to 0."
        " Or give the strategy the rooms of all brokers of these topics."
    )
