"""Strategy classes of the deployment's own: Spark's JVM calls them for the groups of a run that use them."""

from collections.abc import Mapping

import msgspec
from pyspark.sql import SparkSession

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.own_class import asked_with
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.settings.own_strategy import OwnAnswers, OwnStrategy, place_of
from rocketmq_capacity.spark.own_class import OwnClass
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.rows import is_one_of, rows_where


def own_answers(
    session: SparkSession, run: Run, strategies: Mapping[str, OwnStrategy]
) -> dict[str, tuple[OwnAnswers, ...]]:
    """The answers of each group's class; none for a group that divides no queues.

    Errors: BadInput for a jar or a class with an error, also if the run does not have the group.
    """
    files = run.files(tables.GroupUnit.dataset_name())
    groups = rows_where(files, tables.GroupUnit, is_one_of("consumer_group", strategies))
    facts = {row.consumer_group: row.facts for row in groups}
    answers: dict[str, tuple[OwnAnswers, ...]] = {}
    for group, strategy in sorted(strategies.items()):
        own_class = OwnClass(session.sparkContext, strategy, place_of(group))
        if group not in facts:
            continue
        division = Division.of(msgspec.json.decode(facts[group], type=GroupFacts)).among_listed
        if division.group.is_clustering and len(division.members) and len(division.queues):
            answers[group] = (own_class.answers(group, *asked_with(division)),)
    return answers
