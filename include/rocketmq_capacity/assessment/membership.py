"""Findings on membership: DUPLICATE_CLIENT_ID, SUBSCRIPTION_MISMATCH, MIXED_STRATEGIES, MEMBERSHIP_DISAGREEMENT."""

from collections.abc import Iterator

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, Window

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.facts import Facts
from rocketmq_capacity.assessment.finding import counted, findings, harm, listed
from rocketmq_capacity.assessment.loads import java_sorted


def rules(facts: Facts) -> Iterator[DataFrame]:
    """Every rule of this family."""
    yield duplicate_client_id(facts)
    yield subscription_mismatch(facts)
    yield mixed_strategies(facts)
    yield membership_disagreement(facts)


def duplicate_client_id(facts: Facts) -> DataFrame:
    """Two consumers of a clustering group have one client id: some queues are then read twice, others by nobody."""
    broken = facts.today_load.select(
        "consumer_group", F.size("orphan_queues").alias("orphans"), F.size("doubly_owned_queues").alias("twice")
    )
    copies = (
        facts
        .tables[contracts.Consumer]
        .join(_clustering(facts), "consumer_group")
        .groupBy("consumer_group", "client_id")
        .agg(
            F.count("*").alias("copies"),
            F.array_sort(F.collect_set("client_addr")).alias("addresses"),
            F.array_sort(F.collect_set("language")).alias("languages"),
            F.array_sort(F.collect_set("version")).alias("versions"),
        )
        .where("copies > 1")
    )
    named = F.struct("client_id", "copies", "addresses", "languages", "versions")
    rows = (
        copies
        .groupBy("consumer_group")
        .agg(java_sorted(F.col("client_id")).alias("ids"), F.array_sort(F.collect_list(named)).alias("duplicates"))
        .join(broken, "consumer_group", "left")
    )
    harms = (F.coalesce("orphans", F.lit(0)) > 0) | (F.coalesce("twice", F.lit(0)) > 0)
    return findings(
        rows,
        "DUPLICATE_CLIENT_ID",
        severity=F.when(harms, "CRITICAL").otherwise("WARNING"),
        consumer_group=True,
        subjects=F.col("ids"),
        evidence={
            "duplicates": F.col("duplicates"),
            "orphan_queues": F.col("orphans"),
            "doubly_owned_queues": F.col("twice"),
        },
        message=F.concat(
            F.lit("Several consumers share a client id: "),
            listed(F.col("ids")),
            F.lit("."),
            harm(F.col("orphans"), F.col("twice")),
        ),
    )


def subscription_mismatch(facts: Facts) -> DataFrame:
    """Settled clients of one group subscribe to different topics or filters.

    Compared are (topic, expression type, expression), never the subscription's version, which every restart changes.
    Retry topics and what the policy excludes do not count.
    Source: ConsumerRunningInfo.analyzeSubscription, rocketmq-all-5.3.3 (it, too, waits two minutes after a start).
    """
    consumer, own = facts.tables[contracts.Consumer], facts.tables[contracts.ConsumerSubscription]
    entry = F.concat_ws(
        " ", "topic", F.coalesce("expression_type", F.lit("TAG")), F.coalesce("expression", F.lit("*"))
    ).alias("entry")
    counts = "kind NOT IN ('RETRY', 'EXCLUDED')"
    own = own.where(counts).select("consumer_group", "consumer_index", entry)
    # A client that did not report its subscriptions has its group's.
    of_group = facts.tables[contracts.Subscription].where(counts).where("is_declared_by_group")
    inherited = (
        consumer
        .where("NOT has_subscriptions")
        .select("consumer_group", "consumer_index")
        .join(of_group.select("consumer_group", entry), "consumer_group")
    )
    per_client = (
        consumer
        .where(_is_settled(facts))
        .join(facts.groups.select("consumer_group"), "consumer_group")
        .join(own.unionByName(inherited), ["consumer_group", "consumer_index"], "left")
        .groupBy("consumer_group", "consumer_index", "client_id", "started_at")
        .agg(F.array_sort(F.collect_set("entry")).alias("entries"))
    )
    sets = per_client.groupBy("consumer_group", "entries").agg(
        F.count("*").alias("clients"),
        java_sorted(F.col("client_id")).alias("ids"),
        F.min("started_at").alias("first_start"),
    )
    place = F.row_number().over(Window.partitionBy("consumer_group").orderBy(F.col("clients").desc(), F.col("entries")))
    rows = (
        sets
        .withColumn("place", place)
        .groupBy("consumer_group")
        .agg(
            F.count("*").alias("sets"),
            F.sum("clients").alias("clients"),
            F.array_sort(F.collect_list(F.struct("place", "clients", "entries", "first_start", "ids"))).alias("each"),
        )
        .where("sets > 1")
    )
    minority = F.array_sort(
        F.array_distinct(F.flatten(F.transform(F.slice("each", 2, F.size("each")), lambda s: s["ids"])))
    )
    shown = F.transform(
        "each",
        lambda s: F.struct(
            s["clients"].alias("clients"), s["entries"].alias("subscriptions"), s["first_start"].alias("first_start")
        ),
    )
    return findings(
        rows,
        "SUBSCRIPTION_MISMATCH",
        severity="WARNING",
        consumer_group=True,
        subjects=minority,
        evidence={"clients": F.col("clients"), "sets": F.col("sets"), "subscription_sets": shown},
        message=F.format_string(
            "Its %d clients subscribe in %d different ways; the broker keeps the latest only.", "clients", "sets"
        ),
    )


