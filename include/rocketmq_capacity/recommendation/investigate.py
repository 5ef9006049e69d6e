"""INVESTIGATE: the findings that no other action answers, with commands that only read.

There is one recommendation for each group and each topic, for all of its findings that are left. Those of the cluster
are told apart by rule and broker, and with them the topics whose queues a broker hides.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.awaited import comes_of_fewer_queues
from rocketmq_capacity.assessment.backlog import StalledEvidence
from rocketmq_capacity.assessment.broker_loss import CrashEvidence
from rocketmq_capacity.assessment.coverage import NoBrokerEvidence
from rocketmq_capacity.assessment.disk import BrokerDiskEvidence, DiskFillsEvidence
from rocketmq_capacity.assessment.layout import is_hidden_by_broker
from rocketmq_capacity.assessment.order import UnorderedEvidence
from rocketmq_capacity.assessment.ownership import IdleEvidence, ReadOnlyIdleEvidence
from rocketmq_capacity.assessment.retention import RetentionEvidence
from rocketmq_capacity.assessment.retry import RetryQueuesEvidence
from rocketmq_capacity.assessment.slave_drift import SlaveDriftEvidence
from rocketmq_capacity.assessment.stuck import StuckQueuesEvidence
from rocketmq_capacity.assessment.topology import NameserverEvidence
from rocketmq_capacity.assessment.versions import version_named_in
from rocketmq_capacity.catalogue.action import INVESTIGATE, Action
from rocketmq_capacity.catalogue.rule import evidence_of, rule_of
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.add_broker import refusal
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.vocabulary import RETRY_PREFIX, SEVERITIES
from rocketmq_capacity.wording import listed

ACTION: Final = Action(
    name=INVESTIGATE,
    title="Look into {subject}",
    meaning="The facts show that something is wrong, but not how to mend it.",
    place=160,
    changes="nothing",
    way_back="Nothing was changed: the commands only look.",
    offered=("for every finding that no other action answers: no change was good enough, or the facts do not suffice"),
    thresholds=("PROVISION.min_completeness",),
    details="""
    The reason says what was tried and refused; the commands only look. Below the completeness bound it says
    UNDECIDED: mend the snapshot first.

    A group and a topic have one such recommendation. The cluster has one for each rule and broker
    (`before.broker_names`), so that each cause has its own commands. Brokers for which the rule advises the same
    share one. So does everything that another snapshot mends first.
    """,
)
WAY_BACK: Final = (
    "What a command in a comment sets, the same command sets back to what it was; what one deletes does not come back."
    " The others only look."
)
CLIENTS: Final = 5
"""At most so many clients of a group get a command of their own."""
SWITCHED_ON: Final[Mapping[str, Mapping[str, str]]] = {
    "NOT_CREATED": {},
    "CONSUME_DISABLED": {"consumeEnable": "true"},
    "BROADCAST_DISABLED": {"consumeEnable": "true", "consumeBroadcastEnable": "true"},
}
"""Settings of a group with which a broker gives it messages, by why it does not."""
SQL92_OFF: Final = "SQL92_DISABLED"
BY_ITS_SETTINGS: Final = (SQL92_OFF, "POP_DISABLED")
"""Why a broker gives a group no messages, whatever the group's settings are: its own settings say so."""
NO_STRATEGY: Final = "no strategy that could be tried is at least {least} better without making something else worse"


