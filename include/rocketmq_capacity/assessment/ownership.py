"""Rules on who reads what: ORPHAN_QUEUE, IDLE_CONSUMERS, READ_ONLY_IDLE."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.not_taken import ADVICE as NOT_TAKEN_ADVICE
from rocketmq_capacity.assessment.not_taken import NOT_TAKEN
from rocketmq_capacity.assessment.replicas import masterless
from rocketmq_capacity.assessment.staff import may_have_queues
from rocketmq_capacity.assessment.suspended import ADVICE as SUSPENDED_ADVICE
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import OWNED, Rule
from rocketmq_capacity.model.arrays import Flags
from rocketmq_capacity.model.facts import ClusterFacts, GroupFacts, Place
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CONFIG, CRITICAL, INFO, MASTERLESS, MIXED, PERM_WRITE, POP, WARNING, java_order
from rocketmq_capacity.wording import counted, listed, queue_label, rounded, verbatim

NAMED: Final = 50
"""The most groups that are named; all are counted."""

STUCK: Final = "STUCK_QUEUE"


class OrphanEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of ORPHAN_QUEUE."""

    adds_to: ClassVar = {"messages_at_risk": "lag", "unread_msgs_per_s": "msgs_per_s", "unread_queues": "orphans"}

    orphans: Annotated[int, means("that nobody reads", "queue")]
    queues: Annotated[int, means("of the topic that the group reads", "queue")]
    lag: Annotated[int | None, means("that wait on these queues", "message")]
    msgs_per_s: Annotated[float | None, means("messages that are written to them")]
    current_strategy: Annotated[str, means("how the group divides its queues")]
    cause: Annotated[str, means("the rule that finds why, or the strategy")]
    missing_clients: Annotated[
        Sequence[str] | UnsetType, means("clients that the policy lists these queues for, and that do not run")
    ] = UNSET
    not_taken_by: Annotated[
        Sequence[str] | UnsetType, means("clients that should have these queues by their strategy")
    ] = UNSET


def _compare_owners(_: Finding, evidence: Evidence) -> str:
    if not isinstance(evidence, OrphanEvidence):
        return COMPARE_OWNERS
    if not isinstance(evidence.not_taken_by, UnsetType):
        return NOT_TAKEN_ADVICE.format(clients=verbatim(listed(evidence.not_taken_by)))
    if evidence.cause == OF_LISTS:
        return ADD_TO_A_LIST
    if evidence.cause == NOT_ASSIGNED:
        return SET_AVG
    return SUSPENDED_ADVICE if evidence.cause == STUCK else COMPARE_OWNERS


def _of_strategy(strategy: str) -> str:
    """The cause if the strategy itself leaves queues out."""
    return f"strategy {strategy}"


OF_LISTS: Final = _of_strategy(CONFIG)
ADD_TO_A_LIST: Final = (
    "Add each of these queues to the list of one client, in the clients' code (setMessageQueueList) and in the policy"
    " (config_assignments)."
)
NOT_ASSIGNED: Final = "NOT_ASSIGNED"
"""The cause of popped queues without an owner: brokers do not know the clients' strategy, and assign none."""
SET_AVG: Final = (
    "Set AVG in the clients' code (setAllocateMessageQueueStrategy) and restart all clients: brokers assign popped"
    " queues by AVG and AVG_BY_CIRCLE alone. A client with another strategy gets none, and no error."
)
COMPARE_OWNERS: Final = (
    "Find out why nobody reads these queues: compare what each client says it owns with the queues that have no client."
)
ORPHAN_QUEUE: Final = Rule(
    name="ORPHAN_QUEUE",
    title="Queues that nobody reads",
    meaning="Messages arrive in these queues, but no consumer of the group owns them. They wait until one does.",
    place=30,
    goal="NO_ORPHAN",
    evidence=OrphanEvidence,
    advice=_compare_owners,
    shows=OWNED,
    is_structural=True,
    needs=("clients", "queues", "owners of the topic"),
    follows_loss_of="queues",
    severities={
        "CRITICAL": "messages are unread",
    },
    thresholds=("STUCK_QUEUE.no_progress_s",),
    details="""
    `cause` in the evidence says why:

    - DUPLICATE_CLIENT_ID, MIXED_STRATEGIES or SUBSCRIPTION_MISMATCH: mend that finding.
    - STUCK_QUEUE: owners are as clients report them, and a client that looks suspended takes no queues. Mend that
      finding.
    - NOT_TAKEN: `not_taken_by` should have these queues by their strategy. All clients of the group report what they
      hold, none of them holds these queues, and messages have waited there over the samples for
      `STUCK_QUEUE.no_progress_s`. Their lists of queues are old, or a broker does not say where to begin. All owners of
      the group are then as clients report them. This needs samples over more than that time: earlier inventories, or
      `snapshot.sample_count` and `sample_interval_s` in the policy.
    - NOT_ASSIGNED: the group pops, and its clients report a strategy by which brokers assign no queues, and consume
      nothing. Brokers know AVG and AVG_BY_CIRCLE alone.
    - A strategy's name: this strategy itself leaves the queues out. MACHINE_ROOM does so with brokers of other
      rooms, and CONFIG with queues that no list names.
    """,
)

