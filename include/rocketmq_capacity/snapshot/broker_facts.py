"""What one broker answered, as it answered it; None is a question that failed or was not asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.protocol.body.broker import MessageRequestMode, SubscriptionGroupConfig, TopicConfig
from rocketmq_capacity.protocol.body.consumers import Connection, ConsumerConnection, ConsumerRunningInfo
from rocketmq_capacity.protocol.body.offsets import CommittedOffsets, GroupProgress, MessageQueue, TopicOffset


@dataclass(slots=True)
class OffsetSample:
    """Offsets at one moment.

    Args:
        at: the moment, UTC ISO-8601, of the whole sample.
        written: by topic, the seconds of a steady clock when the answer came, and the answer.
        read: by consumer group.
    """

    at: str
    written: dict[str, tuple[float, Mapping[MessageQueue, TopicOffset]]] = field(default_factory=dict)
    read: dict[str, Mapping[MessageQueue, GroupProgress]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drift:
    """What a slave has otherwise than its master.

    Attributes:
        topics: the slave's, None where it lacks it, and the master's.
        groups: that it lacks.
        changed_ms: when the master's tables were last changed, in ms since 1970; None where nothing differs.
    """

    topics: tuple[tuple[TopicConfig | None, TopicConfig], ...]
    groups: tuple[str, ...]
    changed_ms: int | None = None


@dataclass(slots=True)
class BrokerFacts:
    """One broker process and its answers, filled while they come in.

    Args:
        is_asked_for_all: whether this process speaks for its broker name; another is asked about itself alone.
        connections: by consumer group, for those that are online here.
        running_infos: by (consumer group, client id), for the clients that were asked through this broker.
        answered_at: likewise, the moment at which the client answered, UTC ISO-8601.
        drift: of a slave what it has otherwise than its master; None where it was not asked, or one of them failed.
    """

    broker_name: str
    broker_id: int
    broker_addr: str
    is_asked_for_all: bool
    runtime: Mapping[str, str] | None = None
    config: Mapping[str, str] | None = None
    topic_configs: tuple[TopicConfig, ...] | None = None
    subscription_groups: tuple[SubscriptionGroupConfig, ...] | None = None
    request_modes: tuple[MessageRequestMode, ...] | None = None
    committed: CommittedOffsets | None = None
    producers: Mapping[str, tuple[Connection, ...]] | None = None
    samples: list[OffsetSample] = field(default_factory=list)
    connections: dict[str, ConsumerConnection] = field(default_factory=dict)
    running_infos: dict[tuple[str, str], ConsumerRunningInfo] = field(default_factory=dict)
    answered_at: dict[tuple[str, str], str] = field(default_factory=dict)
    drift: Drift | None = None

    @property
    def has_told_nothing(self) -> bool:
        """Whether none of the questions about the broker itself and its tables was answered."""
        told = (self.runtime, self.config, self.topic_configs, self.subscription_groups, self.committed)
        return all(answer is None for answer in (*told, self.request_modes, self.producers))
