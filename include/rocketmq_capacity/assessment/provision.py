"""Whether a group has the consumers it needs: UNDER_, RIGHT_ or OVER_PROVISIONED, or UNDECIDED with its reason.

Busy share of a client (Little's law), summed over its topics: incoming msg/s x consume_rt_ms / (1000 x messages a call
x calls at once). Calls at once are its threads; an orderly listener handles a queue at a time, so at most its queues.
A group is as busy as its busiest client.
"""

from collections.abc import Callable, Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.finding import counted, percent
from rocketmq_capacity.assessment.lag import lag_growth
from rocketmq_capacity.assessment.loads import POP, QUEUE
from rocketmq_capacity.config import Policy, Provision
from rocketmq_capacity.contracts.dataset import Dataset

UNDER: Final = "UNDER_PROVISIONED"
RIGHT: Final = "RIGHT_PROVISIONED"
OVER: Final = "OVER_PROVISIONED"
UNDECIDED: Final = "UNDECIDED"


def provision_status(
    tables: Mapping[type[Dataset], DataFrame],
    owned_today: DataFrame,
    owned_after_removal: Callable[[Mapping[type[Dataset], DataFrame]], DataFrame],
    policy: Policy,
) -> DataFrame:
    """One row a business group: consumer_group, provision_status, provision_reason, utilisation (null where unknown).

    ``owned_after_removal`` gives who would own what (as ``owned_today``) with the consumers of the tables it is given.
    """
    bounds = policy.thresholds.PROVISION
    groups = (
        tables[contracts.ConsumerGroup]
        .where("kind = 'BUSINESS'")
        .join(_known_clients(tables), "consumer_group", "left")
    )
    busy = _utilisation(tables, owned_today).withColumnRenamed("busiest", "utilisation")
    fewer = dict(tables)
    fewer[contracts.Consumer] = _without_last(tables[contracts.Consumer], bounds)
    after = _utilisation(fewer, owned_after_removal(fewer)).withColumnRenamed("busiest", "utilisation_after")
    growth = lag_growth(tables)
    complete = tables[contracts.Cluster].select("completeness_ratio")
    judged = (
        groups
        .crossJoin(F.broadcast(complete))
        .join(busy, "consumer_group", "left")
        .join(after, "consumer_group", "left")
        .join(growth, "consumer_group", "left")
    )
    unknown = _undecided(bounds)
    use = F.col("utilisation")
    # Lag below the low-utilisation bound comes and goes with every batch.
    grows = (F.col("lag_growth") > 0) & (F.col("lag_now") >= policy.thresholds.LOW_UTILISATION.min_lag)
    spare = (F.col("utilisation_after") <= bounds.over_utilisation) & (
        F.col("distinct_client_ids") > bounds.min_clients
    )
    status = (
        F
        .when(unknown.isNotNull(), UNDECIDED)
        .when((use > bounds.under_utilisation) | F.coalesce(grows, F.lit(False)), UNDER)
        .when(spare, OVER)
        .otherwise(RIGHT)
    )
    busiest = F.concat(F.lit("the busiest client is busy for "), percent(use), F.lit(" of its time"))
    reason = (
        F
        .when(unknown.isNotNull(), unknown)
        .when(use > bounds.under_utilisation, busiest)
        .when(
            grows, F.concat(F.lit("lag grew by "), counted(F.col("lag_growth"), "message"), F.lit(" over the samples"))
        )
        .when(
            spare,
            F.concat(
                F.lit("without "),
                _leaving(F.col("connections"), bounds).cast("string"),
                F.lit(" of its "),
                counted(F.col("connections"), "client"),
                F.lit(" the busiest would be busy for "),
                percent(F.col("utilisation_after")),
                F.lit(" of its time"),
            ),
        )
        .otherwise(busiest)
    )
    return judged.select(
        "consumer_group", status.alias("provision_status"), reason.alias("provision_reason"), "utilisation"
    )


