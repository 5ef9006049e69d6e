"""The titles of causes."""

from tests.report.from_rows import plan_of
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