READ_ONLY_BROKER: Final = (
    "Find out whether {subjects} is meant to stay read-only. If so, finish the drain: take it out of the cluster. If"
    " not, make it writable again (brokerPermission 6). No group needs another strategy."
)
CLOSED_TOPICS: Final = (
    "Find out whether these topics are meant to take no messages on {broker_name}, where they are read to the end:"
    " {topics}. If so, remove their queues there; if not, let them be written again. {message}"
)


class ReadOnlyIdleEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of READ_ONLY_IDLE."""

    adds_to: ClassVar = {"idle_clients": "clients"}

    clients: Annotated[int, means("that own only such queues", "client")]
    consumer_groups: Annotated[int, means("of these clients", "group")]
    group_names: Annotated[Sequence[str], means("the first of these groups")]
    topics: Annotated[int, means("of these queues", "topic")]
    topic_names: Annotated[Sequence[str], means("the first of these topics")]
    brokers: Annotated[Sequence[str], means("the broker, if all of it is read-only")]


def _open_again(_: Finding, evidence: ReadOnlyIdleEvidence) -> str:
    if evidence.brokers:
        return READ_ONLY_BROKER
    topics = verbatim(listed(evidence.topic_names, of=evidence.topics))
    return CLOSED_TOPICS.replace("{topics}", topics)


READ_ONLY_IDLE: Final = Rule(
    name="READ_ONLY_IDLE",
    title="Consumers that own only drained, read-only queues",
    meaning=(
        "Nothing is written to these queues any more, and everything is read. So these consumers have nothing to do."
    ),
    place=290,
    goal="NO_IDLE",
    evidence=ReadOnlyIdleEvidence,
    advice=_open_again,
    is_structural=True,
    about=("broker",),
    severities={
        "INFO": "it costs money",
    },
    details="""
    Clients have nothing left to read: all of their queues take no new messages, and are read to their end. AVG gives
    out contiguous blocks, so that one client may get only such queues. There is one finding a broker, whatever number
    of groups has such clients; the table `group_status` has them (`drained_clients`). Make the broker writable again
    (`brokerPermission` 6), or finish the drain and take it out of the cluster. No group needs another strategy.
    """,
)


class IdleEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of IDLE_CONSUMERS."""

    adds_to: ClassVar = {"idle_clients": "idle"}

    clients: Annotated[int, means("of the group", "client")]
    queues: Annotated[int, means("of its largest topic", "queue")]
    idle: Annotated[int, means("that own no queue, standbys apart", "client")]
    idle_ratio: Annotated[float, means("their share of all clients")]
    standby: Annotated[int | UnsetType, means("that are idle on purpose, by the policy", "client")] = UNSET
    max_useful_clients: Annotated[int | None, means("that can own a queue at most", "client")]
    ordered: Annotated[bool | None, means("whether the topic is an ordered one")]


def _leave_fewer_idle(_: Finding, evidence: Evidence) -> str:
    return NOTHING_TO_READ if isinstance(evidence, IdleEvidence) and not evidence.queues else NOT_FEWER_IDLE


NOT_FEWER_IDLE: Final = "No change that was simulated leaves fewer clients idle."
NOTHING_TO_READ: Final = "Its clients read again once a broker has a queue to read of {topic}."
IDLE_CONSUMERS: Final = Rule(
    name="IDLE_CONSUMERS",
    title="Consumers without a queue",
    meaning=("Only one consumer of a group reads a queue at a time. With more consumers than queues, some only wait."),
    place=320,
    goal="NO_IDLE",
    evidence=IdleEvidence,
    advice=_leave_fewer_idle,
    shows="every client's IP appears beside a queue.",
    is_choice=True,
    is_structural=True,
    needs=("clients", "owners", "nobody idle"),
    follows_loss_of="queues",
    names_example=True,
    severities={
        "WARNING": "at least `warning_ratio` of the clients cost money for nothing",
        "INFO": "fewer do",
    },
    details="""
    Choose one: fewer clients, more queues, or POP. A group that needs fewer clients for all of its work
    (CONSUMER_CAPACITY) gets that number and no more queues. If some wait for a failure on purpose, tell how many:
    `standby` of the group's entry in the policy (`groups`). So many are no finding.
    """,
)


