"""ORPHAN_QUEUE of popped queues that brokers assign to nobody: they do not know the clients' strategy."""

from collections.abc import Sequence

import pytest

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryConsumeStatus
from tests.assessment.cases import a_group, a_topic, ago, member, pops
from tests.assessment.judge import judge, named
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues


def popping(*strategies: str | None, share: int = -1, consumed_msgs_per_s: float = 0.0) -> Inventory:
    rates = {"consume_ok_msgs_per_s": consumed_msgs_per_s, "consume_failed_msgs_per_s": 0.0}
    told = {"started_at": ago(5), "status": (InventoryConsumeStatus(topic="t", **rates),)}
    clients = [member(f"c{i}", allocate_strategy=name, **told) for i, name in enumerate(strategies)]
    topic = a_topic("t", queues("broker-a", 4))
    return cluster([topic], [a_group("g", clients, [topic], subscriptions=(pops("t", share),))])


@pytest.mark.parametrize("share", [-1, 1])
@pytest.mark.parametrize(
    ("strategies", "named_ones"),
    [
        (["CONSISTENT_HASH"] * 3, "CONSISTENT_HASH"),
        (["MACHINE_ROOM_NEARBY"] * 3, "MACHINE_ROOM_NEARBY"),
        (["CONFIG", "MACHINE_ROOM", "CONFIG"], "CONFIG, MACHINE_ROOM"),
    ],
)
def test_no_popped_queue_is_read_by_clients_whose_strategy_no_broker_knows(
    share: int, strategies: Sequence[str], named_ones: str
) -> None:
    judgement = judge(popping(*strategies, share=share))
    row, (status,) = judgement.finding("ORPHAN_QUEUE"), judgement.groups

    assert row["queues"] == named("t", "broker-a", 0, 1, 2, 3)
    assert (row["severity"], row["evidence"]["cause"]) == ("CRITICAL", "NOT_ASSIGNED")
    assert row["message"].endswith(f" Brokers assign them by AVG or AVG_BY_CIRCLE, and clients run {named_ones}.")
    assert status["reading_status"] == "UNREAD"


@pytest.mark.parametrize(
    "strategies",
    [
        pytest.param(["AVG"] * 3, id="AVG"),
        pytest.param(["AVG_BY_CIRCLE"] * 3, id="AVG_BY_CIRCLE"),
        pytest.param([None] * 3, id="not reported"),
        pytest.param(["AVG", "CONSISTENT_HASH", "AVG"], id="others pop all"),
    ],
)
def test_popped_queues_have_readers_otherwise(strategies: Sequence[str | None]) -> None:
    judgement = judge(popping(*strategies))

    assert judgement.found("ORPHAN_QUEUE") is None
    assert judgement.groups[0]["reading_status"] == "READ"


def test_brokers_know_the_strategy_of_clients_that_consume_what_they_pop() -> None:
    judgement = judge(popping(*["CONSISTENT_HASH"] * 3, consumed_msgs_per_s=0.5))

    assert judgement.found("ORPHAN_QUEUE") is None
    assert judgement.groups[0]["reading_status"] == "READ"


def test_the_answer_is_another_strategy_and_neither_clients_nor_queues() -> None:
    (answer,) = (
        one for one in plain_plan(popping(*["CONSISTENT_HASH"] * 3)).recommendations if one.consumer_group == "g"
    )

    assert (answer.action, list(answer.rules)) == ("INVESTIGATE", ["ORPHAN_QUEUE"])
    assert answer.reason.startswith("Set AVG in the clients' code (setAllocateMessageQueueStrategy) and restart all")
