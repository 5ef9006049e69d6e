"""Whole plans of generated clusters, each checked without the code that made it.

One is planned by the command line, the other in this process, which starts no Spark for it.
"""

import gc
import json
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import jsonschema
import msgspec
import pytest

from rocketmq_capacity.collector import collect_seldom
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.group import StrategyPlan
from tests.cli.plan_lists import out_of_causes, out_of_order, queues_as_texts
from tests.fixtures.environment import ROOT
from tests.fixtures.generated import generated, policy_for_generated, write_fleet
from tests.fixtures.plan_here import PlanHere
from tests.oracle.java_oracle import JavaOracle
from tests.plan import program
from tests.plan.official import Official, Owned
from tests.plan.whole import OfStrategy, Whole

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

STRATEGIES: Final = [
    *("AVG", "AVG_BY_CIRCLE", "CONFIG", "CONSISTENT_HASH", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG", "POP"),
]
CHANGES: Final = {"EXPAND_QUEUES", "SCALE_CONSUMERS", "CREATE_TOPIC_ON_BROKER", "CHANGE_STRATEGY"}
"""Actions that need to know the whole cluster."""
ROW_BY_ROW: Final = {"AVG", "AVG_BY_CIRCLE"}
"""Strategies under which nobody takes over a queue if the clients that own none leave."""
ASKED_GROUPS: Final = 60
"""How many groups the official classes are asked about, with all strategies and all topics."""
CONFIGURED: Final = {"config_desk", "config_audit"}
"""The only groups that CONFIG has lists for."""


HALF_KNOWN: Final = "300 groups, half known"
"""Nothing is changed on part of the facts."""
KNOWN: Final = "600 groups"


@pytest.fixture(scope="module", autouse=True)
def collector_looks_seldom() -> Iterator[None]:
    """Millions of rows are compared here, and Python's garbage collector would look at all of them again and again."""
    was = gc.get_threshold()
    collect_seldom()
    yield
    gc.set_threshold(*was)
    gc.unfreeze()


@pytest.fixture(scope="module", params=[HALF_KNOWN, KNOWN])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, plan_here: PlanHere) -> Whole:
    """A plan of a generated cluster under seven strategies."""
    if request.param == HALF_KNOWN:
        cluster = msgspec.json.decode(msgspec.json.encode(generated(300, 22, complete=False)))
        return Whole(plan_here(cluster, policy_for_generated()), cluster, policy_for_generated())
    folder = tmp_path_factory.mktemp("generated")
    inventory, policy = folder / "inventory.json", folder / "policy.yaml"
    write_fleet(inventory, 600, 23)
    policy.write_text(policy_for_generated())
    out = program.plan(inventory, folder / "out", "--policy", policy)
    return Whole(out, json.loads(inventory.read_bytes()), policy_for_generated())


def test_the_plan_is_as_its_types_and_its_schema_say(whole: Whole) -> None:
    content = (whole.folder / "plan.json").read_bytes()
    schema = json.loads((ROOT / "include" / "docs" / "plan.schema.json").read_bytes())

    assert out_of_order(whole.plan) == []
    assert out_of_causes(whole.plan) == []
    assert queues_as_texts(whole.plan, [one["broker_name"] for one in whole.cluster["brokers"]]) == set()
    jsonschema.Draft202012Validator(schema).validate(some_of(json.loads(content)))


