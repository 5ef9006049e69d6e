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
    a_producer_failure,
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
    page = page_of(rows)
    assert "The table cluster_failure has 3 more." in page
    assert "But if the master of 1 broker is lost, nobody reads what stands in its queues until it is back." in page


def test_a_master_whose_slaves_serve_its_queues_holds_back_nothing() -> None:
    page = page_of({**_rows(a_group_failure("g_pay")), "cluster_failure": [a_cluster_failure()]})
    assert "Without a master" in page
    assert "nobody reads what stands in" not in page


def _of_producers(*rows: dict[str, Any]) -> list[list[str]]:
    return _lines({**_rows(a_group_failure("g_pay")), "producer_failure": rows}, "What producers see")


def test_brokers_whose_loss_is_the_same_to_producers_share_a_line() -> None:
    silent: dict[str, Any] = {"ending": "SILENT", "failing": "ALL", "worst_ms": 3_000, "until_s": 155.0}
    brokers = [f"broker-{letter}" for letter in "abcde"]
    rows = [row for name in brokers for row in (a_producer_failure(name), a_producer_failure(name, **silent))]

    named, how = "broker-a, broker-b, broker-c and 2 more", "all: synchronous, 2 retries, 3,000 ms"
    assert _of_producers(*rows) == [
        [f"Silent {named}", how, "1", "all", "exception of send", "3,000 ms", "155 s"],
        [f"Killed {named}", how, "1", "none", "exception of send", "15 ms", "30 s"],
    ]


def test_groups_that_see_the_same_share_a_line_and_what_nobody_notices_comes_first() -> None:
    often: dict[str, Any] = {"retries": 5, "producer_groups": ["p_a", "p_b", "p_c", "p_d"]}
    one_way: dict[str, Any] = {
        "sending": "ONEWAY",
        "retries": 0,
        "timeout_ms": None,
        "producer_groups": ["p_log"],
        "failing": "ALL",
        "noticed_by": "NOBODY",
        "worst_ms": 0,
    }
    only: dict[str, Any] = {"failed_tries": 3, "failing": "ONLY_THERE", "until_s": None}
    rows = a_producer_failure(), a_producer_failure(**often), a_producer_failure(**one_way)
    unknown = a_producer_failure("broker-c", failed_tries=None, failing=None)

    p_pay, p_a = "p_pay: synchronous, 2 retries, 3,000 ms", "p_a, p_b, p_c and 1 more: synchronous, 5 retries, 3,000 ms"
    assert _of_producers(*rows, a_producer_failure("broker-b", **only), unknown) == [
        ["Killed broker-a", "p_log: one-way", "1", "all", "nobody", "0 ms", "30 s"],
        [
            "Killed broker-b",
            *(p_pay, "3", "those of topics that are only there", "exception of send", "15 ms", "it is back"),
        ],
        ["Killed broker-c", p_pay, "unknown", "unknown", "exception of send", "15 ms", "30 s"],
        ["Killed broker-a", f"{p_pay}; {p_a}", "1", "none", "exception of send", "15 ms", "30 s"],
    ]


def test_of_unknown_producers_each_way_to_send_of_the_policy_has_its_words() -> None:
    sync, late = a_producer_failure(producer_groups=[]), a_producer_failure(producer_groups=[], timeout_ms=500)

    ((*_, how, tries, _failing, _noticed, _worst, _until),) = _of_producers(sync, late)
    assert (how, tries) == ("synchronous, 2 retries, 3,000 ms; synchronous, 2 retries, 500 ms", "1")


def test_of_many_lines_about_producers_the_most_harmful_are_shown() -> None:
    rows = [a_producer_failure(f"broker-{n:03}", worst_ms=n) for n in range(LOSSES + 1)]
    page = page_of({**_rows(a_group_failure("g_pay")), "producer_failure": rows})

    assert len(_of_producers(*rows)) == LOSSES
    assert "The table producer_failure has more." in page
    assert "What producers see" not in page_of(_rows(a_group_failure("g_pay")))
