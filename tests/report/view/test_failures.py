"""What failures would do, on the page: one table for the cluster, and one for each group in detail."""

from typing import Any

import pytest

from rocketmq_capacity.report.limits import LOSSES
from tests.report.from_rows import beside_of, page_of
from tests.report.page_reader import elements, read_page, text_of
from tests.report.row_builders import (
    a_cluster,
    a_cluster_failure,
    a_finding,
    a_group,
    a_group_failure,
    a_strategy,
    a_topic_failure,
)


def _rows(*groups: dict[str, Any], topics: Any = ()) -> Any:
    names = sorted({row["consumer_group"] for row in groups} | {"g_pay"})
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in names],
        "finding": [a_finding(consumer_group=name) for name in names],
        "group_failure": list(groups),
        "topic_failure": list(topics),
    }


def _lines(rows: Any, caption: str) -> list[list[str]]:
    tables = [one for one in elements(read_page(page_of(rows)), "table") if caption in text_of(one)]
    lines = [[text_of(cell) for cell in row if cell.tag.endswith(("th", "td"))] for row in elements(tables[0], "tr")]
    return lines[1:]


def test_a_brokers_loss_sums_over_groups_and_topics() -> None:
    rows = _rows(
        a_group_failure("g_pay", moved_today=3, busy_ratio=0.9, verdict="WORSE"),
        a_group_failure("g_log", moved_today=2, busy_ratio=0.4),
        topics=[a_topic_failure("pay", msgs_per_s=70.0), a_topic_failure("log", msgs_per_s=30.5)],
    )

    assert _lines(rows, "Queues are counted once for each group") == [
        ["Broker lost broker-a", "100.5", "8", "5", "90 %", "1: g_pay", "none", "none", "180 s"]
    ]


def test_what_is_unknown_is_said_and_never_counted_as_0() -> None:
    unknown: dict[str, Any] = {"moved_today": None, "busy_ratio": None, "verdict": "UNDECIDED"}
    rows = _rows(a_group_failure("g_pay", **unknown), topics=[a_topic_failure(msgs_per_s=None, writable_queues=None)])
    part = _rows(a_group_failure("g_pay", **unknown), a_group_failure("g_log"))

    (line,) = _lines(rows, "Queues are counted once for each group")
    assert line[1:6] == ["unknown", "4", "unknown", "unknown", "none (1 unknown)"]
    assert line[6] == "none"
    (line,) = _lines(part, "Queues are counted once for each group")
    assert line[3:6] == ["3 (1 unknown)", "50 %", "none (1 unknown)"]


def test_topics_that_nobody_can_read_or_write_are_named() -> None:
    gone: dict[str, Any] = {"readable_queues": 0, "writable_queues": 0}
    topics = [a_topic_failure(f"t{number}", **gone) for number in range(5)]
    topics += [a_topic_failure("never", was_readable=False, was_writable=False, **gone)]

    (line,) = _lines(_rows(a_group_failure(), topics=topics), "Queues are counted once for each group")

    assert line[6] == line[7] == "5: t0, t1, t2 and 2 more"


def test_what_each_group_loses_for_itself_is_one_line() -> None:
    rows = _rows(
        a_group_failure("g_pay", "BUSIEST_CLIENT", "c1", verdict="WORSE"),
        a_group_failure("g_log", "BUSIEST_CLIENT", "c9", moved_today=None),
    )

    (line,) = _lines(rows, "Queues are counted once for each group")

    assert line[0] == "The busiest client of each group is lost"
    assert line[1:3] == ["\u2013", "\u2013"]
    assert line[5] == "1: g_pay"


def test_the_most_harmful_brokers_come_first_and_the_rest_is_counted() -> None:
    brokers = [f"b{number:02}" for number in range(LOSSES + 4)]
    rows = _rows(
        *(a_group_failure(lost=broker, verdict="WORSE" if broker == "b19" else "UNCHANGED") for broker in brokers)
    )

    lines = _lines(rows, "Queues are counted once for each group")

    assert [line[0] for line in lines][:2] == ["Broker lost b19", "Broker lost b00"]
    assert len(lines) == LOSSES
    text = text_of(read_page(page_of(rows)))
    assert "4 more brokers and rooms do less harm" in text
    assert "The loss of 1 broker or room does harm" in text


