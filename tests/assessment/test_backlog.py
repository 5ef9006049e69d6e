"""Messages that wait: LAG_STATE, RETENTION_RISK, RETRY_PRESSURE."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.backlog import GONE, UNREACHED
from rocketmq_capacity.assessment.lateness import lag_state
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.judged_again import ENDED, LostFinding, undecided_of_group
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventoryTopic,
    InventoryTopicOffset,
    Sample,
    parse_utc,
)
from tests.assessment.cases import Part, ago, member, members
from tests.assessment.judge import Judgement, judge
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import AT, broker, cluster, queues, reads

BUSY = (InventoryConsumeStatus(topic="pay", consume_rt_ms=36.0),)
"""Of one thread that gets a thousand messages a minute: busy for 60 % of its time."""
PART = Part()
PART.topic("deleted_unread", queues("broker-a", 2), offsets={("broker-a", i): (60_000, 100_000) for i in range(2)})
PART.group("deleted_unread", members(2), "deleted_unread", lag=50_000)
_fails = InventoryConsumeStatus(topic="fails_often", consume_ok_msgs_per_s=10.0, consume_failed_msgs_per_s=10.0)
PART.case("fails_often", [member("c01", status=(_fails,))])
END = 100_000
"""The broker's offset at the snapshot."""


def a_queue(
    samples: Sequence[tuple[int, int]], now: tuple[int, int] = (END, END), read_at: str | None = None, queue_id: int = 0
) -> InventoryGroupOffset:
    """A queue with earlier samples (broker offset, consumer offset), a minute apart."""
    return InventoryGroupOffset(
        topic="pay",
        broker_name="broker-a",
        queue_id=queue_id,
        broker_offset=now[0],
        consumer_offset=now[1],
        last_timestamp=read_at,
        samples=tuple(
            Sample(at=ago(minutes=len(samples) - n), broker_offset=put, consumer_offset=read)
            for n, (put, read) in enumerate(samples)
        ),
    )


def a_cluster(
    *offsets: InventoryGroupOffset, least: int = 0, runtime: dict[str, str] | None = None, **facts: Any
) -> Inventory:
    rates = tuple(
        InventoryTopicOffset(broker_name="broker-a", queue_id=i, min_offset=least, max_offset=END, put_msgs_per_s=10.0)
        for i in range(2)
    )
    topic = InventoryTopic(topic="pay", queues=(queues("broker-a", 2),), offsets=rates)
    about = {"clients": tuple(members(2)), "subscriptions": (reads("pay"),), "offsets": offsets} | facts
    group = InventoryGroup(consumer_group="g_pay", **about)
    return cluster([topic], [group], [replace(broker("broker-a"), runtime=runtime)])


def behind(*lags: int) -> list[tuple[int, int]]:
    """Samples of a consumer that moves on: the broker's offset grows by 2,000 each time."""
    return [(END - 2_000 * (len(lags) - n), END - 2_000 * (len(lags) - n) - lag) for n, lag in enumerate(lags)]


STANDS = [(END - 9_000 + 1_000 * n, END - 12_000) for n in range(9)]
"""Of a consumer that does not move while 1,000 messages a minute are written."""
STALLED = a_queue(STANDS, (END, END - 12_000))
REWOUND = a_queue([(END, 90_000 + 500 * n) for n in range(9)], (END, 93_000))


@pytest.mark.parametrize(
    ("queue", "state", "severity"),
    [
        (replace(STALLED, last_timestamp=ago(minutes=10)), "STOP", "CRITICAL"),
        (replace(STALLED, last_timestamp=ago(minutes=8.9)), "STALL", "CRITICAL"),
        (STALLED, "STALL", "CRITICAL"),
        (a_queue([(END, 50_000)] * 9, (END, 50_000)), "STALL", "WARNING"),
        (a_queue([(END, END - 20)] * 9, (END, END - 20)), "STALL", "WARNING"),
        (REWOUND, "REWIND", "WARNING"),
        (a_queue([(END, END)] * 8 + [(END, 99_990)], (END, 99_900)), "REWIND", "INFO"),
        (a_queue(behind(*range(1_000, 10_000, 1_000)), (END, END - 10_000)), "WARN", "WARNING"),
        (a_queue(behind(*range(100, 1_000, 100)), (END, END - 1_000)), "WARN", "WARNING"),
        (a_queue(behind(*range(100, 1_000, 100)), (END, END - 999)), "WARN", "INFO"),
    ],
    ids=[
        "stopped, and more is written",
        "stalled at a client that may own it",
        "stalled, and more is written",
        "stalled, and nothing is written",
        "a few messages wait for ten minutes",
        "set back",
        "set back a little",
        "grows",
        "grows to the floor",
        "little lag grows",
    ],
)
def test_the_first_rule_that_holds_is_the_state(queue: InventoryGroupOffset, state: str, severity: str) -> None:
    found = judge(a_cluster(queue)).finding("LAG_STATE", "g_pay")

    assert (found["evidence"]["state"], found["severity"]) == (state, severity)
    assert found["queues"] == [{"topic": "pay", "broker_name": "broker-a", "queue_id": 0}]


