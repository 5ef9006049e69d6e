"""A group some of whose clients do not subscribe to its topics: that is mended first, and nothing else is advised."""

from collections.abc import Sequence

from rocketmq_capacity.snapshot.inventory import Client
from tests.assessment.cases import a_group, a_topic, ids, member, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues, reads

TWO = (queues("broker-a", 12), queues("broker-b", 12))
RETRY = "%RETRY%g_pay"


def a_plan(rate: float, *subscriptions: str) -> PlainPlan:
    """One group whose clients subscribe to these topics; each handles 1,000 msg/s."""
    topic = a_topic("pay", *TWO, rates={(place.broker_name, i): rate for place in TWO for i in range(12)})
    retry = a_topic(RETRY, queues("broker-a", 1))
    clients: Sequence[Client] = [
        member(
            client_id,
            consume_threads=10,
            consume_batch_size=1,
            subscriptions=(reads(name),),
            status=takes(name, 10.0),
        )
        for client_id, name in zip(ids(len(subscriptions)), subscriptions, strict=True)
    ]
    group = a_group("g_pay", clients, [topic, retry])
    return plain_plan(cluster([topic, retry], [group], (broker("broker-a"), broker("broker-b"))))


def test_a_client_on_its_retry_topic_only_is_one_fault_with_one_answer() -> None:
    # Six clients divide 24 queues; the last leaves its four unread. Four queues of 190 msg/s are 76 %.
    plan = a_plan(190.0, *["pay"] * 5, RETRY)

    found = {one.rule for one in plan.findings if one.consumer_group == "g_pay"}
    assert {"SUBSCRIPTION_MISMATCH", "ORPHAN_QUEUE", "CONSUMER_CAPACITY"} <= found
    assert "IDLE_CONSUMERS" not in found
    (only,) = [one for one in plan.recommendations if "g_pay" in (one.consumer_group or "") or one.topic == "pay"]
    assert only.action == "FIX_SUBSCRIPTION"
    assert set(only.rules) == found


def test_how_many_clients_are_needed_is_not_told_before_that() -> None:
    (group,) = a_plan(190.0, *["pay"] * 5, RETRY).assessments

    assert (group.status.is_size_known, group.status.min_safe_clients) == (False, None)
    assert group.status.provision_status == "UNDER_PROVISIONED"


def test_the_same_group_with_all_subscriptions_is_told_how_many_it_needs() -> None:
    actions = {one.action for one in a_plan(190.0, *["pay"] * 6).recommendations}

    assert "SCALE_CONSUMERS" in actions
    assert "FIX_SUBSCRIPTION" not in actions
