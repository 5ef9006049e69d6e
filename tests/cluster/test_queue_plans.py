"""A topic shrinks under load, step by step as its plan says, while a group is away: nothing is lost or left unread.

Then others get queues as the patches of desired_state.yaml say, and the next plan has the file that Git has made.

Every command and every check of the plan is run by the official tool, and each check is read as a person would.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_with
from pathlib import Path
from typing import Final

import pytest
import yaml
from msgspec.structs import replace

from rocketmq_capacity.handover.desired_state import GROUPS
from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.plan_file.steps import RecommendationStep
from rocketmq_capacity.recommendation.facts import AdvisedCluster as ClusterFacts
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.queue_plans import plans_of_topic
from rocketmq_capacity.settings.policy import Policy
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.cluster.snapshots import snapshot_of
from tests.fixtures.units import units_of
from tests.handover.planned import Handed, answered, applied, handed, handed_of, lasting, planned
from tests.oracle.requirement import started_or_skipped
from tests.recommendation.test_shrink_queues import daily
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

PATIENCE_S: Final = 240.0
BROKERS: Final = ("broker-a", "broker-b")
BEFORE, AFTER = 4, 2
MSGS_PER_S: Final = 40.0
STAYS, IS_AWAY = "g_stays", "g_is_away"
SHRINKING: Final = Policy.model_validate({
    "thresholds": {"SHRINK_QUEUES": {"min_saved_queues": 1}, "STALE_OBJECT": {"days": 365}}
})
"""A policy that shrinks small topics, and takes one without messages for one in use."""
Queue = tuple[str, int]


@dataclass(frozen=True)
class Story:
    """What happened.

    Attributes:
        plan: of the topic, from a snapshot of the cluster.
        routes: read and write queues of each broker after the first and after the last step.
        is_blocked: the third step's check held the last step back while a group was away.
        unread: messages that some group had not read in the end.
        sent: messages that were stored.
        kept: messages that lie in all queues, those that went included.
    """

    plan: QueuePlan
    routes: list[dict[str, tuple[int, int]]]
    is_blocked: bool
    unread: int
    sent: int
    kept: int


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Cluster, Clients]]:
    cluster = started_or_skipped(Cluster([Broker(name) for name in BROKERS], pop=True).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        yield cluster, clients


@pytest.fixture(scope="module")
def story(running: tuple[Cluster, Clients]) -> Story:
    cluster, clients = running
    return told(cluster, clients, cluster.mqadmin)


def told(cluster: Cluster, clients: Clients, run: Callable[[str], str]) -> Story:
    cluster.create_topic("pay", dict.fromkeys(BROKERS, BEFORE))
    for index in (1, 2):
        clients.start_consumer(Consumer(STAYS, f"{STAYS}-{index}", ["pay"]))
    away = clients.start_consumer(Consumer(IS_AWAY, IS_AWAY, ["pay"]))
    clients.settled()
    clients.start_load("pay", MSGS_PER_S, by_route=True)
    until(lambda: all(one.consumed > 0 for one in clients.owned()), PATIENCE_S)
    clients.stop_consumer(away)
    plan = plan_of(cluster)
    write_down, routes, drained, read_down = plan.steps

    follow(write_down, run)
    after_first = route(run(one_check(write_down)))
    until(lambda: is_quiet(run, one_check(routes)), PATIENCE_S)
    is_blocked = not all(is_drained(run, check.command) for check in drained.checks)
    clients.start_consumer(Consumer(IS_AWAY, IS_AWAY, ["pay"]))
    until(lambda: all(is_drained(run, check.command) for check in drained.checks), PATIENCE_S)
    gone = sum(ends(run(one_check(routes)), AFTER))
    follow(read_down, run)
    after_last = route(run(one_check(read_down)))

    clients.settled()
    sent = clients.stop_loads()
    commands = [check.command for check in drained.checks]
    # A queue gets a message a little later.
    until(lambda: gone + sum(ends(run(one_check(routes)), 0)) >= sent, PATIENCE_S)
    until(lambda: all(not unread(run(command)) for command in commands), PATIENCE_S)
    return Story(
        plan=plan,
        routes=[after_first, after_last],
        is_blocked=is_blocked,
        unread=sum(unread(run(command)) for command in commands),
        sent=sent,
        kept=gone + sum(ends(run(one_check(routes)), 0)),
    )


def plan_of(cluster: Cluster) -> QueuePlan:
    units = units_of(snapshot_of(cluster, samples=1))
    topic = units.topic("pay")
    facts = AdvisedTopic(topic.facts, ClusterFacts(units.cluster, Policy(), is_suspect=False), readers=topic.readers)
    counts = [QueueCounts(broker_name=name, read_queue_nums=AFTER, write_queue_nums=AFTER) for name in BROKERS]
    (plan,) = plans_of_topic(facts, counts)
    return plan


def follow(step: RecommendationStep, run: Callable[[str], str]) -> None:
    for command in step.commands:
        run(command)


def one_check(step: RecommendationStep) -> str:
    (check,) = step.checks
    return check.command


def rows(said: str) -> list[list[str]]:
    """The words of each line of a table that names a broker."""
    return [words for line in said.splitlines() if (words := line.split()) and set(words) & set(BROKERS)]


def route(said: str) -> dict[str, tuple[int, int]]:
    found = {}
    for words in rows(said):
        place = next(index for index, word in enumerate(words) if word in BROKERS)
        found[words[place]] = (int(words[place + 2]), int(words[place + 3]))  # after its addresses
    return found


def ends(said: str, least: int) -> list[int]:
    """#Max Offset of the queues with ids from ``least`` on, of a topicStatus."""
    return [int(words[3]) for words in rows(said) if int(words[1]) >= least]


