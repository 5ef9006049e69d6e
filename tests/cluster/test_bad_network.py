"""Faults between our client and a real cluster: each snapshot ends within its limit, and nothing wrong is stored.

Every snapshot is compared with one that was taken without faults. A row that it has is equal. A row that it lacks
belongs to a server with a row of failures. The snapshots are taken side by side, so that all of them take as long as
the slowest.
"""

import asyncio
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.limits import MAX_BODY_BYTES
from rocketmq_capacity.snapshot.collect import CollectOptions, collect
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, read_inventory, render_inventory
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import stored_run
from tests.cli.program import command
from tests.cluster.clients import Clients, Consumer
from tests.cluster.faulty_network import Fault, FaultyNetwork
from tests.cluster.inventory_rows import Place, stored_rows
from tests.cluster.network_faults import (
    ANSWER_S,
    FAULTS,
    bomb,
    cut,
    doubled,
    drip,
    flood,
    garbage,
    late,
    other_number,
    oversized,
    refuses_with,
    reset,
    say_nothing,
    stall,
)
from tests.cluster.rocketmq import Broker, Cluster
from tests.fixtures.environment import ROOT
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.timeout(900)]

WELL, BAD = "broker-a", "broker-b"
GROUPS: Final = [f"g_{number}" for number in range(160)]
"""As many as once made a broker that sends a byte now and then hold a snapshot for ten rounds of requests."""
FEW: Final = 40
"""So many of them are there while the faults are tried side by side, which is several rounds, too."""
LIMIT_S: Final = 120.0
"""Of a snapshot that gives servers up by itself."""
SHORT_S: Final = 4.0
"""Of a snapshot that would wait for ten minutes for each answer."""
BUSY_MACHINE_S: Final = 60.0
"""For the end of a snapshot after its limit, and the start of a program."""
MORE_MEMORY_BYTES: Final = 10 * MAX_BODY_BYTES
"""Less than the frames and bodies that are announced here, and more than a few of the largest that are taken."""
REST_S: Final = 300.0
"""Until the clients of the cluster have come to rest, before the faults and after them."""
AT_A_TIME: Final = 16
TIMES_AGAIN: Final = 2
PATIENT: Final = ConnectionSettings(request_timeout_s=600.0, connect_timeout_s=60.0)
USUAL: Final = ConnectionSettings(request_timeout_s=ANSWER_S, attempts=2, retry_wait_s=0.05)


@dataclass(frozen=True)
class Trial:
    """One snapshot: who has the fault, for which requests, and what is waited for."""

    name: str
    place: str
    fault: Fault
    codes: frozenset[int] = frozenset()
    settings: ConnectionSettings = USUAL
    limit_s: float = LIMIT_S


@dataclass(frozen=True)
class Result:
    """What became of a trial; without an inventory there was the error."""

    trial: Trial
    inventory: Inventory | None
    error: str
    took_s: float
    hits: int


