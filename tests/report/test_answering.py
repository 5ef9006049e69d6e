"""Which recommendation answers which finding."""

import pytest

from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.answering import answering, urgency
from rocketmq_capacity.report.wording import action_title
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation


def plan(findings, recommendations, topics=("pay", "refund")):
    return plan_of({
        "cluster": [a_cluster()],
        "group_status": [a_group(topics=list(topics))],
        "finding": findings,
        "recommendation": recommendations,
    })


def places(findings, recommendations):
    made = plan(findings, recommendations)
    return answering(made.findings, made.recommendations, {one.consumer_group: one.topics for one in made.groups})


def investigate(group, topic):
    return PlanRecommendation(
        id="1",
        action="INVESTIGATE",
        consumer_group=group,
        topic=topic,
        manual=True,
        reason="",
        rules=(),
        commands=(),
        before={},
        after={},
    )


@pytest.mark.parametrize(
    ("group", "topic", "is_answered"),
    [
        ("g_pay", None, True),
        (None, "pay", True),
        (None, None, True),
        ("g_pay", "pay", True),
        ("g_other", None, False),
        ("g_other", "pay", False),
        (None, "other", False),
    ],
)
def test_a_recommendation_answers_its_rules_findings_of_the_same_group_and_of_topics_that_the_group_reads(
    group, topic, is_answered
):
    found = places([a_finding()], [a_recommendation(consumer_group=group, topic=topic)])

    assert found == [[0] if is_answered else []]


@pytest.mark.parametrize(("topic", "is_answered"), [("pay", True), ("refund", False), (None, True)])
def test_a_finding_of_one_topic_is_not_answered_by_a_change_of_another(topic, is_answered):
    found = places([a_finding(topic="pay")], [a_recommendation(consumer_group="g_pay", topic=topic)])

    assert found == [[0] if is_answered else []]


@pytest.mark.parametrize(("broker_name", "is_answered"), [("broker-a", True), ("broker-b", False)])
def test_other_queue_counts_of_a_topic_answer_no_finding_on_a_broker_that_keeps_its_own(broker_name, is_answered):
    before, after = (
        {
            "queues": [
                {"broker_name": "broker-a", "read_queue_nums": read, "write_queue_nums": 4},
                {"broker_name": "broker-b", "read_queue_nums": 4, "write_queue_nums": 4},
            ]
        }
        for read in (2, 4)
    )
    found = places(
        [a_finding("READ_LESS_THAN_WRITE", consumer_group=None, topic="pay", broker_name=broker_name)],
        [a_recommendation("RAISE_READ_QUEUES", before, after, rules=["READ_LESS_THAN_WRITE"])],
    )

    assert found == [[0] if is_answered else []]


def test_a_recommendation_answers_no_other_rules_finding():
    found = places([a_finding("HOT_QUEUE")], [a_recommendation(consumer_group="g_pay")])

    assert found == [[]]


def test_the_worst_finding_comes_first_and_its_recommendation_too():
    findings = [
        a_finding("IDLE_CONSUMERS", severity="WARNING"),
        a_finding("STALE_OBJECT", severity="INFO"),
        a_finding("LAG_SKEW", severity="CRITICAL"),
        a_finding("ORPHAN_QUEUE", severity="CRITICAL"),
    ]
    recommendations = [
        a_recommendation("EXPAND_QUEUES", rules=["IDLE_CONSUMERS"]),
        a_recommendation("FIX_CLIENT_ID", consumer_group="g_pay", topic=None, rules=["ORPHAN_QUEUE"]),
        a_recommendation("ADD_BROKER", topic=None, rules=["BROKER_DISK"]),
    ]

    found = plan(findings, recommendations)

    assert [finding.rule for finding in sorted(found.findings, key=urgency)] == [
        "ORPHAN_QUEUE",
        "LAG_SKEW",
        "IDLE_CONSUMERS",
        "STALE_OBJECT",
    ]
    assert [cause.action for cause in found.causes] == ["FIX_CLIENT_ID", None, "EXPAND_QUEUES", "ADD_BROKER", None]


def test_a_name_that_looks_like_a_placeholder_is_a_name():
    assert action_title(investigate("{topic}", "{subject}")) == "Look into {topic} on {subject}"


def test_an_action_without_names_is_about_the_cluster():
    assert action_title(investigate(None, None)) == "Look into the cluster"


def test_what_looks_into_some_brokers_answers_the_findings_of_these_alone():
    def of_broker(name):
        return a_finding("SLAVE_DRIFT", consumer_group=None, broker_name=name)

    def look(name):
        names = {"broker_names": [name]}
        return a_recommendation(
            "INVESTIGATE",
            id=f"look-{name}",
            consumer_group=None,
            topic=None,
            rules=["SLAVE_DRIFT"],
            before=names,
            after=names,
        )

    made = plan([of_broker("broker-a"), of_broker("broker-b")], [look("broker-a"), look("broker-b")])

    assert sorted((one.title, len(one.findings)) for one in made.causes) == [
        ("Look into broker-a: slaves that lack what their masters have", 1),
        ("Look into broker-b: slaves that lack what their masters have", 1),
    ]


def test_a_look_into_the_cluster_answers_no_finding_of_a_topic_but_of_queues_that_a_broker_hides():
    """Below the bound of the snapshot, closed brokers and brokers without topics are looked into with it."""
    findings = [
        a_finding("SNAPSHOT_INCOMPLETE", consumer_group=None, severity="CRITICAL"),
        a_finding("READ_LESS_THAN_WRITE", {"broker_perm": 2}, consumer_group=None, topic="pay", broker_name="broker-b"),
        a_finding("READ_LESS_THAN_WRITE", consumer_group=None, topic="refund", broker_name="broker-a"),
        a_finding("TOPIC_COVERAGE", consumer_group=None, topic="once", severity="INFO"),
    ]
    rules = ["READ_LESS_THAN_WRITE", "SNAPSHOT_INCOMPLETE", "TOPIC_COVERAGE"]
    looks = [
        a_recommendation("INVESTIGATE", id=f"look-{topic}", consumer_group=None, topic=topic, rules=of_look)
        for topic, of_look in ((None, rules), ("refund", ["READ_LESS_THAN_WRITE"]), ("once", ["TOPIC_COVERAGE"]))
    ]

    made = plan(findings, looks)

    topic_of = {one.id: one.topic for one in made.findings}
    assert [(one.recommendations, {topic_of[each] for each in one.findings}) for one in made.causes] == [
        (("look-None",), {None, "pay"}),
        (("look-refund",), {"refund"}),
        (("look-once",), {"once"}),
    ]
