"""The safety preflight: what forbids a command, in words; where anything does, its commands become comments.

Source: ConsumerManageProcessor and RebalancePushImpl (rocketmq-all-5.3.3) for groups
that are offline: a queue that is new to a group is read from its end once its first messages have left memory.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.topic_queue import LOGICAL_BROKER_PREFIX
from rocketmq_capacity.recommendation.answer import listed
from rocketmq_capacity.recommendation.commands import comment
from rocketmq_capacity.recommendation.facts import Facts

ORDERED: Final = (
    "The topic is consumed in order, and with other queue counts keys move to other queues. Pause the producers, wait"
    " until every group has read all of it, then change the counts on every broker and let the producers on; or move"
    " to a new topic. Where name servers hand out an order configuration (orderMessageEnable), updateOrderConf has to"
    " follow."
)


def topic_safety(facts: Facts) -> DataFrame:
    """What may forbid a change of a topic's queues.

    Shape: -> one row a topic: topic, ``order`` (its flag as mqadmin takes it, null where unknown), ``message_type``,
    ``is_ordered``, ``forbids`` (array of reasons, maybe empty), ``offline`` (sorted groups without a client).
    """
    topics, groups = facts.tables[contracts.Topic], facts.tables[contracts.ConsumerGroup]
    members = (
        facts
        .tables[contracts.Subscription]
        .select("consumer_group", "topic")
        .unionByName(facts.tables[contracts.GroupOffset].select("consumer_group", "topic"))
        .distinct()
        .join(groups.where("kind <> 'SYSTEM'"), "consumer_group")
        .groupBy("topic")
        .agg(
            F.array_sort(F.collect_set(F.when(F.col("connections") == 0, F.col("consumer_group")))).alias("offline"),
            F.max(F.coalesce("is_orderly", F.lit(False))).alias("is_read_in_order"),
        )
    )
    static = facts.places.groupBy("topic").agg(
        F.max(F.col("broker_name").startswith(LOGICAL_BROKER_PREFIX)).alias("is_static")
    )
    is_ordered = F.col("is_ordered") | (F.col("message_type") == "FIFO") | F.col("is_read_in_order")
    forbids = reasons(
        F.when(F.col("kind") != "BUSINESS", F.format_string("it is a topic of the kind %s", "kind")),
        F.when(F.col("is_static"), F.lit("it is a static topic, whose queues remappingStaticTopic alone may change")),
        F.col("suspect"),
    )
    return (
        facts
        .with_doubt(topics)
        .join(members, "topic", "left")
        .join(static, "topic", "left")
        .select(
            "topic",
            "message_type",
            F.col("is_ordered").cast("string").alias("order"),
            F.coalesce(is_ordered, F.lit(False)).alias("is_ordered"),
            forbids.alias("forbids"),
            F.coalesce("offline", F.array().cast("array<string>")).alias("offline"),
        )
    )


def unknown_order() -> Column:
    """Why updateTopic must not be run on the row's topic, or null: it always sets the order flag."""
    return F.when(F.col("order").isNull(), F.lit("its order flag is unknown, and the command would set it"))


def offline_groups(offline: Column) -> Column:
    """Why queues must not be added now, or null. Shape: array<string> -> string."""
    return F.when(
        F.size(offline) > 0,
        F.concat(F.lit("groups without a running client would start the new queues at their end: "), listed(offline)),
    )


def unsafe_broker() -> Column:
    """What forbids a command to the row's broker, as an array of reasons. Columns: those of ``Facts.places``."""
    broker = F.col("broker_name")
    return reasons(
        F.when(
            F.col("broker_state") != "MASTER",
            F.format_string("%s has no master in the snapshot (%s)", broker, F.col("broker_state")),
        ),
        F.when(
            (F.col("broker_state") == "MASTER") & ~F.col("has_answered"),
            F.format_string("%s did not answer every request", broker),
        ),
    )


def unsafe_place() -> Column:
    """What forbids to set the queue counts of the row's topic on its broker, as an array of reasons.

    Columns: those of ``Facts.places``, and what is to be set: ``new_read``, ``new_write``.
    """
    broker = F.col("broker_name")
    return F.concat(
        unsafe_broker(),
        reasons(
            F.when(F.col("own_perm").isNull(), F.format_string("the topic's own perm on %s is unknown", broker)),
            F.when(
                F.col("new_read") < F.col("new_write"),
                F.format_string("%s would have fewer read than write queues", broker),
            ),
            F.when(
                F.col("write_queue_nums") < F.col("read_queue_nums"),
                F.format_string("%s has more read than write queues, as in the middle of a shrink", broker),
            ),
        ),
    )


def reasons(*each: Column) -> Column:
    """Those that are not null, as an array<string>."""
    return F.filter(F.array(*(reason.cast("string") for reason in each)), lambda reason: reason.isNotNull())


def commented(lines: Column, is_forbidden: Column) -> Column:
    """The commands, or as comments what a person must not run as it stands."""
    return F.when(is_forbidden, F.transform(lines, comment)).otherwise(lines)


def blocked(forbids: Column) -> Column:
    """The end of a reason, or null where nothing forbids. Shape: array<string> -> string."""
    each = F.array_distinct(forbids)
    return F.when(
        F.size(each) > 0, F.concat(F.lit("Not to be run as it stands: "), F.array_join(each, "; "), F.lit("."))
    )
