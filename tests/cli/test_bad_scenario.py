"""Whatever is malformed in a scenario, or does not fit the cluster, is refused with its file and its place."""

from pathlib import Path

import pytest

from tests.cli.conftest import Refusal
from tests.cli.small_cluster import written

MALFORMED = [
    (
        "{name: x, changes: [{change: set_queues, topic: pay, read_queue_nums: -1, write_queue_nums: 0}]}",
        "changes[0].read_queue_nums",
    ),
    (
        "{name: x, changes: [{change: slow_broker, broker_name: broker-a, latency_ms: -1, for_s: 60}]}",
        "changes[0].latency_ms",
    ),
    ("{name: x, changes: [{change: slow_broker, broker_name: broker-a, latency_ms: 800}]}", "changes[0].for_s"),
    ("{name: x, changes: [{change: rolling_restart, consumer_group: g_pay, batch: 1}]}", "changes[0].pause_s"),
    ("{name: x, changes: [{change: lose_nameserver, nameserver: n, loss: SHUTDOWN}]}", "changes[0].loss"),
    (
        "{name: x, changes: [{change: rolling_restart, consumer_group: g_pay, batch: 0, pause_s: 30}]}",
        "changes[0].batch",
    ),
    (
        "{name: x, changes: [{change: rolling_restart, consumer_group: g_pay, batch: 1, pause_s: .inf}]}",
        "changes[0].pause_s",
    ),
    (
        "{name: x, changes: [{change: rolling_restart, consumer_group: g, batch: 1, pause_s: 1, ending: STOP}]}",
        "changes[0].ending",
    ),
]

UNFIT = [
    ("{change: add_clients, consumer_group: g_absent, count: 1}", "consumer_group"),
    ("{change: remove_clients, consumer_group: g_pay, client_ids: [absent]}", "client_ids"),
    ("{change: remove_clients, consumer_group: g_pay, count: 2}", "count"),
    ("{change: set_queues, topic: absent, read_queue_nums: 1, write_queue_nums: 1}", "topic"),
    ("{change: set_queues, topic: pay, broker_name: absent, read_queue_nums: 1, write_queue_nums: 1}", "broker_name"),
    ("{change: add_broker, broker_name: broker-a, topics_like: broker-a}", "broker_name"),
    ("{change: add_broker, broker_name: broker-b, topics_like: absent}", "topics_like"),
    ("{change: lose_broker, broker_name: absent}", "broker_name"),
    ("{change: read_only_broker, broker_name: absent}", "broker_name"),
    ("{change: lose_master, broker_name: absent}", "broker_name"),
    ("{change: slow_broker, broker_name: absent, latency_ms: 800, for_s: 60}", "broker_name"),
    ("{change: lose_room, room: hz}", "room"),
    ("{change: rolling_restart, consumer_group: g_absent, batch: 1, pause_s: 30}", "consumer_group"),
    ("{change: rolling_restart, consumer_group: g_pay, batch: 2, pause_s: 30}", "batch"),
    ("{change: subscribe, consumer_group: g_pay, topic: absent}", "topic"),
    ("{change: subscribe, consumer_group: g_pay, topic: pay}", "expression"),
    ("{change: unsubscribe, consumer_group: g_pay, topic: absent}", "topic"),
    ("{change: lose_nameserver, nameserver: '10.0.9.9:9876'}", "nameserver"),
    ("{change: scale_traffic, topic: absent, factor: 2.0}", "topic"),
    ("{change: set_strategy, consumer_group: g_absent, strategy: AVG}", "consumer_group"),
    (
        "{change: set_request_mode, consumer_group: g_absent, topic: pay, message_request_mode: POP}",
        "consumer_group",
    ),
]


def refused(refusal: Refusal, folder: Path, text: str) -> str:
    """The refusal of a plan with the scenario, without its beginning, the file's name."""
    scenario = folder / "what-if.yaml"
    scenario.write_text(text, encoding="utf-8")
    line = refusal("plan", "--inventory", written(folder), "--out", folder / "out", "--scenario", scenario)
    assert line.startswith(f"{scenario}: ")
    return line.removeprefix(f"{scenario}: ")


@pytest.mark.parametrize(("text", "place"), MALFORMED)
def test_a_malformed_scenario_is_refused(refusal: Refusal, tmp_path: Path, text: str, place: str) -> None:
    assert refused(refusal, tmp_path, text).startswith(f"{place}: ")


@pytest.mark.parametrize(("change", "member"), UNFIT)
def test_a_change_that_does_not_fit_the_cluster_is_refused(
    refusal: Refusal, tmp_path: Path, change: str, member: str
) -> None:
    said = refused(refusal, tmp_path, f"{{name: x, changes: [{{change: scale_traffic, factor: 1.0}}, {change}]}}")
    assert said.startswith(f"changes[1].{member}")
