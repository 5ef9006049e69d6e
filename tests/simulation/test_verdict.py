"""Who is better or worse off after a scenario: what an operator would say of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.carried import GroupAtPeak, LostTopics, Routed, carried, lost_topics, verdict_of
from rocketmq_capacity.simulation.consequences import cause_of
from rocketmq_capacity.simulation.copied import at_slaves
from rocketmq_capacity.simulation.outcome import outcome
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryConsumeStatus, InventoryGroupOffset, Sample
from rocketmq_capacity.tables import Finding, ScenarioGroup, SlaveDifference
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, broker, client, cluster, group, queues, reads, topic

ROOMS: Final = Policy.model_validate({
    "rooms": {"brokers": [{"pattern": "^(?P<room>[a-z]+)@"}], "clients": [{"pattern": "^(?P<room>[a-z]+)-"}]}
})
PAY: Final = topic("pay", queues("hz@a"), queues("sh@b"))
"""Eight queues with 10 messages a second each, in two rooms."""


def takes(ms: float, of_topic: str = "pay") -> tuple[InventoryConsumeStatus, ...]:
    return (InventoryConsumeStatus(topic=of_topic, consume_rt_ms=ms),)


def worker(client_id: str, ms: float = 10.0, **facts: Any) -> Client:
    """A client with one thread that takes so long for a message."""
    usual: dict[str, Any] = {"consume_threads": 1, "status": takes(ms), "owned_queues": None, "seen_on": None}
    return client(client_id, **usual | facts)


def tried(
    inventory: Inventory,
    *changes: Mapping[str, Any],
    policy: Policy = ROOMS,
    at_slaves: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> ScenarioGroup:
    """What the changes do to group g, without the findings."""
    sides = [units_of(one, policy) for one in (inventory, after(inventory, *changes, policy=policy))]
    was, now = (AssessedGroup(side.group("g"), side.cluster, policy, Strategies(policy)) for side in sides)
    scenario = Scenario.model_validate({"name": "what if", "changes": list(changes)})
    return outcome(was, now, (), (), frozenset(), scenario.lost_rooms, scenario.lost_masters, at_slaves)[0]


def read_by(*clients: Client, lag: int = 10, **facts: Any) -> Inventory:
    """Topic pay, read by group g, with so many messages of lag on each queue."""
    offsets = tuple(
        InventoryGroupOffset(topic="pay", broker_name=on, queue_id=i, broker_offset=5000, consumer_offset=5000 - lag)
        for on in ("hz@a", "sh@b")
        for i in range(4)
    )
    return cluster([PAY], [group("g", clients, [PAY], offsets=offsets, **facts)])


LOSE_A: Final = {"change": "lose_broker", "broker_name": "hz@a"}
LOST: Final = Scenario.model_validate({"name": "lose a", "changes": [LOSE_A]}).changes
COUNTS: Final = {"read_queue_nums": 8, "write_queue_nums": 8}
LOSE_ROOM: Final = {"change": "lose_room", "room": "hz"}


def test_nobody_knows_what_a_broadcasting_group_has_not_read() -> None:
    clients = [worker(str(number), 0.1) for number in range(3)]
    row = tried(read_by(*clients, lag=4000, message_model="BROADCASTING"), LOSE_A)
    assert (row.verdict, row.before_lag, row.after_lag, row.waiting_messages) == ("UNCHANGED", None, None, None)
    more = tried(read_by(*clients, lag=4000, message_model="BROADCASTING"), {"change": "scale_traffic", "factor": 2.0})
    assert (more.before_lag, more.after_lag, more.waiting_messages) == (None, None, 0)


def test_a_decommissioned_broker_makes_nobody_worse_off_who_has_time_left() -> None:
    """Eight queues over three clients are 3, 3 and 2; four are 2, 1 and 1: 0.3 % and then 0.4 % of a client's time."""
    row = tried(read_by(*(worker(str(i), 0.1) for i in range(3))), LOSE_A)

    assert (row.before_utilisation, row.after_utilisation) == pytest.approx((0.003, 0.004))
    assert (row.verdict, row.reasons, row.why) == ("UNCHANGED", (), "")
    assert (row.before_queues, row.after_queues, row.waiting_messages) == (8, 4, 40)


