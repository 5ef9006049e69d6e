"""Each change of the queues that producers see says which ordered messages go to other queues."""

from typing import Any

import pytest

from rocketmq_capacity.recommendation.broker_plans import remove_broker_plan
from rocketmq_capacity.recommendation.ordered_messages import moved_messages, moved_messages_sentence
from tests.recommendation.plans_in_steps import added, of_topic, plan_to
from tests.simulation.clusters import queues

FOUR = (queues("broker-a", 2), queues("broker-b", 2))


@pytest.mark.parametrize(
    ("facts", "of_groups"), [({"message_type": "FIFO"}, 0.625), ({"order": True}, None), ({"orderly": True}, None)]
)
def test_a_topic_that_is_consumed_in_order_says_what_moves(facts: dict[str, Any], of_groups: float | None) -> None:
    in_order = {"orderly": facts.pop("orderly")} if "orderly" in facts else {}
    topic = of_topic(*FOUR, groups=(("g_pay", 4, in_order),), **facts)
    found = moved_messages(topic, {"broker-a": 3, "broker-b": 3})

    assert found is not None
    # Of the hashes 0 to 11 only 0 and 1 keep their queue, a:0 and a:1.
    assert (found.queues_before, found.queues_after, found.of_groups) == (4, 6, of_groups)
    assert found.of_keys == pytest.approx(1 - 2 / 12)


def test_messages_without_an_order_may_go_anywhere() -> None:
    assert moved_messages_sentence(of_topic(*FOUR), {"broker-a": 3}) is None


def test_the_same_queues_move_nothing() -> None:
    assert moved_messages_sentence(of_topic(*FOUR, order=True), {"broker-a": 2}) is None


def test_where_nobody_can_write_nothing_moves() -> None:
    assert moved_messages(of_topic(*FOUR, order=True), {}) is None


@pytest.mark.parametrize("number", [1, 4])
def test_a_plan_for_another_number_of_queues_says_it(number: int) -> None:
    (plan,) = plan_to(of_topic(*FOUR, order=True), number)

    assert f"With {2 * number} instead of 4 write queues producers that choose by the hash of a key" in plan.reason


def test_a_plan_for_a_broker_says_it_of_each_topic() -> None:
    topic = of_topic(*FOUR, order=True)
    comes, goes = added(topic, topic.cluster), remove_broker_plan(topic.cluster, "broker-b", [topic])
    words = "pay is consumed in order. With {} instead of 4 write queues producers that choose by the hash of a key"

    assert any(words.format(12) in block for block in comes.steps[1].blocks)
    assert any(words.format(2) in block for block in goes.steps[0].blocks)