@pytest.mark.parametrize(
    "queue",
    [
        a_queue(behind(1_000, 2_000, 3_000, 2_999, 4_000, 5_000, 6_000, 7_000, 8_000), (END, END - 9_000)),
        a_queue(behind(0, *range(1_000, 9_000, 1_000)), (END, END - 10_000)),
        a_queue([(END, END)] * 9, read_at=ago(minutes=600)),
        a_queue([(END, 90_000), (END, 80_000), *[(END, END - 100)] * 7]),
        a_queue(STANDS[1:], (END, END - 12_000)),
        a_queue(behind(*[10] * 9), (END, END - 10)),
        a_queue([*STANDS[:4], (END - 20_000, END - 12_000), *STANDS[5:]], (END, END - 12_000)),
        a_queue([(9 * END, 9 * END - 2_000)] * 4 + behind(*[2_000] * 5), (END, END - 2_000)),
    ],
    ids=[
        "lag fell",
        "lag was gone",
        "nothing waits",
        "set back, and read to its end since then",
        "nine samples",
        "a few on their way",
        "an unknown lag",
        "its topic was deleted and created again",
    ],
)
def test_a_queue_that_catches_up_or_is_not_known_well_enough_is_left_alone(queue: InventoryGroupOffset) -> None:
    assert judge(a_cluster(queue)).found("LAG_STATE") is None


def test_a_queue_that_only_the_history_has_is_not_judged_by_its_old_samples() -> None:
    was = replace(a_cluster(replace(STALLED, queue_id=1)), taken_at=ago(seconds=30))

    assert judge(was).found("LAG_STATE", "g_pay") is not None
    assert judge(a_cluster(a_queue([])), history=[was]).found("LAG_STATE", "g_pay") is None


def test_a_queue_that_a_client_owns_is_not_stopped() -> None:
    owner = member("c01", owned_queues=(InventoryOwnedQueue(topic="pay", broker_name="broker-a", queue_id=0),))
    queue = replace(STALLED, last_timestamp=ago(minutes=60))
    found = judge(a_cluster(queue, clients=(owner,)))
    assert found.finding("LAG_STATE", "g_pay")["evidence"]["state"] == "STALL"


def test_a_group_without_clients_may_be_gone_for_good() -> None:
    stopped = replace(STALLED, last_timestamp=ago(minutes=60))
    found = judge(a_cluster(stopped, clients=())).finding("LAG_STATE", "g_pay")
    assert (found["evidence"]["state"], found["severity"]) == ("STOP", "INFO")


@pytest.mark.parametrize(
    ("seen_on", "told"),
    [(("broker-b",), True), (("broker-a", "broker-b"), False), ((), False), (None, False)],
    ids=["elsewhere", "there as well", "nowhere", "unknown"],
)
def test_clients_that_do_not_reach_the_broker_of_what_waits_are_told_to_look_at_the_network(
    seen_on: tuple[str, ...] | None, told: bool
) -> None:
    everybody = (member("c01", seen_on=("broker-b",)), member("c02", seen_on=seen_on))
    clients = everybody if seen_on else (member("c01", seen_on=seen_on), member("c02", seen_on=seen_on))
    plan = plain_plan(a_cluster(STALLED, clients=clients))
    (found,) = (one for one in plan.findings if one.rule == "LAG_STATE")

    assert found.message.endswith(" No client of the group is connected to broker-a.") is told
    (advice,) = (one for one in plan.recommendations if "LAG_STATE" in one.rules)
    assert (UNREACHED.format(brokers="broker-a") in advice.reason) is told


def ended(minutes: float = 60, lag: int = 12_000, *, samples: int = 2, writes: bool = True) -> InventoryGroupOffset:
    """A queue of a group whose clients ended some time ago."""
    stood = [(END - 10 * (samples - n) * writes, END - lag) for n in range(samples)]
    return a_queue(stood, (END, END - lag), read_at=ago(minutes=minutes))


