"""The plan file as the contract draws it: every key, every type, nothing else."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

Rule = Literal[
    "CLIENT_OUTLIER",
    "ORPHAN_QUEUE",
    "DUPLICATE_CLIENT_ID",
    "SUBSCRIPTION_MISMATCH",
    "IDLE_CONSUMERS",
    "READ_LESS_THAN_WRITE",
    "MIXED_STRATEGIES",
    "ALLOCATION_SKEW",
    "CROSS_TOPIC_SKEW",
    "TRAFFIC_SKEW",
    "LAG_SKEW",
    "HOT_QUEUE",
    "READ_ONLY_IDLE",
    "CROSS_ROOM",
    "ROOM_STARVATION",
    "CONSUMER_CAPACITY",
    "LAG_STATE",
    "RETENTION_RISK",
    "TOPIC_COVERAGE",
    "TOPIC_UNREAD",
    "BROKER_DISK",
    "BROKER_LOSS",
    "MEMBERSHIP_DISAGREEMENT",
    "RETRY_PRESSURE",
    "CLIENT_MEMORY",
    "STALE_OBJECT",
    "SNAPSHOT_INCOMPLETE",
    "SUSPECT_SNAPSHOT",
    "NAMESERVER_DISAGREEMENT",
    "SLAVE_DRIFT",
    "STUCK_QUEUE",
    "FIFO_BROKEN",
    "BAD_VERSION",
    "PERMANENT_DISPLACEMENT",
    "REBALANCE_FREQUENCY",
]
Action = Literal[
    "LOWER_PULL_THRESHOLDS",
    "REPLACE_CLIENT",
    "SHORTEN_CALLS",
    "EXPAND_QUEUES",
    "SHRINK_QUEUES",
    "SCALE_CONSUMERS",
    "CHANGE_STRATEGY",
    "SWITCH_TO_POP",
    "FIX_CLIENT_ID",
    "FIX_SUBSCRIPTION",
    "RAISE_READ_QUEUES",
    "CREATE_TOPIC_ON_BROKER",
    "ADD_BROKER",
    "CHECK_PRODUCER_KEYS",
    "RAISE_CONSUME_THREADS",
    "INVESTIGATE",
]
# As in the package: Meta(ge=0) equals Meta(ge=0.0), and typing would keep the first of both for all.
Number = Annotated[int, msgspec.Meta(ge=0)]
Metric = Annotated[float, msgspec.Meta(ge=0.0)]
Ratio = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{12}(-[0-9]+)?$")]
Share = Annotated[float, msgspec.Meta(ge=0.0)]
Verdict = Literal["BETTER", "WORSE", "MIXED", "UNCHANGED", "UNDECIDED"]
Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Moment = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object of the plan: every key is there, and no other."""


class Sentence(Part, frozen=True):
    key: str
    figures: dict[str, str | tuple["Sentence", ...]] = {}


class Queue(Part, frozen=True, order=True):
    topic: str
    broker_name: str
    queue_id: Annotated[int, msgspec.Meta(ge=-1)]


class Skew(Part, frozen=True):
    peak: Metric | None
    floor: Metric | None
    excess: Metric | None
    gini: Ratio | None
    cv: Metric | None


class Churn(Part, frozen=True):
    one_fewer: Number | None
    one_more: Number | None
    broker_lost: Number | None


class Strategy(Part, frozen=True):
    strategy: str
    applicable: bool
    reason: str | None
    idle_clients: list[str]
    orphan_queues: list[Queue]
    doubly_owned_queues: list[Queue]
    count: Skew | None
    traffic: Skew | None
    lag: Skew | None
    churn: Churn | UnsetType = UNSET
    pareto_best: bool | UnsetType = UNSET
    """Only where it is known."""


class Utilisation(Part, frozen=True):
    lower: Metric
    estimate: Metric
    upper: Metric


class NeededClients(Part, frozen=True):
    lower: Number | None
    target: Number | None
    upper: Number | None


class Peak(Part, frozen=True):
    msgs_per_s: Metric | None
    at: str | None
    days: Number
    rates: Number
    most_msgs_per_s: Metric | None = None
    most_at: str | None = None


