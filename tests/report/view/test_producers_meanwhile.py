"""What producers do meanwhile, on the page of a what-if: a table of all routes."""

from typing import Any

import msgspec

from rocketmq_capacity.plan_file.troubled_broker import Producers
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.view.producers_meanwhile import producers_meanwhile
from tests.report.from_rows import beside_of, page_of, plan_of
from tests.report.made_scenario import a_scenario, scenario_page
from tests.report.page_reader import read_page, text_of
from tests.report.sample_cluster import sample_rows

KIND: dict[str, Any] = {"client": "JAVA", "versions": "4.9.8", "has_fault_tolerance": True, "has_detector": False}


def a_course(**changes: Any) -> dict[str, Any]:
    return {
        **KIND,
        "ending": None,
        "trouble_s": 60.0,
        "troubled_ratio": 0.25,
        "failed_ratio": 0.125,
        "failed_messages": 1234.0,
        "last_failed_s": 59.5,
        "tries_per_message": 1.5,
        "mean_latency_ms": 205.0,
        "usual_latency_ms": 5.0,
        "returns_mean_s": 3.5,
        "returns_worst_s": 7.25,
        "stays_away_ratio": 0.0,
        "left_worst_s": None,
        "displaced_queues": 0.0,
        "afterwards_ratios": {"broker-a": 0.5, "broker-b": 0.5},
        **changes,
    }


def producers(*courses: dict[str, Any], **changes: Any) -> dict[str, Any]:
    route = {
        "route": 1,
        "write_queue_nums": {"broker-a": 4, "broker-b": 4},
        "topics": 5,
        "topic_names": ["pay", "ship"],
        "put_msgs_per_s": 10.0,
        "courses": courses or (a_course(),),
    }
    return {
        "troubled_brokers": ["broker-b"],
        "send_interval_ms": 100,
        "usual_latency_ms": 5,
        "poll_nameserver_s": 30.0,
        "producers": {"4.9.8": 3},
        "routes": [route],
        "routes_left_out": 0,
        "topics_left_out": 2,
        **changes,
    }


def shown(found: dict[str, Any]) -> Any:
    return producers_meanwhile(msgspec.convert(found, Producers))


def test_the_page_has_the_table_and_what_is_assumed() -> None:
    page = page_of(sample_rows(), scenario=a_scenario() | {"producers": producers()})
    text = text_of(read_page(page))

    assert "What producers do meanwhile" in text
    assert "The snapshot has 3 producers 4.9.8." in text
    assert "pay, ship and 3 more" in text
    assert "Each thread sends a message every 100 ms" in text
    assert "Left out: 2 topics" in text
    assert "Chart: Share of the messages" not in page


def test_the_chinese_page_names_the_kinds_of_producers_in_chinese() -> None:
    kinds = a_course(ending="KILL"), a_course(versions="all", has_fault_tolerance=False)
    plan = plan_of(sample_rows(), scenario=a_scenario() | {"producers": producers(*kinds)})

    text = text_of(read_page(render_report(plan, beside_of(sample_rows()), "zh-CN")))

    assert all(words in text for words in ("开启延迟容错", "被终止", "所有版本的 Java", "未开启延迟容错"))


def test_without_such_a_change_the_page_has_no_such_section() -> None:
    assert "What producers do meanwhile" not in text_of(scenario_page())


def test_a_line_of_the_table_has_every_figure_of_its_kind() -> None:
    (row,) = shown(producers()).rows

    assert row == (
        "4.9.8, with tolerance",
        "pay, ship and 3 more",
        "25 %",
        "12.5 % (1,234)",
        "59.5 s",
        "1.5",
        "205 ms",
        "3.5 s, 7.25 s",
        "",
        "0",
    )


def test_producers_that_stay_away_and_displaced_queues_are_described_in_words() -> None:
    lost = a_course(ending="KILL", left_worst_s=29.0, returns_mean_s=None, returns_worst_s=None, stays_away_ratio=None)
    away = a_course(client="PROXY", versions="all", stays_away_ratio=1.0, returns_mean_s=None, returns_worst_s=None)
    moved = a_course(displaced_queues=8.0)
    found = shown(producers(lost, away, moved))

    assert found.rows[0][0] == "4.9.8, with tolerance, killed"
    assert found.rows[0][8] == "29 s"
    assert found.rows[1][7] == "never"
    assert found.rows[2][9] == "8"


def test_nothing_is_shown_if_no_topic_has_queues_there() -> None:
    assert shown(producers(routes=[])) is None


def test_topics_for_which_only_a_killed_broker_is_computed_are_counted() -> None:
    killed, silent = a_course(ending="KILL"), a_course(ending="SILENT")
    found = producers(killed, silent, topics_left_out=0)
    short = {**found["routes"][0], "route": 2, "topics": 3, "courses": (killed,)}

    assert shown(found).left_out == ""
    left_out = shown({**found, "routes": [*found["routes"], short]}).left_out
    assert (
        left_out == "For 3 topics with a rare layout of queues, only killed brokers are computed, and no silent ones."
    )
