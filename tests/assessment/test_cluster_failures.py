"""A master, a broker that starts again, a name server: who can read and write, and when again."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.cluster_failures import cluster_failures
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryBroker
from rocketmq_capacity.tables import ClusterFailure
from tests.fixtures.units import units_of
from tests.simulation.clusters import broker, cluster

MIB = 1 << 20
OFF = {"slaveReadEnable": "false", "enableSlaveActingMaster": "false", "enableControllerMode": "false"}


def failures(
    *brokers: InventoryBroker, nameservers: tuple[str, ...] = ("n1:9876",), **policy: Any
) -> list[ClusterFailure]:
    inventory = replace(cluster([], [], brokers), nameservers=nameservers)
    settings = Policy.model_validate({"thresholds": policy} if policy else {})
    return list(cluster_failures(units_of(inventory, settings).cluster, settings))


def one(failure: str, *brokers: InventoryBroker, **more: Any) -> ClusterFailure:
    (found,) = (row for row in failures(*brokers, **more) if row.failure == failure)
    return found


def with_slave(config: Mapping[str, str] | None) -> tuple[InventoryBroker, InventoryBroker]:
    slave = broker("broker-a", 1)
    return broker("broker-a"), slave if config is None else replace(slave, config={**OFF, **config})


def can(row: ClusterFailure) -> tuple[bool | None, ...]:
    return row.is_writable, row.can_pull, row.can_pull_in_order, row.can_pop


def test_a_master_without_a_slave_is_as_a_lost_broker() -> None:
    row = one("MASTER", broker("broker-a"))

    assert can(row) == (False, False, False, False)
    assert (row.lost_brokers, row.read_again_s) == (("broker-a",), None)


@pytest.mark.parametrize(
    ("config", "expected", "read_again_s"),
    [
        ({}, (False, False, False, False), None),
        # 120 s and 5 s of the name server, 30 s until the next route, 3 s for the request, 3 s for a pull that still
        # tries to connect to the lost machine, 3 s until the next pull.
        ({"slaveReadEnable": "true"}, (False, True, False, False), 164.0),
        # Whether the name server supports an acting master, no broker tells.
        ({"slaveReadEnable": "true", "enableSlaveActingMaster": "true"}, (False, True, None, None), 164.0),
        # An acting master refuses pulls without slaveReadEnable, too.
        ({"enableSlaveActingMaster": "true"}, (False, False, False, None), None),
        # 10 s without a heartbeat, 5 s of the controller, and the same 39 s.
        ({"enableControllerMode": "true"}, (True, True, True, True), 54.0),
        ({"enableControllerMode": "true", "controllerHeartBeatTimeoutMills": "4000"}, (True,) * 4, 48.0),
    ],
)
def test_what_a_slave_allows_without_its_master(
    config: Mapping[str, str], expected: tuple[bool | None, ...], read_again_s: float | None
) -> None:
    row = one("MASTER", *with_slave(config))

    assert (can(row), row.read_again_s) == (expected, read_again_s)
    assert row.lost_brokers == ()


def test_a_name_server_misses_a_master_that_a_slave_acts_for_after_10_s() -> None:
    acts = {**OFF, "slaveReadEnable": "true", "enableSlaveActingMaster": "true"}
    both = [replace(broker("broker-a", broker_id), config=acts) for broker_id in (0, 1)]
    slow = [replace(one, config={**acts, "brokerNotActiveTimeoutMillis": "30000"}) for one in both]

    assert [one("MASTER", *each).read_again_s for each in (both, slow)] == [10 + 5 + 39, 30 + 5 + 39]


def test_a_slave_that_reports_nothing_leaves_it_unknown() -> None:
    row = one("MASTER", *with_slave(None))

    assert (row.can_pull, row.can_pull_in_order, row.can_pop, row.read_again_s) == (None, None, None, None)
    assert row.is_writable is False


def restarting(low: int, high: int, **config: str) -> InventoryBroker:
    runtime = {"commitLogMinOffset": str(low), "commitLogMaxOffset": str(high)}
    return replace(broker("broker-a"), runtime=runtime, config=config)


def test_a_broker_that_starts_again_is_estimated_from_the_span_of_its_commit_log() -> None:
    short = one("RESTART", restarting(100 * MIB, 600 * MIB))
    long = one("RESTART", restarting(0, 900_000 * MIB))
    small_files = one("RESTART", restarting(0, 900_000 * MIB, mappedFileSizeCommitLog=str(100 * MIB)))

    # 20 s, 500 MiB at 100 MiB a second, 30 s until the next route, 20 s until the next rebalance.
    assert (short.read_again_s, short.is_estimated) == (75.0, True)
    # What is written at which rate is not known: from the start of the file before the last 1,024 or 100 MiB.
    assert long.read_again_s == pytest.approx(20 + 19.52 + 50)
    assert small_files.read_again_s == 20 + 2 + 50


@pytest.mark.parametrize(
    ("high", "put_tps", "read_mib"),
    [
        (1_500 * MIB, "0.0 0.0 0.0", 476),  # the last file
        (1_500 * MIB, "1024.0 100.0", 476),  # 63 MiB in the 63 s since the checkpoint
        (1_050 * MIB, "100.0 1024.0", 1_050),  # they began in the file before
        (1_024 * MIB, "0.0", 1_024),  # a file that is just full
        (9_000 * MIB, "65536.0", 4_904),  # 4,032 MiB since the checkpoint
        (9_000 * MIB, "1000000.0", 9_000),  # more than there is
        (1_500 * MIB, "a lot", 1_500),  # unknown: as if a file had been written
    ],
)
def test_a_broker_reads_its_commit_log_from_the_file_that_was_written_at_the_last_checkpoint(
    high: int, put_tps: str, read_mib: int
) -> None:
    told = restarting(0, high)
    writes = replace(told, runtime={**(told.runtime or {}), "putTps": put_tps, "putMessageAverageSize": "1024.0"})

    assert one("RESTART", writes).read_again_s == pytest.approx(20 + read_mib / 100 + 50)


def test_what_a_deployment_knows_of_its_brokers_counts() -> None:
    settings = {"start_s": 60.0, "recovered_mib_per_s": 500.0}

    assert one("RESTART", restarting(0, 500 * MIB), BROKER_RESTART=settings).read_again_s == 60 + 1 + 50
    quick = {"poll_nameserver_s": 2.0, "rebalance_s": 4.0}
    assert one("RESTART", restarting(0, 100 * MIB), TRANSITION=quick).read_again_s == 20 + 1 + 6
    slave = with_slave({"slaveReadEnable": "true"})
    assert one("MASTER", *slave, TRANSITION=quick).read_again_s == 125 + 2 + 3 + 3 + 3


@pytest.mark.parametrize("runtime", [None, {}, {"commitLogMinOffset": "0"}, {"commitLogMinOffset": "-1"}])
def test_a_broker_that_does_not_tell_its_commit_log_is_unknown(runtime: dict[str, str] | None) -> None:
    row = one("RESTART", replace(broker("broker-a"), runtime=runtime))

    assert row.read_again_s is None
    assert row.why == "It is unknown how much its commit log holds."


def registered(name: str, names: str | None) -> InventoryBroker:
    return replace(broker(name), config=None if names is None else {"namesrvAddr": names})


def test_brokers_that_know_one_name_server_alone_are_lost_with_it() -> None:
    both, alone = registered("broker-a", "n1:9876;n2:9876"), registered("broker-b", "n2:9876")
    rows = failures(both, alone, nameservers=("n1:9876", "n2:9876"))
    first, second = (row for row in rows if row.failure == "NAME_SERVER")

    assert (first.lost, first.lost_brokers, first.read_again_s, first.can_pull) == ("n1:9876", (), 0.0, True)
    assert (second.lost, second.lost_brokers, second.can_pull) == ("n2:9876", ("broker-b",), False)
    assert second.read_again_s is None
    assert "Clients that know this one alone keep their routes" in first.why
    assert "Registered only with it: broker-b." in second.why


def test_which_brokers_a_name_server_takes_with_it_may_be_unknown() -> None:
    rows = failures(registered("broker-a", None), nameservers=("n1:9876", "n2:9876"))

    assert {(row.lost_brokers, row.can_pull, row.read_again_s) for row in rows if row.failure == "NAME_SERVER"} == {
        (None, None, None)
    }


def test_without_the_only_name_server_clients_keep_their_routes() -> None:
    row = one("NAME_SERVER", broker("broker-a"))

    assert (row.read_again_s, can(row)) == (0.0, (True, True, True, True))
    assert "cannot start" in row.why


def test_a_broker_whose_master_is_lost_already_keeps_its_row() -> None:
    reads = {**OFF, "slaveReadEnable": "true"}
    for config, pull, again_s in ((reads, True, 0.0), (OFF, False, None), (None, None, None)):
        row, nameserver = failures(replace(broker("broker-a", 1), config=config))
        assert (row.failure, row.lost, row.can_pull, row.read_again_s) == ("MASTER", "broker-a", pull, again_s)
        assert row.is_writable is False
        assert row.why.startswith("It has no master now.")
        assert nameserver.failure == "NAME_SERVER"


def test_a_cluster_without_brokers_has_no_master_to_lose() -> None:
    assert failures(nameservers=()) == []