def orphan_queue(group: AssessedGroup) -> Iterator[Finding]:
    """ORPHAN_QUEUE: readable queues of a running group that no client of it owns today."""
    load, queues = group.today_load, group.division.queues
    if load is None or group.current is None or group.is_settling:
        return
    of_topic: dict[int, list[int]] = {}
    for queue in load.orphans.tolist():
        of_topic.setdefault(int(queues.topic[queue]), []).append(queue)
    for topic, orphans in of_topic.items():
        reads = queues.topics[topic]
        unfit = _not_assigned(group) if reads.message_request_mode == POP else []
        if reads.message_request_mode == POP and not unfit:
            continue
        size = int(np.count_nonzero(queues.topic == topic))
        names = sorted(queues.names[queue] for queue in orphans)
        lists = _missing_lists(group, names)
        missing = sorted(lists, key=java_order)
        should_have = sorted({group.not_taken[one] for one in names if one in group.not_taken}, key=java_order)
        cause = _cause(group, group.current.strategy, should_have, unfit)
        lags, rates = group.weights.lag[orphans], group.weights.msgs_per_s[orphans].tolist()
        yield finding(
            ORPHAN_QUEUE,
            CRITICAL,
            consumer_group=group.name,
            topic=reads.topic.topic,
            queues=names,
            evidence=OrphanEvidence(
                orphans=len(orphans),
                queues=size,
                lag=int(lags.sum()) if group.weights.has_lag[orphans].all() else None,
                msgs_per_s=None if any(np.isnan(rates)) else rounded(sum(rates)),
                current_strategy=group.current.strategy,
                cause=cause,
                missing_clients=missing or UNSET,
                not_taken_by=should_have or UNSET,
            ),
            message=f"Nobody reads {len(orphans)} of {counted(size, 'queue')}: {listed([*map(queue_label, names)])}."
            + _listed_for(missing, len(set().union(*lists.values())), len(names))
            + (_in_no_list(len(names)) if cause == OF_LISTS and not missing else "")
            + _not_taken_by(should_have)
            + _not_assigned_to(unfit),
        )


def _listed_for(missing: Sequence[str], of_them: int, orphans: int) -> str:
    """A further sentence on the clients whose lists have queues without an owner; empty if there are none."""
    if not missing:
        return ""
    do = "does" if len(missing) == 1 else "do"
    if of_them == orphans:
        return f" They are listed for {listed(missing)}, which {do} not run."
    are = "is" if of_them == 1 else "are"
    return f" {of_them} of them {are} listed for {listed(missing)}, which {do} not run; no list has the others."


def _in_no_list(orphans: int) -> str:
    """A further sentence on why CONFIG leaves queues out."""
    return f" No running client's list has {'it' if orphans == 1 else 'them'}."


def _not_taken_by(client_ids: Sequence[str]) -> str:
    """A further sentence on the clients that should have queues without an owner; empty if there are none."""
    if not client_ids:
        return ""
    whose = "its" if len(client_ids) == 1 else "their"
    return f" By {whose} strategy {listed(client_ids)} should have taken them long ago."


def _not_assigned(group: AssessedGroup) -> list[str]:
    """The strategies that clients report to whom brokers assign no queue that is popped."""
    members = group.division.members
    is_assigned = group.division.is_assigned[members.client].tolist()
    reported = (one.allocate_strategy for one, fits in zip(members.consumers, is_assigned, strict=True) if not fits)
    return sorted(filter(None, set(reported)))


def _not_assigned_to(strategies: Sequence[str]) -> str:
    """A further sentence on the strategies of clients to whom brokers assign no queue; empty if there are none."""
    return f" Brokers assign them by AVG or AVG_BY_CIRCLE, and clients run {listed(strategies)}." if strategies else ""


def _cause(group: AssessedGroup, strategy: str, should_have: Sequence[str], unfit: Sequence[str]) -> str:
    if should_have:
        return NOT_TAKEN
    return NOT_ASSIGNED if unfit else orphan_cause(group, strategy) or _of_strategy(strategy)


