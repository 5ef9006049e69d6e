"""The brokers, and the headroom of brokers and topics, in plan.json and on the page."""

from typing import Any

from rocketmq_capacity.report.limits import TABLE_ROWS
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import by_id, read_page, table_of, text_of
from tests.report.row_builders import a_cluster, a_group, a_strategy

GIB = 2**30


def a_load(name: str = "broker-a", **facts: Any) -> dict[str, Any]:
    """A broker that stores half of what the policy says, with room on its disk."""
    usual: dict[str, Any] = {
        "topics": 30,
        "put_msgs_per_s": 2_000.0,
        "most_msgs_per_s": 4_000.0,
        "most_source": "TOLD",
        "busy_ratio": 0.5,
        "kept_bytes": 30.0 * GIB,
        "room_bytes": 90.0 * GIB,
        "worst_loss": "broker-b",
        "loss_msgs_per_s": 2_500.0,
        "loss_ratio": 0.625,
        "headroom_factor": 2.0,
        "headroom_breaks": "PUT_MESSAGES",
    }
    return {"broker_name": name, **usual, **facts}


def rows(*loads: dict[str, Any], topics: Any = ()) -> dict[str, Any]:
    busy = {"headroom_factor": 1.75, "headroom_measured_factor": 3.5, "headroom_breaks": "UTILISATION"}
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group("g_pay", **busy)],
        "strategy_load": [a_strategy("g_pay")],
        "broker_load": list(loads),
        "topic_headroom": list(topics),
    }


def test_groups_brokers_and_topics_are_listed_by_what_breaks_first() -> None:
    alone = {"topic": "pay", "factor": 1.5, "breaks": "PUT_BYTES", "broker_name": "broker-a"}
    of = rows(a_load(), topics=[alone])

    assert [(one.kind, one.name, one.factor, one.breaks) for one in plan_of(of).headroom] == [
        ("TOPIC", "pay", 1.5, "PUT_BYTES"),
        ("GROUP", "g_pay", 1.75, "UTILISATION"),
        ("BROKER", "broker-a", 2.0, "PUT_MESSAGES"),
    ]


def test_a_broker_has_a_line_with_its_load_its_disk_and_its_neighbour_lost() -> None:
    full = {"room_bytes": 20.0 * GIB, "disk_days": 2.5, "most_source": "SEEN", "put_msgs_per_s": 1_000.0}
    unknown = dict.fromkeys(a_load()) | {"broker_name": "broker-c", "topics": 0}

    page = page_of(rows(a_load(), a_load("broker-b", **full), unknown))

    assert table_of(read_page(page), "What each broker stores")[1:] == [
        [
            "broker-a", "30", "2,000", "50 % of the policy", "30 GiB of 90 GiB",
            "2,500 without broker-b (62.5 %)", "2 \u00d7",
        ],
        [
            "broker-b", "30", "1,000", "50 % of the most that was seen", "30 GiB of 20 GiB: full in 2.5 days",
            "2,500 without broker-b (62.5 %)", "2 \u00d7",
        ],
        ["broker-c", "0", "unknown", "unknown", "unknown", "unknown", "unknown"],
    ]  # fmt: skip


def test_brokers_of_the_plan_are_in_the_order_of_their_names() -> None:
    (first, second) = plan_of(rows(a_load("broker-b"), a_load(put_msgs_per_s=1234.56789))).brokers

    assert (first.broker_name, second.broker_name) == ("broker-a", "broker-b")
    # Sums of floating-point numbers may differ in their last digits from run to run.
    assert first.put_msgs_per_s == 1234.57


def test_of_many_brokers_those_that_store_most_are_shown_and_the_rest_is_counted() -> None:
    many = [a_load(f"b{number:03}", put_msgs_per_s=float(number)) for number in range(TABLE_ROWS + 5)]

    page = page_of(rows(*many))

    shown = table_of(read_page(page), "What each broker stores")[1:]
    assert (len(shown), shown[0][0]) == (TABLE_ROWS, f"b{TABLE_ROWS + 4:03}")
    assert "The table broker_load has 5 more." in text_of(read_page(page))


def test_a_plan_of_an_earlier_version_has_no_such_section() -> None:
    assert by_id(read_page(page_of(rows(a_load()))), "brokers") is not None
    assert 'id="brokers"' not in page_of(rows())