def test_a_lost_room_with_the_sick_client_makes_nobody_better_off() -> None:
    """hz-1 needs a second a message. Without it and its broker the others are hardly busy, and 8,000 messages wait."""
    row = tried(read_by(worker("hz-1", 1000.0), worker("sh-1"), worker("sh-2"), lag=2000), LOSE_ROOM)
    assert row.before_utilisation is not None
    assert row.before_utilisation > 1 > 0.5 > (row.after_utilisation or 0)
    assert (row.verdict, row.reasons) == ("WORSE", ("LOSS",))
    assert row.why == "8,000 messages would wait that are not read"

    assert tried(read_by(worker("hz-1", 1000.0), worker("sh-1"), worker("sh-2")), LOSE_ROOM).verdict == "UNCHANGED"


def test_a_room_with_clients_alone_is_no_gain_either() -> None:
    ship = topic("pay", queues("sh@b", 8))
    clients = [worker("hz-1", 1000.0), worker("sh-1"), worker("sh-2")]

    row = tried(cluster([ship], [group("g", clients, [ship])]), LOSE_ROOM)

    assert (row.before_clients, row.after_clients, row.verdict) == (3, 2, "UNCHANGED")


def test_the_sick_client_alone_may_go() -> None:
    """The lag that grew because of it says nothing about the group without it."""
    grew = tuple(
        Sample(at=f"2026-11-20T01:{minute}:00Z", broker_offset=4000 + 100 * minute, consumer_offset=100)
        for minute in range(49, 59)
    )
    offsets = tuple(
        InventoryGroupOffset(
            topic="pay", broker_name=on, queue_id=i, broker_offset=9900, consumer_offset=100, samples=grew
        )
        for on in ("hz@a", "sh@b")
        for i in range(4)
    )
    clients = [worker("1", 1000.0), worker("2", 1.0), worker("3", 1.0)]
    inventory = cluster([PAY], [group("g", clients, [PAY], offsets=offsets)])
    change = {"change": "remove_clients", "consumer_group": "g", "client_ids": ["1"]}
    sides = [units_of(one, ROOMS) for one in (inventory, after(inventory, change))]
    was, now = (AssessedGroup(side.group("g"), side.cluster, ROOMS, Strategies(ROOMS)) for side in sides)

    assert was.provision.status != "UNDER_PROVISIONED"
    assert now.provision.status != "UNDER_PROVISIONED"
    row = tried(inventory, change)
    assert (row.verdict, row.reasons) == ("BETTER", ("CAPACITY",))
    assert row.why.startswith("the busiest client is busy for 4.0 % of its time at the peak, within 70.0 %")


def test_a_topic_that_goes_with_its_broker_makes_its_readers_worse_off() -> None:
    alone = topic("pay", queues("hz@a"))
    stays = topic("ship", queues("sh@b"))
    read = (reads("pay"), reads("ship"))
    members = [worker(i, subscriptions=read, status=takes(1.0) + takes(1.0, "ship")) for i in ("1", "2")]

    row = tried(cluster([alone, stays], [group("g", members, [alone, stays])]), LOSE_A)

    assert (row.verdict, row.reasons) == ("WORSE", ("REACHABILITY",))
    assert (row.unreadable_topics, row.unwritable_topics) == (("pay",), ("pay",))
    assert row.why == "pay has no readable queue any more, and producers cannot send to it"


def test_a_group_that_loses_its_last_topic_is_worse_off_and_not_undecided() -> None:
    alone = topic("pay", queues("hz@a"))
    row = tried(cluster([alone], [group("g", [worker("1"), worker("2")], [alone])], [broker("hz@a")]), LOSE_A)
    assert (row.verdict, row.reasons, row.after_utilisation) == ("WORSE", ("REACHABILITY",), None)