def _missing_lists(group: AssessedGroup, orphans: Collection[Queue]) -> dict[str, set[Queue]]:
    """Those of these queues that the policy lists under CONFIG for clients that do not run, by client id."""
    if group.computed_strategy != CONFIG:
        return {}
    lists = group.policy.config_assignments.get(group.name, {})
    running, unread = set(group.client_ids), set(orphans)
    of_each = {
        client_id: unread & {Queue(one.topic, one.broker_name, one.queue_id) for one in queues}
        for client_id, queues in lists.items()
        if client_id not in running
    }
    return {client_id: queues for client_id, queues in of_each.items() if queues}


def orphan_cause(group: AssessedGroup, strategy: str) -> str | None:
    """The rule that finds why queues have no owner; None if the strategy itself leaves them."""
    members = group.division.members
    if len(members.client_ids) < len(members):
        return "DUPLICATE_CLIENT_ID"
    if strategy == MIXED or group.has_mixed_dialects:
        return "MIXED_STRATEGIES"
    if members.has_readers_of_some:
        return "SUBSCRIPTION_MISMATCH"
    is_observed = group.today is not None and not group.today.is_predicted
    return STUCK if is_observed and group.suspended else None


def idle_consumers(group: AssessedGroup) -> Iterator[Finding]:
    """IDLE_CONSUMERS: clients of a clustering group that own no queue of its pulled topics.

    The finding names the topic with the most queues. If today's owners are unknown, no client is called idle, unless
    the group is known to have no queue at all. As many as the policy tells as standbys of the group are idle on
    purpose. As many as there are queues that are written and cannot be read will own them: READ_LESS_THAN_WRITE finds
    these.
    """
    is_judged = group.is_clustering and group.facts.message_request_mode != POP and not group.is_settling
    if not is_judged or not group.pulled_sizes:
        return
    topic, queues = min(group.pulled_sizes.items(), key=lambda size: (-size[1], size[0]))
    if (group.whole_load is None and queues) or (not queues and may_have_queues(group.facts)):
        return
    ids = [
        client_id for client_id, is_busy in zip(group.client_ids, _pulls(group).tolist(), strict=True) if not is_busy
    ]
    if group.mends_first is not None:
        # A client that subscribes to none of the topics is no idle one: its share has no reader.
        ids = [client_id for client_id in ids if client_id in _readers(group)]
    standby, hidden = group.entry.standby, _read_or_written(group.facts) - queues if queues else 0
    ids = ids[standby + hidden :]
    if not ids:
        return
    clients = group.facts.distinct_client_ids
    share = len(ids) / clients
    is_ordered = next(reads.topic.is_ordered for reads in group.business if reads.topic.topic == topic)
    yield finding(
        IDLE_CONSUMERS,
        WARNING if share >= group.policy.thresholds.IDLE_CONSUMERS.warning_ratio else INFO,
        consumer_group=group.name,
        topic=topic,
        subjects=ids,
        evidence=IdleEvidence(
            clients=clients,
            queues=queues,
            idle=len(ids),
            idle_ratio=rounded(share),
            standby=standby or UNSET,
            max_useful_clients=group.useful_clients,
            ordered=is_ordered,
        ),
        message=_idle_of(group, len(ids), queues, hidden),
    )


def _idle_of(group: AssessedGroup, idle: int, queues: int, hidden: int) -> str:
    """What the idle clients lack; ``queues`` are those of the largest topic, ``hidden`` those not readable yet."""
    clients = counted(group.facts.distinct_client_ids, "client")
    if not queues:
        reads = "reads" if group.facts.distinct_client_ids == 1 else "read"
        return f"No broker has a readable queue of {listed(sorted(group.pulled_sizes))}: its {clients} {reads} nothing."
    standby = group.entry.standby
    spared = f", not counting {counted(standby, 'standby')}" if standby else ""
    waiting = f" Not counted: clients for {counted(hidden, 'queue')} that cannot be read yet." if hidden else ""
    return (
        f"{idle} of {clients} {'owns' if idle == 1 else 'own'} no queue{spared}; "
        f"the group's largest topic has {counted(queues, 'readable queue')}.{waiting}"
    )


def _read_or_written(facts: GroupFacts) -> int:
    """How many clients could own a queue of the largest pulled topic if consumers saw all queues that producers see."""
    pulled = [reads.topic.places for reads in facts.business if reads.message_request_mode != POP]
    return max(sum(max(place.readable, place.writable or 0) for place in places) for places in pulled)


