"""Every rule that looks at one group or one topic; a new one is its function and its place here."""

from collections.abc import Callable, Iterator
from typing import Final

from rocketmq_capacity.assessment import backlog, balance, capacity, layout, membership, ownership
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.topic import Topic
from rocketmq_capacity.contracts import Finding

GroupRule = Callable[[Group], Iterator[Finding]]
TopicRule = Callable[[Topic], Iterator[Finding]]

GROUP_RULES: Final[dict[str, GroupRule]] = {
    rule.__name__: rule
    for rule in (
        membership.duplicate_client_id,
        membership.subscription_mismatch,
        membership.mixed_strategies,
        membership.membership_disagreement,
        ownership.orphan_queue,
        ownership.idle_consumers,
        ownership.read_only_idle,
        balance.allocation_skew,
        balance.cross_topic_skew,
        balance.traffic_skew,
        balance.lag_skew,
        capacity.consumer_capacity,
        backlog.lag_state,
        backlog.retention_risk,
        backlog.retry_pressure,
    )
}
"""Rules of business groups, by the name of the function."""

TOPIC_RULES: Final[dict[str, TopicRule]] = {
    rule.__name__: rule
    for rule in (
        layout.read_less_than_write,
        layout.topic_coverage,
        layout.undeclared_topic,
        layout.hot_queue,
    )
}
"""Rules of business topics, likewise."""
