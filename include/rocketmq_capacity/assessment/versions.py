"""The rule on versions: BAD_VERSION, and the faults in balancing that it knows.

The ranges of versions are from the repository's tags: from the first release with the faulty lines to the last one
without the lines of the pull request.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Final

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.assessment.balancing_faults import (
    BARE_PROCESS_ID,
    LITE_PULL_SKIPS,
    MACHINE_ROOM_INDEX,
    NEVER_REACHABLE,
    OWN_PERM_LOST,
    RENAMED_QUEUE,
    WAITS_WITH_A_LOCK,
    BalancingFault,
)
from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.catalogue.evidence import Evidence, FindingLike, means
from rocketmq_capacity.catalogue.rule import Rule, evidence_of
from rocketmq_capacity.model.facts import ClusterFacts, Consumer, Disagreements
from rocketmq_capacity.protocol.version import Version, name_of, version_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding, VersionFault
from rocketmq_capacity.vocabulary import (
    CONSUME_ACTIVELY,
    INFO,
    JAVA,
    MACHINE_ROOM,
    POP,
    READ_WRITE,
    WARNING,
    Severity,
    java_order,
)
from rocketmq_capacity.wording import counted, listed


class FaultyRange(Struct, frozen=True, kw_only=True):
    """Versions with a fault."""

    first_version: Annotated[str, means("the first with it")]
    last_version: Annotated[str, means("the last with it")]
    fixed_in: Annotated[str, means("the first without it")]


class ShownFault(Struct, frozen=True, kw_only=True):
    """A fault, and who has it."""

    issue: Annotated[str, means("issue that describes it")]
    pull_request: Annotated[str, means("what mended it")]
    what: Annotated[str, means("what goes wrong")]
    faulty: Annotated[Sequence[FaultyRange], means("versions that have it")]
    versions: Annotated[Sequence[str], means("those of them that are found")]
    broker_names: Annotated[Sequence[str] | UnsetType, means("brokers that have it")] = UNSET
    clients: Annotated[int | UnsetType, means("that have it", "client")] = UNSET
    client_ids: Annotated[Sequence[str] | UnsetType, means("the first of these clients")] = UNSET
    group_names: Annotated[Sequence[str] | UnsetType, means("the first of their groups")] = UNSET


class ClientVersionEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BAD_VERSION for the clients of a version."""

    version: Annotated[str, means("their version")]
    clients: Annotated[int, means("that run it", "client")]
    consumer_groups: Annotated[int, means("of these clients", "group")]
    versions: Annotated[Sequence[str], means("the same version")]
    upgrade_to: Annotated[Sequence[str], means("the nearest version without any of the faults")]
    faults: Annotated[Sequence[ShownFault], means("the faults")]


class BrokerVersionEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BAD_VERSION for brokers."""

    brokers: Annotated[int, means("with such a version", "broker")]
    versions: Annotated[Sequence[str], means("their versions")]
    upgrade_to: Annotated[Sequence[str], means("the nearest versions without any of the faults")]
    faults: Annotated[Sequence[ShownFault], means("the faults")]


def _advice(_: Finding, evidence: ClientVersionEvidence | BrokerVersionEvidence) -> str:
    versions = " or ".join(evidence.upgrade_to)
    looks = "consumerConnection shows" if isinstance(evidence, ClientVersionEvidence) else "clusterList shows"
    return f"Upgrade to {versions} or later: {{message}} Afterwards {looks} no version that is named here."


BAD_VERSION: Final = Rule(
    name="BAD_VERSION",
    title="Versions with known faults in balancing",
    meaning="A later version of RocketMQ mends how these clients or brokers divide queues or spread messages.",
    place=310,
    evidence=(ClientVersionEvidence, BrokerVersionEvidence),
    advice=_advice,
    looks="versions",
    shows="no #Version that is named here.",
    shown_by="members",
    needs=("clients",),
    leaves_with_clients=True,
    about=("group", "cluster"),
    severities={
        "WARNING": "the fault can affect who reads what",
        "INFO": "it can affect which queues a broker offers, or how soon a queue is read",
    },
    details="""
    There is one finding for each version of clients, of the cluster if several groups have it; the evidence counts
    clients and groups, and names the first 50. The table `version_fault` has all groups. The evidence names each
    fault with its issue and pull request in apache/rocketmq, and the first and last version that has it:

    - #2477, in 4.0.0 to 4.7.1: MACHINE_ROOM takes queues by their place in the list of all rooms. Named for clients
      of groups that use MACHINE_ROOM.
    - #2730, in 3.0.0 to 4.8.0: the client id ends with the bare process id. Named for clients with such an id, but
      not of broadcasting groups.
    - #2732, in 4.6.0 to 4.8.0: a LitePullConsumer that gets a queue back skips messages. Named for clients of pull
      consumers' groups.
    - #5465, in 4.0.0 to 4.9.4: a consumer in order that takes a queue reads it up to 20 s later than it could. Named
      for clients of groups that consume in order.
    - #7149, in 4.3.0 to 5.1.3: a topic's own permission is lost when it is created or updated. Named for brokers
      that are not both readable and writable.

    The last one is the broker's fault, the others are those of the Java client's consumers. Faults of producers are
    not named here: PERMANENT_DISPLACEMENT looks at the producers themselves. `upgrade_to` has none of either. A
    fault that cannot concern you goes into `ignored_issues`.
    """,
)


NAMED: Final = 50
"""The most clients and groups that are named; all are counted."""
_BARE_PID: Final = re.compile(r"[^@]+@\d+(@.*)?", re.ASCII | re.DOTALL)
"""A client id whose instance name is a process id (ClientConfig.buildMQClientId)."""


Matters = Callable[[AssessedGroup, Consumer], bool]
"""Whether a fault can affect a Java client of a group."""


def _divides_by_room(group: AssessedGroup, client: Consumer) -> bool:
    current = None if group.current is None else group.current.strategy
    runs = current if client.allocate_strategy is None else client.allocate_strategy
    return group.is_clustering and group.facts.message_request_mode != POP and runs == MACHINE_ROOM


def _has_bare_process_id(group: AssessedGroup, client: Consumer) -> bool:
    # A broadcasting consumer keeps the instance name DEFAULT.
    return group.is_clustering and _BARE_PID.fullmatch(client.client_id) is not None


def _pulls_lite(group: AssessedGroup, _: Consumer) -> bool:
    return group.is_clustering and group.facts.consume_type == CONSUME_ACTIVELY


def _consumes_in_order(group: AssessedGroup, _: Consumer) -> bool:
    return group.is_clustering and group.facts.is_orderly is True


OF_CLIENTS: Final[tuple[tuple[BalancingFault, Matters], ...]] = (
    (MACHINE_ROOM_INDEX, _divides_by_room),
    (BARE_PROCESS_ID, _has_bare_process_id),
    (LITE_PULL_SKIPS, _pulls_lite),
    (WAITS_WITH_A_LOCK, _consumes_in_order),
)
"""Faults of consumers of the Java client, by issue number."""
OF_PRODUCERS: Final = (RENAMED_QUEUE, NEVER_REACHABLE)
"""No consumer has them, but nobody should upgrade to them. PERMANENT_DISPLACEMENT looks at producers."""


def version_faults(group: AssessedGroup) -> list[VersionFault]:
    """By version and fault, the Java clients of a group that have a faulty version which can affect them.

    Only faults of consumers count: whether an application also sends is not known of its consumers. gRPC clients are
    left out, because they report the version of another library.
    """
    ignored = group.policy.thresholds.BAD_VERSION.ignored_issues
    clients = [one for one in group.facts.consumers if one.language == JAVA and not one.is_grpc]
    releases = {name: version_of(name) for name in {one.version for one in clients}}
    affected: dict[tuple[Version, int], set[str]] = {}
    for fault, matters in OF_CLIENTS:
        faulty = {name: version for name, version in releases.items() if version and fault.range_of(version)}
        for client in clients if faulty and fault.issue not in ignored else ():
            if client.version in faulty and matters(group, client):
                affected.setdefault((faulty[client.version], fault.issue), set()).add(client.client_id)
    return [
        VersionFault(
            consumer_group=group.name,
            version=name_of(version),
            issue=issue,
            clients=len(ids),
            client_ids=tuple(sorted(ids, key=java_order)[:NAMED]),
        )
        for (version, issue), ids in sorted(affected.items())
    ]


def bad_versions(rows: Iterable[VersionFault]) -> Iterator[Finding]:
    """BAD_VERSION: Java clients have a version with a known fault in balancing that can affect them.

    One finding a version, whatever number of groups has it. It names the clients of a single group, else the groups.
    """
    of_version: dict[str, list[VersionFault]] = {}
    for row in rows:
        of_version.setdefault(row.version, []).append(row)
    for name in sorted(of_version, key=lambda name: version_of(name) or ()):
        yield _bad_version(name, sorted(of_version[name], key=lambda row: (row.consumer_group, row.issue)))


def _bad_version(name: str, rows: Sequence[VersionFault]) -> Finding:
    groups = sorted({row.consumer_group for row in rows}, key=java_order)
    clients = sum(_clients(row for row in rows if row.consumer_group == group) for group in groups)
    ids = sorted({one for row in rows for one in row.client_ids}, key=java_order)[:NAMED]
    faults = [fault for fault, _ in OF_CLIENTS if any(row.issue == fault.issue for row in rows)]
    version = version_of(name)
    without = [*(fault for fault, _ in OF_CLIENTS), *OF_PRODUCERS]
    upgrades = _upgrades([] if version is None else [version], without)
    where = "" if len(groups) == 1 else f" of {counted(len(groups), 'group')}"
    runs = f"{counted(clients, 'client')}{where} {'runs' if clients == 1 else 'run'}"
    return finding(
        BAD_VERSION,
        _worst(faults),
        consumer_group=groups[0] if len(groups) == 1 else None,
        subjects=ids if len(groups) == 1 else groups[:NAMED],
        evidence=ClientVersionEvidence(
            version=name,
            clients=clients,
            consumer_groups=len(groups),
            versions=[name],
            upgrade_to=[name_of(one) for one in upgrades],
            faults=[_shown_of_clients(fault, [row for row in rows if row.issue == fault.issue]) for fault in faults],
        ),
        message=f"{runs} {name} with known faults: {_fault_words(faults)}.",
    )


def _clients(rows: Iterable[VersionFault]) -> int:
    """How many clients of one group and version have any of these faults."""
    rows = list(rows)
    named = {client_id for row in rows for client_id in row.client_ids}
    return max(len(named), *(row.clients for row in rows))


def _shown_of_clients(fault: BalancingFault, rows: Sequence[VersionFault]) -> ShownFault:
    groups = sorted({row.consumer_group for row in rows}, key=java_order)
    named = sorted({client_id for row in rows for client_id in row.client_ids}, key=java_order)
    return _shown(
        fault,
        sorted({row.version for row in rows}),
        clients=sum(row.clients for row in rows),
        client_ids=named[:NAMED],
        group_names=groups[:NAMED],
    )


def bad_broker_version(cluster: ClusterFacts, _: Disagreements, policy: Policy) -> Iterator[Finding]:
    """BAD_VERSION: brokers have a version with a known fault that can affect them.

    The only one today affects brokers that are not both readable and writable.
    """
    if OWN_PERM_LOST.issue in policy.thresholds.BAD_VERSION.ignored_issues:
        return
    affected = sorted({
        (version, broker.broker_name)
        for broker in cluster.brokers
        if (version := version_of(broker.version))
        and OWN_PERM_LOST.range_of(version)
        and broker.broker_perm not in (None, READ_WRITE)
    })
    if not affected:
        return
    names = sorted({name for _, name in affected}, key=java_order)
    versions = sorted({version for version, _ in affected})
    yield finding(
        BAD_VERSION,
        OWN_PERM_LOST.severity,
        subjects=names,
        evidence=BrokerVersionEvidence(
            brokers=len(names),
            versions=list(map(name_of, versions)),
            upgrade_to=list(map(name_of, _upgrades(versions, [OWN_PERM_LOST]))),
            faults=[_shown(OWN_PERM_LOST, list(map(name_of, versions)), broker_names=names)],
        ),
        message=_message(counted(len(names), "broker"), len(names), versions, [OWN_PERM_LOST]),
    )


def version_named_in(finding: FindingLike) -> str | None:
    """The version whose clients a finding is about."""
    evidence = evidence_of(finding)
    return evidence.version if isinstance(evidence, ClientVersionEvidence) else None


def _upgrades(versions: Iterable[Version], faults: Iterable[BalancingFault]) -> list[Version]:
    """For each version the nearest one of its line without any of the faults; each once, sorted."""
    faults = list(faults)
    ends = set()
    for version in versions:
        while faulty := next(filter(None, (fault.range_of(version) for fault in faults)), None):
            version = faulty.fixed
        ends.add(version)
    return sorted(ends)


def _worst(faults: Iterable[BalancingFault]) -> Severity:
    return WARNING if any(fault.severity == WARNING for fault in faults) else INFO


def _shown(fault: BalancingFault, versions: Sequence[str], **who: Any) -> ShownFault:
    return ShownFault(
        issue=f"apache/rocketmq#{fault.issue}",
        pull_request=f"apache/rocketmq#{fault.pull_request}",
        what=fault.what,
        faulty=[
            FaultyRange(first_version=name_of(one.first), last_version=name_of(one.last), fixed_in=name_of(one.fixed))
            for one in fault.ranges
        ],
        versions=versions,
        **who,
    )


def _message(who: str, number: int, versions: Iterable[Version], faults: Iterable[BalancingFault]) -> str:
    runs = "runs" if number == 1 else "run"
    return f"{who} {runs} {listed(list(map(name_of, versions)))} with known faults: {_fault_words(faults)}."


def _fault_words(faults: Iterable[BalancingFault]) -> str:
    return "; ".join(f"{fault.what} (apache/rocketmq#{fault.issue})" for fault in faults)


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (bad_broker_version,)
