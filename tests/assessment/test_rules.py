"""The registry of rules: what is in it says what it finds, and a rule that is added is run."""

from collections.abc import Iterator
from typing import Final

import pytest

from rocketmq_capacity.assessment import trust
from rocketmq_capacity.assessment.broker_loss import broker_loss
from rocketmq_capacity.assessment.coverage import topic_coverage
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.ownership import read_only_idle
from rocketmq_capacity.assessment.producers import permanent_displacement
from rocketmq_capacity.assessment.rules import cluster_rules, group_rules, topic_rules
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.topology import nameserver_disagreement
from rocketmq_capacity.catalogue.evidence import Evidence
from rocketmq_capacity.catalogue.rule import Rule, rules
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import INFO
from tests.assessment.cases import a_group, a_topic, members
from tests.assessment.judge import judge
from tests.simulation.clusters import cluster

LONG_NAME: Final = Rule(name="LONG_NAME", title="Long", meaning="A long name.", place=500, evidence=Evidence)
UNREAD: Final = Rule(name="UNREAD", title="Unread", meaning="Nobody reads it.", place=510, evidence=Evidence)
EVERY = [
    *group_rules().values(),
    *topic_rules().values(),
    *cluster_rules().values(),
    broker_loss,
    nameserver_disagreement,
    topic_coverage,
    permanent_displacement,
    read_only_idle,
    trust.snapshot_incomplete,
    trust.suspect_snapshot,
]


def test_every_rule_says_in_its_first_words_what_it_finds() -> None:
    assert {(rule.__doc__ or "").partition(":")[0] for rule in EVERY} == set(rules())


def has_a_long_name(group: AssessedGroup) -> Iterator[Finding]:
    """LONG_NAME: a group whose name is long."""
    if len(group.name) > 10:
        yield finding(LONG_NAME, INFO, consumer_group=group.name, subjects=[], evidence=Evidence(), message="Long.")


def is_read_by_nobody(topic: AssessedTopic) -> Iterator[Finding]:
    """UNREAD: a topic that no group reads."""
    if not topic.unit.readers:
        yield finding(UNREAD, INFO, topic=topic.name, subjects=[], evidence=Evidence(), message="Nobody.")


def test_a_rule_that_is_added_judges_every_business_group_and_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(group_rules(), "has_a_long_name", has_a_long_name)
    monkeypatch.setitem(topic_rules(), "is_read_by_nobody", is_read_by_nobody)
    topics = [a_topic("read"), a_topic("unread"), a_topic("TBW102")]

    judged = judge(cluster(topics, [a_group(name, members(1), topics[:1]) for name in ("short", "quite-a-long-one")]))

    assert judged.rules("quite-a-long-one") == {"LONG_NAME"}
    assert judged.rules("short") == set()
    assert judged.rules(topic="unread") == {"UNREAD", "TOPIC_UNREAD"}
    assert judged.rules(topic="read") == judged.rules(topic="TBW102") == set()