def is_quiet(run: Callable[[str], str], command: str) -> bool:
    """Whether the queues that go got nothing while the producer sent so many messages that each queue had its turn."""
    before = run(command)
    time.sleep(2)  # after which the producer asks for its route
    now = run(command)
    has_sent = sum(ends(now, 0)) - sum(ends(before, 0)) >= 2 * BEFORE * len(BROKERS)
    return has_sent and ends(now, AFTER) == ends(before, AFTER)


def unread(said: str, least: int = 0) -> int:
    """#Diff of the queues with ids from ``least`` on, of a consumerProgress."""
    return sum(int(words[5]) for words in rows(said) if int(words[2]) >= least)


def is_drained(run: Callable[[str], str], command: str) -> bool:
    said = run(command)
    going = [words for words in rows(said) if int(words[2]) >= AFTER]
    assert len(going) == len(BROKERS) * (BEFORE - AFTER), said
    return unread(said, AFTER) == 0


def titles(steps: Sequence[RecommendationStep]) -> list[str]:
    return [step.title.partition(":")[0] for step in steps]


def test_the_plan_has_four_phases_and_names_every_group_that_must_have_read(story: Story) -> None:
    steps = story.plan.steps
    assert titles(steps) == ["Write down", "Wait for routes", "Drained", "Read down"]
    assert not story.plan.manual
    assert [check.command.split(" -g ")[1].split()[0] for check in steps[2].checks] == [IS_AWAY, STAYS]
    assert IS_AWAY in steps[2].blocks[0]


def test_write_queues_go_down_first_and_read_queues_last(story: Story) -> None:
    assert story.routes == [dict.fromkeys(BROKERS, (BEFORE, AFTER)), dict.fromkeys(BROKERS, (AFTER, AFTER))]


def test_a_group_that_is_away_holds_the_last_step_back(story: Story) -> None:
    assert story.is_blocked


def test_nothing_is_lost_or_left_unread(story: Story) -> None:
    assert story.sent == story.kept > 0
    assert story.unread == 0