class ClientBounds(Part, frozen=True):
    min_replicas: Number | None
    target: Number | None
    max_replicas: Number | None
    max_useful: Number | None
    scale_down_allowed: bool
    blocked_by: list[str]
    confidence: Literal["HIGH", "MEDIUM", "LOW"]
    reason_code: str


class GroupHeadroom(Part, frozen=True):
    factor: Metric
    measured_factor: Metric | None
    breaks: Literal["UTILISATION"]


class Headroom(Part, frozen=True):
    kind: Literal["GROUP", "TOPIC", "BROKER"]
    name: str
    factor: Metric
    breaks: str


Goal = Literal[
    "NOTHING_UNREAD",
    "NO_ORPHAN",
    "ORDER_KEPT",
    "CAPACITY_AT_PEAK",
    "SURVIVES_LOSS",
    "EVEN_LOAD",
    "NO_IDLE",
    "LITTLE_CHURN",
    "SAME_ROOM",
]
Points = Annotated[float, msgspec.Meta(ge=0.0, le=100.0)]


class GroupScore(Part, frozen=True):
    before: Points | None
    after: Points | None
    judged_ratio: Ratio
    broken: list[Goal]
    mended: list[Goal]
    undecided: list[Goal]


class GoalScore(Part, frozen=True):
    goal: Goal
    hard: bool
    weight: Metric
    kept: Number
    broken: Number
    mended: Number
    undecided: Number
    cluster_broken: bool
    points: Points | None
    points_after: Points | None
    most_points: Points | None


class Score(Part, frozen=True):
    before: Points | None
    after: Points | None
    judged_ratio: Ratio
    goals: list[GoalScore]


class QueuesForecast(Part, frozen=True):
    full_msgs_per_s: float
    earliest_days: float
    likely_days: float
    latest_days: float | None


class TrafficForecast(Part, frozen=True):
    known_days: Number
    msgs_per_s: float
    per_day_msgs_per_s: float
    least_per_day_msgs_per_s: float
    most_per_day_msgs_per_s: float
    full_msgs_per_s: float
    earliest_days: float
    likely_days: float
    latest_days: float | None
    queues: QueuesForecast | None
    no_queues: Literal["NO_LIMIT", "UNKNOWN"] | None


class Group(Part, frozen=True, kw_only=True):
    consumer_group: str
    owner: str | None
    tier: Number | None
    message_model: Literal["CLUSTERING", "BROADCASTING", "LITE_SELECTIVE"] | None
    consume_type: str | None
    message_request_mode: Literal["PULL", "POP", "MIXED"]
    connections: Number
    distinct_client_ids: Number
    topics: list[str]
    max_useful_clients: Number | None
    provision_status: Literal["UNDER_PROVISIONED", "RIGHT_PROVISIONED", "OVER_PROVISIONED", "UNDECIDED"]
    provision_reason: str | None
    reading_status: Literal["READ", "UNREAD", "TWICE", "UNKNOWN"]
    utilisation: Utilisation | None
    busiest_client: str | None
    outlier_clients: list[str] | UnsetType = UNSET
    judged_utilisation: Utilisation | UnsetType = UNSET
    needed_clients: NeededClients | None
    min_safe_clients: Number | None
    client_bounds: ClientBounds
    headroom: GroupHeadroom | None
    traffic_forecast: TrafficForecast | UnsetType = UNSET
    score: GroupScore
    peak_factor: Metric | None
    peak: Peak
    current_strategy: str | None
    current_strategy_source: Literal["reported", "observed", "policy", "default"] | None
    strategies: list[Strategy]
    protocol: Literal["GRPC", "MIXED"] | UnsetType = UNSET
    """Only of a group with gRPC clients."""


class Finding(Part, frozen=True):
    id: Id
    rule: Rule
    severity: Literal["INFO", "WARNING", "CRITICAL"]
    consumer_group: str | None
    topic: str | None
    broker_name: str | None
    subjects: list[str | Queue]
    evidence: dict[str, Any]
    message: str
    owner: str | None
    accepted: dict[str, Any] | None
    state: Literal["PENDING", "OPEN"] | UnsetType = UNSET
    since: Moment | UnsetType = UNSET


