"""All rules about a group, a topic or the cluster, collected from the modules of this package."""

from functools import cache

from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.group import GroupRule
from rocketmq_capacity.assessment.topic import TopicRule
from rocketmq_capacity.catalogue.offered import offered


@cache
def group_rules() -> dict[str, GroupRule]:
    """Rules of business groups by the name of the function: the ``GROUP_RULES`` of each module."""
    return {rule.__name__: rule for rule in offered(__package__, "GROUP_RULES")}


@cache
def topic_rules() -> dict[str, TopicRule]:
    """Rules of business topics by the name of the function: the ``TOPIC_RULES`` of each module."""
    return {rule.__name__: rule for rule in offered(__package__, "TOPIC_RULES")}


@cache
def cluster_rules() -> dict[str, ClusterRule]:
    """Rules of the cluster by the name of the function: the ``CLUSTER_RULES`` of each module."""
    return {rule.__name__: rule for rule in offered(__package__, "CLUSTER_RULES")}