def ran(*days: float, offset: InventoryGroupOffset | None = None, clients: int = 3) -> list[Inventory]:
    """Earlier snapshots with clients, so many days ago."""
    offsets = (offset or a_queue([], (END - 40_000, END - 40_000)),)
    return [replace(a_cluster(*offsets, clients=tuple(members(clients))), taken_at=ago(days=day)) for day in days]


def gone(*days: float, **facts: Any) -> Judgement:
    return judge(a_cluster(ended(**facts), clients=()), history=ran(*days))


def test_a_group_whose_clients_are_all_gone_is_critical_while_more_is_written() -> None:
    found = gone(2, 1).finding("LAG_STATE", "g_pay")

    assert found["severity"] == "CRITICAL"
    assert found["message"] == (
        "It has no clients, and had 3 clients 24 h ago. Nobody reads 1 queue with 12,000 messages of lag. The offset of"
        " broker-a:0 has not moved for 2 min; the last message read is 1 h old. Their lag grew by 20 messages in 2 min,"
        " 600 an hour."
    )
    figures = found["evidence"]
    assert (figures["state"], figures["clients"], figures["last_clients"], figures["gone_s"]) == ("STOP", 0, 3, 86_400)
    assert [one["queue_id"] for one in figures["queues"]] == [0]


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({"samples": 0}, "CRITICAL"),
        ({"lag": 1_000}, "CRITICAL"),
        ({"lag": 999}, "INFO"),
        ({"lag": 999, "samples": 12}, "INFO"),
    ],
    ids=["one sample since then", "the floor", "little waits", "little waits for long"],
)
def test_what_waits_for_clients_that_are_gone_decides(facts: dict[str, Any], severity: str) -> None:
    assert gone(1, **facts).finding("LAG_STATE", "g_pay")["severity"] == severity


def test_what_was_left_by_clients_that_are_gone_is_a_warning_once_nothing_more_is_written() -> None:
    stood = a_queue([(END, END - 5_000)] * 3, (END, END - 5_000))
    found = judge(a_cluster(stood, clients=()), history=ran(1, offset=stood)).finding("LAG_STATE", "g_pay")
    assert found["severity"] == "WARNING"


def test_nobody_waits_for_a_group_that_has_read_everything_or_that_its_schedule_has_off() -> None:
    everything = a_queue([(END, END)] * 3)
    assert judge(a_cluster(everything, clients=()), history=ran(1)).found("LAG_STATE") is None

    off = Policy.model_validate({"groups": [{"match": "g_pay", "schedule": "0 6-22 * * *"}]})
    assert judge(a_cluster(ended(), clients=()), off, ran(1)).found("LAG_STATE") is None


@pytest.mark.parametrize("days", [(), (14.0,), (20.0, 15.0)], ids=["no history", "two weeks ago", "longer ago"])
def test_a_group_that_is_not_known_to_have_run_lately_may_be_gone_for_good(days: tuple[float, ...]) -> None:
    stopped = replace(STALLED, last_timestamp=ago(minutes=60))
    found = judge(a_cluster(stopped, clients=()), history=ran(*days)).finding("LAG_STATE", "g_pay")
    assert (found["severity"], "last_clients" in found["evidence"]) == ("INFO", False)


def test_a_group_whose_clients_are_gone_is_told_to_look_for_them_or_to_tell_its_schedule() -> None:
    plan = plain_plan(a_cluster(ended(), clients=()), history=ran(1))
    (advice,) = (one for one in plan.recommendations if one.consumer_group == "g_pay")
    assert (advice.action, advice.rules) == ("INVESTIGATE", ("LAG_STATE",))
    assert advice.reason == GONE


def test_a_what_if_has_no_history_to_say_that_clients_are_gone() -> None:
    inventory = a_cluster(ended(), clients=())
    (was,) = plain_plan(inventory, history=ran(1)).groups
    (now,) = plain_plan(inventory).groups
    (found,) = lag_state(was)
    assert undecided_of_group(LostFinding(found, was, now, frozenset())) == ENDED

    (runs,) = plain_plan(a_cluster(*[a_queue([(END, END)] * 9)])).groups
    assert undecided_of_group(LostFinding(found, was, runs, frozenset())) is None


