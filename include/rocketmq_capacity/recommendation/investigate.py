"""INVESTIGATE: the findings that no other action answers, with commands that only read.

There is one recommendation for each group, each topic and the cluster, for all of its findings that are left.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.wording import listed
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.add_broker import refusal
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.recommendation.facts import COVERAGE, Cluster, evidence
from rocketmq_capacity.vocabulary import AVG, AVG_BY_CIRCLE, COUNT_SKEWS, Action, Rule

ACTION: Final[Action] = "INVESTIGATE"
CLIENTS: Final = 5
"""At most so many clients of a group get a command of their own."""
DISK: Final[Rule] = "BROKER_DISK"
FIFO_BROKEN: Final[Rule] = "FIFO_BROKEN"
VERSION: Final[Rule] = "BAD_VERSION"
NAMESERVERS: Final[Rule] = "NAMESERVER_DISAGREEMENT"
SLAVES: Final[Rule] = "SLAVE_DRIFT"
STUCK: Final[Rule] = "STUCK_QUEUE"
MEMBERSHIP: Final[Rule] = "MEMBERSHIP_DISAGREEMENT"
READ_ONLY: Final[Rule] = "READ_ONLY_IDLE"
CROSS_TOPIC: Final[Rule] = "CROSS_TOPIC_SKEW"
UNREAD: Final[Rule] = "TOPIC_UNREAD"
STALE: Final[Rule] = "STALE_OBJECT"
STRUCTURAL: Final[tuple[Rule, ...]] = (
    "ORPHAN_QUEUE",
    "MIXED_STRATEGIES",
    "IDLE_CONSUMERS",
    "READ_LESS_THAN_WRITE",
    *COUNT_SKEWS,
    "TRAFFIC_SKEW",
    READ_ONLY,
    COVERAGE,
)
"""Rules that a change answers; they get no answer if the snapshot is too incomplete."""
OF_CLIENTS: Final[tuple[Rule, ...]] = (
    "CONSUMER_CAPACITY",
    "LAG_SKEW",
    "LAG_STATE",
    "RETENTION_RISK",
    "TRAFFIC_SKEW",
    *COUNT_SKEWS,
    READ_ONLY,
    "MIXED_STRATEGIES",
)
"""Rules whose subjects are client ids worth a look each, and rules about queues, for which no client needs a look."""
NO_STRATEGY: Final = "no strategy that could be tried is at least {least} better without making something else worse"
OF_CONNECTIONS: Final[tuple[Rule, ...]] = (MEMBERSHIP, VERSION)
"""Rules about the members of the group as each broker lists them."""
SKEWED: Final = (
    "Find out what the group needs: {no_strategy}. More clients, or fewer topics in one group, may spread the load."
)
TOGETHER: Final = " Or give every one of its topics a multiple of {clients} queues: no topic alone makes it even."
"""What else to do about CROSS_TOPIC_SKEW: AVG and AVG_BY_CIRCLE then leave no remainder."""
ADVICE: Final[dict[str, str]] = {
    "ORPHAN_QUEUE": (
        "Find out why nobody reads these queues: compare what each client says it owns with the queues that have no"
        " client."
    ),
    "IDLE_CONSUMERS": "No change that was simulated leaves fewer clients idle.",
    "MIXED_STRATEGIES": "Let all clients run one strategy; {no_strategy}, so choose it by hand.",
    READ_ONLY: (
        "Find out whether the read-only brokers are meant to stay read-only. If so, remove them once they are drained;"
        " if not, make them writable again."
    ),
    MEMBERSHIP: (
        "Compare the members that each broker lists: a client that one of them lacks has lost its connection to it."
    ),
    NAMESERVERS: (
        "Find out which brokers have lost {subjects}: each broker registers every 30 s with every name server of its"
        " namesrvAddr. Compare that setting and the network of these brokers. Afterwards topicRoute gives the same from"
        " each name server."
    ),
    SLAVES: (
        "Find out why this slave does not copy its master, before the master is switched: its log, and whether it"
        " reaches the master's address ({subjects}). Afterwards brokerStatus of the slave shows that it runs, and a new"
        " snapshot finds nothing."
    ),
    STUCK: (
        "Find out what the listener of the owners waits for: consumerStatus writes the stack of each. Restart a client"
        " whose listener does not come back, and set a time limit for what it waits for."
        " Afterwards consumerProgress shows that the offsets of these queues move."
    ),
    "LAG_STATE": (
        "Find out what holds the group up on these queues: whether a client owns them, and what its listener waits for."
    ),
    "RETENTION_RISK": (
        "Let the group catch up before its messages are deleted: more or faster clients, or a longer retention if the"
        " disks have room for it."
    ),
    "RETRY_PRESSURE": (
        "Find out why the listener fails: a message that fails is delivered again up to 16 times, and then goes to the"
        " dead-letter topic."
    ),
    "LAG_SKEW": (
        "Look at what holds up the clients furthest behind (response time, threads, their machine): {subjects}."
    ),
    "PERMANENT_DISPLACEMENT": (
        "Upgrade the client of these producers to 4.9.8 or 5.1.4, or restart them after a broker was slow: {subjects}."
    ),
    "BROKER_LOSS": (
        "Decide whether the cluster may lose one of these brokers: spread their topics to other brokers, and"
        " give the groups that would be too weak more clients: {subjects}."
    ),
    "CROSS_ROOM": (
        "Run clients in the machine rooms that have queues and no client, or let the others read across: no strategy of"
        " the policy crosses rooms less without making something else worse."
    ),
    "ROOM_STARVATION": (
        "Add queues in the machine room of these clients (on a broker there), or remove the clients: {subjects}."
    ),
    "SUSPECT_SNAPSHOT": "Take another snapshot before you change anything.",
    "SNAPSHOT_INCOMPLETE": "Find out why these were not read, and take another snapshot: {subjects}.",
    FIFO_BROKEN: (
        "Bring back the master of {subjects}: consumers that consume in order lock each queue at the master, and read"
        " no queue of a broker without a master. Afterwards consumerProgress names a client for each of its queues."
    ),
    UNREAD: (
        "Ask the producers of {subjects} who is meant to read it: the brokers' lists name them. If it is an archive, or"
        " the group is still to come, raise TOPIC_UNREAD.min_msgs_per_s of the policy or leave the topic out (exclude)."
        " No command changes anything here."
    ),
    STALE: (
        "Ask whether anybody still needs {subjects}. If the commands still show no messages, no offsets that move and"
        " no clients, a person may run the command in the comment; what it deletes does not come back."
    ),
    COVERAGE: (
        "Find out whether these brokers are meant to have no business topics: {subjects}. If so, name them in the"
        " policy (placement)."
    ),
    **dict.fromkeys((*COUNT_SKEWS, "TRAFFIC_SKEW"), SKEWED),
}
"""What to do about a finding, by its rule; for any other rule the finding's message says it."""
TWO_PROTOCOLS: Final = (
    "Give gRPC clients and remoting clients a group each: in one group, gRPC clients pop the queues that remoting"
    " clients divide, and both consume the same messages."
)
"""What to do about MIXED_STRATEGIES of a group with clients of both protocols."""
NOT_IN_ORDER: Final = (
    "Find out whether {topic} has to be consumed in order. If so, register a MessageListenerOrderly in all clients; for"
    " gRPC clients set consumeMessageOrderly in the group's configuration. If not, let producers use another topic,"
    " which is not FIFO. Afterwards consumerStatus says PROP_CONSUMEORDERLY true for each client."
)
"""What to do about FIFO_BROKEN where the group does not consume in order."""
NEEDS_CLIENTS: Final[tuple[Rule, ...]] = ("LAG_STATE", "RETENTION_RISK")
NO_CLIENTS: Final = (
    "Find out whether this group is still needed: it has no clients. If it is, start them, and messages that are kept"
    " are read; if not, nothing is lost."
)
"""What to do about these rules where a group has no clients."""
UPGRADE: Final = "Upgrade to {versions} or later: {message} Afterwards {looks} no version that is named here."
"""What to do about BAD_VERSION."""
NOWHERE: Final = "Create the topic, or end the subscription of {subjects}."
"""What to do about a topic that no broker has."""
PLACED: Final = "Find out what is right, the brokers of the topic or the policy's placement: {message}"
"""What to do about a topic that is on other brokers than those that the policy places it on."""


