"""The thresholds of the rules and actions, one section each."""

from typing import Annotated

from pydantic import Field

from rocketmq_capacity.settings.section import BigInt, Int, NonNegative, Ratio, Section, Whole


class IdleConsumers(Section):
    """IDLE_CONSUMERS."""

    warning_ratio: Ratio = 0.5


class AllocationSkew(Section):
    """ALLOCATION_SKEW and CROSS_TOPIC_SKEW."""

    excess: NonNegative = 1.10
    min_gap_queues: Whole = Field(default=2, ge=0, le=Int)


class TrafficSkewPolicy(Section):
    """TRAFFIC_SKEW."""

    peak: NonNegative = 1.5
    excess: NonNegative = 1.10


class LagSkewPolicy(Section):
    """LAG_SKEW."""

    peak: NonNegative = 3.0


class LagState(Section):
    """LAG_STATE."""

    allowed_lag: Whole = Field(default=10, ge=0, le=BigInt)
    breach_hours: NonNegative = 12.0


class RetentionRisk(Section):
    """RETENTION_RISK."""

    warning_hours: NonNegative = 12.0
    critical_hours: NonNegative = 3.0


class RetryPressure(Section):
    """RETRY_PRESSURE."""

    failed_ratio: Ratio = 0.01
    critical_ratio: Ratio = 0.1


class ClientMemoryPolicy(Section):
    """CLIENT_MEMORY."""

    heap_ratio: Ratio = 0.5
    lost_clients: Whole = Field(default=1, ge=0, le=Int)


class ClientOutlierPolicy(Section):
    """CLIENT_OUTLIER."""

    factor: Annotated[float, Field(gt=1, allow_inf_nan=False, strict=True)] = 5.0
    min_rt_ms: NonNegative = 1.0


class HotQueue(Section):
    """HOT_QUEUE."""

    peak: NonNegative = 2.0
    share_factor: NonNegative = 2.0


class ProducerBalancePolicy(Section):
    """PRODUCER_BALANCE."""

    level: Ratio = 0.001
    dispersion: NonNegative = Field(default=1.0, gt=0, le=1_000_000)
    min_messages: NonNegative = 5.0
    min_difference: NonNegative = 0.1


class TopicCoverage(Section):
    """TOPIC_COVERAGE."""

    peers_ratio: Ratio = 0.1
    max_topics: Whole = Field(default=5, ge=1, le=Int)


class TopicUnread(Section):
    """TOPIC_UNREAD."""

    min_msgs_per_s: NonNegative = 1.0


class StaleObject(Section):
    """STALE_OBJECT."""

    days: NonNegative = 14.0


class RebalanceFrequency(Section):
    """REBALANCE_FREQUENCY."""

    window_h: NonNegative = Field(default=3.0, le=8_784)
    longest_gap_h: NonNegative = 1.0
    returns: NonNegative = Field(default=3.0, ge=1)


class BrokerDisk(Section):
    """BROKER_DISK."""

    warning_ratio: Ratio = 0.75
    critical_ratio: Ratio = 0.85
    forecast_days: NonNegative = 14.0
    trend_days: Whole = Field(default=28, ge=7, le=365)


class BrokerLoss(Section):
    """BROKER_LOSS."""

    min_brokers: Whole = Field(default=2, ge=1, le=65_536)


class BrokerRestart(Section):
    """A broker that starts again."""

    start_s: NonNegative = Field(default=20.0, le=86_400)
    recovered_mib_per_s: NonNegative = Field(default=100.0, ge=1, le=1_000_000)


class CrossRoomPolicy(Section):
    """CROSS_ROOM."""

    share: Ratio = 0.1


class RoomStarvation(Section):
    """ROOM_STARVATION."""

    share: Ratio = 0.1


class LowUtilisation(Section):
    """Groups with hardly any messages, or with clients that are hardly busy, are exempt from the skew rules."""

    min_msgs_per_s: NonNegative = 1.0
    min_lag: Whole = Field(default=1_000, ge=0, le=BigInt)
    min_growth_s: NonNegative = 5.0
    silent_ratio: Ratio = 0.05
    busy_ratio: Ratio = 0.5


class SubscriptionMismatch(Section):
    """SUBSCRIPTION_MISMATCH."""

    settled_s: NonNegative = 120.0


class BadVersion(Section):
    """BAD_VERSION."""

    ignored_issues: tuple[Annotated[int, Field(strict=True, ge=1)], ...] = ()


class SlaveDriftPolicy(Section):
    """SLAVE_DRIFT."""

    settle_s: NonNegative = 70.0
    uncopied_s: NonNegative = 60.0


class StuckQueue(Section):
    """STUCK_QUEUE."""

    dropped_s: NonNegative = 30.0
    lock_s: NonNegative = 60.0
    no_progress_s: NonNegative = 60.0
    pull_s: NonNegative = 120.0
    critical_s: NonNegative = 300.0


class SuspectSnapshot(Section):
    """SUSPECT_SNAPSHOT."""

    flagged_ratio: Ratio = 0.10
    min_groups: Whole = Field(default=20, ge=1, le=Int)


