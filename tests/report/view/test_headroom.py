"""The table of what breaks first when traffic grows."""

from typing import Any

from msgspec.structs import replace

from rocketmq_capacity.plan_file.headroom import Headroom
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.rows import PageRows
from tests.report.from_rows import beside_of, plan_of
from tests.report.page_reader import elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_group


def _table(*found: Headroom) -> list[Any]:
    rows = {"cluster": [a_cluster()], "group_status": [a_group()]}
    beside: PageRows = beside_of(rows)
    return with_class(read_page(render_report(replace(plan_of(rows), headroom=found), beside)), "headroom")


def test_without_any_known_headroom_there_is_no_table() -> None:
    assert _table() == []


def test_the_caption_counts_what_is_listed() -> None:
    group = Headroom(kind="GROUP", name="g_pay", factor=0.5, breaks="UTILISATION")
    broker = Headroom(kind="BROKER", name="broker-a", factor=3.0, breaks="DISK")

    assert text_of(elements(_table(group)[0], "caption")[0]).startswith(
        "The only group, topic or broker whose headroom"
    )
    assert text_of(elements(_table(group, broker)[0], "caption")[0]).startswith("The 2 lowest of all groups, topics")


def test_the_lowest_is_first_a_group_is_a_link_and_what_is_beyond_its_bound_says_so() -> None:
    (table,) = _table(
        Headroom(kind="GROUP", name="g_pay", factor=0.5, breaks="UTILISATION"),
        Headroom(kind="BROKER", name="broker-a", factor=3.0, breaks="DISK"),
    )

    first, second = elements(table, "tr")[1:]
    assert [link.get("href") for link in elements(table, "a")] == ["#line-1"]
    assert text_of(first).startswith("g_pay")
    assert text_of(first).endswith(": so it is at the peak already")
    assert "broker-a" in text_of(second)
    assert "already" not in text_of(second)
