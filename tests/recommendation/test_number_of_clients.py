"""A group is told one number of clients, and the plan's answers and its bounds for autoscalers agree on it."""

from typing import Any

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.assessment.judge import judge
from tests.recommendation.answers import answer
from tests.simulation.clusters import cluster, queues


def fleet(clients: int, rate: float, days: int = 14, strategy: str | None = None, **facts: Any) -> Inventory:
    """A group on a topic of six queues; a call of its listener takes 10 ms."""
    layout = [queues("broker-a", 3), queues("broker-b", 3)]
    rates = {(place.broker_name, i): rate for place in layout for i in range(3)}
    topic = a_topic("t", *layout, rates=rates, stored_days=days)
    about: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1, "status": takes("t", 10.0)}
    consumers = members(clients, allocate_strategy=strategy, **about)
    return cluster([topic], [a_group("g", consumers, [topic], **{"lag": 0, **facts})])


def test_a_group_that_needs_fewer_clients_gets_no_queues_for_the_idle_ones() -> None:
    """Stored peaks show that four of twelve are enough: neither six, one for each queue, nor more queues."""
    found = answer(fleet(12, rate=1.0))

    assert found.judged.rules("g") == {"CONSUMER_CAPACITY", "IDLE_CONSUMERS"}
    assert found.actions(topic="t") == []
    only = found.one("SCALE_CONSUMERS", "g")
    assert only["rules"] == ["CONSUMER_CAPACITY", "IDLE_CONSUMERS"]
    assert found.actions("g") == ["SCALE_CONSUMERS"]
    assert only["after"]["clients"] == found.judged.group("g")["target_replicas"] < 6
    assert "busy hour" not in only["reason"]


def test_clients_that_own_nothing_may_go_also_without_stored_peaks() -> None:
    inventory = fleet(9, rate=1.0, days=0)
    group = judge(inventory).group("g")

    assert answer(inventory).one("SCALE_CONSUMERS", "g")["after"]["clients"] == 6
    assert [group[f"{bound}_replicas"] for bound in ("min", "target", "max")] == [6, 6, 6]
    assert (group["scale_down_allowed"], group["scale_down_blocked_by"]) == (True, [])


def test_clients_that_own_nothing_stay_while_the_others_are_too_busy() -> None:
    group = judge(fleet(9, rate=900.0, days=0)).group("g")

    assert group["provision_status"] == "UNDER_PROVISIONED"
    assert (group["min_replicas"], group["scale_down_allowed"]) == (9, False)


def test_a_client_with_a_list_that_does_not_run_is_started() -> None:
    lists = {
        "g": {
            f"c{number:02}": [
                {"topic": "t", "broker_name": name, "queue_id": number - 1} for name in ("broker-a", "broker-b")
            ]
            for number in (1, 2, 3)
        }
    }
    policy = Policy.model_validate({"config_assignments": lists})

    found = answer(fleet(2, rate=1.0, strategy="CONFIG"), policy)

    assert found.judged.finding("ORPHAN_QUEUE", "g")["evidence"]["missing_clients"] == ["c03"]
    assert found.judged.finding("ORPHAN_QUEUE", "g")["message"].endswith("They are listed for c03, which does not run.")
    assert found.actions("g") == ["SCALE_CONSUMERS"]
    assert found.one("SCALE_CONSUMERS", "g")["reason"].startswith("Start c03: ")


def test_queues_that_no_list_has_are_not_said_to_be_listed() -> None:
    def of(*queues: int) -> list[dict[str, Any]]:
        return [{"topic": "t", "broker_name": "broker-a", "queue_id": number} for number in queues]

    lists = {"c01": of(0), "c02": of(1), "c03": of(2), "c04": of(2)}
    policy = Policy.model_validate({"config_assignments": {"g": lists}})

    found = answer(fleet(2, rate=1.0, strategy="CONFIG"), policy).judged.finding("ORPHAN_QUEUE", "g")

    assert found["evidence"]["missing_clients"] == ["c03", "c04"]
    assert found["message"].endswith(" 1 of them is listed for c03, c04, which do not run; no list has the others.")


def test_clients_that_own_nothing_stay_as_the_bounds_say_while_messages_wait() -> None:
    """A group in trouble keeps everybody: the plan names no other number than the autoscaler gets."""
    behind = [(100_000 - 500 * n, 95_000 - 400 * n) for n in range(9, 0, -1)]
    each = [("t", name, i) for name in ("broker-a", "broker-b") for i in range(3)]
    found = answer(fleet(9, rate=1.0, days=0, lag=5_000, samples=dict.fromkeys(each, behind)))
    group = found.judged.group("g")

    assert {"IDLE_CONSUMERS", "LAG_STATE"} <= found.judged.rules("g")
    assert (group["min_replicas"], group["scale_down_allowed"]) == (9, False)
    assert "SCALE_CONSUMERS" not in found.actions("g")