def test_of_an_offline_group_nobody_knows_the_subscriptions_and_its_offsets_speak_for_it() -> None:
    stopped = replace(STALLED, last_timestamp=ago(minutes=60))
    retried = replace(stopped, topic="%RETRY%g_pay")
    found = judge(a_cluster(stopped, retried, clients=(), subscriptions=())).finding("LAG_STATE", "g_pay")

    assert (found["evidence"]["state"], found["severity"]) == ("STOP", "INFO")
    assert found["queues"] == [{"topic": "pay", "broker_name": "broker-a", "queue_id": 0}]


def test_offsets_outlive_a_subscription() -> None:
    assert judge(a_cluster(STALLED, subscriptions=(reads("other"),))).found("LAG_STATE") is None


def test_a_group_is_as_bad_as_its_worst_queue() -> None:
    grows = a_queue(behind(*range(1_000, 10_000, 1_000)), (END, END - 10_000), queue_id=1)
    found = judge(a_cluster(STALLED, grows)).finding("LAG_STATE", "g_pay")

    assert found["evidence"]["state"] == "STALL"
    assert [one["queue_id"] for one in found["queues"]] == [0]
    assert {one["queue_id"]: one["state"] for one in found["evidence"]["queues"]} == {0: "STALL", 1: "WARN"}
    assert found["evidence"]["lag"] == 22_000


def test_how_long_it_takes_to_catch_up() -> None:
    # 1,000 a minute are written and none are read: never.
    never = judge(a_cluster(STALLED)).finding("LAG_STATE")["evidence"]
    assert (never["catches_up"], never["catch_up_s"]) == (False, None)

    # 3,000 messages in nine minutes, and none are written: 7,000 are left.
    soon = judge(a_cluster(REWOUND)).finding("LAG_STATE")["evidence"]
    assert (soon["put_msgs_per_s"], soon["consume_msgs_per_s"]) == (0.0, 5.5556)
    assert (soon["catches_up"], soon["catch_up_s"]) == (True, 1260.0)


def test_a_queue_that_catches_up_does_not_speak_for_the_one_that_stands() -> None:
    quick = a_queue([(END, END - 30_000 + 3_000 * n) for n in range(9)], (END, END - 3_000), queue_id=1)
    found = judge(a_cluster(STALLED, quick)).finding("LAG_STATE")

    assert (found["evidence"]["consume_msgs_per_s"], found["evidence"]["catches_up"]) == (0.0, False)


def test_lag_has_a_rate_and_the_time_over_which_it_grew() -> None:
    found = judge(a_cluster(STALLED)).finding("LAG_STATE")

    figures = found["evidence"]
    assert (figures["lag_growth"], figures["over_s"], figures["growth_msgs_per_h"]) == (9_000, 540.0, 60_000.0)
    assert found["message"] == (
        "1 queue with 12,000 messages of lag does not catch up over the last 10 samples: 1 STALL. The offset of"
        " broker-a:0 has not moved for 9 min. Their lag grew by 9,000 messages in 9 min, 60,000 an hour."
    )


def test_a_group_with_several_topics_is_told_of_which_one_a_queue_is() -> None:
    found = judge(a_cluster(STALLED, subscriptions=(reads("pay"), reads("refund")))).finding("LAG_STATE")

    assert " The offset of pay/broker-a:0 has not moved for 9 min." in found["message"]


def test_where_the_permission_lets_nobody_read_that_is_said_and_no_listener_is_looked_at() -> None:
    """Nobody may read broker-a, and of broker-b the group reads all."""
    inventory = a_cluster(STALLED)
    (topic,) = inventory.topics
    closed = replace(topic, queues=(queues("broker-a", 2, perm=0), queues("broker-b", 2)))
    brokers = [replace(broker("broker-a"), broker_perm=0), broker("broker-b")]
    plan = plain_plan(replace(inventory, topics=(closed,), brokers=brokers))
    (found,) = [one for one in plan.findings if one.rule == "LAG_STATE"]
    (advice,) = [one for one in plan.recommendations if "LAG_STATE" in one.rules]

    assert found.message.endswith(" The permission on broker-a lets nobody read them.")
    assert advice.reason.startswith("Find out why nobody may read on broker-a: the broker's own permission")
    assert "listener" not in advice.reason
    assert "closed_brokers" not in judge(inventory).finding("LAG_STATE")["evidence"]


def test_the_age_is_that_of_the_queues_that_are_named() -> None:
    """Queue 1 is read, and is only behind what it was; queue 0 stands."""
    stands = replace(STALLED, last_timestamp=ago(minutes=9))
    grows = a_queue(behind(*range(1_000, 10_000, 1_000)), (END, END - 10_000), ago(minutes=100), queue_id=1)

    assert judge(a_cluster(stands, grows)).finding("LAG_STATE")["evidence"]["behind_s"] == 540.0