def some_of(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan with every twentieth entry of its long lists: the schema's judge takes a minute for all of them."""
    return {name: value[::20] if isinstance(value, list) else value for name, value in plan.items()}


def test_every_business_group_is_planned_once_with_its_strategies(whole: Whole) -> None:
    assert [group.consumer_group for group in whole.plan.groups] == sorted(whole.groups)
    for group in whole.plan.groups:
        is_broadcasting = whole.groups[group.consumer_group].get("message_model") == "BROADCASTING"
        assert [one.strategy for one in group.strategies] == ([] if is_broadcasting else STRATEGIES)


def test_no_strategy_allocates_where_it_does_not_apply(whole: Whole) -> None:
    applicable = {
        (group.consumer_group, one.strategy)
        for group in whole.plan.groups
        for one in group.strategies
        if one.applicable
    }

    assert {key for key in whole.owned if key[1] != "BROADCASTING"} <= applicable


def test_the_tables_of_loads_count_what_the_allocation_gives(whole: Whole) -> None:
    said: dict[OfStrategy, Counter[str]] = {}
    for row in whole.rows("client_load"):
        said.setdefault((row["consumer_group"], row["strategy"]), Counter())[row["client_id"]] += row["queues"]
    loads = dict(whole.loads())
    compared = partly = 0
    for group in whole.plan.groups:
        ids = {client["client_id"] for client in whole.groups[group.consumer_group]["clients"]}
        queues = {queue for topic in group.topics for queue in whole.queues.get(topic, ())}
        for one in group.strategies:
            key = (group.consumer_group, one.strategy)
            load = loads[key]
            doubly = [queue for queue, readers in load.readers.items() if readers > 1]
            if not one.applicable:
                assert key not in said
                continue
            if thrown := thrown_for(one) & set(group.topics):
                unread = {queue for queue in queues - load.readers.keys() if queue.topic not in thrown}
                assert key not in said
                assert (one.count, one.traffic, one.lag, one.idle_clients) == (None, None, None, ()), key
                assert list(one.orphan_queues) == sorted(unread), key
                assert list(one.doubly_owned_queues) == sorted(doubly), key
                partly += 1
                continue
            compared += 1
            assert said[key] == load.queues, key
            assert said[key].keys() == ids, key
            assert set(one.idle_clients) == {client for client in ids if not load.queues[client]}, key
            assert list(one.orphan_queues) == sorted(queues - load.readers.keys()), key
            assert list(one.doubly_owned_queues) == ([] if one.strategy == "POP" else sorted(doubly)), key
    assert compared > 2 * len(whole.groups)
    assert partly > 3


def thrown_for(one: StrategyPlan) -> set[str]:
    """The topics that the reason names."""
    return {topic for names in re.findall(r"\(throws for ([^)]*)\)", one.reason or "") for topic in names.split(", ")}


def test_the_table_of_strategies_says_what_the_plan_says(whole: Whole) -> None:
    table = {
        (row["consumer_group"], row["strategy"]): (row["is_applicable"], row["reason"], row["idle_clients"])
        for row in whole.rows("strategy_load")
    }

    assert table == {
        (group.consumer_group, one.strategy): (one.applicable, one.reason, list(one.idle_clients))
        for group in whole.plan.groups
        for one in group.strategies
    }


def test_every_finding_is_answered(whole: Whole) -> None:
    answered = {(rule, one.consumer_group, one.topic) for one in whole.plan.recommendations for rule in one.rules}
    topics = {group.consumer_group: group.topics for group in whole.plan.groups}

    def is_answered(finding: PlanFinding) -> bool:
        rule, group, topic = finding.rule, finding.consumer_group, finding.topic
        of_group = [] if group is None else [(rule, group, one) for one in (None, topic, *topics[group])]
        of_topics = [topic] if topic is not None else topics[group] if group is not None else [None]
        return bool(answered & {*of_group, *((rule, None, one) for one in of_topics)})

    assert len(whole.plan.findings) > len(whole.groups) // 10
    assert [finding for finding in whole.plan.findings if not is_answered(finding)] == []


def test_no_group_is_told_fewer_clients_than_its_bounds(whole: Whole) -> None:
    """Under other strategies an autoscaler, which does not choose who goes, keeps today's number."""
    by_rank = {one.consumer_group: one for one in whole.plan.groups if one.current_strategy in ROW_BY_ROW}
    told = [
        (one.consumer_group, one.after["clients"], by_rank[one.consumer_group].client_bounds.min_replicas)
        for one in whole.plan.recommendations
        if one.action == "SCALE_CONSUMERS" and one.consumer_group in by_rank
    ]

    assert [one for one in told if one[1] < (one[2] or 0)] == []


def test_every_recommendation_answers_a_finding(whole: Whole) -> None:
    found = {(one.rule, one.consumer_group) for one in whole.plan.findings if one.consumer_group is not None}
    of_topics = {(one.rule, one.topic) for one in whole.plan.findings}
    topics = {group.consumer_group: group.topics for group in whole.plan.groups}
    of_topics |= {(rule, topic) for rule, name in found for topic in topics.get(name, ())}
    for one in whole.plan.recommendations:
        assert one.rules
        for rule in one.rules:
            assert (rule, one.consumer_group) in found or (rule, one.topic) in of_topics, one


def test_every_command_is_mqadmins_or_a_remark(whole: Whole) -> None:
    commands = [line for one in whole.plan.recommendations for each in one.commands for line in each.splitlines()]

    assert commands
    assert [line for line in commands if not line.startswith(("mqadmin ", "#"))] == []
    assert len({one.id for one in whole.plan.recommendations}) == len(whole.plan.recommendations)


def test_only_a_cluster_that_has_answered_is_changed(whole: Whole) -> None:
    """Below 95 % people are told what to look at, and nothing is decided."""
    actions = {one.action for one in whole.plan.recommendations}
    status = {group.provision_status for group in whole.plan.groups}

    if whole.plan.completeness.ratio >= 0.95:
        assert actions > CHANGES
        # Nothing is known of the days before, so nobody is called unneeded.
        assert status == {"UNDER_PROVISIONED", "RIGHT_PROVISIONED", "UNDECIDED"}
    else:
        assert actions.isdisjoint(CHANGES)
        assert status == {"UNDECIDED"}


def test_groups_own_what_the_official_classes_give_them(whole: Whole, java_oracle: JavaOracle) -> None:
    clustering = [group for group in whole.groups.values() if group.get("message_model") != "BROADCASTING"]
    of_chance = Random(24).sample(clustering, ASKED_GROUPS)
    configured = [group for group in clustering if group["consumer_group"] in CONFIGURED]
    entries = {(group.consumer_group, one.strategy): one for group in whole.plan.groups for one in group.strategies}
    partly = {name for (name, _), entry in entries.items() if entry.applicable and thrown_for(entry)}
    thrown = [group for group in clustering if group["consumer_group"] in partly]

    answers = Official(whole.cluster, whole.policy, java_oracle).answers([*of_chance, *configured, *thrown[:6]])

    assert {strategy for (_, strategy), answer in answers.items() if answer.rows} == set(STRATEGIES)
    assert len(answers) >= ASKED_GROUPS * len(STRATEGIES)
    for key, answer in answers.items():
        got = Counter[Owned](whole.owned.get(key, ()))
        assert entries[key].applicable == bool(answer.allocated), key
        if answer.allocated:
            assert thrown_for(entries[key]) == answer.thrown, key
        assert first_of(got - answer.rows) == first_of(answer.rows - got) == [], key
    assert sum(len(answer.rows) for answer in answers.values()) > 5_000
    assert sum(bool(answer.allocated and answer.thrown) for answer in answers.values()) > 3


def first_of(rows: Counter[Owned]) -> list[Owned]:
    """Few enough to read."""
    return sorted(rows.elements())[:5]
