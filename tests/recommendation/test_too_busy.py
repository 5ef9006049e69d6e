"""A group that is too busy: the smallest queues and clients together, and no second cause for what follows from it."""

import json
from typing import Any

import pytest

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus, TopicQueues
from rocketmq_capacity.tables import Finding, Recommendation
from tests.assessment.cases import a_group, a_topic, member, members, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues

CAPACITY = "CONSUMER_CAPACITY"
TWO_EACH = (queues("broker-a", 2), queues("broker-b", 2))
FOUR = (queues("broker-a", 4),)


def a_plan(clients: int, busy: float, *layouts: tuple[TopicQueues, ...], threads: int = 10, **facts: Any) -> PlainPlan:
    """A group on topics t1, t2, … whose queues each keep a client of its threads busy for this share of its time."""
    rate = busy * threads * 100  # a call takes 10 ms
    about = {key: facts.pop(key) for key in ("message_type",) if key in facts}
    topics = [
        a_topic(
            f"t{number}",
            *layout,
            rates={(place.broker_name, i): rate for place in layout for i in range(place.read_queue_nums or 0)},
            **about,
        )
        for number, layout in enumerate(layouts, 1)
    ]
    status = tuple(InventoryConsumeStatus(topic=topic.topic, consume_rt_ms=10.0) for topic in topics)
    every = [
        member(one.client_id, consume_threads=threads, consume_batch_size=1, status=status) for one in members(clients)
    ]
    names = sorted({place.broker_name for layout in layouts for place in layout})
    return plain_plan(cluster(topics, [a_group("g", every, topics, **facts)], tuple(map(broker, names))))


def the_finding(plan: PlainPlan, rule: str) -> Finding:
    (found,) = [one for one in plan.findings if one.rule == rule and one.consumer_group == "g"]
    return found


def test_idle_clients_of_an_overloaded_group_are_answered_by_the_queues_that_end_the_overload() -> None:
    plan = a_plan(30, 0.9, TWO_EACH)

    # Six queues in place of four: 90 % x 4 / 6.
    (more,) = [one for one in plan.recommendations if one.action == "EXPAND_QUEUES"]
    assert set(more.rules) == {CAPACITY, "IDLE_CONSUMERS"}
    after = json.loads(more.after)
    assert {one["read_queue_nums"] for one in after["queues"]} == {3}
    assert (json.loads(more.before)["utilisation_ratio"], after["utilisation_ratio"]) == (0.9, 0.6)
    assert more.reason.startswith(
        "3 queues on each writable broker: the busiest client of g goes from 90.0 % to 60.0 % of its time. 6 of its 30"
        " clients are enough then."
    )


def test_nobody_is_told_to_run_fewer_clients_while_the_others_are_too_busy() -> None:
    assert "SCALE_CONSUMERS" not in {one.action for one in a_plan(30, 0.9, TWO_EACH).recommendations}
    # Without the overload that is one of the answers.
    relaxed = a_plan(30, 0.3, TWO_EACH)
    assert "SCALE_CONSUMERS" in {one.action for one in relaxed.recommendations}
    (more,) = [one for one in relaxed.recommendations if one.action == "EXPAND_QUEUES"]
    assert {one["read_queue_nums"] for one in json.loads(more.after)["queues"]} == {15}


def test_queues_and_clients_that_are_enough_only_together_are_one_answer() -> None:
    # Eight times the work of a client, of which four run; more than 64 threads are not advised.
    plan = a_plan(4, 2.0, FOUR, threads=30)

    (more,) = [one for one in plan.recommendations if CAPACITY in one.rules and one.action != "SHORTEN_CALLS"]
    assert more.action == "EXPAND_QUEUES"
    after = json.loads(more.after)
    assert {one["read_queue_nums"] for one in after["queues"]} == {12}
    assert (after["clients"], after["utilisation_ratio"]) == (12, 0.6667)
    assert "12 queues on each writable broker together with 12 instead of 4 clients" in more.reason
    assert "Neither is enough alone." in more.reason


@pytest.mark.parametrize("each", range(5, 13))
def test_they_are_the_fewest_that_are_enough(each: int) -> None:
    def busiest(clients: int) -> float:
        (group,) = a_plan(clients, 8.0 / each, (queues("broker-a", each),), threads=30).groups
        return _estimate(group)

    shares = {clients: busiest(clients) for clients in range(5, each + 1)}
    is_enough = {clients for clients, share in shares.items() if share <= 0.7}
    assert is_enough == ({12} if each == 12 else set())


def _estimate(group: AssessedGroup) -> float:
    share = group.provision.utilisation
    assert share is not None
    return share.estimate


def test_where_no_measure_is_enough_alone_the_answer_says_which_are_together() -> None:
    # The number of queues of a PRIORITY topic has a meaning, so it stays.
    plan = a_plan(4, 3.0, FOUR, threads=30, message_type="PRIORITY")

    (only,) = [one for one in plan.recommendations if CAPACITY in one.rules]
    assert only.action == "SHORTEN_CALLS"
    # 300 % x 30 / 64 threads are 140.6 %, of which 49.77 % are 70 %.
    assert "Together they do: 4 clients with 64 threads each and calls of 49.77 % of their time." in only.reason


