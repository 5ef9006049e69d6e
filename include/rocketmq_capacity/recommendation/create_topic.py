"""CREATE_TOPIC_ON_BROKER: a topic on a broker that lacks it, with as many queues as elsewhere.

RocketMQ itself never spreads a topic over brokers that came later.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answers, counted, listed, sentences
from rocketmq_capacity.recommendation.cases import CASE, Cases, case_id, topic_cases
from rocketmq_capacity.recommendation.commands import placeholder, update_topic
from rocketmq_capacity.recommendation.effects import Effects
from rocketmq_capacity.recommendation.facts import Facts, address_or_placeholder, master_brokers
from rocketmq_capacity.recommendation.queue_changes import uncomputed_groups

ACTION: Final = "CREATE_TOPIC_ON_BROKER"
RULE: Final = "TOPIC_COVERAGE"


def missing_places(facts: Facts, layouts: DataFrame) -> DataFrame:
    """Where a topic is missing.

    Shape: -> one row a topic and broker: case_id, topic, broker_name, ``brokers`` (where it can be read and
    written; null: none), ``per_broker`` (null: no one number elsewhere), ``address``, ``has_answered``.
    """
    missing = F.explode(F.from_json(F.get_json_object("evidence", "$.missing"), "array<string>")).alias("broker_name")
    masters = master_brokers(facts.tables).select("broker_name", "address", "has_answered")
    is_one_number = F.col("is_known") & ~F.col("is_behind")
    return (
        facts
        .found(RULE)
        .where("topic IS NOT NULL")
        .select("topic", missing)
        .distinct()
        .join(F.broadcast(masters), "broker_name")
        .join(layouts, "topic", "left")
        .select(
            case_id(ACTION, F.col("topic"), F.col("broker_name")).alias(CASE),
            "topic",
            "broker_name",
            "brokers",
            F.when(is_one_number, F.col("least")).alias("per_broker"),
            address_or_placeholder().alias("address"),
            "has_answered",
        )
    )


def creation_cases(facts: Facts, missing: DataFrame) -> Cases:
    """A case for each topic and broker: the topic there as well."""
    counts = [F.col("per_broker").alias(f"{kind}_queue_nums") for kind in ("read", "write")]
    return topic_cases(facts, missing.where("per_broker IS NOT NULL").select(CASE, "topic", "broker_name", *counts))


def create_topic_on_broker(facts: Facts, missing: DataFrame, effects: Effects, safety: DataFrame) -> DataFrame:
    """One recommendation for each topic and broker, but where a group would be worse off."""
    queue = F.struct("broker_name", "read_queue_nums", "write_queue_nums")
    elsewhere = facts.places.groupBy("topic").agg(
        F.array_sort(F.collect_list(queue)).alias("queues_before"),
        F.min(F.when(F.col("is_changeable"), F.col("own_perm"))).alias("perm"),
    )
    rows = (
        facts
        .with_doubt(missing)
        .join(effects.of_case, CASE, "left")
        .where("worse IS NULL OR size(worse) = 0")
        .join(safety, "topic")
        .join(elsewhere, "topic")
    )
    topic = F.col("topic")
    unknown = {name: placeholder(F.concat(F.lit(f"{name} of "), topic)) for name in ("queues", "perm", "order")}
    queues = F.coalesce(F.col("per_broker").cast("string"), unknown["queues"])
    message_type = F.when(F.col("message_type") != "UNSPECIFIED", F.concat(F.lit("+message.type="), "message_type"))
    command = update_topic(
        F.col("nameserver"),
        F.col("address"),
        topic,
        (queues, queues),
        F.coalesce(F.col("perm").cast("string"), unknown["perm"]),
        F.coalesce("order", unknown["order"]),
        message_type,
    )
    forbids = F.concat(
        "forbids",
        preflight.reasons(
            F.when(~F.col("has_answered"), F.format_string("%s did not answer every request", "broker_name")),
            F.when(F.col("brokers").isNull(), F.lit("on no broker can it be both read and written today")),
            F.when(
                F.col("brokers").isNotNull() & F.col("per_broker").isNull(),
                F.lit("the brokers where it can be written have no one number of queues"),
            ),
            F.when(
                F.col("brokers").isNotNull() & F.col("perm").isNull(),
                F.lit("its perm where it can be written is unknown"),
            ),
            F.when(
                F.col("message_type").isNull(), F.lit("its message type is unknown, and the command would set none")
            ),
            preflight.unknown_order(),
            preflight.offline_groups(F.col("offline")),
            uncomputed_groups(),
        ),
    )
    rows = rows.withColumn("forbids", forbids)
    is_manual = (F.size("forbids") > 0) | F.col("is_ordered")
    added = F.struct(
        "broker_name", F.col("per_broker").alias("read_queue_nums"), F.col("per_broker").alias("write_queue_nums")
    )
    return answers(
        rows,
        ACTION,
        topic=True,
        target=F.struct("broker_name", "per_broker"),
        is_manual=is_manual,
        reason=sentences(
            F.concat(
                F.lit("Create it on "),
                F.col("broker_name"),
                F.coalesce(
                    F.concat(F.lit(" with "), counted(F.col("per_broker"), "queue", "queues"), F.lit(", as elsewhere")),
                    F.lit(""),
                ),
                F.lit(": its load spreads over one broker more, and the loss of one takes less of it."),
            ),
            F.when(F.col("is_ordered"), F.lit(preflight.ORDERED)),
            preflight.blocked(F.col("forbids")),
        ),
        rules=F.array(F.lit(RULE)),
        commands=preflight.commented(F.array(command), is_manual),
        before={"queues": F.col("queues_before"), "groups": F.coalesce("groups_before", F.array())},
        after={
            "queues": F.array_sort(F.array_append("queues_before", added)),
            "groups": F.coalesce("groups_after", F.array()),
        },
    )


def creation_refusals(missing: DataFrame, effects: Effects) -> DataFrame:
    """Why a topic is not created on a broker. Shape: -> one row a topic: topic, rule, ``refusal``."""
    worse = missing.join(effects.of_case, CASE).where("size(worse) > 0")
    each = F.concat(F.lit("on "), F.col("broker_name"), F.lit(" it would make it worse for "), listed(F.col("worse")))
    return (
        worse
        .groupBy("topic")
        .agg(F.array_sort(F.collect_list(each)).alias("each"))
        .select(
            "topic",
            F.lit(RULE).alias("rule"),
            F.concat(F.lit("It is not created on more brokers: "), F.array_join("each", "; "), F.lit(".")).alias(
                "refusal"
            ),
        )
    )
