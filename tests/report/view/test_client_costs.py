"""What clients cost brokers, in plan.json and on the page, and what a what-if changes of it."""

from typing import Any

from msgspec import to_builtins

from rocketmq_capacity.plan_file.client_cost import ClientCostChange, ClientRequests
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.client_costs import client_costs_view, cost_changes_lines
from tests.report.from_rows import page_of, plan_of
from tests.report.made_scenario import scenario_page
from tests.report.page_reader import read_page, table_of, text_of
from tests.report.view.test_brokers import a_load, rows

CAPTION = "What clients ask of each broker"


def a_cost(name: str = "broker-a", **facts: Any) -> dict[str, Any]:
    """300 clients that pull 600 queues, and nobody that pops."""
    usual: dict[str, Any] = {
        "connections": 300,
        "heartbeats_per_s": 10.0,
        "member_lookups_per_s": 30.0,
        "assignment_queries_per_s": 0.0,
        "offset_commits_per_s": 120.0,
        "waiting_pulls": 600,
        "waiting_pops": 0,
        "pulls_per_s_lower": 30.0,
        "pulls_per_s_upper": 540.0,
        "pops_per_s_lower": 0.0,
        "pops_per_s_upper": 0.0,
        "acks_per_s": 0.0,
        "counted_reads_per_s": 123.4,
    }
    return {"broker_name": name, **usual, **facts}


def a_pool(pool: str, thread_ms: float | None, name: str = "broker-a") -> dict[str, Any]:
    return {"broker_name": name, "pool": pool, "threads": 20, "queue_capacity": 100_000, "thread_ms": thread_ms}


def with_costs(*costs: dict[str, Any], pools: Any = ()) -> dict[str, Any]:
    return rows(*(a_load(one["broker_name"]) for one in costs)) | {"client_cost": list(costs), "broker_pool": pools}


def requests(**facts: Any) -> ClientRequests:
    known = {name: value for name, value in a_cost(**facts).items() if name in ClientRequests.__struct_fields__}
    return ClientRequests(**known)


def test_a_broker_has_what_clients_ask_of_it_and_its_scarcest_pool() -> None:
    pools = [a_pool("pullMessageThreadPoolNums", 18.5), a_pool("ackMessageThreadPoolNums", None)]
    unknown = dict.fromkeys(a_cost()) | {"broker_name": "broker-b", "pulls_per_s_lower": 4.5, "pops_per_s_lower": 0.0}
    page = page_of(with_costs(a_cost(), unknown, pools=pools))

    assert table_of(read_page(page), CAPTION)[1:] == [
        ["broker-a", "300", "10", "150", "600", "30 to 540", "0", "18.5 ms: pullMessageThreadPoolNums 20"],
        [
            "broker-b", "unknown", "unknown", "unknown", "unknown",
            "4.5 or more", "0 or more", "unknown",
        ],
    ]  # fmt: skip


def test_the_plan_has_the_figures_and_the_pools_of_each_broker() -> None:
    pools = [a_pool("pullMessageThreadPoolNums", 18.5), a_pool("ackMessageThreadPoolNums", None)]
    (broker,) = plan_of(with_costs(a_cost(heartbeats_per_s=10 + 1e-12), pools=pools)).brokers

    assert broker.clients == requests()
    assert broker.counted_reads_per_s == 123.4
    assert [one.pool for one in broker.pools] == ["ackMessageThreadPoolNums", "pullMessageThreadPoolNums"]


def test_a_plan_of_an_earlier_version_does_not_know() -> None:
    of = rows(a_load())
    (broker,) = plan_of(of).brokers
    assert (broker.clients, broker.pools) == (None, ())
    assert CAPTION not in page_of(of)


def test_of_many_brokers_those_with_most_connections_are_shown_and_the_rest_is_counted() -> None:
    many = [a_cost(f"b{number:03}", connections=number) for number in range(TABLE_ROWS + 3)]
    view = client_costs_view(plan_of(with_costs(*many)).brokers)

    assert view is not None
    assert (len(view), view[0].name, view.more) == (TABLE_ROWS, f"b{TABLE_ROWS + 2:03}", 3)
    assert "The table client_cost has 3 more." in text_of(read_page(page_of(with_costs(*many))))


def test_the_page_of_a_what_if_has_a_line_for_each_broker_that_changes() -> None:
    more = to_builtins(ClientCostChange(broker_name="broker-a", before=requests(), after=requests(waiting_pulls=612)))
    page = text_of(scenario_page(client_costs=[more]))

    assert "broker-a: pulls that wait 600 → 612" in page
    assert "What clients cost brokers" not in text_of(scenario_page())


def test_a_what_if_says_only_what_changes() -> None:
    more = requests(connections=302, heartbeats_per_s=10.07, pulls_per_s_upper=None)
    changes = [
        ClientCostChange(broker_name="broker-a", before=requests(), after=more),
        ClientCostChange(broker_name="broker-b", before=requests(), after=None),
        ClientCostChange(broker_name="broker-c", before=None, after=requests()),
    ]
    assert cost_changes_lines(changes) == (
        ("broker-a", "connections 300 → 302; heartbeats/s 10 → 10.07; pulls/s 30 to 540 → 30 or more"),
        ("broker-b", "gone"),
        ("broker-c", "new: 300 connections"),
    )