def investigate(
    findings: Sequence[tables.Finding],
    cluster: AdvisedCluster,
    *,
    consumer_group: str | None = None,
    topic: str | None = None,
    client_ids: Sequence[str] = (),
    addresses: Sequence[str] = (),
    refusals: Mapping[str, str] | None = None,
    waits: str | None = None,
    version: str | None = None,
    broker_names: Sequence[str] = (),
) -> tables.Recommendation:
    """The recommendation for the findings that no other one answers.

    Args:
        findings: of the group, of the topic, or of the whole cluster; at least one.
        cluster: name servers and brokers.
        consumer_group: the group, if the findings are a group's.
        topic: the topic, if they are a topic's.
        client_ids: the clients of the group that can be asked, in Java's order; gRPC clients cannot.
        addresses: broker name -> address, of the brokers that serve the group's topics.
        refusals: rule -> a sentence that says why no change answers it; it replaces the general advice.
        waits: a sentence that says why no change answers what fewer queues explain; it replaces any other advice.
        version: the one version that the findings are about, if they are about one.
        broker_names: the brokers that they are about, sorted.
    """
    rules = sorted({one.rule for one in findings})
    worth_a_look = _worth_a_look(findings)
    looks = sorted((one.rule, _looks(one, cluster, client_ids, addresses)) for one in worth_a_look)
    lines = dict.fromkeys(line for _, of_finding in looks for line in of_finding)
    brokers = _brokers_by_advice(worth_a_look)
    advice = [(one, _sentence(one, cluster, refusals or {}, waits, brokers)) for one in worth_a_look]
    # What is undecided says nothing of the brokers that are closed, which is known of them.
    advice += [(one, one.message) for one in worth_a_look if cluster.undecided and is_hidden_by_broker(one)]
    urgent_first = sorted((SEVERITIES.index(one.severity), text) for one, text in advice)
    about = {"broker_names": [*broker_names]} if broker_names else None
    in_order = sorted(_steps(one, cluster) for one in findings)
    steps = dict.fromkeys(step for of_finding in in_order for step in of_finding)
    looked = answer(
        ACTION,
        consumer_group=consumer_group,
        topic=topic,
        target=[*rules, *broker_names] if version is None else [*rules, version],
        is_manual=bool(steps),
        reason=each_once(text for _, text in urgent_first),
        rules=rules,
        commands=[*lines, *steps],
        before=about if version is None else {"version": version},
        after=about,
    )
    return replace(looked, way_back=WAY_BACK) if steps else looked


def advice_on(finding: tables.Finding, cluster: AdvisedCluster) -> str:
    """What is said of a finding of the cluster."""
    return _sentence(finding, cluster, {}, None, {})


def _worth_a_look(findings: Sequence[tables.Finding]) -> Sequence[tables.Finding]:
    """Those that need a sentence and a look of their own: not the lag of a group that nobody uses any more."""
    is_unused = any(rule_of(one.rule).looks == "unused" for one in findings)
    return [one for one in findings if not (is_unused and _has_no_clients(one))]


def each_once(advice: Iterable[str]) -> str:
    """All of the advice in its order, without that with which another one begins."""
    texts = dict.fromkeys(advice)
    return " ".join(one for one in texts if not any(other != one and other.startswith(one) for other in texts))


def _has_no_clients(finding: tables.Finding) -> bool:
    evidence = evidence_of(finding)
    return isinstance(evidence, StalledEvidence | RetentionEvidence | UnorderedEvidence) and not evidence.clients


def _sentence(
    finding: tables.Finding,
    cluster: AdvisedCluster,
    refusals: Mapping[str, str],
    waits: str | None,
    brokers: Mapping[str, Sequence[str]],
) -> str:
    """What is said of a finding; ``brokers`` are those of which the same is said, by the advice."""
    if cluster.undecided and rule_of(finding.rule).is_structural:
        return cluster.undecided
    if waits is not None and comes_of_fewer_queues(finding.rule):
        return waits
    # Where no broker has a queue to read, more queues are not what was refused.
    evidence = evidence_of(finding)
    is_nowhere = isinstance(evidence, NoBrokerEvidence) or (isinstance(evidence, IdleEvidence) and not evidence.queues)
    refusal = None if is_nowhere else refusals.get(finding.rule)
    return _advice(finding, cluster, brokers) if refusal is None else refusal


def _advice(finding: tables.Finding, cluster: AdvisedCluster, brokers: Mapping[str, Sequence[str]]) -> str:
    if rule_of(finding.rule).looks == "disk" and (why_none := refusal(cluster)) is not None:
        return why_none
    advice = _advice_of_rule(finding)
    return advice.format(
        subjects=listed(finding.subjects),
        topic=finding.topic,
        broker_name=listed(brokers[advice]) if advice in brokers else finding.broker_name,
        message=finding.message,
        no_strategy=NO_STRATEGY.format(least=_least(cluster)),
    )