@pytest.mark.parametrize("rule", ["LAG_STATE", "RETENTION_RISK", "LAG_SKEW"])
def test_a_broadcasting_group_keeps_its_own_offsets(rule: str) -> None:
    late = replace(STALLED, last_timestamp=ago(minutes=71 * HOUR))
    clustering, broadcasting = (
        judge(a_cluster(late, runtime=KEPT, message_model=model)) for model in ("CLUSTERING", "BROADCASTING")
    )

    assert rule == "LAG_SKEW" or clustering.found(rule) is not None
    assert broadcasting.found(rule) is None


HOUR = 60
KEPT = {"earliestMessageTimeStamp": str(int((parse_utc(AT) - timedelta(hours=72)).timestamp() * 1000))}
"""The broker's oldest message is three days old."""


@pytest.mark.parametrize(
    ("hours_behind", "severity", "left"), [(59.9, None, None), (60.5, "WARNING", 11.5), (70, "CRITICAL", 2.0)]
)
def test_hours_until_unread_messages_are_deleted(hours_behind: float, severity: str | None, left: float | None) -> None:
    queue = a_queue([], (END, END - 50), read_at=ago(minutes=hours_behind * HOUR))
    found = judge(a_cluster(queue, runtime=KEPT)).found("RETENTION_RISK", "g_pay")

    assert (found and found["severity"], found and found["evidence"]["left_hours"]) == (severity, left)


def test_the_messages_of_a_group_that_is_offline_are_deleted_as_well() -> None:
    gone: dict[str, Any] = {"clients": (), "subscriptions": (), "runtime": KEPT}
    waits = a_queue([], (END, END - 50), read_at=ago(minutes=70 * HOUR))

    soon = judge(a_cluster(waits, replace(waits, topic="%RETRY%g_pay"), **gone)).finding("RETENTION_RISK", "g_pay")
    assert (soon["severity"], soon["evidence"]["left_hours"], len(soon["queues"])) == ("CRITICAL", 2.0, 1)

    lost = judge(a_cluster(a_queue([], (END, 500)), least=800, **gone)).finding("RETENTION_RISK", "g_pay")
    assert (lost["severity"], lost["evidence"]["deleted"]) == ("INFO", 300)


@pytest.mark.parametrize(("days", "severity"), [(13, "CRITICAL"), (14, "INFO")])
def test_nobody_waits_for_a_group_that_was_gone_for_the_days_of_a_stale_one(days: int, severity: str) -> None:
    gone: dict[str, Any] = {"clients": (), "subscriptions": (), "runtime": KEPT}
    now = a_cluster(a_queue([], (END, END - 50), read_at=ago(minutes=70 * HOUR)), **gone)
    then = replace(now, taken_at=ago(minutes=days * 24 * HOUR))

    assert judge(now, history=[then]).finding("RETENTION_RISK", "g_pay")["severity"] == severity


@pytest.mark.parametrize(("schedule", "severity"), [("* * * * *", "CRITICAL"), ("* 14-15 * * *", "INFO")])
def test_nobody_waits_for_a_group_outside_its_schedule(schedule: str, severity: str) -> None:
    gone: dict[str, Any] = {"clients": (), "subscriptions": (), "runtime": KEPT}
    policy = Policy.model_validate({"groups": [{"match": "^g_pay$", "schedule": schedule}]})
    waits = a_queue([], (END, END - 50), read_at=ago(minutes=70 * HOUR))

    assert judge(a_cluster(waits, **gone), policy).finding("RETENTION_RISK", "g_pay")["severity"] == severity


@pytest.mark.parametrize(("lag", "is_found"), [(45, False), (60, True)])
def test_the_lag_that_every_busy_queue_has_is_no_backlog(lag: int, is_found: bool) -> None:
    """Ten messages a second come, and clients commit every five seconds."""
    busy = a_queue([(END - 600 * n, END - 600 * n - lag) for n in range(9, 0, -1)], (END, END - lag))

    assert (judge(a_cluster(busy)).found("LAG_STATE") is not None) is is_found