def test_queues_that_do_not_make_a_group_even_alone_are_not_recommended() -> None:
    # Five queues of each topic over three clients: two own two of each, and four clients would not be even either.
    plan = a_plan(3, 0.07, *[(queues("broker-a", 5),)] * 4)

    assert the_finding(plan, "CROSS_TOPIC_SKEW").severity == "WARNING"
    assert not {"EXPAND_QUEUES", "SCALE_CONSUMERS"} & {one.action for one in plan.recommendations}
    (look,) = [one for one in plan.recommendations if "CROSS_TOPIC_SKEW" in one.rules and one.action == "INVESTIGATE"]
    assert look.reason.endswith("Or give every one of its topics a multiple of 3 queues: no topic alone makes it even.")


def test_a_client_more_is_the_answer_where_it_leaves_no_remainder_and_no_topic_alone_does() -> None:
    # Of five queues of each topic the first of four clients owns two, eight in all; each of five clients owns four.
    plan = a_plan(4, 0.07, *[(queues("broker-a", 5),)] * 4)

    assert "EXPAND_QUEUES" not in {one.action for one in plan.recommendations}
    (more,) = [one for one in plan.recommendations if "CROSS_TOPIC_SKEW" in one.rules]
    before, after = json.loads(more.before), json.loads(more.after)
    assert (more.action, before["clients"], after["clients"]) == ("SCALE_CONSUMERS", 4, 5)
    assert (before["count"]["peak"], after["count"]["peak"]) == (8 / 5, 1.0)


def test_queues_that_make_it_even_alone_are() -> None:
    # Of six queues two clients own two; eight leave no remainder, and the other topic is even.
    plan = a_plan(4, 0.2, (queues("broker-a", 5),), (queues("broker-a", 4),))
    found = [one for one in plan.findings if one.rule == "CROSS_TOPIC_SKEW"]
    more = [one for one in plan.recommendations if one.action == "EXPAND_QUEUES" and "CROSS_TOPIC_SKEW" in one.rules]

    assert len(more) == len(found)


def in_rooms(strategy: str, rate: float, *, of_a: float = 1.0) -> list[Recommendation]:
    """What a group with two clients in room a and one in room b is told; both rooms have four of its queues."""
    rule = {"pattern": "^(?P<room>.)"}
    policy = Policy.model_validate({"rooms": {"brokers": [rule], "clients": [rule]}})
    status = takes("t", 10.0)
    every = [
        member(name, consume_threads=1, consume_batch_size=1, status=status, allocate_strategy=strategy)
        for name in ("a1", "a2", "b1")
    ]
    rates = {(name, i): rate * (of_a if name == "a" else 1.0) for name in "ab" for i in range(4)}
    topic = a_topic("t", queues("a", 4), queues("b", 4), rates=rates)
    inventory = cluster([topic], [a_group("g", every, [topic])], (broker("a"), broker("b")))
    return [one for one in plain_plan(inventory, policy).recommendations if one.action == "SCALE_CONSUMERS"]


def test_where_one_room_alone_has_too_few_clients_the_further_ones_come_there_and_fewer_are_enough() -> None:
    # The client of room b gets 100 msg/s, 10 ms each; those of room a 50. In turn, the first two would go to room a.
    (more,) = in_rooms("MACHINE_ROOM_NEARBY-AVG", 25.0)

    assert more.reason == (
        "Run 4 instead of 3 clients: with fewer the busiest one stays above the bound, as it was simulated over all"
        " topics of the group. Clients in each machine room then: a 2, b 2."
    )
    assert json.loads(more.before) == {"clients": 3, "utilisation_ratio": 1.0, "rooms": "a 2, b 1"}
    assert json.loads(more.after) == {"clients": 4, "utilisation_ratio": 0.5, "rooms": "a 2, b 2"}


def test_a_room_needs_as_many_clients_as_its_whole_queues_allow() -> None:
    # 40 msg/s a queue: two of four queues are 80 % of a client's time, so that room b needs four clients. In turn,
    # not even eight clients would be enough: six of them would be in room a.
    (more,) = in_rooms("MACHINE_ROOM_NEARBY-AVG", 40.0, of_a=0.5)
    assert json.loads(more.after) == {"clients": 6, "utilisation_ratio": 0.4, "rooms": "a 2, b 4"}


def test_where_several_rooms_have_too_few_clients_each_gets_what_it_needs() -> None:
    (more,) = in_rooms("MACHINE_ROOM_NEARBY-AVG", 30.0, of_a=1.5)
    assert more.reason.endswith("Clients in each machine room then: a 4, b 2.")


def test_where_rooms_do_not_matter_nothing_is_said_of_them() -> None:
    (more,) = in_rooms("AVG", 25.0)
    assert "room" not in more.reason
    assert "CONSISTENT_HASH" not in more.reason


def test_where_ids_decide_who_owns_what_it_is_said() -> None:
    (more,) = in_rooms("CONSISTENT_HASH", 15.0)
    assert more.reason.endswith(
        "CONSISTENT_HASH divides by client ids: with others than those simulated the busiest client may own more"
        " queues."
    )
