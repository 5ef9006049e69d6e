"""What is recommended to a group whose clients are too busy, or that has more than it needs."""

from typing import Any

import msgspec
import pytest

from rocketmq_capacity.snapshot.inventory import TopicQueues
from rocketmq_capacity.tables import Recommendation
from tests.assessment.cases import a_group, a_topic, member, members, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues

CAPACITY = "CONSUMER_CAPACITY"
TWO = (queues("broker-a", 12), queues("broker-b", 12))


def planned(clients: int, rate: float, layout: tuple[TopicQueues, ...] = TWO, **facts: Any) -> PlainPlan:
    """One group; a client with ten threads that needs 10 ms a message handles 1,000 messages a second."""
    about_client: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1, "status": takes("pay", 10.0)}
    about_client |= facts.pop("client", {})
    every = [member(one.client_id, **about_client) for one in members(clients)]
    rates = {(place.broker_name, i): rate for place in layout for i in range(place.read_queue_nums or 0)}
    topic = a_topic("pay", *layout, rates=rates)
    brokers = tuple(broker(place.broker_name) for place in layout)
    return plain_plan(cluster([topic], [a_group("g_pay", every, [topic], **facts)], brokers))


def answers(plan: PlainPlan) -> dict[str, Recommendation]:
    """By action, what answers CONSUMER_CAPACITY."""
    return {one.action: one for one in plan.recommendations if CAPACITY in one.rules}


def figures(text: str) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(text)
    return decoded


def test_more_clients_more_threads_and_shorter_calls_are_alternatives() -> None:
    found = answers(planned(4, 150.0))

    assert set(found) == {"SCALE_CONSUMERS", "RAISE_CONSUME_THREADS", "SHORTEN_CALLS"}
    more = found["SCALE_CONSUMERS"]
    assert figures(more.before) == {"clients": 4, "utilisation_ratio": 0.9}
    assert figures(more.after) == {"clients": 6, "utilisation_ratio": 0.6}
    threads = found["RAISE_CONSUME_THREADS"]
    assert figures(threads.after) == {"consume_threads": 13, "utilisation_ratio": 0.6923}
    assert "consumeThreadMin" in threads.reason


def test_shorter_calls_are_given_as_a_number() -> None:
    shorter = answers(planned(4, 150.0))["SHORTEN_CALLS"]

    assert shorter.is_manual
    assert "on c01 to 7.777 ms instead of 10 for pay" in shorter.reason
    assert figures(shorter.before) == {"utilisation_ratio": 0.9, "topics": [{"topic": "pay", "consume_rt_ms": 10.0}]}
    assert figures(shorter.after) == {"utilisation_ratio": 0.6999, "topics": [{"topic": "pay", "consume_rt_ms": 7.777}]}
    # Its commands only look.
    assert [one.split()[1] for one in shorter.commands] == ["consumerStatus"]
    assert answers(planned(4, 150.0, client={"status": takes("pay", 7.777)})) == {}


@pytest.mark.parametrize("action", ["SCALE_CONSUMERS", "RAISE_CONSUME_THREADS"])
def test_a_change_of_the_clients_has_no_command(action: str) -> None:
    assert answers(planned(4, 150.0))[action].commands == ()


def test_following_the_advice_ends_it() -> None:
    assert not {"CONSUMER_CAPACITY"} & {
        one.rule for one in planned(6, 150.0).findings if one.severity != "INFO" and one.consumer_group == "g_pay"
    }
    assert answers(planned(4, 150.0, client={"consume_threads": 13})) == {}


def test_an_orderly_group_with_too_few_queues_is_given_more() -> None:
    found = answers(planned(24, 80.0, orderly=True))

    assert set(found) == {"EXPAND_QUEUES", "SHORTEN_CALLS"}
    assert found["EXPAND_QUEUES"].topic == "pay"
    # Keys move to other queues when an ordered topic grows.
    assert found["EXPAND_QUEUES"].is_manual
    after = figures(found["EXPAND_QUEUES"].after)["queues"]
    assert {one["read_queue_nums"] for one in after} == {14}


def test_another_strategy_is_an_answer_where_it_shares_the_load_better() -> None:
    # Two clients of CONSISTENT_HASH rarely own as many queues each.
    plan = planned(2, 50.0, client={"allocate_strategy": "CONSISTENT_HASH"})
    (group,) = plan.groups
    share = group.provision.utilisation
    assert share is not None
    assert share.estimate > 0.7, "the ring of these ids has become even: choose others"

    found = answers(plan)["CHANGE_STRATEGY"]
    before, after = figures(found.before), figures(found.after)
    assert after["strategy"] in {"AVG", "AVG_BY_CIRCLE"}
    assert (before["utilisation_ratio"], after["utilisation_ratio"]) == (pytest.approx(share.estimate, abs=1e-4), 0.6)
    assert "the busiest client is busy for 60.0 % of its time instead of" in found.reason


def test_lag_that_grows_at_clients_with_time_left_is_answered_by_no_strategy() -> None:
    """Nor by any other change of its size: its clients do not want capacity."""
    each = [("pay", name, i) for name in ("broker-a", "broker-b") for i in range(12)]
    told = [(100_000 - 500 * n, 95_000 - 400 * n) for n in range(9, 0, -1)]
    plan = planned(5, 20.0, lag=5_000, samples=dict.fromkeys(each, told))

    rules = {one.rule for one in plan.findings if one.consumer_group == "g_pay"}
    assert "LAG_STATE" in rules
    assert CAPACITY not in rules
    assert [one.action for one in plan.recommendations if one.action == "CHANGE_STRATEGY"] == []


def test_where_nothing_does_alone_one_has_to_look() -> None:
    # 80 times the work of a client: not even 64 queues, each with a client, are enough.
    found = answers(planned(1, 8_000.0, (queues("broker-a", 1),), orderly=True, client={"consume_threads": 1}))

    assert set(found) == {"SHORTEN_CALLS"}
    assert "alone" in found["SHORTEN_CALLS"].reason


def test_clients_that_are_not_needed_are_named_with_the_load_of_the_rest() -> None:
    found = answers(planned(8, 20.0))

    assert set(found) == {"SCALE_CONSUMERS"}
    fewer = found["SCALE_CONSUMERS"]
    # 480 msg/s over 24 queues: the busiest of seven owns four of them.
    assert figures(fewer.before) == {"clients": 8, "utilisation_ratio": 0.06, "one_lost_utilisation_ratio": 0.08}
    assert figures(fewer.after) == {"clients": 3, "utilisation_ratio": 0.16, "one_lost_utilisation_ratio": 0.24}
    assert "5 of its 8 clients are not needed" in fewer.reason
    assert "for 24.0 % if one more is lost. The policy keeps at least 3." in fewer.reason


def test_nothing_is_recommended_on_part_of_the_facts() -> None:
    plan = planned(4, 150.0, client={"consume_threads": None})
    assert answers(plan) == {}
