"""SWITCH_TO_POP: brokers hand messages out, so that clients beyond the number of queues have work too.

Only where it can be: POP among the policy's strategies, nothing consumed in order, every client a Java push consumer
of 5.x, every broker of the group's topics 5.x with its timer on (without it a broker assigns queues to POP clients
and then forbids them to pop).
Source: QueryAssignmentProcessor, PopMessageProcessor, DefaultMQPushConsumer.clientRebalance, rocketmq-all-5.3.3.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.recommendation import preflight
from rocketmq_capacity.recommendation.answer import answers, sentences
from rocketmq_capacity.recommendation.cases import ALL_POP, CASE, Cases, case_id, group_cases
from rocketmq_capacity.recommendation.commands import set_consume_mode
from rocketmq_capacity.recommendation.effects import Effects, shown
from rocketmq_capacity.recommendation.facts import POP, Facts, master_brokers

ACTION: Final = "SWITCH_TO_POP"
RULE: Final = "IDLE_CONSUMERS"
CAN_POP: Final = r"\AV([5-9]|[1-9]\d+)_"
"""Versions of clients and brokers that know POP, as RocketMQ writes them."""
HOW: Final = (
    "Run the commands on every broker of its topics, then set setClientRebalance(false) in the clients' code and"
    " restart them: until then they go on pulling. A message that is not acknowledged within popInvisibleTime comes"
    " again."
)


def pop_cases(facts: Facts, safety: DataFrame) -> Cases:
    """A case for each group with idle clients that could pop: all its topics popped."""
    return group_cases(ALL_POP, _able(facts, safety))


def switch_to_pop(facts: Facts, effects: Effects, safety: DataFrame) -> DataFrame:
    """One recommendation for each group whose idle clients would have work."""
    share = facts.policy.thresholds.SWITCH_TO_POP.pop_share_queue_num
    mode = set_consume_mode(F.col("nameserver"), F.col("address"), F.col("topic"), F.col("consumer_group"), share)
    line = F.struct("topic", "broker_name", mode.alias("line"))
    places = (
        facts
        .with_doubt(_topics(facts).join(facts.places, "topic").join(safety.select("topic", "forbids"), "topic"))
        .groupBy("consumer_group")
        .agg(
            F.transform(F.array_sort(F.collect_list(line)), lambda one: one["line"]).alias("commands"),
            F.array_sort(F.flatten(F.collect_set(F.concat("forbids", preflight.unsafe_broker())))).alias("forbids"),
        )
    )
    rows = (
        effects.of_group
        .where(~F.col("is_worse") & (F.col("after.idle") < F.col("before.idle")))
        .join(facts.found(RULE).select("consumer_group"), "consumer_group")
        .where(F.col(CASE) == case_id(ALL_POP, F.col("consumer_group")))
        .join(places, "consumer_group")
    )
    is_manual = F.size("forbids") > 0
    return answers(
        rows,
        ACTION,
        consumer_group=True,
        target=F.lit(share),
        is_manual=is_manual,
        reason=sentences(
            F.format_string(
                "With POP the brokers hand messages out, and idle clients go from %d to %d.",
                F.col("before.idle"),
                F.col("after.idle"),
            ),
            F.lit(HOW),
            preflight.blocked(F.col("forbids")),
        ),
        rules=F.array(F.lit(RULE)),
        commands=preflight.commented(F.col("commands"), is_manual),
        before={"message_request_mode": F.lit("PULL"), **shown("before")},
        after={"message_request_mode": F.lit(POP), **shown("after")},
    )


def _topics(facts: Facts) -> DataFrame:
    return facts.tables[contracts.Subscription].where("kind = 'BUSINESS'").select("consumer_group", "topic")


def _able(facts: Facts, safety: DataFrame) -> DataFrame:
    """The groups with idle clients that could pop: consumer_group."""
    idle = facts.found(RULE).select("consumer_group").distinct()
    if POP not in facts.policy.strategies:
        return idle.limit(0)
    pulling = facts.clustering().where(
        "message_request_mode = 'PULL' AND NOT coalesce(is_orderly, false) AND NOT consume_type <=> 'CONSUME_ACTIVELY'"
    )
    applies = facts.strategy_load.where((F.col("strategy") == POP) & F.col("is_applicable"))
    is_new = (F.col("language") == "JAVA") & F.col("version").rlike(CAN_POP)
    clients = (
        facts
        .tables[contracts.Consumer]
        .groupBy("consumer_group")
        .agg(F.min(F.coalesce(is_new, F.lit(False))).alias("clients_can"))
    )
    timer = F.coalesce(F.col("config")["timerWheelEnable"], F.lit("true"))
    brokers = master_brokers(facts.tables).select(
        "broker_name", (F.col("version").rlike(CAN_POP) & (timer == "true")).alias("can_pop")
    )
    topics = (
        _topics(facts)
        .join(safety.select("topic", "is_ordered"), "topic")
        .join(facts.places.select("topic", "broker_name"), "topic")
        .join(F.broadcast(brokers), "broker_name", "left")
        .groupBy("consumer_group")
        .agg(F.min(F.coalesce("can_pop", F.lit(False)) & ~F.col("is_ordered")).alias("topics_can"))
    )
    return (
        idle
        .join(pulling.select("consumer_group"), "consumer_group")
        .join(applies.select("consumer_group"), "consumer_group")
        .join(clients.where("clients_can"), "consumer_group")
        .join(topics.where("topics_can"), "consumer_group")
        .select("consumer_group")
    )
