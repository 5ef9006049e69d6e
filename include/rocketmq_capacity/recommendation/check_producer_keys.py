"""CHECK_PRODUCER_KEYS: producers choose the hot queue, and no number of queues or consumers mends that."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity.recommendation.answer import answers, listed, sentences
from rocketmq_capacity.recommendation.commands import topic_status
from rocketmq_capacity.recommendation.facts import Facts

ACTION: Final = "CHECK_PRODUCER_KEYS"
RULE: Final = "HOT_QUEUE"


def check_producer_keys(facts: Facts) -> DataFrame:
    """One recommendation for each topic with hot queues."""
    kind = F.get_json_object("evidence", "$.message_type")
    return answers(
        facts.with_doubt(facts.finding.where(F.col("rule") == RULE)),
        ACTION,
        topic=True,
        target=F.col("subjects"),
        reason=sentences(
            F.concat(
                F.lit("Look at what producers choose the queue by; most messages go to "),
                listed(F.col("subjects")),
                F.lit(
                    ". A key with more values, or no key where order is not needed, spreads them; more queues do not."
                ),
            ),
            F.when(kind == "FIFO", F.lit("It is a FIFO topic: its message group is the key.")),
        ),
        rules=F.array(F.lit(RULE)),
        commands=F.array(topic_status(F.col("nameserver"), F.col("topic"))),
    )
