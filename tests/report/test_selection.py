"""What a person's words approve and reject, of a plan's recommendations."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.plan_file import Plan
from rocketmq_capacity.report.selection import Asked, Decision, asked_about, decide
from tests.report.from_rows import plan_of
from tests.report.varied_cluster import varied_rows


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(varied_rows(24))


@pytest.fixture(scope="module")
def asked(plan: Plan) -> list[Asked]:
    return asked_about(plan, needing_approval(plan))


def decided(plan: Plan, asked: list[Asked], only: str = "", reject: str = "") -> Decision:
    decision = decide(plan, asked, only, reject)
    ids = [one.recommendation.id for one in asked]
    assert sorted([*decision.approved, *decision.rejected]) == sorted(ids)
    return decision


def test_everything_is_asked_about_once_the_worst_cause_first(plan: Plan, asked: list[Asked]) -> None:
    assert {one.recommendation.id for one in asked} == set(needing_approval(plan))
    assert [one.number for one in asked] == list(range(1, len(asked) + 1))
    causes = [cause.id for cause in plan.causes]
    assert [causes.index(one.cause) for one in asked] == sorted(causes.index(one.cause) for one in asked)


def test_an_approval_without_names_takes_all_but_second_alternatives(plan: Plan, asked: list[Asked]) -> None:
    decision = decided(plan, asked)

    assert decision.approved
    assert set(decision.rejected) == set(decision.left_out)
    for alternatives in plan.alternatives:
        assert len(set(alternatives) & set(decision.approved)) <= 1


@pytest.mark.parametrize("how", ["number", "id", "action", "rule", "severity"])
def test_a_recommendation_is_named_by_its_number_id_action_rule_or_severity(
    plan: Plan, asked: list[Asked], how: str
) -> None:
    last = asked[-1]
    word = {
        "number": str(last.number),
        "id": last.recommendation.id,
        "action": last.recommendation.action.lower(),
        "rule": last.recommendation.rules[0],
        "severity": last.severity,
    }[how]
    meant = {one.recommendation.id for one in asked if word.upper() in one.words}

    approved, rejected = decided(plan, asked, only=f" {word},\n"), decided(plan, asked, reject=word)

    assert set(approved.approved) | set(approved.left_out) == meant
    assert set(rejected.rejected) - set(rejected.left_out) == meant


def test_of_alternatives_the_one_that_is_named_is_taken_and_two_are_refused(plan: Plan, asked: list[Asked]) -> None:
    first, second = asked[0].recommendation.id, asked[1].recommendation.id
    choice = replace(plan, alternatives=((first, second),))

    assert decided(choice, asked).left_out == (second,)
    assert decided(choice, asked, only=f"2 {asked[2].recommendation.id}").approved[0] == second
    assert decided(choice, asked, reject="1").approved[0] == second
    with pytest.raises(BadInput, match="approve_only: names 1 and 2, which are alternatives; expected one of them"):
        decide(choice, asked, f"1, {second}", "")


@pytest.mark.parametrize(
    ("only", "reject", "said"),
    [
        ("EXPAND_QUEUE", "", "'EXPAND_QUEUE' names no recommendation of this question; the nearest known"),
        ("", "9999", "reject_these: '9999' names no recommendation"),
        ("1 2", "2", "which is in reject_these as well; expected one of the two"),
    ],
)
def test_words_that_mean_nothing_or_both_are_refused(
    plan: Plan, asked: list[Asked], only: str, reject: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        decide(plan, asked, only, reject)


def test_rejecting_all_of_them_by_name_approves_nothing(plan: Plan, asked: list[Asked]) -> None:
    assert decided(plan, asked, reject="CRITICAL WARNING").approved == ()
