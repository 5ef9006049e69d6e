"""RAISE_READ_QUEUES: as many read as write queues, so that every message that is sent can be read.

Never refused: a queue that is not readable is read by no group at all, so no group can be worse off; what a group's
strategy then leaves to nobody shows in the figures.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answers, sentences
from rocketmq_capacity.recommendation.cases import CASE, Cases, case_id, topic_cases
from rocketmq_capacity.recommendation.effects import Effects
from rocketmq_capacity.recommendation.facts import Facts
from rocketmq_capacity.recommendation.queue_changes import queue_changes

ACTION: Final = "RAISE_READ_QUEUES"
RULE: Final = "READ_LESS_THAN_WRITE"
COVERAGE: Final = "TOPIC_COVERAGE"
FROM_THE_END: Final = (
    "A group without an offset there may start at the end of these queues and skip what stands in them now."
)


def raised_topics(facts: Facts) -> DataFrame:
    """The topics to raise: case_id, topic."""
    topics = facts.found(RULE).select("topic").distinct()
    return topics.select(case_id(ACTION, F.col("topic")).alias(CASE), "topic")


def raising_cases(facts: Facts) -> Cases:
    """A case for each topic: every broker with fewer read than write queues raised."""
    return topic_cases(
        facts,
        raised_topics(facts)
        .join(facts.places.where("read_queue_nums < write_queue_nums"), "topic")
        .select(CASE, "topic", "broker_name", F.col("write_queue_nums").alias("read_queue_nums"), "write_queue_nums"),
    )


def raise_read_queues(facts: Facts, effects: Effects, safety: DataFrame) -> DataFrame:
    """One recommendation for each topic, with a command for each broker."""
    topics = raised_topics(facts)
    is_short = F.col("read_queue_nums") < F.col("write_queue_nums")
    layouts = topics.join(facts.places, "topic").withColumns({
        "new_read": F.when(is_short, F.col("write_queue_nums")).otherwise(F.col("read_queue_nums")),
        "new_write": F.col("write_queue_nums"),
    })
    counts = F.transform("queues_after", lambda q: F.struct(q["read_queue_nums"], q["write_queue_nums"]))
    covered = facts.found(COVERAGE).where("topic IS NOT NULL AND severity = 'INFO'").select("topic").distinct()
    rows = (
        topics
        .join(queue_changes(facts, layouts, safety), CASE)
        .join(effects.of_case, CASE, "left")
        .join(covered.withColumn("is_unequal", F.lit(True)), "topic", "left")
        .withColumn("makes_equal", F.col("is_unequal") & (F.size(F.array_distinct(counts)) == 1))
    )
    is_manual = (F.size("forbids") > 0) | F.col("is_ordered")
    rule = F.lit(RULE)
    return answers(
        rows,
        ACTION,
        topic=True,
        target=F.col("queues_after"),
        is_manual=is_manual,
        reason=sentences(
            F.lit(
                "As many read as write queues on every broker: nothing that is sent stays unread for want of a reader."
            ),
            F.lit(FROM_THE_END),
            F.when(F.col("is_ordered"), F.lit(preflight.ORDERED)),
            preflight.blocked(F.col("forbids")),
        ),
        rules=F.when(F.col("makes_equal"), F.array(rule, F.lit(COVERAGE))).otherwise(F.array(rule)),
        commands=preflight.commented(F.col("commands"), is_manual),
        before={"queues": F.col("queues_before"), "groups": F.coalesce("groups_before", F.array())},
        after={"queues": F.col("queues_after"), "groups": F.coalesce("groups_after", F.array())},
    )
