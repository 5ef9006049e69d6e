"""metrics.prom: a plan as OpenMetrics text, for Prometheus and for node_exporter's textfile collector.

What is unknown has no series: a series of 0 would be a figure. The number of series is bounded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET
from prometheus_client.core import CollectorRegistry, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from rocketmq_capacity.handover import families
from rocketmq_capacity.handover.families import Family
from rocketmq_capacity.handover.moments import seconds_of
from rocketmq_capacity.handover.worst_first import groups_worst_first, topics_worst_first
from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.plan_file.changes import Closing
from rocketmq_capacity.plan_file.finding import PlanFinding, alarming, still_open
from rocketmq_capacity.plan_file.group import GroupPlan, StrategyPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.settings.policy import Metrics
from rocketmq_capacity.vocabulary import PROVISION_STATUSES, SEVERITIES, UNKNOWN

DAY_S: Final = 86_400
"""Prometheus' unit of time is the second; Grafana shows days."""
Sample = tuple[Family, tuple[str, ...], float | None]
"""A metric, the values of its labels without the cluster's name, and its value; None if it is unknown."""


def metrics_of(plan: Plan, bounds: Metrics) -> bytes:
    """The bytes of metrics.prom; equal for equal plans.

    Args:
        plan: of a real cluster; a what-if has no metrics.
        bounds: how many groups and topics have series. The worst ones come first.
    """
    groups = groups_worst_first(plan)
    topics = topics_worst_first(plan)
    left = (bounds.most_consumer_groups, bounds.most_topics)
    samples = [
        *_of_cluster(plan),
        (families.LEFT_OUT_GROUPS, (), max(0, len(groups) - left[0])),
        (families.LEFT_OUT_TOPICS, (), max(0, len(topics) - left[1])),
        *_of_groups(groups[: left[0]], plan),
        *_of_topics(topics[: left[1]], plan),
        *_of_disks(plan.brokers),
    ]
    registry = CollectorRegistry()
    registry.register(_Samples(plan.cluster_name, samples))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]  # it has no types
    return text


