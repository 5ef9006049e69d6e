"""Each kind of addition touches few files of the package: a rule or an action one. It is then planned and reported."""

from pathlib import Path

import pytest

from tests.extension.package_copy import PackageCopy

pytestmark = pytest.mark.slow


@pytest.fixture
def package(tmp_path: Path) -> PackageCopy:
    return PackageCopy(tmp_path)


def test_a_rule_with_an_action_of_its_own(package: PackageCopy) -> None:
    package.add(
        "assessment/staffing.py",
        '''
from rocketmq_capacity.assessment.finding import finding
from typing import Annotated

from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule

class TooFew(Evidence, frozen=True, kw_only=True):
    clients: Annotated[int, means("of the group", "client")]
    idle_hands: Annotated[int, means("that nobody has", "hand")]

TOO_FEW_CLIENTS = Rule(
    name="TOO_FEW_CLIENTS",
    title="Few clients",
    meaning="Work stays undone.",
    place=295,
    evidence=TooFew,
    severities={"INFO": "work stays undone"},
    details="Four are enough.",
    advice="Start some beside {subjects}.",
    shows="four clients.",
    needs=("clients",),
)

def too_few_clients(group):
    """TOO_FEW_CLIENTS: fewer than four."""
    if len(group.client_ids) < 4:
        yield finding(TOO_FEW_CLIENTS, "INFO", consumer_group=group.name, subjects=group.client_ids,
                      evidence=TooFew(clients=len(group.client_ids), idle_hands=2), message="There are few clients.")

GROUP_RULES = (too_few_clients,)
''',
    )
    package.add(
        "recommendation/hire.py",
        """
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.recommendation.answer import answer

HIRE = Action(
    name="HIRE",
    title="Hire for {group}",
    meaning="More hands.",
    place=45,
    changes="clients",
    way_back="Let them go.",
    answers=("TOO_FEW_CLIENTS",),
    offered="for every group with few clients",
)

def hire(group):
    for _ in group.answerable("TOO_FEW_CLIENTS"):
        yield answer(HIRE, consumer_group=group.name, target=4, reason="Start more.", rules=["TOO_FEW_CLIENTS"])

GROUP_ACTIONS = (hire,)
""",
    )
    told = package.says(
        """
from rocketmq_capacity.catalogue.action import actions
from rocketmq_capacity.catalogue.rule import rule_of, rules
from rocketmq_capacity.report.rules_page import page
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import pay_cluster
plan = plain_plan(pay_cluster(3))
print([one.message for one in plan.findings if one.rule == "TOO_FEW_CLIENTS"])
print([(one.action, one.rules) for one in plan.recommendations if one.action == "HIRE"])
print("TOO_FEW_CLIENTS" in rules(), list(actions())[5], rule_of("TOO_FEW_CLIENTS").title)
print([line for line in page().splitlines() if "INFO | work" in line or "[HIRE](#hire);" in line or "Let them" in line])
"""
    )

    assert told.splitlines() == [
        "['There are few clients.']",
        "[('HIRE', ('TOO_FEW_CLIENTS',))]",
        "True HIRE Few clients",
        "['| INFO | work stays undone |',"
        " '| answered by | [HIRE](#hire); else [INVESTIGATE](#investigate) |', '| way back | Let them go. |']",
    ]


def test_a_rule_and_an_action_on_topics(package: PackageCopy) -> None:
    package.add(
        "assessment/staffing.py",
        '''
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.catalogue.evidence import Evidence
from rocketmq_capacity.catalogue.rule import Rule

ALWAYS = Rule(name="ALWAYS", title="Always", meaning="Every topic.", place=296, evidence=Evidence)

def always(topic):
    """ALWAYS: every topic."""
    yield finding(ALWAYS, "INFO", topic=topic.name, subjects=[], evidence=Evidence(), message="It is there.")

TOPIC_RULES = (always,)
''',
    )
    package.add(
        "recommendation/admire.py",
        """
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.recommendation.topic_action import ActionResult, TopicAction

ADMIRE = Action(name="ADMIRE", title="Look at {topic}", meaning="", place=1, changes="nothing", way_back="Look away.")

def admire(topic, outcomes, safety):
    return ActionResult((answer(ADMIRE, topic=topic.name, target=None, reason="Look.", rules=["ALWAYS"]),))

TOPIC_ACTIONS = (TopicAction(admire),)
""",
    )

    told = package.says(
        """
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import pay_cluster
plan = plain_plan(pay_cluster(3))
print([one.topic for one in plan.findings if one.rule == "ALWAYS"])
print([(one.action, one.topic) for one in plan.recommendations if "ALWAYS" in one.rules])
"""
    )

    assert told.splitlines() == ["['pay']", "[('ADMIRE', 'pay')]"]


