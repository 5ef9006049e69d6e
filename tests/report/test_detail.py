"""Which groups have a section of their own."""

from rocketmq_capacity.report.detail import detailed_groups, worst_groups
from rocketmq_capacity.report.limits import GROUPS_IN_DETAIL
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group


def test_the_worst_groups_come_first_and_those_that_need_a_change_are_shown_in_detail():
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

    assert worst_groups(plan_of(rows)) == ("e", "f", "d", "b", "c", "a")
    assert detailed_groups(plan_of(rows)) == ("e", "f")


def test_a_page_has_room_for_so_many_groups_in_detail():
    names = [f"g{n:03}" for n in range(100)]
    plan = plan_of({
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in names],
        "finding": [a_finding(consumer_group=name) for name in names],
    })

    assert detailed_groups(plan) == tuple(names[:GROUPS_IN_DETAIL])
