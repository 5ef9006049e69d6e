"""``snapshot`` and ``plan`` of a live cluster: what is planned is what its consumers do."""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.plan_file.group import GroupPlan
from tests.cli.plan_lists import out_of_causes, out_of_order
from tests.cli.planned import Planned, planned
from tests.cli.program import command, contents, run
from tests.cluster.clients import Consumer, Owned
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.fixtures.plan_here import PlanHere
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

ROOM: Final = "room1@broker-c"
PLACED: Final = {"broker-a": 3, "broker-b": 2, ROOM: 4}
NEARBY: Final = {
    "broker_rooms": {"broker-a": "hz", "broker-b": "hz", ROOM: "room1"},
    "client_rooms": {"127.0.0.1@hz-0": "hz", "127.0.0.1@room1-0": "room1", "127.0.0.1@room1-1": "room1"},
}
POLICY: Final = """
strategies: [AVG, AVG_BY_CIRCLE, CONFIG, MACHINE_ROOM, MACHINE_ROOM_NEARBY-AVG, CONSISTENT_HASH, POP]
rooms:
  brokers: [{pattern: '^(?P<room>[^@]+)@'}, {broker_name: broker-a, room: hz}, {broker_name: broker-b, room: hz}]
  clients: [{pattern: '@(?P<room>hz|room1)-'}]
machine_rooms: [room1]
snapshot: {sample_count: 3, sample_interval_s: 4}
"""
SAMPLES: Final = "{sample_count: 3, sample_interval_s: 4}"
CONSUMERS: Final = (
    *(Consumer("g_avg", f"a{i}", ["pay", "ship"]) for i in range(4)),
    *(Consumer("g_circle", f"c{i}", ["pay", "ship"], strategy="AVG_BY_CIRCLE") for i in range(2)),
    *(Consumer("g_hash", f"h{i}", ["pay"], strategy="CONSISTENT_HASH", orderly=True) for i in range(3)),
    *(
        Consumer("g_room", f"r{i}", ["pay"], strategy="MACHINE_ROOM", strategy_params={"machine_rooms": ["room1"]})
        for i in range(2)
    ),
    *(
        Consumer("g_near", name, ["pay"], strategy="MACHINE_ROOM_NEARBY-AVG", strategy_params=NEARBY)
        for name in ("hz-0", "room1-0", "room1-1")
    ),
    *(Consumer("g_all", f"b{i}", ["ship"], message_model="BROADCASTING") for i in range(2)),
    *(Consumer("g_pop", f"p{i}", ["popped"], pop=True) for i in range(4)),
    *(Consumer("g_lost", f"l{i}", ["popped"], strategy="CONSISTENT_HASH", pop=True) for i in range(2)),
    *(Consumer("g_twice", name, ["pay"]) for name in ("same", "same", "z")),
)
REPORTED: Final = {
    "g_avg": "AVG",
    "g_circle": "AVG_BY_CIRCLE",
    "g_hash": "CONSISTENT_HASH",
    "g_room": "MACHINE_ROOM",
    "g_near": "MACHINE_ROOM_NEARBY",
    "g_lost": "CONSISTENT_HASH",
    "g_twice": "AVG",
}
RUN: Final = {**REPORTED, "g_near": "MACHINE_ROOM_NEARBY-AVG", "g_all": "BROADCASTING", "g_pop": "POP", "g_lost": "POP"}
"""Under which strategy of the allocation table each group really runs; NEARBY's inner one cannot be observed."""

TIME_LIMIT_S: Final = 600.0
"""A request to a frozen broker takes three times 5 s, and a loaded machine a minute for the plan itself."""


@dataclass(frozen=True)
class Live:
    """A plan of the live cluster, and what its consumers held just before and after it."""

    planned: Planned
    before: list[Owned]
    after: list[Owned]

    def group(self, name: str) -> GroupPlan:
        return next(group for group in self.planned.plan.groups if group.consumer_group == name)

    def held(self, group: str) -> Counter[tuple[str, str, str, int]]:
        """(client id, topic, broker name, queue id), as often as consumers of the group hold it."""
        return held(self.after, group)

    def allocated(self, group: str) -> Counter[tuple[str, str, str, int]]:
        """The same, as the allocation table has it under the strategy that the group runs."""
        return Counter(
            (row["client_id"], row["topic"], row["broker_name"], row["queue_id"])
            for row in self.planned.rows("allocation")
            if (row["consumer_group"], row["strategy"]) == (group, RUN[group])
        )