def test_a_topic_that_only_slaves_could_serve_is_not_written_any_more() -> None:
    alone = topic("pay", queues("hz@a"))
    slave = replace(broker("hz@a", 1), config={"slaveReadEnable": "true"})
    lost = {"change": "lose_master", "broker_name": "hz@a"}

    row = tried(cluster([alone], [group("g", [worker("1")], [alone])], [broker("hz@a"), slave]), lost)
    assert (row.unreadable_topics, row.unwritable_topics, row.unread_queues) == ((), ("pay",), 0)
    assert row.why == "producers cannot send to pay any more"

    refuses = replace(slave, config={"slaveReadEnable": "false"})
    row = tried(cluster([alone], [group("g", [worker("1")], [alone])], [broker("hz@a"), refuses]), lost)
    assert (row.verdict, row.unread_queues) == ("WORSE", 4)


def test_messages_wait_on_a_broker_whose_slaves_refuse_to_be_read() -> None:
    """Each of four queues there has 500 messages; those of the other broker are read as before."""
    lost = {"change": "lose_master", "broker_name": "hz@a"}
    told = {"slaveReadEnable": "false"}, {"slaveReadEnable": "true"}, None
    rows = []
    for config in told:
        slave = replace(broker("hz@a", 1), config=config)
        there = read_by(worker("1", 0.1), worker("2", 0.1), lag=500)
        rows.append(tried(replace(there, brokers=(broker("hz@a"), slave, broker("sh@b"))), lost))
    refused, read, unknown = rows

    assert (refused.verdict, refused.unread_queues, refused.waiting_messages) == ("WORSE", 4, 2000)
    assert refused.reasons == ("REACHABILITY", "LOSS")
    assert refused.why == "4 more queues have no reader; 2,000 messages would wait that are not read"
    assert (read.verdict, read.unread_queues, read.waiting_messages) == ("UNCHANGED", 0, 0)
    assert (unknown.verdict, unknown.unread_queues, unknown.waiting_messages) == ("UNDECIDED", None, None)


LOSE_MASTER: Final = {"change": "lose_master", "broker_name": "hz@a"}


@pytest.mark.parametrize(
    ("config", "facts", "waiting"),
    [
        ({"slaveReadEnable": "false", "enableSlaveActingMaster": "false"}, {}, 40),
        ({"slaveReadEnable": "false", "enableSlaveActingMaster": "false"}, {"message_model": "BROADCASTING"}, None),
        ({"slaveReadEnable": "true", "enableSlaveActingMaster": "false"}, {"orderly": True}, 40),
        ({"slaveReadEnable": "true", "enableSlaveActingMaster": "false"}, {"message_request_mode": "POP"}, 40),
    ],
)
def test_a_group_that_no_slave_serves_is_worse_off_and_its_messages_wait(
    config: dict[str, str], facts: dict[str, Any], waiting: int | None
) -> None:
    before = read_by(worker("1"), **facts)
    slave = replace(broker("hz@a", 1), config=config)
    row = tried(replace(before, brokers=(*before.brokers, slave)), LOSE_MASTER)

    assert (row.verdict, row.reasons, row.unread_queues, row.waiting_messages) == (
        "WORSE",
        ("REACHABILITY",),
        4,
        waiting,
    )
    assert row.why == "4 more queues have no reader"


@pytest.mark.parametrize(("copied", "unread"), [(0, 4), (3, 1), (4, 0), (6, 0)])
def test_a_slave_serves_only_queues_that_it_has_copied(copied: int, unread: int) -> None:
    before = read_by(worker("1"))
    slave = replace(broker("hz@a", 1), config={"slaveReadEnable": "true"})
    cluster_before = replace(before, brokers=(*before.brokers, slave))
    differs = SlaveDifference(broker_name="hz@a", broker_id=1, topic="pay", read_queue_nums=copied)
    at_it = at_slaves([differs], units_of(cluster_before, ROOMS).cluster.brokers)
    row = tried(cluster_before, LOSE_MASTER, at_slaves=at_it)

    assert (row.unread_queues, row.waiting_messages) == (unread, 10 * unread)
    assert row.verdict == ("WORSE" if unread else "UNCHANGED")