def investigate(
    findings: Iterable[contracts.Finding],
    answered: Collection[str],
    cluster: Cluster,
    *,
    consumer_group: str | None = None,
    topic: str | None = None,
    client_ids: Sequence[str] = (),
    addresses: Sequence[str] = (),
    refusals: Mapping[str, str] | None = None,
    version: str | None = None,
) -> contracts.Recommendation | None:
    """The recommendation for the findings that are left; None if none are.

    Args:
        findings: of the group, of the topic, or of the whole cluster.
        answered: rules that other recommendations answer.
        cluster: name servers and brokers.
        consumer_group: the group, if the findings are a group's.
        topic: the topic, if they are a topic's.
        client_ids: the clients of the group that can be asked, in Java's order; gRPC clients cannot.
        addresses: broker name -> address, of the brokers that serve the group's topics.
        refusals: rule -> a sentence that says why no change answers it; it replaces the general advice.
        version: the one version that the findings are about, if they are about one.
    """
    left = [one for one in findings if one.rule not in answered]
    if not left:
        return None
    rules = sorted({one.rule for one in left})
    looks = sorted((one.rule, _looks(one, cluster, client_ids, addresses)) for one in left)
    lines = dict.fromkeys(line for _, of_finding in looks for line in of_finding)
    steps = dict.fromkeys(step for of_finding in sorted(_steps(one, cluster) for one in left) for step in of_finding)
    return answer(
        ACTION,
        consumer_group=consumer_group,
        topic=topic,
        target=rules if version is None else [*rules, version],
        is_manual=bool(steps),
        reason=" ".join(sorted({_sentence(one, cluster, refusals or {}) for one in left})),
        rules=rules,
        commands=[*lines, *steps],
        before=None if version is None else {"version": version},
    )