def _advice_of_rule(finding: tables.Finding) -> str:
    """The advice of its rule, with places for names."""
    advice = rule_of(finding.rule).advice
    return advice if isinstance(advice, str) else advice(finding, evidence_of(finding))


def _brokers_by_advice(findings: Iterable[tables.Finding]) -> dict[str, list[str]]:
    """The brokers that several findings have, by the advice that is the same for all of these."""
    brokers: dict[str, dict[str, None]] = {}
    for finding in findings:
        if finding.broker_name is not None:
            brokers.setdefault(_advice_of_rule(finding), {})[finding.broker_name] = None
    return {advice: sorted(names) for advice, names in brokers.items()}


def _least(cluster: AdvisedCluster) -> str:
    """The least improvement that is worth another strategy, in words."""
    return f"{cluster.policy.thresholds.CHANGE_STRATEGY.min_improvement:.0%}".replace("%", " %")


def _looks(
    finding: tables.Finding, cluster: AdvisedCluster, client_ids: Sequence[str], addresses: Sequence[str]
) -> list[str]:
    """Commands that only read."""
    if _refused(finding) in BY_ITS_SETTINGS:
        return [commands.broker_config(cluster.nameserver, cluster.address(finding.broker_name or ""))]
    if finding.consumer_group is not None:
        return _looks_at_group(finding, finding.consumer_group, cluster.nameserver, client_ids, addresses)
    if finding.topic is not None:
        return _looks_at_topic(finding, finding.topic, cluster.nameserver, addresses)
    return _looks_at_brokers(finding, cluster)


def _refused(finding: tables.Finding) -> str | None:
    """Why a broker gives a group no messages, if that is what the finding is about."""
    if rule_of(finding.rule).looks != "stacks" or finding.broker_name is None:
        return None
    return StuckQueuesEvidence.of(finding).queues[0].cause


def _looks_at_group(
    finding: tables.Finding, group: str, nameserver: str, client_ids: Sequence[str], addresses: Sequence[str]
) -> list[str]:
    look = rule_of(finding.rule).looks
    if look in ("members", "versions"):
        return [commands.consumer_connection(nameserver, group, address) for address in addresses]
    if look == "stacks" and finding.broker_name is not None:  # a broker refuses the group
        return [commands.consumer_config(nameserver, group)]
    if look == "stacks":
        owners = [one for one in StuckQueuesEvidence.of(finding).client_ids if one in set(client_ids)]
        return [
            commands.consumer_progress(nameserver, group),
            *(commands.consumer_stack(nameserver, group, client) for client in owners[:CLIENTS]),
        ]
    if look == "unused":
        return [
            commands.consumer_progress(nameserver, group, asks_clients=False),
            commands.consumer_connection(nameserver, group),
        ]
    # A client that cannot answer holds a thread of the broker for ten seconds.
    can_answer = set(client_ids)
    subjects = [one for one in finding.subjects if one in can_answer]
    asked = subjects if look == "its clients" else client_ids
    has_route = finding.topic is not None and look == "order"
    return [
        commands.consumer_progress(nameserver, group),
        *(commands.consumer_status(nameserver, group, client) for client in asked[:CLIENTS]),
        *([commands.topic_route(nameserver, finding.topic or "")] if has_route else ()),
    ]


def _looks_at_topic(finding: tables.Finding, topic: str, nameserver: str, addresses: Sequence[str]) -> list[str]:
    if rule_of(finding.rule).looks == "producers":
        return [
            commands.topic_status(nameserver, topic),
            commands.topic_statistics(nameserver, topic),
            *(commands.producers_of(nameserver, address) for address in addresses[:CLIENTS]),
        ]
    return [commands.topic_route(nameserver, topic), commands.topic_status(nameserver, topic)]