def held(owned: list[Owned], group: str) -> Counter[tuple[str, str, str, int]]:
    """(client id, topic, broker name, queue id), as often as consumers of the group hold it."""
    return Counter(
        (one.client_id, *queue)
        for one in owned
        if one.consumer_group == group
        for queue in (*one.queues, *one.pop_queues)
    )


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    brokers = [Broker("broker-a"), Broker("broker-b"), Broker("broker-b", broker_id=1), Broker(ROOM, own_process=True)]
    started = started_or_skipped(Cluster(brokers, cluster_name="C1", pop=True).start)
    yield started
    started.close()


@pytest.fixture(scope="module")
def clients(running: Cluster) -> Iterator[Clients]:
    running.create_topic("pay", PLACED)
    running.create_topic("ship", {"broker-a": 2, "broker-b": 4}, perm={"broker-a": 6, "broker-b": 4})
    running.create_topic("popped", PLACED)
    for name in ("g_pop", "g_lost"):
        running.create_group(name)
        running.set_request_mode("popped", name, "POP", pop_share_queue_num=1)
    with Clients(running.nameserver) as started:
        for consumer in CONSUMERS:
            started.start_consumer(consumer)
        started.start_load("pay", 5.0)
        started.settled()
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("live")
    (made / "policy.yaml").write_text(POLICY)
    return made


@pytest.fixture(scope="module")
def live(running: Cluster, clients: Clients, folder: Path, plan_here: PlanHere) -> Live:
    """The plan of a snapshot that the command line took."""
    before = clients.owned()
    inventory = folder / "inventory.json"
    done = run("snapshot", "--nameserver", running.nameserver, "--out", inventory, "--policy=policy.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{inventory}: C1 at 20")
    after = clients.owned()
    out = plan_here(json.loads(inventory.read_bytes()), POLICY)
    return Live(planned(out, inventory), before, after)


def test_the_plan_is_whole_and_as_the_contract_draws_it(live: Live) -> None:
    plan = live.planned.plan
    assert (plan.cluster_name, plan.completeness.ratio, plan.completeness.failures) == ("C1", 1.0, ())
    assert out_of_order(plan) == []
    assert out_of_causes(plan) == []
    assert {group.consumer_group for group in plan.groups} == RUN.keys()


@pytest.mark.parametrize("group", [name for name in RUN if RUN[name] != "POP"])
def test_a_group_is_allocated_what_its_consumers_hold(live: Live, group: str) -> None:
    assert held(live.before, group) == live.held(group)
    assert live.held(group)
    assert live.allocated(group) == live.held(group)


def test_a_pop_group_is_allocated_the_queues_that_its_consumers_pop(live: Live) -> None:
    popped = Counter({queue: count for queue, count in live.held("g_pop").items() if queue[1] == "popped"})
    assert len(popped) == 2 * sum(PLACED.values())  # with share number 1, of a neighbour's share too
    assert Counter({q: n for q, n in live.allocated("g_pop").items() if q[1] == "popped"}) == popped


def test_brokers_assign_nothing_to_clients_that_pop_with_a_strategy_of_their_own(live: Live) -> None:
    assert not live.held("g_lost")
    about = (one for one in live.planned.plan.findings if one.consumer_group == "g_lost")
    (found,) = (one for one in about if one.severity == "CRITICAL")
    assert (found.rule, found.evidence["orphans"], found.evidence["cause"]) == (
        "ORPHAN_QUEUE",
        sum(PLACED.values()),
        "NOT_ASSIGNED",
    )


def test_two_consumers_of_one_id_hold_everything_twice_and_a_third_of_the_queues_is_orphaned(live: Live) -> None:
    (same,) = {client_id for client_id, *_ in live.held("g_twice")} - {"127.0.0.1@z"}
    assert {count for (client_id, *_), count in live.allocated("g_twice").items() if client_id == same} == {2}
    (current,) = [one for one in live.group("g_twice").strategies if one.strategy == "AVG"]
    owned = {queue[1:] for queue in live.held("g_twice") if queue[1] == "pay"}
    assert len(current.orphan_queues) == sum(PLACED.values()) - len(owned) == 3
    assert ("DUPLICATE_CLIENT_ID", "g_twice") in {(one.rule, one.consumer_group) for one in live.planned.plan.findings}


@pytest.mark.parametrize(("group", "strategy"), REPORTED.items())
def test_the_strategy_in_use_is_the_one_that_the_clients_report(live: Live, group: str, strategy: str) -> None:
    said = live.group(group)
    assert (said.current_strategy, said.current_strategy_source) == (strategy, "reported")


