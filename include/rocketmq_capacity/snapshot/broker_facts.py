"""What one broker answered, unchanged; None means that a question failed or was not asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.protocol.body.broker import MessageRequestMode, SubscriptionGroupConfig, TopicConfig
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, ConsumerConnection, ConsumerRunningInfo
from rocketmq_capacity.protocol.body.offsets import CommittedOffsets, GroupProgress, MessageQueue, WrittenOffset


@dataclass(slots=True)
class OffsetsAtMoment:
    """Offsets at one moment.

    Args:
        at: the moment of the whole sample, UTC ISO-8601.
        written: by topic: when the answer came, in seconds of a steady clock, and the answer.
        read: by consumer group, how far it has read each queue.
    """

    at: str
    written: dict[str, tuple[float, Mapping[MessageQueue, WrittenOffset]]] = field(default_factory=dict)
    read: dict[str, Mapping[MessageQueue, GroupProgress]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drift:
    """How a slave differs from its master.

    Attributes:
        topics: pairs of the slave's and the master's topic; the first is None if the slave lacks the topic.
        groups: groups that the slave lacks.
        changed_ms: when the master's tables were last changed, in ms since 1970; None if nothing differs.
        is_copying: whether the slave still changed its own tables when this was seen.
    """

    topics: tuple[tuple[TopicConfig | None, TopicConfig], ...]
    groups: tuple[str, ...]
    changed_ms: int | None = None
    is_copying: bool = False


@dataclass(slots=True)
class BrokerFacts:
    """One broker process and its answers, filled while they come in.

    Args:
        is_asked_for_all: whether this process answers for its broker name; the others are asked about themselves alone.
        connections: by consumer group, for those that are online here.
        untold: groups of which it did not answer whether it has connections.
        running_infos: by (consumer group, client id), for the clients that were asked through this broker.
        answered_at: by the same keys, when the client answered, UTC ISO-8601.
        drift: how a slave differs from its master; None if it was not asked, or one of the two did not answer.
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
    producers: Mapping[str, tuple[ConsumerChannel, ...]] | None = None
    samples: list[OffsetsAtMoment] = field(default_factory=list)
    connections: dict[str, ConsumerConnection] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    running_infos: dict[tuple[str, str], ConsumerRunningInfo] = field(default_factory=dict)
    answered_at: dict[tuple[str, str], str] = field(default_factory=dict)
    drift: Drift | None = None

    @property
    def has_answered_nothing(self) -> bool:
        """Whether the broker answered no question about itself or its tables."""
        answers = (self.runtime, self.config, self.topic_configs, self.subscription_groups, self.committed)
        return all(answer is None for answer in (*answers, self.request_modes, self.producers))


def known_offset(offset: int) -> int | None:
    """The offset; None for RocketMQ's -1, which means unknown."""
    return offset if offset >= 0 else None
