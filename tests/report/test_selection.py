"""What a person's words approve and reject, of a plan's recommendations."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.selection import AskedRecommendation, Decision, asked_about, decide, decide_against
from tests.report.from_rows import plan_of
from tests.report.varied_cluster import varied_rows


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(varied_rows(24))


@pytest.fixture(scope="module")
def asked(plan: Plan) -> list[AskedRecommendation]:
    return asked_about(plan, needing_approval(plan))


def decided(plan: Plan, asked: list[AskedRecommendation], only: str = "", reject: str = "") -> Decision:
    decision = decide(plan, asked, only, reject)
    answered = [*decision.approved, *decision.rejected]
    every = {one.recommendation.id for one in asked}
    assert len(set(answered)) == len(answered)
    assert every.issuperset(answered)
    if not only:
        assert every == set(answered), "without names every one is approved or rejected"
    return decision


def test_everything_is_asked_about_once_the_worst_cause_first(plan: Plan, asked: list[AskedRecommendation]) -> None:
    assert {one.recommendation.id for one in asked} == set(needing_approval(plan))
    assert [one.number for one in asked] == list(range(1, len(asked) + 1))
    causes = [cause.id for cause in plan.causes]
    assert [causes.index(one.cause) for one in asked] == sorted(causes.index(one.cause) for one in asked)


def test_an_approval_without_names_takes_all_but_second_alternatives(
    plan: Plan, asked: list[AskedRecommendation]
) -> None:
    decision = decided(plan, asked)

    assert decision.approved
    assert set(decision.rejected) == set(decision.left_out)
    for alternatives in plan.alternatives:
        assert len(set(alternatives) & set(decision.approved)) <= 1


@pytest.mark.parametrize("how", ["number", "id", "action", "rule", "severity"])
def test_a_recommendation_is_named_by_its_number_id_action_rule_or_severity(
    plan: Plan, asked: list[AskedRecommendation], how: str
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

    assert set(approved.approved) | set(approved.left_out) & meant == meant
    assert set(rejected.rejected) - set(rejected.left_out) == meant


def test_of_alternatives_the_one_that_is_named_is_taken_and_two_are_refused(
    plan: Plan, asked: list[AskedRecommendation]
) -> None:
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
        ("", "2 too expensive", "reject_these: 'too' names no recommendation"),
        ("", ": too expensive", "reject_these: ': too expensive' names no recommendation"),
        ("1: " + "x" * 1_001, "", "approve_only: has a reason of 1,001 characters; expected at most 1,000"),
        ("1 2", "2", r"names 2 \(.*\), and reject_these names it too; expected one of the two"),
    ],
)
def test_words_that_mean_nothing_or_both_are_refused(
    plan: Plan, asked: list[AskedRecommendation], only: str, reject: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        decide(plan, asked, only, reject)


def test_rejecting_all_of_them_by_name_approves_nothing(plan: Plan, asked: list[AskedRecommendation]) -> None:
    assert decided(plan, asked, reject="CRITICAL WARNING").approved == ()


def test_each_recommendation_has_the_reason_of_its_line(plan: Plan, asked: list[AskedRecommendation]) -> None:
    first, second, third, *_ = (one.recommendation.id for one in asked)
    choice = replace(plan, alternatives=())

    decision = decided(choice, asked, only="1: agreed: today\r\n3", reject=f"{second}\uff1a it costs too much")

    assert (decision.reasons[first], decision.reasons[second]) == ("agreed: today", "it costs too much")
    assert third not in decision.reasons
    assert (decision.approved, decision.rejected) == ((first, third), (second,))


@pytest.mark.parametrize("between", [", ", ";", "\uff0c", "\u3001", "\uff1b", "\u3000"])
def test_words_are_parted_as_people_write_them_in_english_and_chinese(
    plan: Plan, asked: list[AskedRecommendation], between: str
) -> None:
    first, second, *_ = (one.recommendation.id for one in asked)

    decision = decided(replace(plan, alternatives=()), asked, only=f"1{between}2")

    assert decision.approved == (first, second)


def test_what_is_named_nowhere_stays_open_unless_its_alternative_is_approved(
    plan: Plan, asked: list[AskedRecommendation]
) -> None:
    first, second, third, *_ = (one.recommendation.id for one in asked)
    choice = replace(plan, alternatives=((first, second),))

    decision = decided(choice, asked, only="2")

    assert (decision.approved, decision.rejected, decision.left_out) == ((second,), (first,), (first,))
    assert third not in decision.reasons
    assert decision.reasons[first] == f"its alternative {asked[1].recommendation.action} ({second}) was approved"


def test_the_reason_beside_a_number_goes_before_one_beside_a_severity(
    plan: Plan, asked: list[AskedRecommendation]
) -> None:
    severity = asked[0].severity
    general, own = f"{severity}: not before Christmas", "1: it costs too much"
    alike = {one.recommendation.id for one in asked if one.severity == severity}

    for lines in ([general, own], [own, general], [general, own, "1"]):
        reasons = decided(plan, asked, reject="\n".join(lines)).reasons
        assert reasons[asked[0].recommendation.id] == "it costs too much"
        assert {reasons[one] for one in alike - {asked[0].recommendation.id}} == {"not before Christmas"}


def test_what_gave_way_to_its_alternative_says_so(plan: Plan, asked: list[AskedRecommendation]) -> None:
    first, second = asked[0].recommendation, asked[1].recommendation
    choice = replace(plan, alternatives=((first.id, second.id),))

    gave_way = decided(choice, asked, only="2, CRITICAL: yes").reasons[first.id]

    assert gave_way == f"its alternative {second.action} ({second.id}) was approved"
    assert decided(choice, asked, only="2: yes", reject="1: no").reasons[first.id] == "no"


def test_a_rejection_of_all_keeps_the_reasons_of_its_lines(asked: list[AskedRecommendation]) -> None:
    decision = decide_against(asked, "1: it costs too much")

    assert decision.approved == ()
    assert decision.rejected == tuple(one.recommendation.id for one in asked)
    assert decision.reasons == {asked[0].recommendation.id: "it costs too much"}
    with pytest.raises(BadInput, match="'9999' names no recommendation"):
        decide_against(asked, "9999: no")