def test_a_group_in_detail_has_its_own_table() -> None:
    rows = _rows(
        a_group_failure("g_pay", "ONE_MORE", None, moved_today=1, read_again_s=20.0),
        a_group_failure("g_pay", "BROKER", "broker-a", busy_lower=0.4, busy_upper=0.6),
        a_group_failure("g_pay", "BROKER", "broker-b", verdict="WORSE", reasons=["CAPACITY", "LOSS"]),
        a_group_failure("g_pay", "BROKER", "broker-c", verdict=None),
    )

    assert _lines(rows, "What failures would do to g_pay") == [
        ["Broker lost broker-a", "4", "3", "40 % to 60 %", "Unchanged", "180 s"],
        ["Broker lost broker-b", "4", "3", "50 %", "Worse: too busy, messages wait", "180 s"],
        ["Broker lost broker-c", "4", "3", "50 %", "unknown", "180 s"],
        ["One more client", "\u2013", "1", "50 %", "Unchanged", "20 s"],
    ]


def test_a_run_without_the_tables_has_neither() -> None:
    rows = _rows()

    assert not beside_of(rows).losses
    assert "If something fails" not in text_of(read_page(page_of(rows)))


@pytest.mark.parametrize(("moved", "shown"), [((1, None, 5), ["1", "\u2013", "5"]), ((None,) * 3, ["\u2013"] * 3)])
def test_a_strategy_shows_the_queues_that_move_and_leaves_whether_it_is_pareto_best_to_plan_json(
    moved: Any, shown: list[str]
) -> None:
    fewer, more, lost = moved
    churn = {"moved_one_fewer": fewer, "moved_one_more": more, "moved_broker_lost": lost, "is_pareto_best": True}
    rows = _rows() | {"strategy_load": [a_strategy(**churn)]}

    (telling,) = _lines(rows, "What the strategies that matter mean for g_pay")
    matrix = _lines(rows, "What each strategy would mean for g_pay")

    assert telling[0] == "AVG in use"
    assert telling[4:7] == matrix[-1][4:7] == shown


def test_masters_restarts_and_name_servers_say_who_can_read_and_when() -> None:
    nobody: dict[str, Any] = {"can_pull": False, "can_pop": False, "read_again_s": None}
    servers = [
        a_cluster_failure(),
        a_cluster_failure("NAME_SERVER", "n1:9876", is_writable=True, can_pull_in_order=True, read_again_s=0.0),
        a_cluster_failure("RESTART", **nobody | {"read_again_s": 75.4, "is_estimated": True}),
        a_cluster_failure(lost="broker-b", **nobody),
        a_cluster_failure(lost="broker-c", can_pull=None, read_again_s=None),
    ]
    lines = _lines({**_rows(a_group_failure("g_pay")), "cluster_failure": servers}, "Without a master")

    why = "Its slaves stay."
    assert lines == [
        ["Master lost broker-b", "no", "no", "no", "no", "not before it is back", why],
        ["Master lost broker-c", "no", "unknown", "no", "unknown", "unknown", why],
        ["Broker starts again broker-a", "no", "no", "no", "no", "about 75 s", why],
        ["Master lost broker-a", "no", "yes", "no", "unknown", "163 s", why],
        ["Name server lost n1:9876", "yes", "yes", "yes", "unknown", "0 s", why],
    ]


def test_of_many_servers_the_most_harmful_have_a_line() -> None:
    servers = [a_cluster_failure(lost=f"broker-{number:03}") for number in range(LOSSES + 2)]
    servers.append(a_cluster_failure(lost="last", can_pull=False))
    rows = {**_rows(a_group_failure("g_pay")), "cluster_failure": servers}
    lines = _lines(rows, "Without a master")

    assert (len(lines), lines[0][0]) == (LOSSES, "Master lost last")
    assert "The table cluster_failure has 3 more." in page_of(rows)
