"""A broker that refuses a group, puts failed messages where nobody reads, or lets nobody read: its clients wait."""

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from rocketmq_capacity.assessment.retry import DeadLetterEvidence, RetryQueuesEvidence
from rocketmq_capacity.assessment.stuck import StuckQueuesEvidence
from rocketmq_capacity.tables import Finding
from tests.cluster.clients import Clients, Consumer, Subscription
from tests.cluster.rocketmq import Broker, Cluster
from tests.cluster.snapshots import snapshot_of
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S: Final = 180.0
CREATES_NOTHING: Final = {"autoCreateSubscriptionGroup": "false"}
CAUSES: Final = {
    "half": "NOT_CREATED",
    "off": "CONSUME_DISABLED",
    "all": "BROADCAST_DISABLED",
    "sql": "SQL92_DISABLED",
}
"""By topic, why broker-b refuses the group of its name."""
HIDDEN: Final = "READ_LESS_THAN_WRITE"
AGAIN: Final = "again"
"""A topic whose messages fail the first time; broker-b puts them into more retry queues than there are."""
DEAD: Final = "%DLQ%g_fine"
"""The dead-letter topic of a group that handles its own topic, ``fine``."""
DEAD_PER_S: Final = 2.0
RETRY_QUEUES: Final = 4
RETRIED_AFTER_S: Final = 10.0
"""The first delay of a message that has failed."""
MESSAGES: Final = 40
AS_ELSEWHERE: Final = {
    "retryQueueNums": "1",
    "consumeEnable": "true",
    "consumeFromMinEnable": "true",
    "consumeBroadcastEnable": "true",
    "consumeMessageOrderly": "false",
    "retryMaxTimes": "16",
    "groupRetryPolicy": """'{"type":"CUSTOMIZED"}'""",
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
    cluster.mqadmin(create.format(on_b, "g_sql", ""))
    for topic in CAUSES:
        model = "BROADCASTING" if topic == "all" else "CLUSTERING"
        reads = Subscription(topic, "a is null", "SQL92") if topic == "sql" else topic
        for number in range(2):
            clients.start_consumer(Consumer(f"g_{topic}", f"{topic}-{number}", [reads], message_model=model))
    cluster.create_topic(AGAIN, {"broker-a": 2, "broker-b": 2})
    for address in (on_a, on_b):
        cluster.mqadmin(create.format(address, f"g_{AGAIN}", "-q 1"))
    clients.start_consumer(Consumer(f"g_{AGAIN}", f"{AGAIN}-1", [AGAIN], fails_first=True))
    for topic in ("fine", DEAD):
        cluster.create_topic(topic, {"broker-a": 2})
    cluster.mqadmin(create.format(on_a, "g_fine", ""))
    clients.start_consumer(Consumer("g_fine", "fine-1", ["fine"]))
    clients.settled()
    cluster.mqadmin(create.format(on_b, f"g_{AGAIN}", f"-q {RETRY_QUEUES}"))
    cluster.set_broker_config("broker-b", {"enablePropertyFilter": "false"})
    for topic in (*CAUSES, AGAIN):
        clients.produce(topic, MESSAGES)
        clients.start_load(topic, 4.0)
    clients.start_load(DEAD, DEAD_PER_S)
    try:
        # On a busy machine a load pauses, and what nobody writes just then is no more than a WARNING.
        return until(lambda: plan if is_written(plan := plain_plan(snapshot_of(cluster))) else None, PATIENCE_S)
    finally:
        clients.stop_loads()


def is_written(plan: PlainPlan) -> bool:
    """Whether messages come for each group that is refused, and dead letters."""
    severities = [one.severity for one in plan.findings if one.rule == "STUCK_QUEUE"]
    dead = [one for one in plan.findings if one.consumer_group == "g_fine"]
    return severities == ["CRITICAL"] * len(CAUSES) and bool(dead)


def test_what_arrives_in_a_dead_letter_topic_is_told(before: PlainPlan) -> None:
    (found,) = (one for one in before.findings if one.consumer_group == "g_fine")
    assert found.rule == "RETRY_PRESSURE"
    dead = DeadLetterEvidence.of(found)
    assert dead.topic == DEAD
    assert 0 < (dead.dead_letters_msgs_per_h or 0) < 1.5 * DEAD_PER_S * 3_600


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


def written_in(cluster: Cluster) -> dict[str, int]:
    """How many messages each topic has got."""
    topics = snapshot_of(cluster).topics
    return {one.topic: sum(offset.max_offset or 0 for offset in one.offsets or ()) for one in topics}


@pytest.mark.parametrize(("topic", "cause"), CAUSES.items())
def test_the_broker_is_named_with_the_reason(before: PlainPlan, topic: str, cause: str) -> None:
    (finding,) = (one for one in before.findings if (one.rule, one.consumer_group) == ("STUCK_QUEUE", f"g_{topic}"))
    evidence = StuckQueuesEvidence.of(finding)

    assert (finding.severity, finding.broker_name) == ("CRITICAL", "broker-b")
    assert {(one.topic, one.broker_name, one.cause) for one in evidence.queues} == {(topic, "broker-b", cause)}
    assert {one.queue_id for one in evidence.queues} == {0, 1}
    (status,) = (one.status for one in before.assessments if one.status.consumer_group == f"g_{topic}")
    assert status.reading_status == "UNREAD"


def test_once_the_command_is_filled_in_clients_read_everything(
    running: tuple[Cluster, Clients], before: PlainPlan
) -> None:
    cluster, clients = running
    written = written_in(cluster)
    for topic in CAUSES:
        assert min(read_of(clients, topic)) < written[topic]
        (line,) = (line for line in commands_for(before, f"g_{topic}") if line.startswith("# "))
        line = line.removeprefix("# ")
        cluster.mqadmin(re.sub(r"'<(\w+) of \w+( as JSON)?>'", lambda found: AS_ELSEWHERE[found[1]], line))

    until(lambda: all(sum(read_of(clients, topic)) >= written[topic] for topic in ("half", "off", "sql")), PATIENCE_S)
    until(lambda: all(one >= written["all"] for one in read_of(clients, "all")), PATIENCE_S)
    after = plain_plan(snapshot_of(cluster))
    assert [one for one in after.findings if one.rule == "STUCK_QUEUE"] == []


def test_failed_messages_that_nobody_reads_come_again_once_the_command_is_carried_out(
    running: tuple[Cluster, Clients], before: PlainPlan
) -> None:
    cluster, clients = running
    found = [one for one in before.findings if one.rule == "RETRY_PRESSURE" and one.broker_name is not None]
    assert [(one.consumer_group, one.broker_name) for one in found] == [(f"g_{AGAIN}", "broker-b")]
    evidence = RetryQueuesEvidence.of(found[0])
    assert (evidence.retry_queue_nums, evidence.read_queue_nums) == (RETRY_QUEUES, 1)
    assert found[0].severity == ("CRITICAL" if evidence.failed_msgs_per_s else "WARNING")

    twice = 2 * written_in(cluster)[AGAIN]
    until(lambda: rests(clients), PATIENCE_S)
    assert sum(read_of(clients, AGAIN)) < twice

    of_group = [one for one in before.recommendations if one.consumer_group == f"g_{AGAIN}"]
    (answer,) = (one for one in of_group if "RETRY_PRESSURE" in one.rules)
    (line,) = (line for line in answer.commands if "updateTopic" in line)
    cluster.mqadmin(line.removeprefix("# "))
    until(lambda: sum(read_of(clients, AGAIN)) == twice, PATIENCE_S)
    after = plain_plan(snapshot_of(cluster))
    assert [one for one in after.findings if one.rule == "RETRY_PRESSURE" and one.broker_name is not None] == []


def test_a_broker_that_lets_nobody_read_is_one_cause_and_opens_by_its_command(
    running: tuple[Cluster, Clients], before: PlainPlan
) -> None:
    cluster, _ = running
    assert hidden_in(before) == []
    cluster.mqadmin(f"mqadmin updateBrokerConfig -b {cluster.broker_addrs['broker-b', 0]} -k brokerPermission -v 2")
    until(lambda: hidden_in(plain_plan(snapshot_of(cluster))), PATIENCE_S)

    closed = plain_plan(snapshot_of(cluster))
    assert {one.broker_name for one in hidden_in(closed)} == {"broker-b"}
    assert {one.topic for one in hidden_in(closed)} == {*CAUSES, AGAIN}
    (answer,) = (one for one in closed.recommendations if HIDDEN in one.rules)
    look, opens = answer.commands
    assert "brokerPermission=2" in re.sub(r"\s*=\s*", "=", cluster.mqadmin(look))
    cluster.mqadmin(opens.removeprefix("# "))
    until(lambda: not hidden_in(plain_plan(snapshot_of(cluster))), PATIENCE_S)


def hidden_in(plan: PlainPlan) -> list[Finding]:
    """The findings of queues that no consumer sees."""
    return [one for one in plan.findings if one.rule == HIDDEN]


def rests(clients: Clients) -> bool:
    """Whether nothing comes again for longer than a message is delayed that has failed."""
    count = read_of(clients, AGAIN)
    time.sleep(2 * RETRIED_AFTER_S)
    return read_of(clients, AGAIN) == count