class Check(Part, frozen=True):
    command: str
    shows: str


class Transition(Part, frozen=True):
    moved_queues: Number
    new_queues: Number
    ownerless_queues: Number
    unread_longest_expected_s: Metric
    unread_longest_worst_s: Metric
    twice_longest_worst_s: Metric
    lock_wait_worst_s: Metric
    messages_twice_expected: Metric | None
    messages_twice_worst: Metric | None
    messages_skipped_worst: Metric | None
    most_unread_at_once: Number
    most_twice_at_once: Number


class Step(Part, frozen=True):
    title: str
    expect: str
    commands: list[str]
    checks: list[Check]
    blocks: list[str]
    way_back: str | None


class Recommendation(Part, frozen=True):
    id: str
    action: Action
    consumer_group: str | None
    topic: str | None
    owner: str | None
    manual: bool
    reason: str
    rules: list[Rule]
    serves: list[Goal]
    keeps: list[Goal]
    commands: list[str]
    before: dict[str, Any]
    after: dict[str, Any]
    changes_cluster: bool
    check: Check | None
    way_back: str | None
    transition: Transition | UnsetType = UNSET
    transition_undecided: str | UnsetType = UNSET
    steps: list[Step] | UnsetType = UNSET
    standing: dict[str, Any] | UnsetType = UNSET
    config_assignment: "ConfigAssignment | UnsetType" = UNSET


class ConfigAssignment(Part, frozen=True):
    moved_queues: Number
    before: dict[str, Any]
    after: dict[str, Any]
    note: str
    clients: dict[str, list[Queue]]
    transition: Transition | UnsetType = UNSET


class Impact(Part, frozen=True):
    messages_at_risk: Number | None
    unread_msgs_per_s: Metric | None
    unread_queues: Number | None
    deleted_messages: Number | None
    idle_clients: Number | None
    lag: Number | None
    utilisation_ratio: Metric | None
    cross_room_mb_per_s: Metric | None


class Cause(Part, frozen=True):
    id: Id
    rule: Rule
    severity: Literal["INFO", "WARNING", "CRITICAL"]
    action: Action | None
    consumer_group: str | None
    topic: str | None
    owner: str | None
    tier: Number | None
    title: str
    message: str
    findings: list[Id]
    recommendations: list[str]
    impact: Impact
    since: Moment | None
    is_new: bool | None
    changes_cluster: bool
    check: Check | None
    way_back: str | None
    transition: Transition | UnsetType = UNSET


class Failure(Part, frozen=True):
    broker_addr: str
    request: str | None
    error: str | None


class Completeness(Part, frozen=True):
    ratio: Ratio
    failures: list[Failure]


class Side(Part, frozen=True):
    idle: Number | None
    count: Skew | None
    traffic: Skew | None


class ScenarioGroup(Part, frozen=True):
    consumer_group: str
    strategy: str
    moved_queues: Number | None
    moved_ratio: Ratio | None
    before: Side
    after: Side


class Undecided(Finding, frozen=True, kw_only=True):
    why: str
    gone_with: str | None


class Added(Finding, frozen=True, kw_only=True):
    cause: str | None


class Shares(Part, frozen=True):
    before: Share | None
    after: Share | None


class Messages(Part, frozen=True):
    before: Number | None
    after: Number | None


class Affected(Part, frozen=True):
    consumer_group: str
    verdict: Verdict
    reasons: list[Literal["CAPACITY", "REACHABILITY", "LOSS"]]
    why: str
    peak_utilisation: Shares
    is_over_bound: bool | None
    clients: Messages
    queues: Messages
    unread_queues: Number | None
    waiting_messages: Number | None
    unreadable_topics: list[str]
    unwritable_topics: list[str]
    utilisation: Shares
    lag: Messages
    moved_queues: Number | None
    findings_added: Number
    findings_cleared: Number
    findings_undecided: Number