class _Samples(Collector):
    """Gives prometheus-client the samples, by metric, in the order of ``FAMILIES``."""

    def __init__(self, cluster_name: str, samples: Iterable[Sample]) -> None:
        self._gauges = {
            family: GaugeMetricFamily(family.name, family.meaning, labels=family.labels, unit=family.unit)
            for family in families.FAMILIES
        }
        for family, labels, value in samples:
            if value is not None:
                self._gauges[family].add_metric([cluster_name, *labels], value)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics that have a series."""
        return (gauge for gauge in self._gauges.values() if gauge.samples)


def _of_cluster(plan: Plan) -> Iterator[Sample]:
    standing = _standing(plan)
    statuses = Counter(group.provision_status for group in plan.groups)
    severities = Counter(finding.severity for finding in standing)
    yield families.SNAPSHOT, (), seconds_of(plan.taken_at)
    yield families.VALID_UNTIL, (), seconds_of(plan.valid_until)
    yield families.COMPLETENESS, (), plan.completeness.ratio
    yield families.UNANSWERED, (), len(plan.completeness.failures)
    yield from ((families.GROUPS, (status,), statuses[status]) for status in PROVISION_STATUSES)
    yield from ((families.OPEN_FINDINGS, (severity,), severities[severity]) for severity in SEVERITIES)
    yield families.ACCEPTED_FINDINGS, (), len(plan.findings) - len(still_open(plan.findings))
    yield from _counted(families.FINDINGS, (), standing)
    yield families.RECOMMENDATIONS, (), len(plan.recommendations)
    if plan.score is not None:
        yield families.SCORE, (), plan.score.before
        yield families.SCORE_AFTER, (), plan.score.after
        yield families.SCORE_JUDGED, (), plan.score.judged_ratio


def _of_groups(groups: Sequence[GroupPlan], plan: Plan) -> Iterator[Sample]:
    findings: dict[str | None, list[PlanFinding | Closing]] = {}
    for finding in _standing(plan):
        findings.setdefault(finding.consumer_group, []).append(finding)
    for group in groups:
        name = (group.consumer_group,)
        of_group = findings.get(group.consumer_group, [])
        yield families.PROVISION, (*name, group.provision_status), 1
        yield families.READING, (*name, group.reading_status), None if group.reading_status == UNKNOWN else 1
        yield from _sizes(name, group)
        yield from _saturation(name, group)
        yield from _divided(name, in_use(group))
        yield from (
            (families.LAG_STATE, (*name, finding.evidence["state"]), 1)
            for finding in of_group
            if isinstance(finding, PlanFinding)
            and finding.rule == "LAG_STATE"
            and isinstance(finding.evidence.get("state"), str)
        )
        yield from _counted(families.GROUP_FINDINGS, name, of_group)
        yield families.GROUP_SCORE, name, None if group.score is None else group.score.before


def _sizes(name: tuple[str], group: GroupPlan) -> Iterator[Sample]:
    if group.utilisation is not None:
        yield families.UTILISATION_LOWER, name, group.utilisation.lower
        yield families.UTILISATION, name, group.utilisation.estimate
        yield families.UTILISATION_UPPER, name, group.utilisation.upper
    yield families.CLIENTS, name, group.connections
    yield families.NEEDED, name, None if group.needed_clients is None else group.needed_clients.target
    yield families.SAFE, name, group.client_bounds.min_replicas
    yield families.USEFUL, name, group.client_bounds.max_useful


def _divided(name: tuple[str], strategy: StrategyPlan | None) -> Iterator[Sample]:
    """How the strategy in use divides the queues, where that is known of all topics."""
    if strategy is None or not strategy.is_known:
        return
    yield families.EXCESS, name, None if strategy.count is None else strategy.count.excess
    if not strategy.is_partial:
        yield families.IDLE, name, len(strategy.idle_clients)
        yield families.ORPHANS, name, len(strategy.orphan_queues)


def _of_topics(topics: Sequence[str], plan: Plan) -> Iterator[Sample]:
    readers = Counter(topic for group in plan.groups for topic in group.topics)
    divided = [(group.topics, in_use(group)) for group in plan.groups]
    unknown = {name for names, strategy in divided if not _is_known(strategy) for name in names}
    orphans = Counter(
        queue.topic for _, strategy in divided if strategy is not None for queue in strategy.orphan_queues
    )
    findings: dict[str | None, list[PlanFinding | Closing]] = {}
    for finding in _standing(plan):
        findings.setdefault(finding.topic, []).append(finding)
    for topic in topics:
        yield families.TOPIC_GROUPS, (topic,), readers[topic]
        yield families.TOPIC_ORPHANS, (topic,), None if topic in unknown else orphans[topic]
        yield from _counted(families.TOPIC_FINDINGS, (topic,), findings.get(topic, []))


def _saturation(name: tuple[str], group: GroupPlan) -> Iterator[Sample]:
    forecast = group.traffic_forecast
    if forecast is not UNSET:
        yield families.TRAFFIC_EARLIEST, name, forecast.earliest_days * DAY_S
        yield families.TRAFFIC, name, forecast.likely_days * DAY_S
        yield families.TRAFFIC_LATEST, name, None if forecast.latest_days is None else forecast.latest_days * DAY_S


def _of_disks(brokers: Iterable[BrokerPlan]) -> Iterator[Sample]:
    for broker in brokers:
        for level in () if broker.disk_forecast is UNSET else broker.disk_forecast.levels:
            disk = (broker.broker_name, f"{level.used_ratio:g}")
            yield families.DISK_EARLIEST, disk, level.earliest_days * DAY_S
            yield families.DISK, disk, level.likely_days * DAY_S
            yield families.DISK_LATEST, disk, None if level.latest_days is None else level.latest_days * DAY_S


def _is_known(strategy: StrategyPlan | None) -> bool:
    """Whether it is known of every topic who owns what."""
    return strategy is not None and strategy.is_known and not strategy.is_partial


def _standing(plan: Plan) -> tuple[PlanFinding | Closing, ...]:
    """What alarms: what is open, and what is still closing."""
    return (*alarming(plan.findings), *(() if plan.changes is None else plan.changes.closing))


def _counted(family: Family, name: tuple[str, ...], findings: Iterable[PlanFinding | Closing]) -> Iterator[Sample]:
    counts = Counter((finding.rule, finding.severity) for finding in findings)
    yield from ((family, (*name, *place), count) for place, count in sorted(counts.items()))
