"""The fourth step: the smallest safe changes. Each is tried on every group that it affects before it is recommended."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.json import Decoder, encode

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.cases import EffectOfCase, QueueChange, QueueCounts
from rocketmq_capacity.model.facts import Consumption, GroupFacts, TopicWithReaders
from rocketmq_capacity.recommendation.cluster import cluster_answers
from rocketmq_capacity.recommendation.create_topic import ACTION as CREATE_TOPIC
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedTopic, JudgedGroup, TopicRefusals
from rocketmq_capacity.recommendation.groups import group_answers, group_effects
from rocketmq_capacity.recommendation.raise_read_queues import RULE as READ_LESS_THAN_WRITE
from rocketmq_capacity.recommendation.topics import topic_answers, topic_cases
from rocketmq_capacity.report.approval import set_aside
from rocketmq_capacity.simulation.recommended import recommended_transitions
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.trial import group_on_trial
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, RECOMMEND, SNAPSHOT, Planning, Rows
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Row, rows_by, rows_in, rows_where
from rocketmq_capacity.wording import counted

if TYPE_CHECKING:
    from pyspark import Broadcast

WRITTEN: Final = (
    tables.TriedCase,
    tables.CaseEffect,
    tables.TopicAnswer,
    tables.Recommendation,
    tables.RecommendedTransition,
)
IS_HIDDEN: Final = pc.field("rule").cast(pa.string()) == READ_LESS_THAN_WRITE
IS_CREATED: Final = pc.field("action").cast(pa.string()) == CREATE_TOPIC.name
Tables = Iterator[tuple[type[Dataset], pa.Table]]

_TOPIC: Final = Decoder(TopicWithReaders)
_GROUP: Final = Decoder(GroupFacts)
_CONSUMPTION: Final = Decoder(Consumption)
_COUNTS: Final = Decoder(tuple[QueueCounts, ...])
_EFFECT: Final = Decoder(EffectOfCase)
_ANSWER: Final = Decoder(TopicRefusals)


@dataclass(frozen=True, slots=True)
class Asking:
    """The input of the functions over units: facts for every recommendation, and the tables that they look units up in.

    Attributes:
        cluster: the facts.
        standing: what was judged of each group.
        tables: those of the run, as Spark hands them once to each process and not once to each task: in an object
            store a task would ask for every file of every table.
    """

    cluster: AdvisedCluster
    standing: "Broadcast[dict[str, JudgedGroup]]"
    tables: "Mapping[type[Dataset], Broadcast[pa.Table]]" = field(default_factory=dict)

    def with_tables(self, planning: Planning, *datasets: type[Dataset]) -> "Asking":
        """The same with more tables, as they are now."""
        return replace(self, tables={**self.tables, **{one: planning.share(planning.table(one)) for one in datasets}})

    def by(
        self, key: str, values: Iterable[str], dataset: type[Row], condition: pc.Expression | None = None
    ) -> dict[str, list[Row]]:
        """The rows of a dataset whose column ``key`` has one of these values, and that meet the condition."""
        return rows_by(self.tables[dataset].value, dataset, key, values, condition)


def recommend(planning: Planning) -> None:
    """Answer the findings with the smallest safe changes.

    In four passes: which changes of a topic are worth a try; what each does to every group of the topic; which of them
    are recommended; what else a group needs, and what happens to it while a recommendation is carried out.
    """
    with planning.step(RECOMMEND, SNAPSHOT, ALLOCATE, ASSESS, writes=WRITTEN) as step:
        set_aside(planning.run)
        of_cluster = planning.cluster_findings()
        cluster = AdvisedCluster.of(planning.cluster, planning.judging, of_cluster)
        status = planning.table(tables.GroupStatus, ["consumer_group", *JudgedGroup._fields])
        names, *rest = (column.to_pylist() for column in status.columns)
        standing = dict(zip(names, starmap(JudgedGroup, zip(*rest, strict=True)), strict=True))
        asking = Asking(cluster, planning.share(standing)).with_tables(planning, tables.Finding, tables.Demand)
        topics = planning.units(tables.TopicUnit, "topic", "facts")
        groups = planning.units(tables.GroupUnit, "consumer_group", "facts")
        planning.map_units("changes of topics", topics, partial(tried_cases, asking), tables.TriedCase)
        asking = asking.with_tables(planning, tables.TriedCase)
        planning.map_units("effects on groups", groups, partial(case_effects, asking), tables.CaseEffect)
        asking = asking.with_tables(planning, tables.CaseEffect)
        answered = tables.TopicAnswer, tables.Recommendation
        planning.map_units("answers for topics", topics, partial(answered_topics, asking), *answered)
        observed = planning.units(tables.GroupUnit, "consumer_group", "facts", "observations")
        asking = asking.with_tables(planning, *answered)
        moving = tables.Recommendation, tables.RecommendedTransition
        planning.map_units("answers for groups", observed, partial(answered_groups, asking), *moving)
        files = planning.run.files(tables.Recommendation.dataset_name())
        created = {one.topic for one in rows_where(files, tables.Recommendation, IS_CREATED) if one.topic}
        hidden = rows_where(planning.files(tables.Finding), tables.Finding, IS_HIDDEN)
        planning.add(tables.Recommendation, cluster_answers([*of_cluster, *hidden], cluster, created))
        answers = rows_in(planning.run.files(tables.TopicAnswer.dataset_name()), tables.TopicAnswer)
        refused = sum(len(_ANSWER.decode(one.answer).refusals) for one in answers)
        recommended = planning.number(tables.Recommendation)
        step.tells(f"{counted(recommended, 'recommendation')}, {counted(refused, 'refusal')}")


def tried_cases(asking: Asking, units: Rows) -> Tables:
    """The cases of some topics.

    A topic has cases if it has findings, if groups ask for more of its queues, if brokers lack it, or if the history
    has its clients.
    """
    lacked = asking.cluster.lacking
    asked = (
        topic
        for topic in _topics(asking, units)
        if topic.findings or topic.demands or topic.past or topic.name in lacked
    )
    cases = [case for topic in asked for case in topic_cases(topic)]
    rows = [tables.TriedCase(case_id=one.case_id, topic=one.topic, counts=encode(one.counts).decode()) for one in cases]
    yield tables.TriedCase, table_of(tables.TriedCase, rows)


def case_effects(asking: Asking, units: Rows) -> Tables:
    """The effects on some groups of the cases of their topics."""
    groups = [_GROUP.decode(unit["facts"]) for unit in units]
    tried = asking.by("topic", {reads.topic.topic for facts in groups for reads in facts.business}, tables.TriedCase)
    cases = {
        topic: [
            QueueChange(case_id=one.case_id, topic=topic, counts=_COUNTS.decode(one.counts))
            for one in sorted(rows, key=lambda row: row.case_id)
        ]
        for topic, rows in tried.items()
    }
    touched = [facts for facts in groups if any(reads.topic.topic in cases for reads in facts.business)]
    current = asking.standing.value
    rows = []
    for facts in touched:
        of_group = [case for reads in facts.business for case in cases.get(reads.topic.topic, ())]
        trial = group_on_trial(asking.cluster, _assessed(asking, facts), current[facts.consumer_group])
        for effect in group_effects(trial, of_group):
            text = encode(effect).decode()
            rows.append(
                tables.CaseEffect(
                    case_id=effect.case_id, topic=effect.topic, consumer_group=effect.consumer_group, effect=text
                )
            )
    yield tables.CaseEffect, table_of(tables.CaseEffect, rows)


def answered_topics(asking: Asking, units: Rows) -> Tables:
    """The recommendations for some topics, and what the groups need to know of them."""
    effects = asking.by("topic", [unit["topic"] for unit in units], tables.CaseEffect)
    answers: list[tables.TopicAnswer] = []
    recommendations: list[tables.Recommendation] = []
    for topic in _topics(asking, units):
        tried = tuple(_EFFECT.decode(one.effect) for one in effects.get(topic.name, ()))
        answered = topic_answers(replace(topic, effects=tried))
        recommendations += answered.recommendations
        answers.append(tables.TopicAnswer(topic=topic.name, answer=encode(answered.refusals).decode()))
    yield tables.TopicAnswer, table_of(tables.TopicAnswer, answers)
    yield tables.Recommendation, table_of(tables.Recommendation, recommendations)


def answered_groups(asking: Asking, units: Rows) -> Tables:
    """The recommendations for some groups, and what theirs and those for their topics mean while they are carried out.

    Only a group with findings gets any.
    """
    names = [unit["consumer_group"] for unit in units]
    groups = [_assessed(asking, _GROUP.decode(unit["facts"])) for unit in units]
    topics = {reads.topic.topic for group in groups for reads in group.business}
    findings = asking.by("consumer_group", names, tables.Finding)
    answers = {
        name: _ANSWER.decode(one.answer) for name, (one,) in asking.by("topic", topics, tables.TopicAnswer).items()
    }
    of_topics = asking.by("topic", topics, tables.Recommendation)
    current = asking.standing.value
    timing = Timing.of(asking.cluster.facts, asking.cluster.policy)
    recommendations: list[tables.Recommendation] = []
    moves: list[tables.RecommendedTransition] = []
    for group, unit in zip(groups, units, strict=True):
        reads = [reads.topic.topic for reads in group.business]
        of_group: list[tables.Recommendation] = []
        now = current[group.name]
        if group.name in findings:
            ordered = _in_order(findings[group.name])
            left = {name: answers[name] for name in reads}
            of_group = group_answers(group_on_trial(asking.cluster, group, now, ordered, left))
            recommendations += of_group
        asked = [one for each_of in (of_group, *(of_topics.get(name, ()) for name in reads)) for one in each_of]
        if moving := [one for one in asked if one.may_move_queues or one.config_assignment]:
            seen = _CONSUMPTION.decode(unit["observations"])
            moves += recommended_transitions(asking.cluster, group, seen, now.current_strategy, moving, timing)
    yield tables.Recommendation, table_of(tables.Recommendation, recommendations)
    yield tables.RecommendedTransition, table_of(tables.RecommendedTransition, moves)


def _assessed(asking: Asking, facts: GroupFacts) -> AssessedGroup:
    policy = asking.cluster.policy
    return AssessedGroup(facts, asking.cluster.facts, policy, Strategies(policy))


def _topics(asking: Asking, units: Rows) -> Iterator[AdvisedTopic]:
    """Some topics with their findings, and with the groups that ask for more of their queues."""
    names = [unit["topic"] for unit in units]
    findings = asking.by("topic", names, tables.Finding, pc.field("consumer_group").is_null())
    demands = asking.by("topic", names, tables.Demand)
    for unit in units:
        facts = _TOPIC.decode(unit["facts"])
        # With incomplete facts nothing is changed, nor what fewer queues explain while a broker is missing.
        is_open = asking.cluster.undecided or asking.cluster.waits([unit["topic"]])
        asked = () if is_open else demands.get(unit["topic"], ())
        ordered = sorted(asked, key=lambda one: (one.rule, one.consumer_group))
        yield AdvisedTopic(
            facts.facts,
            asking.cluster,
            _in_order(findings.get(unit["topic"], ())),
            facts.readers,
            tuple(ordered),
            stranded=facts.stranded,
            past=facts.past,
        )


def _in_order(findings: Iterable[tables.Finding]) -> tuple[tables.Finding, ...]:
    """The findings of a unit, in an order that does not depend on which task wrote first."""

    def key(finding: tables.Finding) -> tuple[object, ...]:
        return finding.rule, finding.topic or "", finding.broker_name or "", finding.subjects, finding.queues

    return tuple(sorted(findings, key=key))
