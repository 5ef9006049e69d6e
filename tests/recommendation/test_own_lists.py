"""A group that runs CONFIG: queues that no list has, and queues that several lists have."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from rocketmq_capacity.assessment.membership import ONE_LIST
from rocketmq_capacity.assessment.ownership import ADD_TO_A_LIST
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryTopic
from tests.assessment.cases import a_group, a_topic, members
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import cluster, queues


def under_config(lists: dict[str, list[int]], others: Sequence[InventoryTopic] = (), **told: Any) -> PlainPlan:
    """A group of three clients with lists of the four queues of a topic; it reads ``others``, too."""
    topic = a_topic("listed", queues("broker-a", 4), rates={("broker-a", i): 10.0 for i in range(4)})
    rows = {
        client_id: [{"topic": "listed", "broker_name": "broker-a", "queue_id": i} for i in ids]
        for client_id, ids in lists.items()
    }
    policy = Policy.model_validate({
        "current_strategies": {"default": "CONFIG"},
        "config_assignments": {"listed": rows},
        **told,
    })
    topics = [topic, *others]
    return plain_plan(cluster(topics, [a_group("listed", members(3), topics)]), policy)


def of_rule(plan: PlainPlan, rule: str) -> Any:
    return next((one for one in plan.findings if one.rule == rule), None)


def test_a_queue_in_two_lists_is_read_twice_and_both_lists_are_named() -> None:
    plan = under_config({"c01": [0, 1], "c02": [1, 2], "c03": [3]})

    found = of_rule(plan, "MIXED_STRATEGIES")
    assert (found.severity, found.subjects) == ("CRITICAL", ("c01", "c02"))
    assert found.message == "The lists of several clients have broker-a:1: 1 queue is read twice."
    shared = msgspec.json.decode(found.evidence)["shared_queues"]
    assert shared == [{"topic": "listed", "broker_name": "broker-a", "queue_id": 1, "client_ids": ["c01", "c02"]}]
    (first,) = (one for one in plan.recommendations if "MIXED_STRATEGIES" in one.rules)
    assert first.action == "CHANGE_STRATEGY"
    assert "Or keep CONFIG" in first.reason
    assert first.reason.endswith("(config_assignments). Keep broker-a:1 in the list of only one of c01, c02.")


def test_queues_of_a_group_with_several_topics_are_named_with_their_topic() -> None:
    plan = under_config({"c01": [0, 1], "c02": [1, 2], "c03": []}, [a_topic("other", queues("broker-a", 0))])

    message = of_rule(plan, "MIXED_STRATEGIES").message
    assert message == "The lists of several clients have listed/broker-a:1: 1 queue is read twice."
    (first,) = (one for one in plan.recommendations if "MIXED_STRATEGIES" in one.rules)
    assert "Add listed/broker-a:3 to the list of one client. Keep listed/broker-a:1 in" in first.reason


def test_a_queue_in_no_list_and_one_in_two_are_two_findings_and_their_answer_says_which_lists_change() -> None:
    plan = under_config({"c01": [0, 1], "c02": [1, 2], "c03": []})

    orphan = of_rule(plan, "ORPHAN_QUEUE")
    assert orphan.message == "Nobody reads 1 of 4 queues: broker-a:3. No running client's list has it."
    assert of_rule(plan, "MIXED_STRATEGIES") is not None
    (first,) = (one for one in plan.recommendations if "ORPHAN_QUEUE" in one.rules)
    assert first.reason.endswith(
        " Add broker-a:3 to the list of one client. Keep broker-a:1 in the list of only one of c01, c02."
    )
    # The client without a list is the one that can have the queue.
    assert {one.action for one in plan.recommendations} == {"CHANGE_STRATEGY"}


@pytest.mark.parametrize(
    ("lists", "advice"),
    [
        ({"c01": [0, 1], "c02": [1, 2], "c03": [3]}, ONE_LIST),
        ({"c01": [0], "c02": [1], "c03": [3]}, ADD_TO_A_LIST),
    ],
)
def test_without_another_strategy_the_advice_is_to_change_the_lists(lists: dict[str, list[int]], advice: str) -> None:
    (only,) = under_config(lists, strategies=["CONFIG"]).recommendations
    assert (only.action, only.reason) == ("INVESTIGATE", advice)


def test_lists_that_name_each_queue_once_are_no_finding() -> None:
    plan = under_config({"c01": [0, 1], "c02": [2], "c03": [3]})
    assert of_rule(plan, "MIXED_STRATEGIES") is None
    assert of_rule(plan, "ORPHAN_QUEUE") is None


def test_who_may_leave_a_group_with_lists_is_only_a_client_without_one() -> None:
    plan = under_config({"c01": [0, 1], "c02": [2, 3], "c03": []})
    (fewer,) = (one for one in plan.recommendations if one.action == "SCALE_CONSUMERS")
    assert "No other client may leave: under CONFIG nobody takes over its queues." in fewer.reason