def test_a_group_that_reads_a_lost_master_without_slaves_is_not_as_well_off_as_before() -> None:
    idle = read_by(worker("1"), worker("2"), worker("3"))

    assert tried(idle, LOSE_A).verdict == "UNCHANGED"  # a broker that is given up
    row = tried(idle, LOSE_MASTER)
    assert (row.verdict, row.unread_queues, row.waiting_messages) == ("WORSE", 4, 40)


REFUSING: Final = replace(broker("sh@b", 1), config={"slaveReadEnable": "false"})
"""A slave of sh@b that lets nobody read."""


@pytest.mark.parametrize(
    ("clients", "slaves", "unread"),
    [
        ((), (), 0),
        ((), (REFUSING,), 0),
        # AVG gives both the first half, so that nobody reads the four queues of sh@b.
        ((worker("1", 0.1), worker("1", 0.1)), (REFUSING,), 0),
        # Without them, the first half is two of the four queues of hz@a.
        ((worker("1", 0.1), worker("1", 0.1)), (), 2),
    ],
)
def test_queues_that_nobody_read_before_do_not_lose_their_reader_with_the_master(
    clients: tuple[Client, ...], slaves: tuple[Any, ...], unread: int
) -> None:
    before = read_by(*clients)
    row = tried(replace(before, brokers=(*before.brokers, *slaves)), {"change": "lose_master", "broker_name": "sh@b"})

    assert (row.verdict, row.unread_queues) == ("WORSE" if unread else "UNCHANGED", unread)


@pytest.mark.parametrize(
    ("config", "facts"),
    [
        (None, {}),
        ({"slaveReadEnable": "true", "enableSlaveActingMaster": "true"}, {"orderly": True}),
        ({"slaveReadEnable": "true"}, {"message_request_mode": "POP"}),
    ],
)
def test_whether_a_slave_serves_a_group_may_be_unknown(config: dict[str, str] | None, facts: dict[str, Any]) -> None:
    before = read_by(worker("1"), **facts)
    slave = replace(broker("hz@a", 1), config=config)
    row = tried(replace(before, brokers=(*before.brokers, slave)), LOSE_MASTER)

    assert (row.verdict, row.unread_queues, row.waiting_messages) == ("UNDECIDED", None, None)
    assert row.why == "whether its clients can read from a slave without the master is not known"


ONE_GONE: Final = {"change": "remove_clients", "consumer_group": "g", "count": 1}


@pytest.mark.parametrize("change", [{"change": "scale_traffic", "factor": 1.1}, ONE_GONE])
def test_a_slave_of_which_nobody_knew_before_whom_it_serves_leaves_no_verdict_open(change: dict[str, Any]) -> None:
    pay = topic("pay", queues("hz@a"), queues("hz@c"), queues("sh@b"))
    brokers = broker("hz@a", 1), broker("hz@c"), broker("sh@b"), broker("sh@b", 1)
    alone = cluster([pay], [group("g", [worker("1", 0.1), worker("2", 0.1)], [pay])], brokers)

    row = tried(alone, change)
    assert (row.verdict, row.unread_queues) == ("UNCHANGED", 0)
    assert tried(alone, {"change": "lose_master", "broker_name": "sh@b"}, change).verdict == "UNDECIDED"


@pytest.mark.parametrize("change", [{"change": "scale_traffic", "factor": 1.1}, ONE_GONE])
def test_owners_that_nobody_knew_before_leave_no_verdict_open(change: dict[str, Any]) -> None:
    """Clients run CONFIG with lists that the policy does not have, and report no queues."""
    row = tried(read_by(*(worker(name, allocate_strategy="CONFIG") for name in ("1", "2"))), change)

    assert (row.verdict, row.unread_queues) == ("UNCHANGED", None)