NAME_SERVER: Final = "name server"
ROUTES: Final = frozenset({int(RequestCode.GET_ROUTEINFO_BY_TOPIC)})
OF_GROUPS: Final = frozenset({int(RequestCode.GET_CONSUME_STATS), int(RequestCode.GET_CONSUMER_CONNECTION_LIST)})
OF_NAME_SERVERS: Final = (drip, stall, other_number, reset, garbage, oversized, bomb, cut, late)
TRIALS: Final = [
    *(Trial(name, BAD, fault) for name, fault in FAULTS.items()),
    *(Trial(f"{fault.__name__}, of routes", NAME_SERVER, fault, ROUTES) for fault in OF_NAME_SERVERS),
    *(Trial(f"code {code}, of routes", NAME_SERVER, refuses_with(code), ROUTES) for code in (1, 215)),
    *(Trial(f"{fault.__name__}, of groups", BAD, fault, OF_GROUPS) for fault in (drip, other_number, flood)),
    *(
        Trial(f"{fault.__name__} until the limit, {place}", place, fault, codes, PATIENT, SHORT_S)
        for fault in (drip, stall, say_nothing, flood)
        for place, codes in ((BAD, OF_GROUPS), (NAME_SERVER, ROUTES))
    ),
    *(Trial(f"doubled, {place}", place, doubled) for place in (WELL, BAD, NAME_SERVER)),
    *(Trial(f"{fault.__name__}, of everything", NAME_SERVER, fault) for fault in OF_NAME_SERVERS),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = started_or_skipped(Cluster([Broker(WELL), Broker(BAD)], cluster_name="C1").start)
    with started, Clients(started.nameserver) as clients:
        started.create_topic("pay", {WELL: 3, BAD: 2})
        started.create_topic("ship", {BAD: 4})
        for name in (WELL, BAD):
            started.create_many(name, [], GROUPS[:FEW])
        for number in range(3):
            clients.start_consumer(Consumer("g_pay", f"c{number}", ["pay", "ship"]))
        clients.produce("pay", 50)
        clients.produce("ship", 20)
        clients.settled()
        yield started


def network(cluster: Cluster, faults: Mapping[str, Fault], codes: frozenset[int] = frozenset()) -> FaultyNetwork:
    """Faults by the broker's name, or those of the name server."""
    places = {NAME_SERVER: cluster.nameserver} | {name: address for (name, _), address in cluster.broker_addrs.items()}
    addresses = tuple(cluster.broker_addrs.values())
    return FaultyNetwork(cluster.nameserver, addresses, {places[name]: fault for name, fault in faults.items()}, codes)


async def tried(cluster: Cluster, trial: Trial) -> Result:
    async with network(cluster, {trial.place: trial.fault}, trial.codes) as faulty:
        options = CollectOptions(settings=trial.settings, limit_s=trial.limit_s)
        begin, inventory, error = time.monotonic(), None, ""
        try:
            taken = await asyncio.wait_for(
                collect([faulty.proxies[cluster.nameserver]], options=options), trial.limit_s + BUSY_MACHINE_S
            )
            text = b"".join(render_inventory(taken)).decode()
            inventory = parse_inventory(faulty.real(text).encode(), source=trial.name)
        except ClusterUnreachable as refused:
            error = str(refused)
        return Result(trial, inventory, error, time.monotonic() - begin, faulty.hits)


async def side_by_side(cluster: Cluster, trials: Sequence[Trial]) -> list[Result]:
    """Some at a time: all of them at once would ask the consumers about themselves at once."""
    turn = asyncio.Semaphore(AT_A_TIME)

    async def one(trial: Trial) -> Result:
        async with turn:
            return await tried(cluster, trial)

    return await asyncio.gather(*map(one, trials))


def address(cluster: Cluster, place: str) -> str:
    return cluster.nameserver if place == NAME_SERVER else cluster.broker_addrs[place, 0]


@dataclass(frozen=True)
class Tried:
    """All results by the name of the trial, the rows without faults, and how much memory the trials took.

    ``changed`` are the rows that the cluster itself changed meanwhile.
    """

    results: Mapping[str, Result]
    whole: Mapping[Place, Any]
    changed: frozenset[Place]
    more_memory_bytes: int


REQUESTS_OF: Final = {
    "brokers": {"GET_BROKER_CONFIG", "GET_BROKER_RUNTIME_INFO"},
    "topics": {"GET_ALL_TOPIC_CONFIG"},
    "queues": {"GET_ROUTEINFO_BY_TOPIC"},
    "offsets": {"GET_TOPIC_STATS_INFO", "GET_CONSUME_STATS", "GET_ALL_TOPIC_CONFIG"},
    "consumer_groups": {"GET_ALL_SUBSCRIPTIONGROUP_CONFIG", "GET_ALL_CONSUMER_OFFSET", "GET_CONSUMER_CONNECTION_LIST"},
    "clients": {"GET_CONSUMER_CONNECTION_LIST", "GET_CONSUMER_RUNNING_INFO"},
    "subscriptions": {"GET_CONSUMER_CONNECTION_LIST", "GET_CONSUMER_RUNNING_INFO"},
    "owned_queues": {"GET_CONSUMER_CONNECTION_LIST", "GET_CONSUMER_RUNNING_INFO"},
    "producers": {"GET_ALL_PRODUCER_INFO"},
}
"""For each list of an inventory, the requests of which one has failed where an entry of it is missing."""


@pytest.fixture(scope="module")
def all_tried(cluster: Cluster) -> Tried:
    whole = at_rest(cluster)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = asyncio.run(side_by_side(cluster, TRIALS))
    more_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    after = without_faults(cluster)
    changed = frozenset(place for place in {*whole, *after} if whole.get(place) != after.get(place))
    return Tried({result.trial.name: result for result in results}, whole, changed, more_kib * 1_024)


def without_faults(cluster: Cluster) -> dict[Place, Any]:
    """The rows of a snapshot that meets no fault.

    A client that is still busy with the questions of earlier snapshots does not answer its broker, which is a failure
    of neither network nor broker: the snapshot is taken again until the clients answer.
    """
    plain = Trial("no fault", BAD, doubled, frozenset({0}), replace(USUAL, request_timeout_s=60))
    deadline = time.monotonic() + REST_S
    while True:
        inventory = asyncio.run(tried(cluster, plain)).inventory
        assert inventory is not None
        failures = inventory.failures or ()
        if not failures:
            return stored_rows(inventory)
        assert all("(CONSUME_MSG_TIMEOUT)" in (failure.error or "") for failure in failures), failures
        assert time.monotonic() < deadline, failures


def at_rest(cluster: Cluster) -> dict[Place, Any]:
    """The rows once they stay as they are: consumers find their retry topics, and commit, in the first seconds."""
    rows, deadline = without_faults(cluster), time.monotonic() + REST_S
    while True:
        time.sleep(4)
        before, rows = rows, without_faults(cluster)
        if before == rows:
            return rows
        assert time.monotonic() < deadline, "the cluster did not come to rest"


def kind_of(place: Place) -> str:
    """The innermost list of the inventory that a row belongs to."""
    return next((name for name in reversed(place) if name in REQUESTS_OF), "")


def test_without_faults_there_are_rows_of_each_kind_to_compare(all_tried: Tried) -> None:
    assert len(all_tried.changed) < len(all_tried.whole) / 20
    kinds = Counter(map(kind_of, all_tried.whole))
    assert kinds.keys() >= REQUESTS_OF.keys()


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_snapshot_ends_within_its_limit_and_stores_nothing_wrong(
    all_tried: Tried, cluster: Cluster, trial: Trial
) -> None:
    """A busy machine may come before the fault, and a connection between clients and brokers may end meanwhile.

    Such a trial is made again, alone; what is wrong because of the fault is wrong then, too.
    """
    result, whole, changed = all_tried.results[trial.name], all_tried.whole, all_tried.changed
    for _ in range(TIMES_AGAIN):
        if problems(cluster, result, whole, changed):
            whole, changed = at_rest(cluster), frozenset[Place]()
            result = asyncio.run(tried(cluster, trial))
    assert problems(cluster, result, whole, changed) == []


def problems(
    cluster: Cluster, result: Result, whole: Mapping[Place, Any], changed: frozenset[Place]
) -> list[tuple[str, Any]]:
    """What is not as it has to be, with what is seen instead."""
    trial, bad = result.trial, address(cluster, result.trial.place)
    wrong: list[tuple[str, Any]] = [("hits", result.hits)] if not result.hits else []
    if result.took_s >= trial.limit_s + BUSY_MACHINE_S:
        wrong.append(("took", result.took_s))
    if result.inventory is None:
        is_told = result.error.startswith("the cluster cannot be read from ") and "\n" not in result.error
        if (trial.place, trial.codes) != (NAME_SERVER, frozenset()) or not is_told:
            wrong.append(("error", result.error))
        return wrong
    rows = stored_rows(result.inventory)
    failed = {failure.request for failure in result.inventory.failures or ()}
    failing = {failure.broker_addr for failure in result.inventory.failures or ()}
    missing = [place for place in whole if place not in rows and place not in changed]
    if trial.name in ("code 3", "code 16"):  # older brokers do not know 328, and to some users it is denied
        missing = [place for place in missing if kind_of(place) != "producers"]
    wrong += [
        ("another value", (place, value, whole.get(place)))
        for place, value in rows.items()
        if place not in changed and whole.get(place) != value
    ]
    wrong += [("missing, unsaid", place) for place in missing if not REQUESTS_OF[kind_of(place)] & failed]
    if trial.fault is doubled:
        return [*wrong, *(("missing", place) for place in missing), *(("failed", request) for request in failed)]
    if bad not in failing:
        wrong.append(("no failure", bad))
    if trial.settings is not PATIENT:  # at the limit, all are given up
        wrong += [("failure of another", of) for of in failing - {bad}]
        wrong += [("missing elsewhere", place) for place in missing if trial.place != NAME_SERVER and WELL in place]
    return wrong


def test_memory_is_bounded_whatever_is_announced(all_tried: Tried) -> None:
    assert all_tried.more_memory_bytes < MORE_MEMORY_BYTES


async def run_behind(
    faulty: FaultyNetwork, cluster: Cluster, program: Callable[[str], list[str]], folder: Path
) -> tuple[int | None, str]:
    """Run a program whose name server is behind the network: its status, and what it said on standard error."""
    async with faulty:
        process = await asyncio.create_subprocess_exec(
            *program(faulty.proxies[cluster.nameserver]),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, said = await asyncio.wait_for(process.communicate(), SHORT_S + BUSY_MACHINE_S)
        except TimeoutError:
            process.kill()
            raise
    assert faulty.hits > 0
    return process.returncode, said.decode()


@pytest.fixture
def short(tmp_path: Path) -> list[str]:
    """A policy with a short limit, and a connection whose requests wait for ten minutes."""
    (tmp_path / "policy.yaml").write_text(f"snapshot: {{sample_count: 1, limit_s: {SHORT_S}}}", "utf-8")
    (tmp_path / "connection.yaml").write_text("request_timeout_s: 600", "utf-8")
    return [f"--policy={tmp_path / 'policy.yaml'}", f"--connection={tmp_path / 'connection.yaml'}"]


@pytest.fixture(scope="module")
def large(cluster: Cluster) -> Cluster:
    """The same cluster with all groups."""
    for name in (WELL, BAD):
        cluster.create_many(name, [], GROUPS[FEW:])
    return cluster


def missed_offsets(inventory: Inventory) -> set[str]:
    return {one.error or "" for one in inventory.failures or () if one.request == "GET_CONSUME_STATS"}


def test_the_command_ends_within_the_limit_behind_brokers_that_drip(
    large: Cluster, tmp_path: Path, short: list[str]
) -> None:
    def program(nameserver: str) -> list[str]:
        return command("snapshot", f"--nameserver={nameserver}", "--out=i.json", "--quiet", *short)

    faulty = network(large, {WELL: drip, BAD: drip}, OF_GROUPS)
    assert asyncio.run(run_behind(faulty, large, program, tmp_path)) == (0, "")
    inventory = read_inventory(tmp_path / "i.json")
    assert {group.consumer_group for group in inventory.consumer_groups} >= set(GROUPS)
    errors = missed_offsets(inventory)
    assert errors
    assert all("not answered within the snapshot's limit of 4 s" in error for error in errors)


def test_the_snapshot_app_of_the_dag_does_so_too(large: Cluster, tmp_path: Path, short: list[str]) -> None:
    def program(nameserver: str) -> list[str]:
        app = [sys.executable, str(ROOT / "spark_apps/snapshot.py")]
        return [*app, f"--lake={tmp_path / 'lake'}", "--run-id=r1", f"--nameserver={nameserver}", *short]

    faulty = network(large, {WELL: drip, BAD: drip}, OF_GROUPS)
    status, said = asyncio.run(run_behind(faulty, large, program, tmp_path))
    assert status == 0, said
    run = stored_run(Lake(tmp_path / "lake"), "r1")
    assert run is not None
    assert missed_offsets(read_inventory(run.inventory))


def test_a_plan_ends_within_the_limit_behind_a_name_server_that_drips(
    large: Cluster, tmp_path: Path, short: list[str]
) -> None:
    def program(nameserver: str) -> list[str]:
        return command("plan", f"--nameserver={nameserver}", "--out=plan", *short)

    status, said = asyncio.run(run_behind(network(large, {NAME_SERVER: drip}), large, program, tmp_path))
    assert status == 3
    assert "the snapshot's limit of 4 s" in said.splitlines()[-1]
    assert not (tmp_path / "plan").exists()