class Carried(Part, frozen=True):
    is_carried: bool | None
    bound: Ratio
    over_bound: list[str]
    newly_over_bound: list[str]
    falling_behind: list[str]
    without_clients: list[str]
    unreadable_topics: list[str]
    unwritable_topics: list[str]
    unread_queues: Number
    waiting_messages: Number
    undecided: list[str]


class Totals(Part, frozen=True):
    findings_added: Number
    findings_cleared: Number
    findings_undecided: Number
    findings_still: Number
    moved_queues: Number
    utilisation: Shares
    lag: Messages


class GroupTransition(Transition, frozen=True):
    consumer_group: str
    unread_switched: list[str] | None
    twice_switched: list[str] | None
    timers: dict[str, Any]


class QueueCost(Part, frozen=True):
    broker_name: str
    replicas: int
    files: int
    files_bytes: int
    pulls_per_s: float | None


class QueuePlan(Part, frozen=True):
    action: str
    topic: str | None
    broker_name: str | None
    manual: bool
    reason: str
    smallest: int | None
    cost_before: list[QueueCost]
    cost_after: list[QueueCost]
    steps: list[Step]


class Course(Part, frozen=True):
    client: Literal["JAVA", "PROXY"]
    versions: str
    has_fault_tolerance: bool
    has_detector: bool
    ending: Literal["KILL", "SILENT"] | None
    sending: Literal["SYNC", "ASYNC", "ONEWAY"] | None
    retries: Number | None
    timeout_ms: Number | None
    trouble_s: float
    troubled_ratio: Ratio | None
    failed_ratio: Ratio | None
    failed_messages: float | None
    last_failed_s: float | None
    tries_per_message: float | None
    mean_latency_ms: float | None
    usual_latency_ms: float
    returns_mean_s: float | None
    returns_worst_s: float | None
    stays_away_ratio: Ratio | None
    left_worst_s: float | None
    displaced_queues: float
    afterwards_ratios: dict[str, Ratio]


class ProducerRoute(Part, frozen=True):
    route: Number
    write_queue_nums: dict[str, Number]
    topics: Number
    topic_names: list[str]
    put_msgs_per_s: float | None
    courses: list[Course]


class Producers(Part, frozen=True):
    troubled_brokers: list[str]
    send_interval_ms: Number
    usual_latency_ms: Number
    poll_nameserver_s: float
    producers: dict[str, Number]
    routes: list[ProducerRoute]
    routes_left_out: Number
    topics_left_out: Number


Ids = Literal["NEW", "SAME", "SOME_NEW"]


class RestartStep(Part, frozen=True):
    step: Annotated[int, msgspec.Meta(ge=1)]
    client_ids: list[str]
    moved_at_stop: Number
    moved_at_start: Number
    unread_longest_expected_s: Metric
    unread_longest_worst_s: Metric
    lock_wait_worst_s: Metric
    messages_twice_expected: Metric | None
    messages_twice_worst: Metric | None


class RestartTotals(Part, frozen=True):
    strategy: str
    batch: Annotated[int, msgspec.Meta(ge=1)]
    pause_s: Metric
    ending: Literal["SHUTDOWN", "KILL", "SILENT"]
    client_ids: Ids
    steps: Annotated[int, msgspec.Meta(ge=1)]
    computed_steps: Annotated[int, msgspec.Meta(ge=1)]
    rebalances: Annotated[int, msgspec.Meta(ge=2)]
    moved_queues: Number
    unread_longest_expected_s: Metric
    unread_longest_worst_s: Metric | None
    lock_wait_worst_s: Metric
    messages_twice_expected: Metric | None
    messages_twice_worst: Metric | None
    settles_s: Metric
    lasts_s: Metric
    busy_ratio: Metric | None


class RollingRestart(Part, frozen=True):
    consumer_group: str
    undecided: str | None
    down_s: Metric
    asked: RestartTotals | None
    steps: list[RestartStep]
    alternatives: list[RestartTotals]
    advice: list[str]
    timers: dict[str, Any]


