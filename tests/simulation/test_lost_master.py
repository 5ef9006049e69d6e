"""A lost master in a what-if: who is served when, what waits, what may be lost, and how clients come back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.master_loss import MasterLoss, Use
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.plan_file.lost_master import MessagesAtRisk, WaitingMessages
from rocketmq_capacity.plan_file.troubled_broker import LostMasterOutlook
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import TransitionPolicy
from rocketmq_capacity.simulation.copied import at_slaves
from rocketmq_capacity.simulation.lost_master_words import coming_back, meaning
from rocketmq_capacity.simulation.lost_masters import ReaderRow, ReadersBehind, ReadsRow, waiting
from rocketmq_capacity.simulation.messages_at_risk import messages_at_risk, waits_for_a_slave
from rocketmq_capacity.simulation.outlook import outlook_of
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.tables import Broker, ConsumerGroup, GroupOffset, SlaveDifference, Subscription, TopicQueue
from rocketmq_capacity.tables.dataset import Dataset
from tests.simulation.test_comparison import CLUSTER, side

OFF = {"slaveReadEnable": "false", "enableSlaveActingMaster": "false", "enableControllerMode": "false"}
READS = {**OFF, "slaveReadEnable": "true"}
ACTS = {**READS, "enableSlaveActingMaster": "true"}
ELECTS = {**OFF, "enableControllerMode": "true"}
MIB = 1 << 20


def replica(broker_id: int = 0, config: Mapping[str, str] | None = OFF, **runtime: Any) -> Broker:
    told = {name: str(value) for name, value in runtime.items()}
    return Broker(
        broker_name="broker-b",
        broker_id=broker_id,
        broker_addr=f"b:{10911 + broker_id}",
        config=None if config is None else dict(config),
        runtime=told or None,
        has_answered=True,
    )


def lost(config: Mapping[str, str] | None, *, slaves: int = 1, **clients: float) -> MasterLoss:
    """The loss of a master with slaves that are all set like it."""
    each = [replica(number + 1, config) for number in range(slaves)]
    return MasterLoss.of(replica(0, config), each, TransitionPolicy(**clients))


def seconds(loss: MasterLoss, use: Use) -> tuple[float | None, float | None, float]:
    """Until clients are served if the process ends, if the machine is gone, and once the master is back."""
    return loss.served_s(use, "KILL"), loss.served_s(use, "SILENT"), loss.back_s(use)


# 30 s until the next route and 3 s for the request; 3 s until the next pull; 20 s and 3 s until queues are locked.
BACK = {"WRITE": 33.0, "PULL": 69.0, "PULL_IN_ORDER": 69.0, "POP": 36.0}
"""33 s for the route, 3 s until the next try; a pull waits for a heartbeat, too: 30 s, and 3 s for the request."""


@pytest.mark.parametrize(
    ("config", "served"),
    [
        (OFF, {}),
        # A killed broker leaves the route at once. A silent one leaves it after 120 s and a scan of 5 s, and a pull may
        # still try to connect to it for 3 s.
        (READS, {"PULL": (36.0, 125.0 + 39)}),
        # Name servers expire a broker that lets slaves act after 10 s; whether a slave acts, no broker tells.
        (ACTS, {"PULL": (36.0, 15.0 + 39)}),
        # A controller misses a silent master after 10 s and a scan of 5 s.
        (
            ELECTS,
            {
                "WRITE": (33.0, 15.0 + 33),
                "PULL": (36.0, 15.0 + 39),
                "PULL_IN_ORDER": (56.0, 15.0 + 56),
                "POP": (36.0, 15.0 + 39),
            },
        ),
        (None, {}),
    ],
)
def test_until_when_clients_are_not_served(
    config: Mapping[str, str] | None, served: Mapping[Use, tuple[float, float]]
) -> None:
    loss = lost(config)
    for use in ("WRITE", "PULL", "PULL_IN_ORDER", "POP"):
        killed_s, silent_s = served.get(use, (None, None))
        assert seconds(loss, use) == (killed_s, silent_s, BACK[use]), use


def test_pulls_to_a_silent_machine_hang_until_a_heartbeat_fails() -> None:
    """Routes are there after 15 + 1 + 3 s, but the pull before waits for the heartbeat after 30 s and its 3 s."""
    quick = lost(ACTS, poll_nameserver_s=1.0)

    assert seconds(quick, "PULL")[:2] == (1 + 3 + 3, 30 + 3 + 3 + 3)


def test_a_broker_without_slaves_serves_nobody_and_without_settings_it_is_unknown() -> None:
    alone, unknown = lost(READS, slaves=0), lost(None)
    uses: tuple[Use, ...] = ("PULL", "PULL_IN_ORDER", "POP")

    assert [alone.is_served(use) for use in uses] == [False, False, False]
    assert [unknown.is_served(use) for use in uses] == [None, None, None]
    assert (alone.is_served("WRITE"), unknown.is_served("WRITE")) == (False, False)
    assert meaning(alone, "PULL", has_slaves=False) == "Nobody answers them: the broker has no slave."
    assert meaning(unknown, "PULL", has_slaves=True) == (
        "UNDECIDED: the slave with the smallest id does not report slaveReadEnable. If it is set, they are served after"
        " 36 s at most if its process ends, and 164 s if its machine is gone."
    )


def test_clients_that_consume_in_order_or_pop_need_a_broker_with_the_id_0() -> None:
    read, acted = lost(READS), lost(ACTS)

    assert meaning(read, "PULL_IN_ORDER", has_slaves=True) == (
        "They consume for 30 s at most after their last lock, what they hold, and what the slave gives them. They lock"
        " a queue at a master alone. No slave acts for it (enableSlaveActingMaster)."
    )
    assert meaning(acted, "POP", has_slaves=True) == (
        "They pop from a master alone. UNDECIDED: a slave acts for it only where the name servers have"
        " supportActingMaster, which no broker tells. If it is set, they are served after 36 s at most if its process"
        " ends, and 54 s if its machine is gone."
    )
    refused = meaning(lost(OFF), "PULL_IN_ORDER", has_slaves=True)
    assert refused.startswith("They consume for 30 s at most after their last lock, what they hold. They lock")
    assert refused.endswith("The slave refuses to be read, too.")


def place(topic: str, queues: int = 2) -> TopicQueue:
    return TopicQueue(
        topic=topic,
        kind="BUSINESS",
        broker_name="broker-b",
        read_queue_nums=queues,
        write_queue_nums=queues,
        perm=6,
        broker_state="MASTER",
        has_answered=True,
    )


def reads(group: str, topic: str = "pay", mode: str = "PULL") -> ReadsRow:
    return ReadsRow(group, topic, mode)


GROUPS = {
    "g_any": ReaderRow("g_any", "CLUSTERING", is_orderly=False, protocol="REMOTING"),
    "g_order": ReaderRow("g_order", "CLUSTERING", is_orderly=True, protocol="REMOTING"),
    "g_both": ReaderRow("g_both", None, is_orderly=None, protocol="REMOTING"),
    "g_grpc": ReaderRow("g_grpc", "CLUSTERING", is_orderly=True, protocol="GRPC"),
    "g_every": ReaderRow("g_every", "BROADCASTING", is_orderly=False, protocol="REMOTING"),
    "g_new": ReaderRow("g_new", "CLUSTERING", is_orderly=False, protocol="REMOTING"),
}


def test_what_waits_there_for_each_group_by_how_it_reads() -> None:
    read = [
        *(reads("g_any", topic) for topic in ("pay", "ship", "elsewhere")),
        reads("g_order", mode="POP"),  # an orderly remoting client pulls all the same
        reads("g_both"),
        reads("g_both", "ship", "POP"),
        reads("g_grpc", mode="POP"),
        reads("g_every"),
        reads("g_new"),
        reads("%SYS"),
    ]
    lags = {
        (group, topic, "broker-b", queue_id): 100 * (queue_id + 1) + number
        for number, group in enumerate(GROUPS)
        for topic in ("pay", "ship")
        for queue_id in range(2)
        if (group, queue_id) != ("g_new", 1)
    }
    found = waiting(lost(READS), [place("pay"), place("ship")], ReadersBehind(read, GROUPS, lags))

    assert [(one.consumer_group, one.use, one.queues, one.messages) for one in found] == [
        ("g_every", "PULL", 2, None),  # its clients keep their own offsets
        ("g_new", "PULL", 2, None),  # it has no offset on one queue
        ("g_any", "PULL", 4, 600),
        ("g_grpc", "POP", 2, 306),
        ("g_both", "POP", 2, 304),
        ("g_both", "PULL", 2, 304),
        ("g_order", "PULL_IN_ORDER", 2, 302),
    ]
    assert {(one.use, one.is_served, one.killed_s, one.silent_s) for one in found} == {
        ("PULL", True, 36.0, 164.0),
        ("PULL_IN_ORDER", False, None, None),
        ("POP", False, None, None),
    }


@pytest.mark.parametrize(
    ("slave_id", "has", "missing"), [(1, None, ("pay",)), (1, 1, ("pay",)), (1, 2, ()), (2, None, ())]
)
def test_a_slave_serves_only_what_it_has_copied(slave_id: int, has: int | None, missing: tuple[str, ...]) -> None:
    slaves = [Broker(broker_name="broker-b", broker_id=number, has_answered=True) for number in (0, 1, 2)]
    differs = SlaveDifference(broker_name="broker-b", broker_id=slave_id, topic="pay", read_queue_nums=has)
    lacks_group = SlaveDifference(broker_name="broker-b", broker_id=1, consumer_group="g_any")
    readers = ReadersBehind([reads("g_any")], GROUPS, {}, at_slaves([differs, lacks_group], slaves))

    (one,) = waiting(lost(READS), [place("pay")], readers)
    assert one.missing_topics == missing
    assert (one.is_served, one.killed_s) == ((False, None) if missing else (True, 36.0))


def test_what_a_slave_takes_away_until_it_has_copied_it_again_is_not_missing() -> None:
    slave = Broker(broker_name="broker-b", broker_id=1, has_answered=True)
    differs = SlaveDifference(broker_name="broker-b", broker_id=1, topic="pay", is_copying=True)

    assert at_slaves([differs], [slave]) == {}


def risks(master: Broker | None, *slaves: Broker, is_elected: bool = False) -> dict[str, tuple[Any, Any]]:
    found = messages_at_risk(master, slaves, is_elected=is_elected)
    return {one.lost_with: (one.lost_bytes, one.lost_messages) for one in found}


ASYNC = {**OFF, "brokerRole": "ASYNC_MASTER", "flushDiskType": "ASYNC_FLUSH"}
FULL: dict[str, Any] = {"commitLogMinOffset": MIB, "commitLogMaxOffset": 3 * MIB, "putMessageAverageSize": 1_000.0}
BEHIND: dict[str, Any] = {"commitLogMaxOffset": 3 * MIB - 4_500}


def test_what_is_not_flushed_is_lost_with_the_power_and_what_no_slave_has_with_the_disk() -> None:
    """40,000 bytes/s: 4 pages of 4,096 bytes and half a second are 36,384. The slave lacks 4,500 bytes, 5 messages."""
    master = replica(0, ASYNC, putTps="40.0 30.0 20.0", **FULL)

    assert risks(master, replica(1, READS, **BEHIND), replica(2, READS, commitLogMaxOffset=5)) == {
        "PROCESS": (0.0, 0.0),
        "POWER": (16_384 + 20_000.0, 37.0),
        "DISK": (4_500.0, 5.0),
    }
    assert risks(master)["DISK"] == (2 * MIB, 2_098.0)


def test_a_quiet_master_flushes_everything_after_10_s() -> None:
    """100 bytes/s: 10.5 s of them are less than four pages."""
    quiet = replica(0, ASYNC, putTps="0.1 0.1 0.1", **FULL)
    idle = replica(0, ASYNC, putTps="0.0", putMessageAverageSize="0.0")

    assert risks(quiet, replica(1))["POWER"] == (1_050.0, 2.0)
    assert risks(idle, replica(1))["POWER"] == (0.0, 0.0)


def test_settings_of_the_broker_count() -> None:
    slower = {**ASYNC, "flushIntervalCommitLog": "1000", "flushCommitLogLeastPages": "1"}
    pooled = {**ASYNC, "transientStorePoolEnable": "true"}
    each = [
        replica(0, config, putTps="40.0", **FULL)
        for config in (slower, pooled, {**ASYNC, "flushDiskType": "SYNC_FLUSH"})
    ]

    found = [risks(master, replica(1, READS, **BEHIND)) for master in each]
    assert [one["POWER"][0] for one in found] == [4_096 + 40_000, 36_384 + 16_000, 0.0]
    # What lies in the process's own memory for 200 + 200 ms is lost with the process.
    assert [one["PROCESS"][0] for one in found] == [0.0, 16_000, 0.0]


@pytest.mark.parametrize(
    ("config", "version", "waits"),
    [
        ({"brokerRole": "ASYNC_MASTER", "inSyncReplicas": "2"}, "V5_3_3", False),
        # The default of 5.x: the master itself is the one replica that is in sync.
        ({"brokerRole": "SYNC_MASTER", "inSyncReplicas": "1"}, "V5_3_3", False),
        ({"brokerRole": "SYNC_MASTER", "inSyncReplicas": "2"}, "V5_3_3", True),
        ({"brokerRole": "SYNC_MASTER", "inSyncReplicas": "2", "enableAutoInSyncReplicas": "true"}, "V5_3_3", False),
        ({"brokerRole": "SYNC_MASTER"}, "V4_9_8", True),
        ({"brokerRole": "SYNC_MASTER"}, None, None),
        ({}, "V5_3_3", None),
        (
            {
                "brokerRole": "SYNC_MASTER",
                "enableControllerMode": "true",
                "allAckInSyncStateSet": "true",
                "inSyncReplicas": "1",
            },
            "V5_3_3",
            True,
        ),
    ],
)
def test_whether_a_producer_waits_for_a_slave(config: dict[str, str], version: str | None, waits: bool | None) -> None:
    master = replace(replica(0, {**ASYNC, "brokerRole": "", **config}), version=version)
    if "brokerRole" not in config:
        master = replace(master, config=OFF)

    assert waits_for_a_slave(master) is waits
    expected = {True: 0.0, False: 4_500.0, None: None}[waits]
    assert (
        risks(replace(master, runtime={"commitLogMaxOffset": str(3 * MIB)}), replica(1, **BEHIND))["DISK"][0]
        == expected
    )


def test_a_new_master_lacks_what_it_had_not_copied_however_the_old_one_is_lost() -> None:
    master = replica(0, {**ASYNC, **ELECTS}, putTps="40.0", **FULL)

    assert risks(master, replica(1, ELECTS, **BEHIND), is_elected=True) == dict.fromkeys(
        ("PROCESS", "POWER", "DISK"), (4_500.0, 5.0)
    )


def test_what_the_inventory_does_not_tell_is_undecided() -> None:
    unknown = messages_at_risk(replica(0, None), [replica(1, None)], is_elected=False)
    assert [(one.lost_bytes, one.lost_messages) for one in unknown] == [(None, None)] * 3
    assert all(one.why.startswith("UNDECIDED: ") for one in unknown)

    untold = messages_at_risk(replica(0, ASYNC), [replica(1, OFF)], is_elected=False)
    assert [one.why for one in untold[1:]] == [
        "UNDECIDED: it is unknown how much is written to the master.",
        "UNDECIDED: it is unknown how far its slaves are behind.",
    ]
    assert messages_at_risk(None, [replica(1)], is_elected=False) == ()


def test_how_clients_come_back() -> None:
    came = "registers when it is up. Producers send there again after 33 s more at most, clients that pop read"
    order = (
        "clients that pull after 69 s, and clients that consume in order, which lock their queues anew, after 69 s. It"
        " answers pulls only after a heartbeat of the client: Java clients from 5.2.0 on send it when they connect, so"
        " that it is mostly less."
    )
    waits, reading, acting, elected = (list(coming_back(lost(each), None)) for each in (OFF, READS, ACTS, ELECTS))

    assert waits == [f"It {came} after 36 s, {order}", "What waits there is read from the committed offsets on."]
    assert "commit their offsets there within 8 s." in reading[1]
    assert "a client that starts before the others have committed consumes again" in reading[2]
    assert acting[2] == "With totalReplicas above 1 the master takes over the slaves' offsets before it registers."
    assert elected == ["It comes back as a slave, and clients stay with the new master."]
    again = next(coming_back(lost(OFF), "Its commit log holds 1.0 MiB."))
    assert again == "Started again after a kill: its commit log holds 1.0 MiB."


LOSE = {"change": "lose_master", "broker_name": "broker-b"}


def compared(folder: Path, brokers: Sequence[Broker], rows: Sequence[Dataset]) -> LostMasterOutlook:
    """The entry of the what-if that loses the master of broker-b."""
    left = tuple(one for one in brokers if one.broker_id)
    before, after = side(folder / "before", [*rows, *brokers]), side(folder / "after", [*rows, *left])
    sides = Sides.of(
        RunSide(before.run, ClusterFacts(cluster=CLUSTER, brokers=tuple(brokers))),
        RunSide(after.run, ClusterFacts(cluster=CLUSTER, brokers=left)),
        Policy(),
        Scenario.model_validate({"name": "lost", "changes": [LOSE]}),
    )
    (entry,) = outlook_of(sides)
    assert isinstance(entry, LostMasterOutlook)
    return entry


def test_the_plan_file_has_all_of_it_as_the_contract_draws_it(tmp_path: Path) -> None:
    pays = ConsumerGroup(
        consumer_group="g_pay",
        kind="BUSINESS",
        message_model="CLUSTERING",
        message_request_mode="PULL",
        is_orderly=False,
        connections=1,
        distinct_client_ids=1,
    )
    subscription = Subscription(
        consumer_group="g_pay",
        topic="pay",
        kind="BUSINESS",
        is_declared_by_group=True,
        message_request_mode="PULL",
        pop_share_queue_num=-1,
    )
    offsets = [
        GroupOffset(
            consumer_group="g_pay", topic="pay", broker_name=name, queue_id=queue_id, kind="BUSINESS", lag=7 + queue_id
        )
        for name in ("broker-a", "broker-b")
        for queue_id in range(3)
    ]
    brokers = replica(0, ASYNC, putTps="40.0", **FULL), replica(1, READS, **BEHIND)

    entry = compared(tmp_path, brokers, [pays, subscription, *offsets, place("pay")])

    assert entry.waiting == (
        WaitingMessages(
            consumer_group="g_pay", use="PULL", queues=2, messages=15, is_served=True, killed_s=36.0, silent_s=164.0
        ),
    )
    assert [(one.use, one.is_served) for one in entry.clients] == [
        ("WRITE", False),
        ("PULL", True),
        ("PULL_IN_ORDER", False),
        ("POP", False),
    ]
    assert entry.slave_behind_bytes == 4_500
    disk: MessagesAtRisk = entry.at_risk[2]
    assert (disk.lost_bytes, disk.lost_messages) == (4_500, 5)
    assert entry.back[0].startswith(
        "Started again after a kill: its commit log holds 2.0 MiB, of which it reads 2.0 MiB"
    )
    read = msgspec.json.decode(msgspec.json.encode(entry), type=LostMasterOutlook)
    assert read == entry