def test_broadcasting_and_pop_groups_are_recognized_and_not_flagged(live: Live) -> None:
    everyone, popping = live.group("g_all"), live.group("g_pop")
    assert (everyone.message_model, everyone.strategies, everyone.max_useful_clients) == ("BROADCASTING", (), None)
    assert (popping.message_request_mode, popping.max_useful_clients) == ("POP", None)
    about = (one for one in live.planned.plan.findings if one.consumer_group in ("g_all", "g_pop"))
    # That some of the popping clients are not needed is for information.
    assert not {one.rule for one in about if one.severity != "INFO"}


def test_without_stored_days_a_group_with_more_consumers_than_work_keeps_them(live: Live) -> None:
    group = live.group("g_avg")

    assert group.provision_status == "RIGHT_PROVISIONED"
    assert "TOO_FEW_STORED_DAYS" in group.client_bounds.blocked_by


def test_a_broker_frozen_half_way_gives_an_incomplete_plan_that_takes_nobody_away(
    running: Cluster, clients: Clients, live: Live, folder: Path
) -> None:
    out = folder / "frozen"
    # Its first sample is taken long before it freezes, and its last one long afterwards.
    (folder / "far-apart.yaml").write_text(POLICY.replace(SAMPLES, "{sample_count: 2, sample_interval_s: 16}"))
    arguments = command("plan", "--nameserver", running.nameserver, "--out", out, "--policy=far-apart.yaml")
    begin = time.monotonic()
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_connection(process, running.broker_addrs[ROOM, 0])
        time.sleep(8)
        running.freeze(ROOM)
        _, errors = process.communicate(timeout=TIME_LIMIT_S)
    finally:
        running.thaw(ROOM)
        process.kill()
        process.wait()
    assert process.returncode == 0, errors
    assert time.monotonic() - begin < TIME_LIMIT_S
    plan = planned(out, folder / "inventory.json").plan
    assert out_of_order(plan) == []
    assert out_of_causes(plan) == []
    frozen = running.broker_addrs[ROOM, 0]
    failures = {(one.broker_addr, one.request): one.error or "" for one in plan.completeness.failures}
    assert "timed out after 5 s" in failures[frozen, "GET_CONSUME_STATS"]
    # A broker asks its consumers on our behalf, and these may be waiting for the frozen one.
    assert {request for address, request in failures if address != frozen} <= {"GET_CONSUMER_RUNNING_INFO"}
    assert (frozen, "GET_ALL_TOPIC_CONFIG") not in failures  # it was asked before it froze
    assert plan.completeness.ratio <= queues_elsewhere_ratio(ROOM) + 1e-4
    assert "OVER_PROVISIONED" not in {group.provision_status for group in plan.groups}
    assert "SNAPSHOT_INCOMPLETE" in {finding.rule for finding in plan.findings}


def queues_elsewhere_ratio(broker_name: str) -> float:
    """The share of the business topics' queues that are not on the broker."""
    queues = {"pay": PLACED, "popped": PLACED, "ship": {"broker-a": 2, "broker-b": 4}}
    placed = [(where, count) for of_topic in queues.values() for where, count in of_topic.items()]
    return sum(count for where, count in placed if where != broker_name) / sum(count for _, count in placed)


def wait_for_connection(process: subprocess.Popen[str], address: str) -> None:
    """Until the process has a connection to the address, as the kernel lists them."""
    wanted = f":{int(address.rpartition(':')[2]):04X}"
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert process.poll() is None
        own = {link for fd in Path(f"/proc/{process.pid}/fd").glob("*") if (link := link_of(fd)).startswith("socket:")}
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, _, remote, _, _, _, _, _, _, inode, *_ = line.split()
            if remote.endswith(wanted) and f"socket:[{inode}]" in own:
                return
        time.sleep(0.05)
    pytest.fail(f"no connection to {address} within five minutes")


def link_of(path: Path) -> str:
    """Where the link leads; nowhere once it is closed."""
    try:
        return str(path.readlink())
    except OSError:
        return ""


def test_without_the_name_server_status_3_and_nothing_written(running: Cluster, live: Live, folder: Path) -> None:
    nameserver = running.nameserver
    running.close()
    before = contents(folder)
    for arguments in (["snapshot", "--out=late.json"], ["plan", "--out=late"]):
        done = run(*arguments, "--nameserver", nameserver, cwd=folder)
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert f"{nameserver}: cannot connect: Connection refused" in line
    assert contents(folder) == before
    assert json.loads((folder / "inventory.json").read_bytes())["nameservers"] == [nameserver]