def _sentence(finding: contracts.Finding, cluster: Cluster, refusals: Mapping[str, str]) -> str:
    if cluster.undecided and finding.rule in STRUCTURAL:
        return cluster.undecided
    # A topic that no broker has cannot be refused more queues.
    refusal = None if _is_nowhere(finding) else refusals.get(finding.rule)
    return _advice(finding, cluster) if refusal is None else refusal


def _advice(finding: contracts.Finding, cluster: Cluster) -> str:
    if finding.rule in NEEDS_CLIENTS and evidence(finding).get("clients") == 0:
        return NO_CLIENTS
    if "protocols" in evidence(finding):
        return TWO_PROTOCOLS
    if finding.rule == VERSION:
        return UPGRADE.format(
            versions=" or ".join(evidence(finding)["upgrade_to"]),
            message=finding.message,
            looks="consumerConnection shows" if "version" in evidence(finding) else "clusterList shows",
        )
    if finding.rule == DISK and (why_none := refusal(cluster)) is not None:
        return why_none
    if finding.rule == CROSS_TOPIC and evidence(finding)["current_strategy"] in (AVG, AVG_BY_CIRCLE):
        no_strategy = NO_STRATEGY.format(least=_least(cluster))
        return (SKEWED + TOGETHER).format(no_strategy=no_strategy, clients=evidence(finding)["clients"])
    if finding.rule == FIFO_BROKEN and "message_type" in evidence(finding):
        return NOT_IN_ORDER.format(topic=finding.topic)
    if finding.rule == COVERAGE and "placement" in evidence(finding):
        return PLACED.format(message=finding.message)
    advice = NOWHERE if _is_nowhere(finding) else ADVICE.get(finding.rule)
    if advice is None:
        return finding.message
    return advice.format(subjects=listed(finding.subjects), no_strategy=NO_STRATEGY.format(least=_least(cluster)))


def _least(cluster: Cluster) -> str:
    """The least improvement that is worth another strategy, in words."""
    return f"{cluster.policy.thresholds.CHANGE_STRATEGY.min_improvement:.0%}".replace("%", " %")


