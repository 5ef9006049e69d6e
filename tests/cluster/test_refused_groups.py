"""A broker that refuses a group: its clients hold the queues, ask for messages, and get none."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from rocketmq_capacity.assessment.stuck import StuckQueues
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster
from tests.cluster.test_ledger import snapshot_of
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S: Final = 180.0
CREATES_NOTHING: Final = {"autoCreateSubscriptionGroup": "false"}
CAUSES: Final = {"half": "NOT_CREATED", "off": "CONSUME_DISABLED", "all": "BROADCAST_DISABLED"}
"""By topic, why broker-b refuses the group of its name."""
MESSAGES: Final = 40
AS_ELSEWHERE: Final = {
    "retryQueueNums": "1",
    "consumeEnable": "true",
    "consumeFromMinEnable": "true",
    "consumeBroadcastEnable": "true",
    "consumeMessageOrderly": "false",
    "retryMaxTimes": "16",
    "brokerId": "0",
    "whichBrokerWhenConsumeSlowly": "1",
    "notifyConsumerIdsChangedEnable": "true",
}
"""What getConsumerConfig shows of the groups on broker-a."""


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Cluster, Clients]]:
    brokers = [Broker(name, config=CREATES_NOTHING) for name in ("broker-a", "broker-b")]
    cluster = started_or_skipped(Cluster(brokers).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        yield cluster, clients


@pytest.fixture(scope="module")
def before(running: tuple[Cluster, Clients]) -> PlainPlan:
    cluster, clients = running
    on_a, on_b = (cluster.broker_addrs[name, 0] for name in ("broker-a", "broker-b"))
    create = "mqadmin updateSubGroup -b {} -g {} {}"
    for topic in CAUSES:
        cluster.create_topic(topic, {"broker-a": 2, "broker-b": 2})
        cluster.mqadmin(create.format(on_a, f"g_{topic}", "-d true"))
    cluster.mqadmin(create.format(on_b, "g_off", "-s false"))
    cluster.mqadmin(create.format(on_b, "g_all", "-d false"))
    for topic in CAUSES:
        model = "BROADCASTING" if topic == "all" else "CLUSTERING"
        for number in range(2):
            clients.start_consumer(Consumer(f"g_{topic}", f"{topic}-{number}", [topic], message_model=model))
    clients.settled()
    for topic in CAUSES:
        clients.produce(topic, MESSAGES)
        clients.start_load(topic, 4.0)
    try:
        return plain_plan(snapshot_of(cluster))
    finally:
        clients.stop_loads()


def commands_for(plan: PlainPlan, group: str) -> Sequence[str]:
    """What is recommended for a group that a broker refuses."""
    about = [one for one in plan.recommendations if one.consumer_group == group]
    (answer,) = (one for one in about if "STUCK_QUEUE" in one.rules)
    assert answer.action == "INVESTIGATE"
    assert answer.is_manual
    return answer.commands


def read_of(clients: Clients, topic: str) -> list[int]:
    """How many messages each client of a topic's group has handled."""
    return [one.consumed for one in clients.owned() if one.consumer_group == f"g_{topic}"]


@pytest.mark.parametrize(("topic", "cause"), CAUSES.items())
def test_the_broker_is_named_with_the_reason(before: PlainPlan, topic: str, cause: str) -> None:
    (finding,) = (one for one in before.findings if (one.rule, one.consumer_group) == ("STUCK_QUEUE", f"g_{topic}"))
    evidence = StuckQueues.of(finding)

    assert (finding.severity, finding.broker_name) == ("CRITICAL", "broker-b")
    assert {(one.topic, one.broker_name, one.cause) for one in evidence.queues} == {(topic, "broker-b", cause)}
    assert {one.queue_id for one in evidence.queues} == {0, 1}
    (status,) = (one.status for one in before.assessments if one.status.consumer_group == f"g_{topic}")
    assert status.reading_status == "UNREAD"


def test_once_the_command_is_filled_in_clients_read_everything(
    running: tuple[Cluster, Clients], before: PlainPlan
) -> None:
    cluster, clients = running
    written = {
        one.topic: sum(offset.max_offset or 0 for offset in one.offsets or ()) for one in snapshot_of(cluster).topics
    }
    for topic in CAUSES:
        assert min(read_of(clients, topic)) < written[topic]
        (line,) = (line for line in commands_for(before, f"g_{topic}") if "updateSubGroup" in line)
        cluster.mqadmin(re.sub(r"'<(\w+) of \w+>'", lambda found: AS_ELSEWHERE[found[1]], line.removeprefix("# ")))

    until(lambda: all(sum(read_of(clients, topic)) >= written[topic] for topic in ("half", "off")), PATIENCE_S)
    until(lambda: all(one >= written["all"] for one in read_of(clients, "all")), PATIENCE_S)
    after = plain_plan(snapshot_of(cluster))
    assert [one for one in after.findings if one.rule == "STUCK_QUEUE"] == []
