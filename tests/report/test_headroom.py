"""The headroom in plan.json: of each group, and the ten lowest of all."""

from rocketmq_capacity.plan_file.headroom import Headroom
from rocketmq_capacity.report.headroom import lowest_headroom
from rocketmq_capacity.tables.assess.groups import GroupStatus
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_group


def _row(name: str, factor: float) -> dict[str, object]:
    known = {"headroom_factor": factor, "headroom_measured_factor": factor * 3, "headroom_breaks": "UTILISATION"}
    return a_group(name, **known)


def test_the_ten_lowest_come_first_and_groups_without_known_headroom_are_not_among_them() -> None:
    rows = [_row(f"g{number:02}", 12.5 - number) for number in range(12)]
    plan = plan_of({"cluster": [a_cluster()], "group_status": [*rows, a_group("unknown")]})

    assert [(one.name, one.factor) for one in plan.headroom] == [(f"g{n:02}", 12.5 - n) for n in range(11, 1, -1)]
    first, *_, last = plan.groups
    assert first.headroom is not None
    assert (first.headroom.factor, first.headroom.measured_factor) == (12.5, 37.5)
    assert last.headroom is None


def test_topics_and_brokers_are_in_the_same_list() -> None:
    group = GroupStatus(
        consumer_group="g",
        message_request_mode="PULL",
        connections=1,
        distinct_client_ids=1,
        topics=(),
        provision_status="RIGHT_PROVISIONED",
        headroom_factor=2.0,
        headroom_measured_factor=2.0,
        headroom_breaks="UTILISATION",
    )
    broker = Headroom(kind="BROKER", name="broker-a", factor=1.5, breaks="UTILISATION")

    assert [one.kind for one in lowest_headroom([group], [broker])] == ["BROKER", "GROUP"]