class SubscriptionChange(Part, frozen=True):
    change: Literal["subscribe", "unsubscribe"]
    consumer_group: str
    topic: str
    queues: Number
    mismatch_s: Metric | None
    unread_meanwhile: Number | None
    waiting_messages: Number | None
    queues_with_offsets: Number | None
    meaning: list[str]


class OrderedTopic(Part, frozen=True):
    topic: str
    write_queues: Messages
    moved_message_groups_ratio: Ratio | None
    moved_keys_ratio: Ratio
    meaning: str


class Sides(Part, frozen=True):
    before: Metric | None
    after: Metric | None


class BroadcastGroup(Part, frozen=True):
    consumer_group: str
    new_clients: Number
    gone_clients: Number
    queues_per_client: Sides
    new_queues: Number
    new_topics: list[str]
    gone_queues: Number
    msgs_per_s_per_client: Sides
    deliveries_per_s: Sides
    consume_from_where: str | None
    stored_messages: Number | None
    noticed_worst_s: Metric | None
    skipped_worst: Metric | None
    meaning: list[str]


class RouteSpan(Part, frozen=True):
    clients: Literal["ASK_ANOTHER", "ASK_IT", "KNOW_IT_ALONE", "NEW"]
    from_s: Metric
    until_s: Metric | None
    route: Literal["CURRENT", "AS_BEFORE", "SHRINKING", "LAST", "NONE"]
    meaning: str


class PartialLists(Part, frozen=True):
    topics: Number
    topic_names: list[str]
    queues: Number
    groups: Number
    group_names: list[str]


class LostNameserver(Part, frozen=True):
    nameserver_addr: str
    loss: Literal["SILENT", "KILL", "CUT_OFF"]
    nameservers_left: list[str]
    lost_brokers: list[str] | None
    expires_first_s: Metric | None
    expires_last_s: Metric | None
    back_s: Metric
    routes: list[RouteSpan]
    goes_on: list[str]
    stops: list[str]
    advice: list[str]
    partial_lists: PartialLists | None
    timers: dict[str, Any]


Use = Literal["WRITE", "PULL", "PULL_IN_ORDER", "POP"]


class CanRead(Part, frozen=True):
    pull: bool | None
    pull_in_order: bool | None
    pop: bool | None


class ServedClients(Part, frozen=True):
    use: Use
    is_served: bool | None
    killed_s: Metric | None
    silent_s: Metric | None
    back_s: Metric
    meaning: str


class WaitingMessages(Part, frozen=True):
    consumer_group: str
    use: Use
    queues: Number
    messages: Number | None
    is_served: bool | None
    killed_s: Metric | None
    silent_s: Metric | None
    missing_topics: list[str]


class MessagesAtRisk(Part, frozen=True):
    lost_with: Literal["PROCESS", "POWER", "DISK"]
    lost_bytes: Metric | None
    lost_messages: Metric | None
    why: str


class LostMaster(Part, frozen=True, tag_field="change", tag="lose_master"):
    broker_name: str
    replicas: Number
    has_new_master: bool
    readable_queues: Number
    writable_queues: Number | None
    is_writable: bool
    can_read: CanRead
    clients: list[ServedClients]
    waiting: list[WaitingMessages]
    at_risk: list[MessagesAtRisk]
    slave_behind_bytes: Metric | None
    back: list[str]
    timers: dict[str, Any]


class SlowProducers(Part, frozen=True):
    versions: str
    back_off_ms: Number
    most_sends_per_thread: Number | None
    avoided_for_s_afterwards: Metric


class SlowBroker(Part, frozen=True, tag_field="change", tag="slow_broker"):
    broker_name: str
    latency_ms: Metric
    for_s: Metric
    readable_queues: Number
    writable_queues: Number | None
    fails: bool
    producers: list[SlowProducers]


class ClientRequests(Part, frozen=True):
    connections: Number | None
    heartbeats_per_s: Metric | None
    member_lookups_per_s: Metric | None
    assignment_queries_per_s: Metric | None
    offset_commits_per_s: Metric | None
    waiting_pulls: Number | None
    waiting_pops: Number | None
    pulls_per_s_lower: Metric
    pulls_per_s_upper: Metric | None
    pops_per_s_lower: Metric
    pops_per_s_upper: Metric | None
    acks_per_s: Metric | None


