"""The titles of causes."""

from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation


def test_a_title_that_says_to_look_also_says_what_is_wrong():
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "finding": [a_finding("LAG_STATE"), a_finding("SLAVE_DRIFT", consumer_group=None)],
        "recommendation": [
            a_recommendation("INVESTIGATE", rules=["LAG_STATE"], consumer_group="g_pay", topic=None),
            a_recommendation("INVESTIGATE", id="i-2", rules=["SLAVE_DRIFT"], consumer_group=None, topic=None),
        ],
    }

    assert [cause.title for cause in plan_of(rows).causes] == [
        "Look into g_pay: a backlog that does not shrink",
        "Look into the cluster: slaves that lack what their masters have",
    ]


def test_no_two_causes_have_one_title():
    topics = ("pay", "refund")
    found = [a_finding("SUBSCRIPTION_MISMATCH", topic=topic) for topic in topics]
    mended = [
        a_recommendation(
            "FIX_SUBSCRIPTION", id=topic, rules=["SUBSCRIPTION_MISMATCH"], consumer_group="g_pay", topic=topic
        )
        for topic in topics
    ]
    rows = {"cluster": [a_cluster()], "group_status": [a_group()], "finding": found, "recommendation": mended}

    title = "Let all consumers of g_pay read the same messages: consumers of one group that subscribe differently"
    assert [cause.title for cause in plan_of(rows).causes] == [f"{title}, pay", f"{title}, refund"]


def test_no_two_lines_of_several_causes_have_one_title():
    severities = {"CRITICAL": range(6), "WARNING": range(6, 12)}
    found = [
        a_finding("LAG_STATE", severity=severity, consumer_group=f"g{number}", topic=None)
        for severity, numbers in severities.items()
        for number in numbers
    ]
    groups = [a_group(f"g{number}") for number in range(12)]
    page = read_page(page_of({"cluster": [a_cluster()], "group_status": groups, "finding": found}))

    titles = [text_of(title) for title in with_class(page, "title")]
    assert len(titles) == 14
    assert len(set(titles)) == 14
    assert {title.rpartition(" (")[2] for title in titles if " times: " in title} == {"critical)", "warning)"}


def test_one_list_has_every_cause_by_severity_and_its_counts_are_those_of_the_first_sentence():
    found = [
        *(a_finding("LAG_STATE", severity="CRITICAL", consumer_group=f"g{number}", topic=None) for number in range(15)),
        *(a_finding("TRAFFIC_SKEW", consumer_group=f"g{number}", topic=None) for number in range(2)),
        a_finding("STALE_OBJECT", severity="INFO", consumer_group="g0", topic=None),
    ]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(f"g{number}") for number in range(15)],
        "finding": found,
        "recommendation": [],
    }
    page = read_page(page_of(rows))
    (todo,) = (one for one in elements(page, "section") if one.get("aria-labelledby") == "first")

    assert text_of(next(iter(elements(todo, "h2")))) == "What to do 18"
    assert [text_of(one) for one in with_class(todo, "of-severity")] == ["Critical 15", "Warning 2", "Info 1"]
    (verdict,) = with_class(page, "verdict")
    assert text_of(verdict).startswith("15 things need attention now, 2 more should be looked at soon")