class ProvisionPolicy(Section):
    """The provision status of a group."""

    min_completeness: Ratio = 0.95
    max_unknown_rt_ratio: Ratio = 0.5
    max_disagreement_ratio: Ratio = 0.5
    under_utilisation: NonNegative = 0.7
    over_utilisation: NonNegative = 0.5
    spare_below_utilisation: NonNegative = 0.15
    over_removed_ratio: Ratio = 0.2
    min_clients: Whole = Field(default=2, ge=1, le=Int)
    peak_days: Whole = Field(default=14, ge=1, le=366)
    sampled_days: Whole = Field(default=7, ge=1, le=366)
    forecast_days: NonNegative = 14.0
    trend_days: Whole = Field(default=42, ge=21, le=366)
    min_left_clients: Whole = Field(default=3, ge=1, le=Int)
    min_left_clients_per_room: Whole = Field(default=2, ge=0, le=Int)


class EffectPolicy(Section):
    """The verdict on what a change or a failure does to a group."""

    busy_ratio: Ratio = 0.5
    min_change_ratio: Ratio = 0.05


class ExpandQueues(Section):
    """EXPAND_QUEUES."""

    headroom: NonNegative = 0.0
    max_queues_per_broker: Whole = Field(default=64, ge=1, le=65_536)


class RaiseConsumeThreads(Section):
    """RAISE_CONSUME_THREADS."""

    max_threads: Whole = Field(default=64, ge=1, le=Int)
    max_factor: Annotated[float, Field(ge=1, allow_inf_nan=False, strict=True)] = 4.0


class ShrinkQueues(Section):
    """SHRINK_QUEUES."""

    history_days: NonNegative = 14.0
    min_snapshots: Whole = Field(default=14, ge=1, le=Int)
    min_saved_ratio: Ratio = 0.5
    min_saved_queues: Whole = Field(default=64, ge=1, le=Int)


class ChangeStrategy(Section):
    """CHANGE_STRATEGY."""

    min_improvement: Ratio = 0.05
    max_config_queues: Whole = Field(default=256, ge=0, le=65_536)


class SwitchToPop(Section):
    """SWITCH_TO_POP."""

    pop_share_queue_num: Whole = Field(default=8, ge=-1, le=65_536)
    min_idle_ratio: Ratio = 0.5


class TransitionPolicy(Section):
    """How quickly clients notice a change; clients do not report their intervals."""

    poll_nameserver_s: NonNegative = Field(default=30.0, le=86_400)
    heartbeat_s: NonNegative = Field(default=30.0, le=86_400)
    rebalance_s: NonNegative = Field(default=20.0, le=86_400)
    persist_offset_s: NonNegative = Field(default=5.0, le=86_400)
    rollout_s: NonNegative = Field(default=60.0, le=86_400)


class ProducerTimelinePolicy(Section):
    """What producers do while brokers are slow, read-only or lost; no client tells how it sends."""

    send_interval_ms: Whole = Field(default=100, ge=10, le=60_000)
    usual_latency_ms: Whole = Field(default=5, ge=0, le=2_999)


class Thresholds(Section):
    """One entry a rule."""

    IDLE_CONSUMERS: IdleConsumers = IdleConsumers()
    ALLOCATION_SKEW: AllocationSkew = AllocationSkew()
    CROSS_TOPIC_SKEW: AllocationSkew = AllocationSkew()
    TRAFFIC_SKEW: TrafficSkewPolicy = TrafficSkewPolicy()
    LAG_SKEW: LagSkewPolicy = LagSkewPolicy()
    LAG_STATE: LagState = LagState()
    RETENTION_RISK: RetentionRisk = RetentionRisk()
    RETRY_PRESSURE: RetryPressure = RetryPressure()
    CLIENT_MEMORY: ClientMemoryPolicy = ClientMemoryPolicy()
    CLIENT_OUTLIER: ClientOutlierPolicy = ClientOutlierPolicy()
    HOT_QUEUE: HotQueue = HotQueue()
    PRODUCER_BALANCE: ProducerBalancePolicy = ProducerBalancePolicy()
    TOPIC_COVERAGE: TopicCoverage = TopicCoverage()
    TOPIC_UNREAD: TopicUnread = TopicUnread()
    STALE_OBJECT: StaleObject = StaleObject()
    REBALANCE_FREQUENCY: RebalanceFrequency = RebalanceFrequency()
    BROKER_DISK: BrokerDisk = BrokerDisk()
    BROKER_LOSS: BrokerLoss = BrokerLoss()
    BROKER_RESTART: BrokerRestart = BrokerRestart()
    CROSS_ROOM: CrossRoomPolicy = CrossRoomPolicy()
    ROOM_STARVATION: RoomStarvation = RoomStarvation()
    LOW_UTILISATION: LowUtilisation = LowUtilisation()
    SUBSCRIPTION_MISMATCH: SubscriptionMismatch = SubscriptionMismatch()
    BAD_VERSION: BadVersion = BadVersion()
    SLAVE_DRIFT: SlaveDriftPolicy = SlaveDriftPolicy()
    STUCK_QUEUE: StuckQueue = StuckQueue()
    SUSPECT_SNAPSHOT: SuspectSnapshot = SuspectSnapshot()
    PROVISION: ProvisionPolicy = ProvisionPolicy()
    EFFECT: EffectPolicy = EffectPolicy()
    EXPAND_QUEUES: ExpandQueues = ExpandQueues()
    RAISE_CONSUME_THREADS: RaiseConsumeThreads = RaiseConsumeThreads()
    SHRINK_QUEUES: ShrinkQueues = ShrinkQueues()
    CHANGE_STRATEGY: ChangeStrategy = ChangeStrategy()
    SWITCH_TO_POP: SwitchToPop = SwitchToPop()
    TRANSITION: TransitionPolicy = TransitionPolicy()
    PRODUCER_TIMELINE: ProducerTimelinePolicy = ProducerTimelinePolicy()
