"""The metrics of a plan: name, labels, unit and meaning. All of them are gauges.

Labels are RocketMQ's own (BrokerMetricsConstant, rocketmq-all-5.3.3: cluster, topic, consumer_group, and node_id, which
is the broker's name), so that these metrics join with those that brokers export.
"""

from dataclasses import dataclass
from typing import Final

PREFIX: Final = "rocketmq_capacity_"
CLUSTER: Final = "cluster"
CONSUMER_GROUP: Final = "consumer_group"
TOPIC: Final = "topic"
NODE_ID: Final = "node_id"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric.

    Attributes:
        short: its name without the prefix, with the unit at its end.
        meaning: one line, without quotes: the two text formats of Prometheus write these differently.
        labels: names of its labels.
        unit: as OpenMetrics tells it; empty for counts of things.
    """

    short: str
    meaning: str
    labels: tuple[str, ...] = (CLUSTER,)
    unit: str = ""

    @property
    def name(self) -> str:
        """The whole name."""
        return PREFIX + self.short


OF_GROUP: Final = (CLUSTER, CONSUMER_GROUP)
OF_TOPIC: Final = (CLUSTER, TOPIC)
OF_DISK: Final = (CLUSTER, NODE_ID, "used_ratio")

SNAPSHOT: Final = Family("snapshot_timestamp_seconds", "When the snapshot was taken.", unit="seconds")
VALID_UNTIL: Final = Family(
    "valid_until_timestamp_seconds", "Do not act on these figures after this moment.", unit="seconds"
)
COMPLETENESS: Final = Family(
    "completeness_ratio", "Share of the readable queues whose broker answered every request.", unit="ratio"
)
UNANSWERED: Final = Family("unanswered_requests", "Requests of the snapshot without an answer.")
GROUPS: Final = Family("consumer_groups", "Consumer groups by their provision status.", (CLUSTER, "provision_status"))
OPEN_FINDINGS: Final = Family(
    "open_findings",
    "Open and closing findings, without accepted ones; all severities have a series.",
    (CLUSTER, "severity"),
)
ACCEPTED_FINDINGS: Final = Family("accepted_findings", "Findings that somebody has accepted.")
FINDINGS: Final = Family(
    "findings",
    "Open and closing findings, without accepted ones; no series without one.",
    (CLUSTER, "rule", "severity"),
)
RECOMMENDATIONS: Final = Family("recommendations", "Recommendations of the plan.")
SCORE: Final = Family("score", "Which goals are kept, from 0 to 100; no series if too few can be judged.")
SCORE_AFTER: Final = Family("score_after", "The score after all recommendations.")
SCORE_JUDGED: Final = Family("score_judged_ratio", "Share of the goals of the score that can be judged.", unit="ratio")
LEFT_OUT_GROUPS: Final = Family("left_out_consumer_groups", "Consumer groups without series: the least bad ones.")
LEFT_OUT_TOPICS: Final = Family("left_out_topics", "Topics without series: the least bad ones.")

PROVISION: Final = Family(
    "consumer_group_provision_status",
    "1 for the provision status that the group has.",
    (*OF_GROUP, "provision_status"),
)
READING: Final = Family(
    "consumer_group_reading_status",
    "1 for whether its queues are read: READ, UNREAD, TWICE.",
    (*OF_GROUP, "reading_status"),
)
UTILISATION_LOWER: Final = Family(
    "consumer_group_utilisation_lower_ratio",
    "The least that the busiest client may be busy.",
    OF_GROUP,
    "ratio",
)
UTILISATION: Final = Family(
    "consumer_group_utilisation_ratio",
    "Busy share of the busiest client, 1 is always busy.",
    OF_GROUP,
    "ratio",
)
UTILISATION_UPPER: Final = Family(
    "consumer_group_utilisation_upper_ratio",
    "The most that the busiest client may be busy.",
    OF_GROUP,
    "ratio",
)
CLIENTS: Final = Family("consumer_group_clients", "Running consumers.", OF_GROUP)
NEEDED: Final = Family(
    "consumer_group_needed_clients", "Clients that keep the busiest one within the bound at the peak.", OF_GROUP
)
SAFE: Final = Family(
    "consumer_group_safe_clients", "The fewest clients that may run, min_replicas of capacity.json.", OF_GROUP
)
USEFUL: Final = Family(
    "consumer_group_useful_clients", "More clients than this own nothing under the strategy in use.", OF_GROUP
)
EXCESS: Final = Family(
    "consumer_group_excess_ratio",
    "Queues of the client with most / the fewest that it could have, under the strategy in use.",
    OF_GROUP,
    "ratio",
)
IDLE: Final = Family("consumer_group_idle_clients", "Client ids that own no queue under the strategy in use.", OF_GROUP)
ORPHANS: Final = Family(
    "consumer_group_orphan_queues", "Readable queues that nobody owns under the strategy in use.", OF_GROUP
)
LAG_STATE: Final = Family(
    "consumer_group_lag_state",
    "1 for the worst state of a queue whose lag is not under control: STOP, REWIND, STALL, WARN.",
    (*OF_GROUP, "lag_state"),
)
GROUP_FINDINGS: Final = Family(
    "consumer_group_findings",
    "Open and closing findings, without accepted ones; no series without one.",
    (*OF_GROUP, "rule", "severity"),
)

GROUP_SCORE: Final = Family(
    "consumer_group_score", "Which goals the group keeps, from 0 to 100; no series if too few can be judged.", OF_GROUP
)

TOPIC_GROUPS: Final = Family("topic_consumer_groups", "Consumer groups that read the topic.", OF_TOPIC)
TOPIC_ORPHANS: Final = Family(
    "topic_orphan_queues",
    "Readable queues that nobody owns, added up over its groups under their strategies in use.",
    OF_TOPIC,
)
TOPIC_FINDINGS: Final = Family(
    "topic_findings",
    "Open and closing findings, without accepted ones; no series without one.",
    (*OF_TOPIC, "rule", "severity"),
)

TRAFFIC_EARLIEST: Final = Family(
    "consumer_group_saturation_earliest_seconds",
    "From the snapshot until traffic that grows for certain is too much for the clients, at the earliest.",
    OF_GROUP,
    "seconds",
)
TRAFFIC: Final = Family(
    "consumer_group_saturation_seconds",
    "From the snapshot until traffic that grows for certain is too much for the clients, most likely.",
    OF_GROUP,
    "seconds",
)
TRAFFIC_LATEST: Final = Family(
    "consumer_group_saturation_latest_seconds",
    "The same at the latest; no series if perhaps never.",
    OF_GROUP,
    "seconds",
)
DISK_EARLIEST: Final = Family(
    "broker_disk_saturation_earliest_seconds",
    "From the snapshot until a disk that fills for certain is so full, at the earliest.",
    OF_DISK,
    "seconds",
)
DISK: Final = Family(
    "broker_disk_saturation_seconds",
    "From the snapshot until a disk that fills for certain is so full, most likely.",
    OF_DISK,
    "seconds",
)
DISK_LATEST: Final = Family(
    "broker_disk_saturation_latest_seconds",
    "From the snapshot until a disk that fills for certain is so full, at the latest; no series if perhaps never.",
    OF_DISK,
    "seconds",
)

FAMILIES: Final = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in the order of the file."""