def test_a_group_whose_clients_all_left_is_worse_off() -> None:
    row = tried(read_by(worker("1"), worker("2")), {"change": "remove_clients", "consumer_group": "g", "count": 2})
    assert (row.verdict, row.reasons, row.waiting_messages) == ("WORSE", ("REACHABILITY",), 80)
    assert row.why == "no client is left: nobody reads its 8 queues"


def test_fewer_messages_make_nobody_better_off_and_more_make_the_busy_worse_off() -> None:
    busy = read_by(worker("1", 20.0), worker("2", 20.0))  # 4 x 10 messages x 20 ms = 80 % each
    assert tried(busy, {"change": "scale_traffic", "factor": 0.5}).verdict == "UNCHANGED"
    row = tried(busy, {"change": "scale_traffic", "factor": 1.5})
    assert (row.verdict, row.is_over_bound) == ("WORSE", True)
    assert row.why.endswith("busy for 120.0 % of its time at the peak, above 70.0 %; before it was 80.0 %")
    assert tried(busy, {"change": "add_clients", "consumer_group": "g", "count": 2}).verdict == "BETTER"


def test_queues_that_producers_alone_see_are_unread() -> None:
    fewer_read = {"change": "set_queues", "topic": "pay", "read_queue_nums": 3, "write_queue_nums": 4}
    row = tried(read_by(worker("1"), worker("2")), fewer_read)
    assert (row.verdict, row.unread_queues) == ("WORSE", 2)
    hidden = after(read_by(worker("1"), worker("2")), fewer_read)
    seen = {"change": "set_queues", "topic": "pay", "read_queue_nums": 4, "write_queue_nums": 4}
    assert tried(hidden, seen).verdict == "BETTER"


def test_each_topic_has_its_own_peak() -> None:
    """One queue got three times its usual messages in one minute, the other its usual ones."""
    moments = [f"2026-11-20T01:5{minute}:00Z" for minute in range(3)]
    written = {"pay": (0, 1200, 4800), "ship": (0, 1200, 2400)}
    offsets = tuple(
        InventoryGroupOffset(
            topic=name,
            broker_name="hz@a",
            queue_id=0,
            broker_offset=put[-1],
            consumer_offset=put[-1],
            samples=tuple(
                Sample(at=at, broker_offset=one, consumer_offset=one) for at, one in zip(moments, put, strict=True)
            ),
        )
        for name, put in written.items()
    )
    topics = [topic(name, queues("hz@a", 1), rates={("hz@a", 0): 20.0}) for name in written]
    both = tuple(map(reads, written))
    members = [worker("1", 10.0, subscriptions=both, status=takes(10.0) + takes(5.0, "ship"))]
    inventory = cluster(topics, [group("g", members, topics, offsets=offsets)])

    row = tried(inventory, {"change": "scale_traffic", "topic": "ship", "factor": 2.0})

    assert (row.before_utilisation, row.after_utilisation) == pytest.approx((0.2 + 0.1, 0.2 + 0.2))
    assert (row.before_peak_utilisation, row.after_peak_utilisation) == pytest.approx((0.6 + 0.1, 0.6 + 0.2))