def _looks_at_brokers(finding: tables.Finding, cluster: AdvisedCluster) -> list[str]:
    nameserver, look = cluster.nameserver, rule_of(finding.rule).looks
    if look == "name servers":
        topics = NameserverEvidence.of(finding).topic_names[:1]
        return [
            line
            for address in nameserver.split(";")
            for line in (commands.cluster_list(address), *(commands.topic_route(address, one) for one in topics))
        ]
    if look == "slave":
        return [commands.cluster_list(nameserver), commands.broker_status(nameserver, _slave(finding, cluster))]
    if look == "versions":
        groups = finding.subjects[:CLIENTS] if version_named_in(finding) else ()
        asked = [commands.consumer_connection(nameserver, one) for one in groups]
        return asked or [commands.cluster_list(nameserver)]
    if is_hidden_by_broker(finding):
        return [commands.broker_config(nameserver, cluster.address(finding.broker_name or ""))]
    if look == "disk":
        evidence = evidence_of(finding)
        known = evidence.broker_addr if isinstance(evidence, BrokerDiskEvidence | DiskFillsEvidence) else None
        address = known or commands.placeholder(f"address of {finding.broker_name}")
        return [commands.cluster_list(nameserver), commands.broker_status(nameserver, address)]
    evidence = evidence_of(finding)
    if isinstance(evidence, CrashEvidence):
        address = evidence.broker_addr or commands.placeholder(f"address of {finding.broker_name}")
        return [commands.cluster_list(nameserver), commands.broker_status(nameserver, address)]
    return [commands.cluster_list(nameserver)]


def _slave(finding: tables.Finding, cluster: AdvisedCluster) -> str:
    """The address of the slave that a finding is about."""
    numbers = SlaveDriftEvidence.of(finding).slave_ids
    addresses = [
        broker.broker_addr
        for broker in cluster.facts.brokers
        if broker.broker_name == finding.broker_name and broker.broker_id in numbers
    ]
    return next(filter(None, addresses), commands.placeholder(f"address of the slave of {finding.broker_name}"))


def _steps(finding: tables.Finding, cluster: AdvisedCluster) -> list[str]:
    """What a person may decide to do, as comments; nothing while no change is recommended."""
    if cluster.undecided and rule_of(finding.rule).is_structural:
        return []
    if rule_of(finding.rule).looks == "unused":
        name, nameserver = cluster.facts.cluster.cluster_name, cluster.nameserver
        if finding.topic is not None:
            return [commands.comment(commands.delete_topic(nameserver, name, finding.topic))]
        return [commands.comment(commands.delete_group(nameserver, name, finding.consumer_group or ""))]
    if rule_of(finding.rule).looks == "stacks" and finding.broker_name is not None:
        address, group = cluster.address(finding.broker_name), finding.consumer_group or ""
        cause = _refused(finding)
        if cause in BY_ITS_SETTINGS:
            return [commands.comment(commands.allow_sql92(cluster.nameserver, address))] if cause == SQL92_OFF else []
        settings = SWITCHED_ON[cause or ""]
        return [commands.comment(commands.set_group(cluster.nameserver, address, group, **settings))]
    evidence = evidence_of(finding)
    if isinstance(evidence, RetryQueuesEvidence):
        return [commands.comment(_with_retry_queues(finding, evidence, cluster))]
    closed: Sequence[str] = evidence.brokers if isinstance(evidence, ReadOnlyIdleEvidence) else ()
    if is_hidden_by_broker(finding):
        closed = [finding.broker_name or ""]
    return [commands.comment(commands.restore_broker(cluster.nameserver, cluster.address(name))) for name in closed]


def _with_retry_queues(finding: tables.Finding, evidence: RetryQueuesEvidence, cluster: AdvisedCluster) -> str:
    """The command after which a broker puts failed messages into queues that are read."""
    group, number = finding.consumer_group or "", evidence.retry_queue_nums
    address = cluster.address(finding.broker_name or "")
    if not number:
        return commands.set_retry_queues(cluster.nameserver, address, group, max(1, evidence.read_queue_nums))
    return commands.update_topic(cluster.nameserver, address, RETRY_PREFIX + group, (number, number), 6, "false")