def _undecided(bounds: Provision) -> Column:
    """Why there can be no verdict, or null."""
    missing = F.col("clients_without_rt") / F.col("connections")
    return F.coalesce(
        F.when(F.col("message_model") == "BROADCASTING", F.lit("broadcasting: every client reads every queue")),
        F.when(F.col("connections") == 0, F.lit("the group has no clients")),
        F.when(
            F.col("completeness_ratio") < bounds.min_completeness,
            F.concat(
                F.lit("the snapshot answered for "), percent(F.col("completeness_ratio")), F.lit(" of the queues only")
            ),
        ),
        F.when(
            missing > bounds.max_unknown_rt_ratio,
            F.concat(
                F.format_string("response times are unknown for %d of ", "clients_without_rt"),
                counted(F.col("connections"), "client"),
            ),
        ),
        F.when(F.col("utilisation").isNull(), F.lit("rates, threads or owners of some of its queues are unknown")),
    )


def _response_times(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """Known response times; RocketMQ says 0 where a client consumed nothing in the last hour."""
    return tables[contracts.ConsumeStatus].where("kind = 'BUSINESS' AND consume_rt_ms > 0")


def _known_clients(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    timed = _response_times(tables).select("consumer_group", "consumer_index").distinct().withColumn("timed", F.lit(1))
    return (
        tables[contracts.Consumer]
        .join(timed, ["consumer_group", "consumer_index"], "left")
        .groupBy("consumer_group")
        .agg(F.sum(F.when(F.col("timed").isNull(), 1).otherwise(0)).alias("clients_without_rt"))
    )


def _utilisation(tables: Mapping[type[Dataset], DataFrame], owned: DataFrame) -> DataFrame:
    """The busy share of each group's busiest client; null where a part of it is unknown."""
    times = _response_times(tables)
    own_rt = times.groupBy("consumer_group", "client_id", "topic").agg(F.avg("consume_rt_ms").alias("own_rt_ms"))
    usual_rt = times.groupBy("consumer_group", "topic").agg(F.avg("consume_rt_ms").alias("usual_rt_ms"))
    clients = (
        tables[contracts.Consumer]
        .groupBy("consumer_group", "client_id")
        .agg(F.min("consume_threads").alias("threads"), F.min("consume_batch_size").alias("batch"))
        .join(tables[contracts.ConsumerGroup].select("consumer_group", "is_orderly"), "consumer_group")
    )
    readers = F.count("*").over(Window.partitionBy("consumer_group", "strategy", *QUEUE))
    share = F.col("msgs_per_s") / F.when(F.col("strategy") == POP, readers).otherwise(1)
    topic_load = (
        owned
        .withColumn("share", share)
        .groupBy("consumer_group", "client_id", "topic")
        .agg(F.count("*").alias("queues"), F.when(F.count("share") == F.count("*"), F.sum("share")).alias("incoming"))
    )
    rt_ms = F.coalesce("own_rt_ms", "usual_rt_ms")
    seconds = F.when(F.col("incoming") == 0, 0.0).otherwise(F.col("incoming") * rt_ms / 1000)
    at_once = F.when(
        F.coalesce("is_orderly", F.lit(False)),
        F.least("threads", F.sum("queues").over(Window.partitionBy("consumer_group", "client_id"))),
    ).otherwise(F.col("threads"))
    part = seconds / F.when(at_once * F.col("batch") > 0, at_once * F.col("batch"))
    per_client = (
        topic_load
        .join(clients, ["consumer_group", "client_id"])
        .join(own_rt, ["consumer_group", "client_id", "topic"], "left")
        .join(usual_rt, ["consumer_group", "topic"], "left")
        .select("consumer_group", "client_id", part.alias("part"))
        .groupBy("consumer_group", "client_id")
        .agg(F.when(F.count("part") == F.count("*"), F.sum("part")).alias("busy"))
    )
    return per_client.groupBy("consumer_group").agg(
        F.when(F.count("busy") == F.count("*"), F.max("busy")).alias("busiest")
    )


def _without_last(consumer: DataFrame, bounds: Provision) -> DataFrame:
    """The consumers without the last fifth (by policy), in Java's order."""
    group = Window.partitionBy("consumer_group")
    place = F.row_number().over(group.orderBy(F.encode("client_id", "UTF-16BE"), "consumer_index"))
    consumers = F.count("*").over(group)
    kept = consumers - _leaving(consumers, bounds)
    return consumer.withColumn("_stays", place <= kept).where("_stays").drop("_stays")


def _leaving(consumers: Column, bounds: Provision) -> Column:
    """How many consumers the policy's share is, rounded up."""
    # 100 * 0.07 is a little more than 7 in floating point, which is no eighth consumer.
    return F.ceil(F.round(consumers * bounds.over_removed_ratio, 6))