def test_a_strategy(package: PackageCopy) -> None:
    package.add(
        "allocation/last_takes_all.py",
        """
import numpy as np
from rocketmq_capacity.model.owners import Shares

NAME = "LAST_TAKES_ALL"

def shares(division, policy):
    return Shares.of_owners(np.full(len(division.queues), len(division.members) - 1))
""",
    )
    package.edit(
        "allocation/registry.py",
        ("    machine_room,\n", "    last_takes_all,\n"),
        ("    pop.NAME: Strategy(", "    last_takes_all.NAME: Strategy(last_takes_all.shares),\n"),
    )
    package.edit("vocabulary.py", ('    "CONSISTENT_HASH",\n]', '    "LAST_TAKES_ALL",\n'))

    told = package.says(
        """
from rocketmq_capacity.settings.policy import Policy
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import pay_cluster
from rocketmq_capacity.assessment.assess import assess_groups
plan = plain_plan(pay_cluster(3), Policy(strategies=("AVG", "LAST_TAKES_ALL")))
(avg, toy) = assess_groups([plan.groups[0]])[0].loads
print(toy.strategy, toy.is_applicable, toy.idle_clients)
"""
    )

    assert told.strip() == "LAST_TAKES_ALL True ('10.0.0.1@1#1', '10.0.0.2@1#1')"


def test_an_observed_column_that_rules_read(package: PackageCopy) -> None:
    """Two files; the module that asks a live cluster for it would be the third."""
    package.edit(
        "snapshot/inventory.py",
        (
            "    subscriptions: tuple[InventorySubscription, ...] | None = None\n    owned_queues",
            "    heap_mib: Count | None = None\n",
        ),
    )
    package.edit(
        "tables/snapshot/clients.py",
        ("    room: Annotated[", '    heap_mib: Annotated[Count | None, means("MiB of heap")] = None\n'),
    )

    told = package.says(
        """
import msgspec
from rocketmq_capacity import tables
from rocketmq_capacity.tables.dictionary import dictionary
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from tests.fixtures.units import units_of
from tests.simulation.clusters import pay_cluster
cluster = pay_cluster(2)
(group,) = cluster.consumer_groups
first, *others = group.clients
group = msgspec.structs.replace(group, clients=(msgspec.structs.replace(first, heap_mib=512), *others))
cluster = msgspec.structs.replace(cluster, consumer_groups=(group,))
print(dict(snapshot_tables(Resolved(cluster, Policy())))[tables.Consumer]["heap_mib"].to_pylist())
print([one.heap_mib for one in units_of(cluster).group("g_pay").consumers])
print("| `heap_mib` | `int` | may be | at least 0 | MiB of heap |" in dictionary())
"""
    )

    assert told.splitlines() == ["[512, None]", "[512, None]", "True"]


@pytest.mark.airflow
def test_a_change_of_a_scenario_with_a_field_of_its_own(package: PackageCopy) -> None:
    """One file."""
    package.add(
        "simulation/changes/rename_topic.py",
        """
from typing import Annotated, Literal
from msgspec.structs import replace
from pydantic import Field
from rocketmq_capacity.simulation.change import ScenarioChange, Name, TopicName

class RenameTopic(ScenarioChange):
    \"\"\"Another name of a topic.\"\"\"

    EXAMPLE = "topic: {topic}, new_name: paid"

    change: Literal["rename_topic"]
    topic: TopicName
    new_name: Annotated[Name, Field(title="New name", description="nobody has it yet")]

    def apply(self, inventory, place, policy):
        topics = [replace(one, topic=self.new_name) if one.topic == self.topic else one for one in inventory.topics]
        return replace(inventory, topics=tuple(topics))
""",
    )

    told = package.says(
        """
from rocketmq_capacity.provider.change_form import change_forms, change_of_fields
from rocketmq_capacity.provider.scenario_form import examples, scenario_of_changes, NOTHING_KNOWN
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import apply, scenario_of_text
from tests.simulation.clusters import pay_cluster
told = change_of_fields("rename_topic", {"topic": "pay", "new_name": "paid"})
scenario = scenario_of_text(scenario_of_changes([told]), "form")
print([one.topic for one in apply(pay_cluster(1), scenario, Policy(), "form").topics])
field = change_forms()["rename_topic"].fields[-1]
print(field.title, field.meaning)
print("{change: rename_topic, topic: pay, new_name: paid}" in examples(NOTHING_KNOWN))
"""
    )

    assert told.splitlines()[-3:] == ["['paid']", "New name Nobody has it yet", "True"]
