"""The stage: findings to recommendations, every candidate change simulated in one go before any is named."""

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import chain

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
from rocketmq_capacity.side_by_side import side_by_side

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
    tried, missing, safety, addresses = side_by_side(
        lambda: settle(tried_layouts(facts, layouts)),
        lambda: settle(create_topic.missing_places(facts, layouts)),
        lambda: settle(topic_safety(facts)),
        lambda: settle(investigate.group_addresses(facts)),
    )
    families = side_by_side(
        lambda: [expand_queues.expansion_cases(facts, tried)],
        lambda: [scale_consumers.scaling_cases(facts)],
        lambda: [raise_read_queues.raising_cases(facts)],
        lambda: [create_topic.creation_cases(facts, missing)],
        lambda: [switch_to_pop.pop_cases(facts, safety)],
        lambda: fix_clients.fixing_cases(facts),
    )
    frames, groups = variants(facts, chain.from_iterable(families))
    outcome, keys, looked_at = side_by_side(
        lambda: simulate(frames),
        lambda: settle(check_producer_keys.check_producer_keys(facts)),
        lambda: settle(investigate.looks(facts, addresses, investigate.group_members(facts))),
    )
    seen = effects(facts, outcome, groups)
    judged = settle(expand_queues.judged_layouts(facts, tried, seen))
    refusals = settle(
        expand_queues.refusals(facts, layouts, judged).unionByName(create_topic.creation_refusals(missing, seen))
    )
    answers = side_by_side(
        lambda: settle(expand_queues.expand_queues(facts, judged, safety)),
        lambda: settle(scale_consumers.scale_consumers(facts, seen, refusals)),
        lambda: settle(switch_to_pop.switch_to_pop(facts, seen, safety)),
        lambda: settle(create_topic.create_topic_on_broker(facts, missing, seen, safety)),
        lambda: settle(raise_read_queues.raise_read_queues(facts, seen, safety)),
        lambda: settle(change_strategy.change_strategy(facts, seen)),
        lambda: settle(fix_clients.fix_client_id(facts, seen, addresses)),
        lambda: settle(fix_clients.fix_subscription(facts, seen, addresses)),
    )
    answered = settle(reduce(DataFrame.unionByName, [*answers, keys]))
    left = investigate.investigate(looked_at, answered, expand_queues.helped_groups(judged), refusals)
    names = contracts.Recommendation.spark_schema().names
    return answered.unionByName(left).select(*names).orderBy("action", "consumer_group", "topic", "id")