def test_a_queue_whose_offset_stands_is_no_want_of_clients_and_is_named_with_its_time() -> None:
    stands = replace(STALLED, last_timestamp=ago(minutes=60))
    clients = tuple(replace(one, consume_threads=1, consume_batch_size=1, status=BUSY) for one in members(2))
    judged = judge(a_cluster(stands, clients=clients))

    assert judged.finding("LAG_STATE")["message"].startswith(
        "1 queue with 12,000 messages of lag does not catch up over the last 10 samples: 1 STOP. The offset of"
        " broker-a:0 has not moved for 9 min; the last message read is 1 h old."
    )
    assert judged.found("CONSUMER_CAPACITY", "g_pay") is None
    assert judged.group("g_pay")["provision_status"] != "UNDER_PROVISIONED"


def test_messages_that_were_deleted_unread() -> None:
    found = judge(a_cluster(a_queue([], (END, 500)), least=800)).finding("RETENTION_RISK", "g_pay")

    assert (found["severity"], found["evidence"]["deleted"], found["evidence"]["left_hours"]) == ("CRITICAL", 300, 0.0)


def test_a_group_whose_next_message_is_the_oldest_that_is_left_is_about_to_lose_it() -> None:
    """The broker does not say when the message before it was stored: it has deleted it."""
    found = judge(a_cluster(a_queue([], (END, 800)), least=800)).finding("RETENTION_RISK", "g_pay")
    assert (found["severity"], found["evidence"]["deleted"], found["evidence"]["left_hours"]) == ("CRITICAL", 0, 0.0)

    at_the_begin = judge(a_cluster(a_queue([], (END, 0))))
    read_to_the_end = judge(a_cluster(a_queue([], (END, END)), least=END))
    assert at_the_begin.found("RETENTION_RISK") is read_to_the_end.found("RETENTION_RISK") is None


def test_one_message_that_was_deleted_unread() -> None:
    found = judge(a_cluster(a_queue([], (END, 799)), least=800)).finding("RETENTION_RISK", "g_pay")
    assert found["message"] == "1 message of 1 queue was deleted unread."


def test_a_young_broker_has_deleted_nothing_yet() -> None:
    young = {"earliestMessageTimeStamp": str(int((parse_utc(AT) - timedelta(hours=1)).timestamp() * 1000))}
    queue = a_queue([], (END, END - 50), read_at=ago(minutes=HOUR / 2))

    assert judge(a_cluster(queue, runtime=young)).found("RETENTION_RISK") is None
    # With messages deleted already, half an hour is all that is left.
    found = judge(a_cluster(queue, runtime=young, least=800)).finding("RETENTION_RISK")
    assert found["evidence"]["left_hours"] == 0.5


@pytest.mark.parametrize("runtime", [None, {}, {"earliestMessageTimeStamp": "-1"}])
def test_without_the_brokers_oldest_message_there_is_no_verdict(runtime: dict[str, str] | None) -> None:
    queue = a_queue([], (END, END - 50), read_at=ago(minutes=100 * HOUR))
    assert judge(a_cluster(queue, runtime=runtime)).found("RETENTION_RISK") is None


def test_what_is_read_to_its_end_is_not_at_risk() -> None:
    queue = a_queue([], (END, END), read_at=ago(minutes=100 * HOUR))
    assert judge(a_cluster(queue, runtime=KEPT)).found("RETENTION_RISK") is None


def _failing(ok: float, failed: float) -> Judgement:
    said = InventoryConsumeStatus(topic="pay", consume_ok_msgs_per_s=ok, consume_failed_msgs_per_s=failed)
    return judge(a_cluster(clients=(member("c01", status=(said,)),)))


@pytest.mark.parametrize(("failed", "severity"), [(1.0, None), (2.0, "WARNING"), (20.0, "CRITICAL")])
def test_a_listener_that_fails_is_under_pressure(failed: float, severity: str | None) -> None:
    found = _failing(100.0 - failed, failed).found("RETRY_PRESSURE", "g_pay")

    assert (found and found["severity"]) == severity
    if found:
        assert found["evidence"]["failed_ratio"] == failed / 100


def test_messages_that_come_again_count_too() -> None:
    retries = "%RETRY%g_pay"
    written = (InventoryTopicOffset(broker_name="broker-a", queue_id=0, put_msgs_per_s=1.0),)
    retry = InventoryTopic(topic=retries, queues=(queues("broker-a", 1),), offsets=written)
    inventory = a_cluster(subscriptions=(reads("pay"), reads(retries)))

    found = judge(replace(inventory, topics=(*inventory.topics, retry))).finding("RETRY_PRESSURE", "g_pay")

    # One of twenty.
    assert (found["severity"], found["evidence"]["retried_ratio"]) == ("WARNING", 0.05)
