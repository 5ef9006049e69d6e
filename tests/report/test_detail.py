"""Which groups have a section of their own."""

from rocketmq_capacity.report.detail import detailed_groups
from rocketmq_capacity.report.plan import plan_document
from tests.report.row_builders import a_cluster, a_finding, a_group


def test_the_worst_groups_come_first_and_unflagged_ones_fill_what_is_left():
    rows = {
        "cluster": [a_cluster()],
        "group_status": [
            a_group("a", provision_status="RIGHT_PROVISIONED"),
            a_group("b", provision_status="UNDER_PROVISIONED"),
            a_group("c", provision_status="OVER_PROVISIONED"),
            a_group("d"),
            a_group("e"),
            a_group("f"),
        ],
        "finding": [
            a_finding(consumer_group="d", severity="INFO"),
            a_finding(consumer_group="e", severity="CRITICAL"),
            a_finding(consumer_group="f", severity="WARNING"),
            a_finding(consumer_group="f", severity="WARNING", subjects=["x"]),
            a_finding(consumer_group=None, topic="pay", severity="CRITICAL"),
        ],
    }
    document = plan_document(rows)

    assert detailed_groups(document) == ("e", "f", "d", "b", "c", "a")
    assert detailed_groups(document, limit=2) == ("e", "f")