def _is_nowhere(finding: contracts.Finding) -> bool:
    return finding.rule == COVERAGE and evidence(finding).get("brokers") == 0


def _looks(
    finding: contracts.Finding, cluster: Cluster, client_ids: Sequence[str], addresses: Sequence[str]
) -> list[str]:
    """Commands that only read."""
    nameserver, group, topic = cluster.nameserver, finding.consumer_group, finding.topic
    if group is not None and finding.rule in OF_CONNECTIONS:
        return [commands.consumer_connection(nameserver, group, address) for address in addresses]
    if group is not None and finding.rule == STUCK:
        owners = [one for one in evidence(finding)["client_ids"] if one in set(client_ids)]
        return [
            commands.consumer_progress(nameserver, group),
            *(commands.consumer_stack(nameserver, group, client) for client in owners[:CLIENTS]),
        ]
    if group is not None and finding.rule == STALE:
        return [
            commands.consumer_progress(nameserver, group, asks_clients=False),
            commands.consumer_connection(nameserver, group),
        ]
    if group is not None:
        # A client that cannot answer holds a thread of the broker for ten seconds.
        can_answer = set(client_ids)
        subjects = [one for one in finding.subjects if one in can_answer]
        asked = subjects if finding.rule in OF_CLIENTS else client_ids
        return [
            commands.consumer_progress(nameserver, group),
            *(commands.consumer_status(nameserver, group, client) for client in asked[:CLIENTS]),
            *([commands.topic_route(nameserver, topic)] if topic is not None and finding.rule == FIFO_BROKEN else ()),
        ]
    if topic is not None and finding.rule == UNREAD:
        return [
            commands.topic_status(nameserver, topic),
            commands.topic_statistics(nameserver, topic),
            *(commands.producers_of(nameserver, address) for address in addresses[:CLIENTS]),
        ]
    if topic is not None:
        return [commands.topic_route(nameserver, topic), commands.topic_status(nameserver, topic)]
    if finding.rule == NAMESERVERS:
        topics = evidence(finding)["topic_names"][:1]
        return [
            line
            for address in nameserver.split(";")
            for line in (commands.broker_versions(address), *(commands.topic_route(address, one) for one in topics))
        ]
    if finding.rule == SLAVES:
        return [commands.broker_versions(nameserver), *(commands.broker_status(nameserver, _slave(finding, cluster)),)]
    if finding.rule == VERSION:
        groups = finding.subjects[:CLIENTS] if "version" in evidence(finding) else ()
        asked = [commands.consumer_connection(nameserver, one) for one in groups]
        return asked or [commands.broker_versions(nameserver)]
    if finding.rule == DISK:
        address = evidence(finding)["broker_addr"] or commands.placeholder(f"address of {finding.broker_name}")
        return [commands.cluster_list(nameserver), commands.broker_status(nameserver, address)]
    return [commands.cluster_list(nameserver)]


def _slave(finding: contracts.Finding, cluster: Cluster) -> str:
    """The address of the slave that a finding is about."""
    numbers = evidence(finding)["slave_ids"]
    addresses = [
        broker.broker_addr
        for broker in cluster.facts.brokers
        if broker.broker_name == finding.broker_name and broker.broker_id in numbers
    ]
    return next(filter(None, addresses), commands.placeholder(f"address of the slave of {finding.broker_name}"))


def _steps(finding: contracts.Finding, cluster: Cluster) -> list[str]:
    """What a person may decide to do, as comments."""
    if finding.rule == STALE:
        name, nameserver = cluster.facts.cluster.cluster_name, cluster.nameserver
        if finding.topic is not None:
            return [commands.comment(commands.delete_topic(nameserver, name, finding.topic))]
        return [commands.comment(commands.delete_group(nameserver, name, finding.consumer_group or ""))]
    if finding.rule != READ_ONLY:
        return []
    return [
        commands.comment(commands.restore_broker(cluster.nameserver, cluster.address(name)))
        for name in evidence(finding)["brokers"]
    ]