class ClientCostChange(Part, frozen=True):
    broker_name: str
    before: ClientRequests | None
    after: ClientRequests | None


class Scenario(Part, frozen=True):
    name: str
    transitions: list[GroupTransition]
    verdict: Verdict
    carried: Carried
    totals: Totals
    affected_groups: list[Affected]
    changes: list[dict[str, Any]]
    groups: list[ScenarioGroup]
    findings_added: list[Added]
    findings_cleared: list[Finding]
    findings_undecided: list[Undecided]
    producers_undecided: list[dict[str, str]]
    queue_plans: list[QueuePlan] | UnsetType = UNSET
    lost_nameservers: list[LostNameserver] | UnsetType = UNSET
    brokers: list[LostMaster | SlowBroker] | UnsetType = UNSET
    rolling_restarts: list[RollingRestart] | UnsetType = UNSET
    subscription_changes: list[SubscriptionChange] | UnsetType = UNSET
    ordered_topics: list[OrderedTopic] | UnsetType = UNSET
    broadcast_groups: list[BroadcastGroup] | UnsetType = UNSET
    client_costs: list[ClientCostChange] | UnsetType = UNSET
    producers: Producers | UnsetType = UNSET


class ProducerBalance(Part, frozen=True):
    topic: str
    kind: Literal["KEYED", "DISPLACED", "KEYED_OR_DISPLACED"]
    message: str
    message_type: str | None
    queues: Number
    msgs_per_s: Share
    peak: Metric
    level: Ratio
    p_between_brokers: Ratio
    p_within_brokers: Ratio
    broker_expected_ratios: dict[str, Ratio]
    broker_measured_ratios: dict[str, Ratio]
    producer_groups_elsewhere: list[str]
    displacing_producer_groups: list[str]


class WorseFigure(Part, frozen=True):
    name: str
    before: float
    now: float


class Worse(Part, frozen=True):
    finding: str
    severity_before: Literal["INFO", "WARNING", "CRITICAL"]
    figures: list[WorseFigure]


class Gone(Part, frozen=True):
    id: str
    rule: str
    severity: Literal["INFO", "WARNING", "CRITICAL"]
    consumer_group: str | None
    topic: str | None
    broker_name: str | None
    message: str


class Closing(Gone, frozen=True):
    since: Moment


class Changes(Part, frozen=True):
    since: Moment
    new: list[str]
    worse: list[Worse]
    gone: list[Gone]
    pending: list[str]
    closing: list[Closing]


class PolicyDifference(Part, frozen=True):
    key: str
    deployment: Any
    run: Any


class Plan(Part, frozen=True):
    format: Literal["rocketmq-capacity/plan/1"]
    cluster_name: str
    taken_at: Moment
    valid_until: str
    fingerprint: Sha256
    completeness: Completeness
    groups: list[Group]
    findings: list[Finding]
    recommendations: list[Recommendation]
    causes: list[Cause]
    alternatives: list[list[str]]
    headroom: list[Headroom]
    score: Score
    producer_balance: list[ProducerBalance]
    brokers: list[dict[str, Any]]
    accepted: list[dict[str, Any]]
    freeze: dict[str, Any] | None
    notes: list[str]
    changes: Changes | None
    sentences: dict[str, tuple[Sentence, ...]]
    ledger: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    recommendations_digest: Sha256 | msgspec.UnsetType = msgspec.UNSET
    scenario: Scenario | msgspec.UnsetType = msgspec.UNSET
    events: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    policy_differences: list[PolicyDifference] | msgspec.UnsetType = msgspec.UNSET
    trial: bool | msgspec.UnsetType = msgspec.UNSET


READER: Final = msgspec.json.Decoder(Plan)


def read_plan(file: Path) -> Plan:
    """The plan; msgspec.ValidationError with the place where it is not as the contract draws it (a NaN is no JSON)."""
    return READER.decode(file.read_bytes())