def test_the_peak_is_that_of_the_cluster_as_it_is() -> None:
    """The queues got 30 of their usual 20 messages a second in one minute. Samples do not survive other traffic."""
    written = (0, 1200, 2400, 4200)
    samples = tuple(
        Sample(at=f"2026-11-20T01:5{minute}:00Z", broker_offset=offset, consumer_offset=offset)
        for minute, offset in enumerate(written)
    )
    offsets = tuple(
        InventoryGroupOffset(
            topic="pay", broker_name=on, queue_id=0, broker_offset=4200, consumer_offset=4200, samples=samples
        )
        for on in ("hz@a", "sh@b")
    )
    rates = {("hz@a", 0): 25.0, ("sh@b", 0): 25.0}
    pay = topic("pay", queues("hz@a", 1), queues("sh@b", 1), rates=rates)
    members = [worker("1", 24.0), worker("2", 24.0)]

    row = tried(cluster([pay], [group("g", members, [pay], offsets=offsets)]), LOSE_A)

    assert (row.before_utilisation, row.after_utilisation) == pytest.approx((0.6, 1.2))
    assert row.before_peak_utilisation == pytest.approx(0.6 * 30 / 25)
    assert row.after_peak_utilisation == pytest.approx(1.2 * 30 / 25)


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (
            {"consumer_group": "g", "topic": "pay"},
            "pay has no readable queue any more, and producers cannot send to it",
        ),
        ({"consumer_group": "g", "topic": "ship"}, "2 of 4 queues of its topics are gone with broker hz@a"),
        ({"consumer_group": "g", "topic": "ship", "rule": "DUPLICATE_CLIENT_ID"}, None),
        ({"consumer_group": "other"}, None),
        ({"rule": "BROKER_LOSS", "broker_name": "sh@b"}, "the cluster has lost broker hz@a"),
        ({"rule": "HOT_QUEUE", "topic": "ship"}, None),
    ],
    ids=str,
)
def test_a_new_finding_names_the_loss_that_it_follows_from(found: dict[str, Any], cause: str | None) -> None:
    alone, stays = topic("pay", queues("hz@a", 2)), topic("ship", queues("sh@b", 2))
    read = (reads("pay"), reads("ship"))
    members = [worker(i, subscriptions=read, status=takes(1.0) + takes(1.0, "ship")) for i in ("1", "2")]
    row = tried(cluster([alone, stays], [group("g", members, [alone, stays])]), LOSE_A)
    named = Finding(**{"rule": "IDLE_CONSUMERS", "severity": "INFO", "evidence": "{}", "message": "Idle."} | found)

    assert cause_of(named, {"g": row}, ["hz@a"], LOST) == cause
    none_left = replace(row, after_clients=0)
    told = cause_of(named, {"g": none_left}, ["hz@a"], LOST)
    assert told == ("no client of the group is left" if found.get("consumer_group") == "g" else cause)
    as_it_is = replace(row, unreadable_topics=(), before_queues=4, after_queues=4)
    assert cause_of(named, {"g": as_it_is}, [], LOST) is None


@pytest.mark.parametrize(
    ("rule", "change", "is_named"),
    [
        ("IDLE_CONSUMERS", {"change": "slow_broker", "broker_name": "sh@b", "latency_ms": 800, "for_s": 60.0}, True),
        ("IDLE_CONSUMERS", {"change": "scale_traffic", "factor": 2.0}, True),
        ("TRAFFIC_SKEW", {"change": "scale_traffic", "factor": 2.0}, False),
        ("TRAFFIC_SKEW", {"change": "read_only_broker", "broker_name": "sh@b"}, False),
        ("TRAFFIC_SKEW", {"change": "lose_master", "broker_name": "hz@a"}, True),
        ("BROKER_LOSS", {"change": "scale_traffic", "factor": 2.0}, False),
        ("BROKER_LOSS", {"change": "add_clients", "consumer_group": "other", "count": 1}, False),
        ("ALLOCATION_SKEW", {"change": "set_strategy", "consumer_group": "g", "strategy": "CONSISTENT_HASH"}, False),
        ("ALLOCATION_SKEW", {"change": "set_strategy", "consumer_group": "other", "strategy": "AVG"}, True),
        ("IDLE_CONSUMERS", {"change": "unsubscribe", "consumer_group": "g", "topic": "ship"}, False),
        ("IDLE_CONSUMERS", {"change": "remove_clients", "consumer_group": "g", "count": 1}, False),
        ("IDLE_CONSUMERS", {"change": "set_queues", "topic": "ship", **COUNTS}, False),
        ("IDLE_CONSUMERS", {"change": "add_broker", "broker_name": "new", "topics_like": "sh@b"}, False),
    ],
    ids=str,
)
def test_a_loss_is_the_reason_only_if_no_other_change_may_be_one(
    rule: str, change: dict[str, Any], is_named: bool
) -> None:
    scenario = Scenario.model_validate({"name": "both", "changes": [LOSE_A, change]})
    name = None if rule == "BROKER_LOSS" else "g"
    found = Finding(rule=rule, severity="INFO", consumer_group=name, evidence="{}", message="New.")
    pay = topic("pay", queues("hz@a", 2), queues("sh@b", 2))
    row = tried(cluster([pay], [group("g", [worker("1"), worker("2")], [pay])]), LOSE_A)

    assert (cause_of(found, {"g": row}, ["hz@a"], scenario.changes) is not None) == is_named


