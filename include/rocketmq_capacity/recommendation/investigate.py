"""INVESTIGATE: what no other answer covers, with commands that only look.

One recommendation for each group, topic or the cluster, for all of its findings that are left.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import answers, java_sorted, listed
from rocketmq_capacity.recommendation.facts import Facts, master_brokers

ACTION: Final = "INVESTIGATE"
CLIENTS: Final = 5
"""Clients of a group that are asked one by one."""
STRUCTURAL: Final = (
    "ORPHAN_QUEUE",
    "MIXED_STRATEGIES",
    "IDLE_CONSUMERS",
    "READ_LESS_THAN_WRITE",
    "ALLOCATION_SKEW",
    "CROSS_TOPIC_SKEW",
    "TRAFFIC_SKEW",
    "READ_ONLY_IDLE",
    "TOPIC_COVERAGE",
)
"""Rules that are answered by a change, and so not at all where the snapshot is too incomplete."""
OF_CLIENTS: Final = (
    "LAG_SKEW",
    "TRAFFIC_SKEW",
    "ALLOCATION_SKEW",
    "CROSS_TOPIC_SKEW",
    "READ_ONLY_IDLE",
    "MIXED_STRATEGIES",
)
"""Rules whose subjects are client ids worth a look each."""


def looks(facts: Facts, addresses: DataFrame, members: DataFrame) -> DataFrame:
    """What to look at for each finding, should nothing answer it.

    Args:
        facts: the findings.
        addresses: the brokers of each group: consumer_group, addresses.
        members: the clients of each group: consumer_group, client_ids.

    Shape: -> consumer_group, topic, rule, undecided, advice, ``is_of_refusal`` (a reason why no change answers the
    finding says more than the advice), lines, steps.
    """
    each = (
        facts
        .with_doubt(facts.finding)
        .crossJoin(F.broadcast(_masters(facts)))
        .join(addresses, "consumer_group", "left")
        .join(members, "consumer_group", "left")
    )
    is_nowhere = F.coalesce(F.get_json_object("evidence", "$.brokers") == "0", F.lit(False))
    return each.select(
        "consumer_group",
        "topic",
        "rule",
        F.when(F.col("rule").isin(*STRUCTURAL), F.col("undecided")).alias("undecided"),
        _advice(facts).alias("advice"),
        ((F.col("rule") == "IDLE_CONSUMERS") | (F.col("rule") == "TOPIC_COVERAGE") & ~is_nowhere).alias(
            "is_of_refusal"
        ),
        _commands().alias("lines"),
        _steps().alias("steps"),
    )


def investigate(looked_at: DataFrame, answered: DataFrame, helped: DataFrame, refusals: DataFrame) -> DataFrame:
    """What is left.

    Args:
        looked_at: what to look at for each finding (:func:`looks`).
        answered: the recommendations of all other families.
        helped: groups whose finding a change of a topic answers, beside those of that topic itself: rule,
            consumer_group.
        refusals: why a change does not answer a topic's rule: topic, rule, refusal.
    """
    each = (
        _unanswered(looked_at, answered, helped)
        .join(refusals, ["topic", "rule"], "left")
        .withColumn("advice", F.coalesce(F.when(F.col("is_of_refusal"), F.col("refusal")), F.col("advice")))
        .withColumn("topic", F.when(F.col("consumer_group").isNull(), F.col("topic")))
    )
    rows = each.groupBy("consumer_group", "topic").agg(
        F.collect_set("rule").alias("rules"),
        F.array_sort(F.collect_set(F.coalesce("undecided", "advice"))).alias("sentences"),
        F.array_distinct(
            F.flatten(F.transform(F.array_sort(F.collect_list(F.struct("rule", "lines"))), lambda f: f["lines"]))
        ).alias("lines"),
        F.array_distinct(F.flatten(F.array_sort(F.collect_list("steps")))).alias("steps"),
    )
    has_steps = F.size("steps") > 0
    return answers(
        rows,
        ACTION,
        consumer_group=True,
        topic=True,
        target=F.array_sort("rules"),
        is_manual=has_steps,
        reason=F.array_join("sentences", " "),
        rules=F.col("rules"),
        commands=F.concat("lines", "steps"),
    )


def group_addresses(facts: Facts) -> DataFrame:
    """The masters that serve a group's topics, by broker name. Shape: -> consumer_group, ``addresses``."""
    return (
        facts
        .tables[contracts.Subscription]
        .where("kind = 'BUSINESS'")
        .select("consumer_group", "topic")
        .join(facts.places.select("topic", "broker_name", "address"), "topic")
        .groupBy("consumer_group")
        .agg(F.array_sort(F.collect_set(F.struct("broker_name", "address"))).alias("brokers"))
        .select("consumer_group", F.transform("brokers", lambda broker: broker["address"]).alias("addresses"))
    )


def group_members(facts: Facts) -> DataFrame:
    """The client ids of a group in Java's order. Shape: -> consumer_group, ``client_ids``."""
    return (
        facts
        .tables[contracts.Consumer]
        .groupBy("consumer_group")
        .agg(java_sorted(F.col("client_id")).alias("client_ids"))
    )