def test_when_all_of_its_patches_are_carried_out_the_next_plan_has_gits_file_and_no_difference(
    running: tuple[Cluster, Clients], story: Story, tmp_path: Path
) -> None:
    cluster, clients = running
    cluster.create_topic("short", {"broker-a": (2, 4), "broker-b": 4})
    cluster.create_topic("alone", {"broker-a": 4}, message_type="DELAY")
    cluster.create_topic("crowded", dict.fromkeys(BROKERS, 1))
    for index in range(4):
        clients.start_consumer(Consumer("g_crowded", f"crowded-{index}", ["crowded"]))
    clients.settled()
    made = handed(snapshot_of(cluster, samples=1))
    chosen = {one["recommendation"] for one in made.differences["differences"] if one["chosen"]}
    wanted = applied(made.state, made.differences["patch"], tmp_path)
    recommended = [one for one in made.plan.recommendations if one.id in chosen]
    assert [(one.action, one.topic) for one in recommended] == [
        ("CREATE_TOPIC_ON_BROKER", "alone"),
        ("EXPAND_QUEUES", "crowded"),
        ("RAISE_READ_QUEUES", "short"),
    ]

    for command in (command for one in recommended for command in one.commands):
        cluster.mqadmin(command)
    clients.settled()
    later: list[Handed] = []

    def is_there() -> bool:
        later.append(handed(snapshot_of(cluster, samples=1)))
        return lasting(later[-1].state) == lasting(wanted)

    until(is_there, PATIENCE_S)
    assert (later[-1].differences["patch"], later[-1].differences["differences"]) == ("", [])


def test_a_shrink_and_pop_that_are_carried_out_are_what_git_has_made_of_the_file(
    running: tuple[Cluster, Clients], story: Story, tmp_path: Path
) -> None:
    cluster, clients = running
    cluster.create_topic("wide", dict.fromkeys(BROKERS, 8))
    cluster.create_topic("few", dict.fromkeys(BROKERS, 1))
    clients.start_consumer(Consumer("g_wide", "wide-1", ["wide"]))
    few = [Consumer("g_few", f"few-{index}", ["few"]) for index in range(4)]
    started = [clients.start_consumer(one) for one in few]
    clients.settled()
    now = snapshot_of(cluster, samples=1)
    plan = planned(now, SHRINKING, daily(now))
    ids = {(one.action, one.topic or one.consumer_group): one.id for one in plan.recommendations}
    approved = ids["SHRINK_QUEUES", "wide"], ids["SWITCH_TO_POP", "g_few"]
    # Without messages nobody knows how large a group has to be, and a plan that is UNDECIDED changes no group.
    sized = tuple(replace(one, provision_status="RIGHT_PROVISIONED") for one in plan.groups)
    made = handed_of(answered(replace(plan, groups=sized), approved), now)
    wanted = applied(made.state, made.differences["patch"], tmp_path)
    assert {one["recommendation"] for one in made.differences["differences"] if one["chosen"]} == {*approved}

    shrink, pop = (next(one for one in plan.recommendations if one.id == name) for name in approved)
    for step in shrink.steps or ():
        follow(step, cluster.mqadmin)
    for command in pop.commands:
        cluster.mqadmin(command)
    for number, one in zip(started, few, strict=True):  # as its reason says: setClientRebalance(false), and start again
        clients.stop_consumer(number)
        clients.start_consumer(dataclass_with(one, pop=True))

    until(lambda: lasting(handed(snapshot_of(cluster, samples=1)).state) == lasting(wanted), PATIENCE_S)
    groups = {one["consumer_group"]: one for one in yaml.safe_load(wanted)[GROUPS]}
    (read,) = groups["g_few"]["subscriptions"]
    assert (read["message_request_mode"], read["pop_share_queue_num"]) == ("POP", 8)


def test_the_file_has_what_each_broker_has_set_for_a_group(running: tuple[Cluster, Clients]) -> None:
    cluster, _ = running
    cluster.create_group("g_tries")
    line = f"mqadmin updateSubGroup -n {cluster.nameserver} -g g_tries -q 2 -r 5 -s false -d false"
    cluster.mqadmin(f"{line} -b {cluster.broker_addrs['broker-b', 0]}")
    state = handed(snapshot_of(cluster, samples=1)).state
    groups = {one["consumer_group"]: one for one in yaml.safe_load(state)[GROUPS]}

    usual = {"consume_enable": True, "consume_broadcast_enable": True, "consume_message_orderly": False}
    changed = {"consume_enable": False, "consume_broadcast_enable": False, "consume_message_orderly": False}
    assert groups["g_tries"]["settings"] == [
        {"broker_names": ["broker-a"], **usual, "retry_queue_nums": 1, "retry_max_times": 16},
        {"broker_names": ["broker-b"], **changed, "retry_queue_nums": 2, "retry_max_times": 5},
    ]
