"""The stage: findings to recommendations, every candidate change simulated in one go before any is named."""

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.recommendation import (
    change_strategy,
    check_producer_keys,
    create_topic,
    expand_queues,
    fix_clients,
    investigate,
    raise_read_queues,
    scale_consumers,
    switch_to_pop,
)
from rocketmq_capacity.recommendation.cases import variants
from rocketmq_capacity.recommendation.effects import effects
from rocketmq_capacity.recommendation.facts import gather
from rocketmq_capacity.recommendation.layouts import topic_layouts, tried_layouts
from rocketmq_capacity.recommendation.preflight import topic_safety

Simulate = Callable[[Mapping[type[Dataset], DataFrame]], DataFrame]
"""topic_queue, consumer, consumer_group and subscription with ``case_id`` -> ``StrategyLoad`` with ``case_id``."""


def recommend(
    tables: Mapping[type[Dataset], DataFrame],
    strategy_load: DataFrame,
    group_status: DataFrame,
    finding: DataFrame,
    policy: Policy,
    simulate: Simulate,
    settle: Callable[[DataFrame], DataFrame] = DataFrame.persist,
) -> DataFrame:
    """The smallest safe change for each finding.

    Args:
        tables: the snapshot's tables by contract.
        strategy_load: what each strategy means for each group (``StrategyLoad``).
        group_status: each group at a glance (``GroupStatus``).
        finding: what is wrong (``Finding``).
        policy: thresholds, and the strategies that are looked at.
        simulate: variants of the snapshot, apart by ``case_id`` -> what each group would own in each of them while its
            clients run what they run today (``StrategyLoad`` with ``case_id``, of the groups that can be computed).
        settle: gives the same frame, so that what is used many times is planned and computed once.

    Shape: -> ``Recommendation``, sorted. Every finding is answered, if only by INVESTIGATE.
    """
    facts = gather(tables, strategy_load, group_status, finding, policy, settle)
    layouts = settle(topic_layouts(facts))
    tried = settle(tried_layouts(facts, layouts))
    missing = settle(create_topic.missing_places(facts, layouts))
    safety = settle(topic_safety(facts))
    frames, groups = variants(
        facts,
        [
            expand_queues.expansion_cases(facts, tried),
            scale_consumers.scaling_cases(facts),
            raise_read_queues.raising_cases(facts),
            create_topic.creation_cases(facts, missing),
            switch_to_pop.pop_cases(facts, safety),
            *fix_clients.fixing_cases(facts),
        ],
    )
    seen = effects(facts, simulate(frames), groups)
    judged = settle(expand_queues.judged_layouts(facts, tried, seen))
    refusals = settle(
        expand_queues.refusals(facts, layouts, judged).unionByName(create_topic.creation_refusals(missing, seen))
    )
    addresses = settle(investigate.group_addresses(facts))
    answered = settle(
        reduce(
            DataFrame.unionByName,
            [
                expand_queues.expand_queues(facts, judged, safety),
                scale_consumers.scale_consumers(facts, seen, refusals),
                switch_to_pop.switch_to_pop(facts, seen, safety),
                create_topic.create_topic_on_broker(facts, missing, seen, safety),
                raise_read_queues.raise_read_queues(facts, seen, safety),
                change_strategy.change_strategy(facts, seen),
                fix_clients.fix_client_id(facts, seen, addresses),
                fix_clients.fix_subscription(facts, seen, addresses),
                check_producer_keys.check_producer_keys(facts),
            ],
        )
    )
    left = investigate.investigate(facts, answered, refusals, addresses, investigate.group_members(facts))
    names = contracts.Recommendation.spark_schema().names
    return answered.unionByName(left).select(*names).orderBy("action", "consumer_group", "topic", "id")