def _masters(facts: Facts) -> DataFrame:
    """One row: ``masters``, the address of each broker by its name."""
    known = (
        master_brokers(facts.tables)
        .where("address IS NOT NULL")
        .groupBy("broker_name")
        .agg(F.min("address").alias("address"))
    )
    return known.agg(
        F.map_from_entries(F.array_sort(F.collect_list(F.struct("broker_name", "address")))).alias("masters")
    )


def _unanswered(finding: DataFrame, answered: DataFrame, helped: DataFrame) -> DataFrame:
    """The findings whose rule no recommendation for their group or their topic names, and that no other answers."""
    by_rule = answered.select(F.explode("rules").alias("rule"), "consumer_group", "topic")
    of_groups = by_rule.where("consumer_group IS NOT NULL").select("rule", "consumer_group").unionByName(helped)
    of_topics = by_rule.where("consumer_group IS NULL").select("rule", "topic").distinct()
    return finding.join(of_groups, ["rule", "consumer_group"], "left_anti").join(
        of_topics, ["rule", "topic"], "left_anti"
    )


def _advice(facts: Facts) -> Column:
    least = f"{facts.policy.thresholds.CHANGE_STRATEGY.min_improvement:.0%}".replace("%", " %")
    no_strategy = f"no strategy that could be tried is at least {least} better without making something else worse"
    subjects = listed(F.col("subjects"))
    by_rule = {
        "ORPHAN_QUEUE": F.lit(
            "Find out why nobody reads these queues: compare what each client says it owns with the queues that"
            " have no client."
        ),
        "IDLE_CONSUMERS": F.lit("No change that was simulated leaves fewer clients idle."),
        "MIXED_STRATEGIES": F.lit(f"Let all clients run one strategy; {no_strategy}, so choose it by hand."),
        "READ_ONLY_IDLE": F.lit(
            "Find out whether the read-only brokers are to stay so. Once drained they may leave; else make them"
            " writable again."
        ),
        "MEMBERSHIP_DISAGREEMENT": F.lit(
            "Compare the members that each broker names: a client that one of them lacks has lost its connection to it."
        ),
        "LAG_SKEW": F.concat(
            F.lit("Look at what holds up the clients furthest behind (response time, threads, their machine): "),
            subjects,
            F.lit("."),
        ),
        "SUSPECT_SNAPSHOT": F.lit("Take another snapshot before anything is changed."),
        "SNAPSHOT_INCOMPLETE": F.concat(
            F.lit("Find out why these were not read, and take another snapshot: "), subjects, F.lit(".")
        ),
        "TOPIC_COVERAGE": F.when(
            F.get_json_object("evidence", "$.brokers") == "0",
            F.concat(F.lit("Create the topic, or end the subscription of "), subjects, F.lit(".")),
        ).otherwise(F.lit("Find out whether the topic is meant to lie on its brokers unequally.")),
        **dict.fromkeys(
            ("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW", "TRAFFIC_SKEW"),
            F.lit(f"Find out what the group needs: {no_strategy}. Clients or topics of its own may part the load."),
        ),
    }
    return _case(by_rule, F.col("message"))


def _commands() -> Column:
    """Lines that only look."""
    nameserver, group, topic = F.col("nameserver"), F.col("consumer_group"), F.col("topic")
    is_of_clients = F.col("rule").isin(*OF_CLIENTS)
    asked = F.slice(F.when(is_of_clients, F.col("subjects")).otherwise(F.coalesce("client_ids", _nobody())), 1, CLIENTS)
    of_group = F.concat(
        F.array(commands.consumer_progress(nameserver, group)),
        F.transform(asked, lambda client: commands.consumer_status(nameserver, group, client)),
    )
    each_broker = F.transform(
        F.coalesce("addresses", _nobody()), lambda address: commands.consumer_connection(nameserver, group, address)
    )
    of_topic = F.array(commands.topic_route(nameserver, topic), commands.topic_status(nameserver, topic))
    return (
        F
        .when(F.col("rule") == "MEMBERSHIP_DISAGREEMENT", each_broker)
        .when(group.isNotNull(), of_group)
        .when(topic.isNotNull(), of_topic)
        .otherwise(F.array(commands.cluster_list(nameserver)))
    )


def _steps() -> Column:
    """What a person may decide to do, as comments."""
    brokers = F.from_json(F.get_json_object("evidence", "$.brokers"), "array<string>")
    line = F.transform(
        brokers,
        lambda name: commands.comment(
            commands.restore_broker(
                F.col("nameserver"),
                F.coalesce(F.col("masters")[name], commands.placeholder(F.concat(F.lit("address of "), name))),
            )
        ),
    )
    return F.when(F.col("rule") == "READ_ONLY_IDLE", line).otherwise(_nobody())


def _nobody() -> Column:
    return F.array().cast("array<string>")


def _case(values: dict[str, Column], otherwise: Column) -> Column:
    found = otherwise
    for rule, value in values.items():
        found = F.when(F.col("rule") == rule, value).otherwise(found)
    return found
