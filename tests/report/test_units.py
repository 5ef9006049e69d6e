"""Every figure that a rule or an action gives has a unit that the page knows."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rocketmq_capacity.catalogue.rule import evidence_of, rules
from rocketmq_capacity.report.figures import unit_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.snapshot.inventory import (
    DriftedTopic,
    InventoryBroker,
    InventoryFailure,
    InventoryNameserver,
    InventoryRoute,
    TopicQueues,
)
from tests import assessment, recommendation
from tests.assessment import cases as assessed
from tests.assessment import test_broker_loads as loads
from tests.assessment import test_coverage as coverage
from tests.assessment import test_disk as disk
from tests.assessment import test_disk_forecast as filling
from tests.assessment import test_producers as producing
from tests.assessment import test_rebalances as rebalances
from tests.assessment import test_rooms as rooms
from tests.assessment import test_stale as stale
from tests.assessment import test_unread as unread
from tests.assessment.judge import judge
from tests.recommendation import cases as answered
from tests.recommendation.answers import answer
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import by_id, read_page
from tests.report.row_builders import a_cluster, a_finding
from tests.simulation.clusters import cluster

DRIFTED_SLAVE = InventoryBroker(
    broker_name="broker-a", broker_id=1, drifted_topics=(DriftedTopic(topic="pay", master_read_queue_nums=4),)
)
OTHER_VIEW = InventoryNameserver(
    nameserver_addr="10.0.9.2:9876",
    routes=(InventoryRoute(topic="pay", queues=(TopicQueues(broker_name="broker-a", read_queue_nums=4, perm=6),)),),
)
FAILURE = InventoryFailure(broker_addr="broker-a:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out after 5 s")


def parts_of(package: Any, name: str) -> tuple[list[Any], list[Any]]:
    """The topics and groups of the cases of every test module of a package."""
    folder = Path(next(iter(package.__path__)))
    modules = (importlib.import_module(f"{package.__name__}.{file.stem}") for file in sorted(folder.glob("test_*.py")))
    parts = [part for module in modules if (part := getattr(module, name, None)) is not None]
    return [topic for part in parts for topic in part.topics], [group for part in parts for group in part.groups]


def figures_in(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number with the name that it has, or that its list has."""
    if isinstance(value, dict):
        for key, held in value.items():
            yield from figures_in(held, key)
    elif isinstance(value, list):
        for item in value:
            yield from figures_in(item, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def is_changed(found: dict[str, Any]) -> bool:
    """Whether the record of its rule does not read all of its evidence."""
    held = evidence_of(msgspec.convert({"evidence": found["evidence"], "rule": found["rule"]}, JustFound))
    return bool(msgspec.to_builtins(held) != found["evidence"])


class JustFound(msgspec.Struct):
    """The two fields of a finding that say what it is based on."""

    rule: str
    evidence: dict[str, Any]


@pytest.mark.slow
def test_every_number_in_the_evidence_of_every_rule_has_a_known_unit() -> None:
    topics, groups = parts_of(assessment, "PART")

    # Of a snapshot with gaps there are rules that say nothing, and one that speaks of it alone.
    whole = cluster(topics, groups, (*assessed.BROKERS, DRIFTED_SLAVE))
    asked = [replace(whole, nameserver_views=(OTHER_VIEW,)), replace(whole, failures=(FAILURE,))]
    found = [finding for one in asked for finding in judge(one, assessed.POLICY, earlier=[]).findings]

    found += judge(rooms.room_cluster(), rooms.policy()).findings
    found += judge(producing.cluster_of(producing.producer("V4_9_7"))).findings
    found += judge(disk.of(disk.full("broker-a", "0.9"))).findings
    found += judge(stale.at(0, [stale.old()]), history=[stale.at(20, [stale.old()])]).findings
    found += judge(coverage.fleet(coverage.pairs(20, "a", "b"), "abc")).findings
    brokers = Policy.model_validate({"brokers": loads.TOLD})
    found += judge(cluster(loads.TOPICS, (), loads.masters()), brokers).findings
    found += judge(unread.fleet()).findings
    *history, now = rebalances.every_ten_minutes(*rebalances.RESTARTED)
    found += judge(now, history=history).findings
    *history, now = filling.course([used + 0.05 for used in filling.GROWS])
    found += judge(now, history=history).findings
    old = assessed.a_group("g", [assessed.member("10.0.0.1@7", language="JAVA", version="V4_8_0")], topics[:1])
    found += judge(cluster(topics[:1], [old], assessed.BROKERS)).findings

    assert {finding["rule"] for finding in found} == set(rules())
    changed = {one["rule"]: one["evidence"] for one in found if is_changed(one)}
    assert changed == {}, "the record of the rule reads another evidence than the rule gives"
    names = {(finding["rule"], name) for finding in found for name, _ in figures_in(finding["evidence"])}
    assert {"lag", "msgs_per_s", "share", "stranded", "max"} <= {name for _, name in names}
    unknown = sorted((rule, name) for rule, name in names if name != "queue_id" and unit_of(name, rule) is None)
    assert unknown == [], "say their units where the rule's evidence has them"


@pytest.mark.slow
def test_every_number_before_and_after_a_change_has_a_known_unit() -> None:
    topics, groups = parts_of(recommendation, "CASES")
    asked = replace(cluster(topics, groups, answered.BROKERS, answered.FAILURES), nameservers=answered.NAMESERVERS)

    rows = answer(asked, answered.POLICY).rows

    numbers = {(row["action"], name) for row in rows for name, _ in figures_in([row["before"], row["after"]])}
    assert {"idle", "orphan_queues", "read_queue_nums", "peak"} <= {name for _, name in numbers}
    unknown = sorted((action, name) for action, name in numbers if unit_of(name) is None)
    assert unknown == [], "name their units in rocketmq_capacity.report.figures"


def test_every_number_of_a_scenarios_changes_has_a_known_unit() -> None:
    fields = [one for change in Scenario.model_json_schema()["$defs"].values() for one in change["properties"].items()]
    numbers = {name for name, field in fields if re.search(r"'type': '(integer|number)'", str(field))}

    assert {"count", "factor", "read_queue_nums"} <= numbers
    assert {name for name in numbers if unit_of(name) is None} == set()


@pytest.mark.parametrize(
    ("rule", "evidence", "shown"),
    [
        ("TRAFFIC_SKEW", {"max": 43.751, "msgs_per_s": 59.985}, ["max 43.75 messages/s", "traffic 59.98 messages/s"]),
        ("LAG_SKEW", {"max": 10_000.0, "min": 0.0, "lag": 1}, ["10,000 messages", "min 0 messages", "lag 1 message"]),
        ("ALLOCATION_SKEW", {"max": 3.0, "min": 1.0, "peak": 1.5}, ["max 3 queues", "min 1 queue", "peak 1.5"]),
        ("HOT_QUEUE", {"share": 0.7294, "hottest": [{"msgs_per_s": 43.751}]}, ["share 72.9 %", "43.75 messages/s"]),
        ("READ_LESS_THAN_WRITE", {"stranded": 475}, ["stranded 475 messages"]),
    ],
)
def test_the_page_shows_them(rule: str, evidence: dict[str, Any], shown: list[str]) -> None:
    rows = {"cluster": [a_cluster()], "finding": [a_finding(rule, evidence)]}

    text = " ".join(" ".join(by_id(read_page(page_of(rows)), plan_of(rows).causes[0].anchor).itertext()).split())

    assert [part for part in shown if part not in text] == []