def _readers(group: AssessedGroup) -> set[str]:
    """The client ids that subscribe to a topic that the group pulls."""
    return {one.client_id for one in group.division.members.consumers if any(map(one.reads, group.pulled_sizes))}


def _pulls(group: AssessedGroup) -> Flags:
    """Whether each client id owns a queue today that is not popped."""
    pulls = np.zeros(len(group.client_ids), bool)
    if group.today is not None:
        owners = group.today.owners
        pulls[owners.client[~group.division.is_popped[owners.queue]]] = True
        popped = {reads.topic.topic for reads in group.business if group.facts.pops(reads)}
        pulls[[client for client, queue in owners.strangers if queue.topic not in popped]] = True
    return pulls


class Drained(NamedTuple):
    """The columns of ``group_status`` that READ_ONLY_IDLE reads; the last two have one entry a topic on a broker."""

    consumer_group: str
    drained_clients: Sequence[str]
    drained_brokers: Sequence[str]
    drained_topics: Sequence[str]


def read_only_idle(groups: Iterable[Drained], cluster: ClusterFacts) -> Iterator[Finding]:
    """READ_ONLY_IDLE: clients whose queues all take no new messages, and are read to their end.

    A broker is read-only, or some topics are closed there. One finding a broker, whatever number of groups has such
    clients: it is mended there. No message waits, so it is for information. A broker without a master is BROKER_LOSS's.
    """
    closed = {
        one.broker_name
        for one in cluster.brokers
        if one.broker_id == 0 and one.broker_perm is not None and not one.broker_perm & PERM_WRITE
    }
    of_broker: dict[str, dict[str, Drained]] = {}
    topics_on: dict[str, set[str]] = {}
    for group in groups:
        for name, topic in zip(group.drained_brokers, group.drained_topics, strict=True):
            of_broker.setdefault(name, {})[group.consumer_group] = group
            topics_on.setdefault(name, set()).add(topic)
    for name in sorted(of_broker.keys() - masterless(cluster.brokers).keys()):
        drained_groups = sorted(of_broker[name].values(), key=lambda one: java_order(one.consumer_group))
        names = [group.consumer_group for group in drained_groups]
        brokers = sorted({other for group in drained_groups for other in group.drained_brokers})
        clients = sum(len(group.drained_clients) for group in drained_groups)
        yield finding(
            READ_ONLY_IDLE,
            INFO,
            broker_name=name,
            subjects=[name],
            evidence=ReadOnlyIdleEvidence(
                clients=clients,
                consumer_groups=len(names),
                group_names=names[:NAMED],
                topics=len(topics_on[name]),
                topic_names=sorted(topics_on[name], key=java_order)[:NAMED],
                brokers=[name] if name in closed else [],
            ),
            message=f"{counted(clients, 'client')} of {counted(len(names), 'group')} ({listed(names)})"
            f" {'has' if clients == 1 else 'have'} nothing left to read: all of {'its' if clients == 1 else 'their'}"
            f" queues are on {listed(brokers)}, take no new messages, and are read to their end.",
        )


def drained(group: AssessedGroup) -> tuple[list[str], list[tuple[str, str]]]:
    """Clients whose every queue is on brokers that take no messages and is read to its end; and (broker, topic) there.

    Such a broker is read-only or has no master. Brokers that the snapshot lacks are unknown, and do not count.
    """
    if group.whole_load is None:
        return [], []
    queues, owners, weights = group.division.queues, group.whole_load.owners, group.weights
    is_dead = np.array([_is_dead(place) for place in queues.places], bool)
    if not is_dead.any():
        return [], []
    is_done = is_dead[queues.place] & weights.has_lag & (weights.lag == 0) & ~group.division.is_popped
    works = np.zeros(len(group.client_ids), bool)
    works[owners.client[~is_done[owners.queue]]] = True
    works[[client for client, _ in owners.strangers]] = True
    idle = np.flatnonzero(~works & (group.whole_load.queues > 0))
    ids = [group.client_ids[client] for client in idle.tolist()]
    idle_queues = owners.queue[np.isin(owners.client, idle)].tolist()
    return ids, sorted({(queues.names[one].broker_name, queues.names[one].topic) for one in idle_queues})


def _is_dead(place: Place) -> bool:
    """Whether its queues receive no messages."""
    return not (place.perm or 0) & PERM_WRITE or place.broker_state == MASTERLESS


GROUP_RULES: Final[tuple[GroupRule, ...]] = (
    orphan_queue,
    idle_consumers,
)
