"""The judge sees what is missing, what is too much, and who is named without reason."""

from tests.advice.judge import Expected, Judgement, noise

EXPECTED = Expected("IDLE_CONSUMERS", ("INFO",), ("EXPAND_QUEUES",), "g_pay", may_name=frozenset({"pay"}))


def finding(number=1, rule="IDLE_CONSUMERS", group="g_pay", **members):
    return {
        "id": f"f{number}",
        "rule": rule,
        "severity": "INFO",
        "consumer_group": group,
        "topic": "pay",
        "broker_name": None,
        "subjects": [],
        "message": "…",
        **members,
    }


def cause(finding_numbers=(1,), rule="IDLE_CONSUMERS", group="g_pay", **members):
    return {
        "rule": rule,
        "severity": "INFO",
        "action": "EXPAND_QUEUES",
        "consumer_group": group,
        "topic": "pay",
        "findings": [f"f{number}" for number in finding_numbers],
        **members,
    }


def plan(causes, findings, recommendations=(), groups=20):
    return {
        "causes": causes,
        "findings": findings,
        "recommendations": list(recommendations),
        "groups": [{}] * groups,
    }


def problems(*causes, findings, recommendations=()):
    return Judgement(EXPECTED, plan(causes, findings, recommendations)).problems


def test_the_expected_cause_alone_is_no_problem():
    assert problems(cause(), findings=[finding()]) == []


def test_a_plan_that_says_nothing_misses_the_cause():
    assert problems(findings=[]) == ["no cause IDLE_CONSUMERS of g_pay, pay"]


def test_the_cause_of_another_group_is_not_the_expected_one():
    found = problems(cause(group="g_mail"), findings=[finding(group="g_mail")])
    assert found == [
        "no cause IDLE_CONSUMERS of g_pay, pay",
        "another cause: INFO IDLE_CONSUMERS → EXPAND_QUEUES (g_mail pay)",
        "names g_mail",
    ]


def test_another_severity_and_another_first_answer_are_problems():
    found = problems(cause(severity="WARNING", action="SWITCH_TO_POP"), findings=[finding()])
    assert found == ["WARNING, expected INFO", "first answer SWITCH_TO_POP, expected EXPAND_QUEUES"]


def test_a_second_cause_is_a_problem_even_of_the_same_group():
    found = problems(cause(), cause((2,), rule="LAG_STATE"), findings=[finding(), finding(2, "LAG_STATE")])
    assert found == ["another cause: INFO LAG_STATE → EXPAND_QUEUES (g_pay pay)"]


def test_a_consequence_that_nobody_expects_is_a_problem():
    assert problems(cause((1, 2)), findings=[finding(), finding(2, "LAG_STATE")]) == ["consequences LAG_STATE"]


def test_a_recommendation_that_names_another_topic_is_a_problem():
    other = {"consumer_group": None, "topic": "mail"}
    assert problems(cause(), findings=[finding()], recommendations=[other]) == ["names mail"]


def test_a_warning_is_noise_and_information_is_not_up_to_two_lines_a_hundred_groups():
    assert noise(plan([], [finding(severity="WARNING")], groups=100)) == ["WARNING IDLE_CONSUMERS g_pay pay: …"]
    assert noise(plan([], [finding(), finding(2)], groups=100)) == []
    assert noise(plan([], [finding(), finding(2), finding(3)], groups=100)) == [
        "3 lines for 100 groups, at most 2: 3 IDLE_CONSUMERS"
    ]


def test_a_change_of_the_cluster_is_noise():
    change = {
        "action": "SHRINK_QUEUES",
        "consumer_group": None,
        "topic": "pay",
        "changes_cluster": True,
        "reason": "fewer",
    }
    assert noise(plan([], [], [change], groups=100)) == ["SHRINK_QUEUES pay changes the cluster: fewer"]