def routed(name: str, broker_state: str = "MASTER", perm: int | None = 6) -> Routed:
    return Routed(name, 4, 4, perm, broker_state)


def test_topics_are_lost_with_their_last_queue() -> None:
    before = [routed("pay"), routed("pay"), routed("ship"), routed("log")]
    after_it = [routed("pay", perm=4), routed("ship", perm=None), routed("log", "MASTERLESS")]
    assert lost_topics(before, after_it) == LostTopics(["ship"], ["log", "pay"])
    assert lost_topics(before, []) == LostTopics(["log", "pay", "ship"], ["log", "pay", "ship"])


NO_TOPIC: Final = LostTopics([], [])


def test_the_cluster_is_as_well_off_as_its_groups_and_topics() -> None:
    calm = tried(read_by(worker("1"), worker("2")), {"change": "add_clients", "consumer_group": "g", "count": 1})
    rows = {verdict: replace(calm, verdict=verdict) for verdict in ("BETTER", "WORSE", "UNCHANGED", "UNDECIDED")}

    def verdict(*names: str, lost: LostTopics = NO_TOPIC) -> str:
        return verdict_of([rows[name] for name in names], lost)

    assert verdict() == verdict("UNCHANGED") == "UNCHANGED"
    assert verdict("BETTER", "UNCHANGED") == "BETTER"
    assert verdict("BETTER", "WORSE", "UNDECIDED") == "MIXED"
    assert verdict("WORSE", "UNDECIDED") == verdict(lost=LostTopics([], ["log"])) == "WORSE"
    assert verdict("BETTER", "UNDECIDED") == "UNDECIDED"


def test_the_first_line_says_what_is_not_carried() -> None:
    bound = 0.7
    calm = tried(read_by(worker("1"), worker("2")), {"change": "add_clients", "consumer_group": "g", "count": 1})
    fine = carried([calm], [], NO_TOPIC, bound)
    assert (fine.is_carried, fine.over_bound, fine.waiting_messages) == (True, (), 0)

    busy = replace(calm, before_peak_utilisation=0.6, after_peak_utilisation=1.1, is_over_bound=True)
    found = carried([busy], [GroupAtPeak("g", 7.0), GroupAtPeak("was", 0.9), GroupAtPeak("calm", 1.0)], NO_TOPIC, bound)
    assert (found.over_bound, found.newly_over_bound) == (("g", "was"), ("g",))
    assert (found.is_carried, found.falling_behind) == (False, ("g",))

    for lost in ({"unread_queues": 1}, {"after_clients": 0}):
        assert carried([replace(calm, **lost)], [], NO_TOPIC, bound).is_carried is False
    assert carried([calm], [], LostTopics(["pay"], []), bound).is_carried is False
    assert carried([replace(calm, verdict="UNDECIDED")], [], NO_TOPIC, bound).is_carried is None
    wait = carried([replace(calm, waiting_messages=7), replace(calm, waiting_messages=None)], [], NO_TOPIC, bound)
    assert (wait.is_carried, wait.waiting_messages) == (True, 7)