def mixed_strategies(facts: Facts) -> DataFrame:
    """Clients of one group run different strategies: their shares overlap, others have no owner."""
    broken = facts.today_load.select(
        "consumer_group", F.size("orphan_queues").alias("orphans"), F.size("doubly_owned_queues").alias("twice")
    )
    pulling = _clustering(facts).where("message_request_mode <> 'POP'").select("consumer_group")
    counts = (
        facts
        .tables[contracts.Consumer]
        .where("allocate_strategy IS NOT NULL")
        .join(pulling, "consumer_group")
        .groupBy("consumer_group", "allocate_strategy")
        .agg(F.count("*").alias("clients"), java_sorted(F.col("client_id")).alias("ids"))
    )
    place = F.row_number().over(
        Window.partitionBy("consumer_group").orderBy(F.col("clients").desc(), F.col("allocate_strategy"))
    )
    rows = (
        counts
        .withColumn("place", place)
        .groupBy("consumer_group")
        .agg(
            F.count("*").alias("strategies"),
            F.array_sort(F.collect_list(F.struct("place", "allocate_strategy", "clients", "ids"))).alias("each"),
        )
        .where("strategies > 1")
        .join(broken, "consumer_group", "left")
    )
    names = F.array_sort(F.transform("each", lambda s: s["allocate_strategy"]))
    minority = F.array_sort(
        F.array_distinct(F.flatten(F.transform(F.slice("each", 2, F.size("each")), lambda s: s["ids"])))
    )
    return findings(
        rows,
        "MIXED_STRATEGIES",
        severity="CRITICAL",
        consumer_group=True,
        subjects=minority,
        evidence={
            "strategies": F.transform(
                "each", lambda s: F.struct(s["allocate_strategy"].alias("strategy"), s["clients"].alias("clients"))
            ),
            "orphan_queues": F.col("orphans"),
            "doubly_owned_queues": F.col("twice"),
        },
        message=F.concat(
            F.lit("Its clients run different strategies: "),
            F.array_join(names, ", "),
            F.lit("."),
            harm(F.col("orphans"), F.col("twice")),
        ),
    )


def membership_disagreement(facts: Facts) -> DataFrame:
    """Brokers that serve a group name different members of it, so its clients compute with different lists.

    Compared are the brokers that answered, hold a topic of the client and were named by at least one of the group. A
    client that has just started may have reached some brokers only.
    """
    consumer = facts.tables[contracts.Consumer]
    answering = facts.tables[contracts.TopicQueue].where("has_answered").select("topic", "broker_name")
    topics = facts.tables[contracts.Subscription].select("consumer_group", "topic")
    seen = consumer.where("seen_on IS NOT NULL").select(
        "consumer_group", "consumer_index", F.explode("seen_on").alias("broker_name")
    )
    expected = (
        consumer
        .where(F.col("seen_on").isNotNull() & _is_settled(facts))
        .join(facts.groups.select("consumer_group"), "consumer_group")
        .join(topics, "consumer_group")
        .where(F.col("only_topics").isNull() | F.array_contains("only_topics", F.col("topic")))
        .join(answering, "topic")
        .join(seen.select("consumer_group", "broker_name").distinct(), ["consumer_group", "broker_name"])
        .select("consumer_group", "consumer_index", "client_id", "broker_name")
        .distinct()
    )
    missing = expected.join(seen, ["consumer_group", "consumer_index", "broker_name"], "left_anti")
    rows = (
        missing
        .groupBy("consumer_group", "broker_name")
        .agg(java_sorted(F.col("client_id")).alias("ids"))
        .groupBy("consumer_group")
        .agg(
            F.array_sort(F.collect_list(F.struct("broker_name", F.col("ids").alias("client_ids")))).alias("unknown_to"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("ids")))).alias("ids"),
        )
        .join(facts.groups.select("consumer_group", "message_model"), "consumer_group")
    )
    divides = F.coalesce("message_model", F.lit("CLUSTERING")) == "CLUSTERING"
    return findings(
        rows,
        "MEMBERSHIP_DISAGREEMENT",
        severity="WARNING",
        consumer_group=True,
        subjects=F.col("ids"),
        evidence={"unknown_to": F.col("unknown_to")},
        message=F.concat(
            counted(F.size("ids"), "client"),
            F.when(F.size("ids") == 1, " is").otherwise(" are"),
            F.lit(" unknown to "),
            listed(F.transform("unknown_to", lambda broker: broker["broker_name"])),
            F.when(divides, "; clients that ask it who else reads divide the queues wrongly.").otherwise(
                "; a client that lost its connection to a broker reads nothing from it."
            ),
        ),
    )


def _clustering(facts: Facts) -> DataFrame:
    model = F.coalesce("message_model", F.lit("CLUSTERING"))
    return facts.groups.where(model == "CLUSTERING").select("consumer_group", "message_request_mode")


def _is_settled(facts: Facts) -> Column:
    """Whether a consumer has been up for long enough to be compared; so is one whose start is unknown."""
    return F.coalesce(F.col("up_s") > facts.policy.thresholds.SUBSCRIPTION_MISMATCH.settled_s, F.lit(True))
