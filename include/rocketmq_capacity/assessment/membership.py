"""Rules on membership: DUPLICATE_CLIENT_ID, MIXED_STRATEGIES, MEMBERSHIP_DISAGREEMENT."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from rocketmq_capacity.assessment.finding import finding, harm
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.two_sides import behind_proxies
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import OWNED, Rule
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CONFIG, CRITICAL, DIALECT_WORDS, GRPC, POP, REMOTING, WARNING, java_order
from rocketmq_capacity.wording import counted, listed, queue_label


class Duplicate(Struct, frozen=True, kw_only=True):
    """A client id that several consumers have."""

    client_id: Annotated[str, means("the id")]
    copies: Annotated[int, means("that have it", "consumer")]
    addresses: Annotated[Sequence[str], means("their addresses")]
    languages: Annotated[Sequence[str], means("their languages")]
    versions: Annotated[Sequence[str], means("their versions")]


class DuplicateIdEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of DUPLICATE_CLIENT_ID."""

    duplicates: Annotated[Sequence[Duplicate], means("ids that several consumers have")]
    orphan_queues: Annotated[int | None, means("that nobody reads today", "queue")]
    doubly_owned_queues: Annotated[int | None, means("that are read twice today", "queue")]


DUPLICATE_CLIENT_ID: Final = Rule(
    name="DUPLICATE_CLIENT_ID",
    title="Consumers that share one client id",
    meaning=(
        "RocketMQ knows consumers by their client id. Consumers with the same id get the same queues. These queues"
        " are read twice, and nobody reads the queues that the other consumers should have."
    ),
    place=40,
    goal="NO_ORPHAN",
    evidence=DuplicateIdEvidence,
    needs=("clients",),
    leaves_with_clients=True,
    severities={
        "CRITICAL": "queues are unread or read twice",
        "WARNING": "they will be, once clients or queues change",
    },
    details="""
    Each of the consumers takes the share of the first one. The evidence has addresses and versions. Give each
    consumer its own `instanceName`. Java clients up to 4.8 use the bare process id, which is often the same in
    containers.
    """,
)

ONE_STRATEGY: Final = "Let all clients run one strategy; {no_strategy}, so choose it by hand."
TWO_PROTOCOLS: Final = (
    "Give gRPC clients and remoting clients a group each: in one group, gRPC clients pop the queues that remoting"
    " clients divide, and both consume the same messages."
)


ONE_LIST: Final = (
    "Keep each of these queues in the list of one client alone, in the clients' code (setMessageQueueList) and in the"
    " policy (config_assignments)."
)


class OfProtocol(Struct, frozen=True, kw_only=True):
    """The clients of a protocol."""

    protocol: Annotated[str, means("the protocol")]
    clients: Annotated[int, means("that speak it", "client")]


class OfStrategy(Struct, frozen=True, kw_only=True):
    """The clients of a strategy."""

    strategy: Annotated[str, means("the strategy")]
    clients: Annotated[int, means("that run it", "client")]


class OfDialect(Struct, frozen=True, kw_only=True):
    """The clients of libraries that compute alike."""

    dialect: Annotated[str, means("the library")]
    clients: Annotated[int, means("that use it", "client")]


class SharedQueue(Queue, frozen=True, kw_only=True):
    """A queue that the lists of several clients have."""

    client_ids: Annotated[Sequence[str], means("clients whose lists have it")]


class MixedEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of MIXED_STRATEGIES."""

    protocols: Annotated[Sequence[OfProtocol] | UnsetType, means("if gRPC clients pop what others divide")] = UNSET
    strategies: Annotated[Sequence[OfStrategy], means("strategies that clients run, the most usual first")]
    dialects: Annotated[Sequence[OfDialect] | UnsetType, means("if libraries compute one strategy differently")] = UNSET
    shared_queues: Annotated[Sequence[SharedQueue] | UnsetType, means("if lists for CONFIG overlap")] = UNSET
    orphan_queues: Annotated[int | None, means("that nobody reads today", "queue")]
    doubly_owned_queues: Annotated[int | None, means("that are read twice today", "queue")]


def _advice(_: Finding, evidence: MixedEvidence) -> str:
    if not isinstance(evidence.shared_queues, UnsetType):
        return ONE_LIST
    return TWO_PROTOCOLS if evidence.protocols else ONE_STRATEGY


MIXED_STRATEGIES: Final = Rule(
    name="MIXED_STRATEGIES",
    title="Consumers of one group that divide the queues differently",
    meaning="Each consumer computes its share by itself. With different strategies shares overlap or leave gaps.",
    place=60,
    goal="NO_ORPHAN",
    evidence=MixedEvidence,
    advice=_advice,
    looks="its clients",
    shows=OWNED,
    is_structural=True,
    needs=("clients",),
    severities={
        "CRITICAL": "queues are unread or read twice",
        "WARNING": "they will be, once clients or queues change",
    },
    details="""
    RocketMQ's own check does not see it. There are four cases:

    - They run different strategies, as after half a rollout. Let all of them run one.
    - The group has gRPC clients and remoting clients. The gRPC clients pop every queue that the others divide, and
      both consume the same messages. Give each kind a group of its own.
    - Their libraries compute one strategy differently, so that some queues have two readers or none. The evidence
      has their `dialects`. Go v2 clients hash by CRC32, and Java by MD5 (CONSISTENT_HASH). Go v2 clients, and Java
      clients up to 4.7.1, take queues outside the rooms (MACHINE_ROOM). AVG and AVG_BY_CIRCLE are the same in all
      libraries.
    - They run CONFIG, and the lists of several clients have one queue (`shared_queues`). Each of them reads all of its
      messages.
    """,
)


class UnknownTo(Struct, frozen=True, kw_only=True):
    """Clients that a broker does not name."""

    broker_name: Annotated[str, means("the broker")]
    client_ids: Annotated[Sequence[str], means("the clients")]


class DisagreementEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of MEMBERSHIP_DISAGREEMENT."""

    unknown_to: Annotated[Sequence[UnknownTo], means("brokers that do not name all members")]
    behind_proxies: Annotated[Sequence[str] | UnsetType, means("clients that Proxies alone know")] = UNSET


LOST_CONNECTION: Final = (
    "Compare the members that each broker lists: a client that one of them lacks has lost its connection to it."
)
TWO_WAYS: Final = (
    "Let all remoting clients of the group go one way: set the namesrvAddr of each to the name servers, or of each to"
    " the Proxies. A Proxy in cluster mode and the brokers do not tell one another of their clients."
)


def _lost_or_behind(_: Finding, evidence: DisagreementEvidence) -> str:
    return LOST_CONNECTION if isinstance(evidence.behind_proxies, UnsetType) else TWO_WAYS


MEMBERSHIP_DISAGREEMENT: Final = Rule(
    name="MEMBERSHIP_DISAGREEMENT",
    title="Brokers that disagree on who belongs to a group",
    meaning=(
        "A consumer asks one broker, chosen at random, for the group's members. If brokers answer differently, the"
        " shares overlap or leave gaps."
    ),
    place=180,
    goal="LITTLE_CHURN",
    evidence=DisagreementEvidence,
    advice=_lost_or_behind,
    looks="members",
    shows="the same clients, whichever broker is asked (-b).",
    shown_by="members",
    needs=("clients", "seen"),
    severities={
        "CRITICAL": "some clients are behind a Proxy and others are not, and both consume the same messages",
        "WARNING": "the next rebalance hurts",
    },
    thresholds=("SUBSCRIPTION_MISMATCH.settled_s",),
    details="""
    Brokers that serve the group name different members. Clients that have just started do not count. Usually a
    client has lost its connection to one broker. If its next heartbeats (every 30 s) do not mend it, look at the
    network between the two.

    Remoting clients may also use a Proxy in cluster mode as their name server. It lists only the clients of Proxies,
    and brokers list only theirs. If a group that pulls has both (`behind_proxies`), each side divides all queues. In
    order, each queue has one reader all the same, whoever locks it first, and some clients may have none.
    Who owns what is then unknown: no client of a Proxy tells.
    """,
    flaps=True,
)


def duplicate_client_id(group: AssessedGroup) -> Iterator[Finding]:
    """DUPLICATE_CLIENT_ID: consumers of a clustering group share a client id.

    Some queues are then read twice, others by nobody. A Proxy assigns queues to gRPC clients without regard to ids.
    """
    members = group.division.members
    if not group.is_clustering or len(members.client_ids) == len(members):
        return
    copies: dict[str, list[Consumer]] = {}
    for consumer in members.consumers:
        if not consumer.is_grpc:
            copies.setdefault(consumer.client_id, []).append(consumer)
    shared = {client_id: each for client_id, each in copies.items() if len(each) > 1}
    if not shared:
        return
    yield finding(
        DUPLICATE_CLIENT_ID,
        CRITICAL if group.is_harmed else WARNING,
        consumer_group=group.name,
        subjects=list(shared),
        evidence=DuplicateIdEvidence(
            duplicates=[
                Duplicate(
                    client_id=client_id,
                    copies=len(each),
                    addresses=_distinct(one.client_addr for one in each),
                    languages=_distinct(one.language for one in each),
                    versions=_distinct(one.version for one in each),
                )
                for client_id, each in sorted(shared.items())
            ],
            orphan_queues=group.orphans_today,
            doubly_owned_queues=group.twice_today,
        ),
        message=f"Several consumers share a client id: {listed(list(shared))}."
        + harm(group.orphans_today, group.twice_today),
    )


def mixed_strategies(group: AssessedGroup) -> Iterator[Finding]:
    """MIXED_STRATEGIES: clients of a group run different strategies, so shares overlap, or queues have no owner.

    The same happens if gRPC clients pop every queue that remoting clients divide, and if libraries compute the group's
    strategy differently, with orphan or doubly owned queues, and if the lists of clients that run CONFIG overlap.
    """
    if not group.is_clustering or group.facts.message_request_mode == POP:
        return
    runners: dict[str, list[str]] = {}
    grpc = [one.client_id for one in group.facts.consumers if one.is_grpc]
    for consumer in group.facts.consumers:
        if consumer.allocate_strategy is not None and not consumer.is_grpc:
            runners.setdefault(consumer.allocate_strategy, []).append(consumer.client_id)
    if len(runners) < 2 and not grpc:
        yield from _shared_lists(group) if group.computed_strategy == CONFIG else _mixed_dialects(group)
        return
    ranked = sorted(runners.items(), key=lambda one: (-len(one[1]), one[0]))
    if grpc:
        yield _mixed_protocols(group, grpc, ranked)
        return
    yield _mixed(
        group,
        subjects=chain.from_iterable(ids for _, ids in ranked[1:]),
        strategies=_of_strategies(ranked),
        message=f"Its clients run different strategies: {', '.join(sorted(runners))}."
        + harm(group.orphans_today, group.twice_today),
    )


def _of_strategies(ranked: Iterable[tuple[str, Sequence[str]]]) -> list[OfStrategy]:
    return [OfStrategy(strategy=strategy, clients=len(ids)) for strategy, ids in ranked]


def _mixed(
    group: AssessedGroup,
    *,
    subjects: Iterable[str],
    strategies: Sequence[OfStrategy],
    message: str,
    protocols: Sequence[OfProtocol] | UnsetType = UNSET,
    dialects: Sequence[OfDialect] | UnsetType = UNSET,
    shared_queues: Sequence[SharedQueue] | UnsetType = UNSET,
) -> Finding:
    """The finding of MIXED_STRATEGIES, with the queues that it leaves without an owner or gives to two.

    It is a warning where the strategies are known to agree on the queues and clients of today.
    """
    agrees = group.whole_load is not None and not group.is_harmed and not group.facts.has_grpc_clients
    return finding(
        MIXED_STRATEGIES,
        WARNING if agrees else CRITICAL,
        consumer_group=group.name,
        subjects=_distinct(subjects),
        evidence=MixedEvidence(
            protocols=protocols,
            strategies=strategies,
            dialects=dialects,
            shared_queues=shared_queues,
            orphan_queues=group.orphans_today,
            doubly_owned_queues=group.twice_today,
        ),
        message=message,
    )


def _mixed_dialects(group: AssessedGroup) -> Iterator[Finding]:
    """The finding of MIXED_STRATEGIES for libraries that compute one strategy differently."""
    if group.current is None or not group.has_mixed_dialects or not group.is_harmed:
        return
    strategy = group.policy.computed(group.current.strategy)
    of_dialect: dict[str, list[str]] = {}
    for consumer in group.facts.consumers:
        of_dialect.setdefault(group.allocator.dialect(strategy, consumer), []).append(consumer.client_id)
    ranked = sorted(of_dialect.items(), key=lambda one: (-len(one[1]), one[0]))
    yield _mixed(
        group,
        subjects=chain.from_iterable(ids for _, ids in ranked[1:]),
        strategies=[OfStrategy(strategy=strategy, clients=group.facts.connections)],
        dialects=[OfDialect(dialect=dialect, clients=len(ids)) for dialect, ids in ranked],
        message=f"Its clients compute {strategy} differently: "
        + f"{' and '.join(DIALECT_WORDS[dialect] for dialect, _ in ranked)}."
        + harm(group.orphans_today, group.twice_today),
    )


def _shared_lists(group: AssessedGroup) -> Iterator[Finding]:
    """The finding of MIXED_STRATEGIES for lists of CONFIG that overlap.

    Clients that have just started may not have let queues go; a suspended one does not read what it holds.
    """
    load = group.today_load
    if load is None or group.is_settling or group.suspended:
        return
    twice, names = set(load.doubly_owned), group.division.queues.names
    held: dict[Queue, set[str]] = {}
    for queue, client in zip(load.owners.queue.tolist(), load.owners.client.tolist(), strict=True):
        if names[queue] in twice:
            held.setdefault(names[queue], set()).add(group.client_ids[client])
    shared = {queue: sorted(ids, key=java_order) for queue, ids in sorted(held.items()) if len(ids) > 1}
    if not shared:
        return
    yield _mixed(
        group,
        subjects=chain.from_iterable(shared.values()),
        strategies=[OfStrategy(strategy=CONFIG, clients=group.facts.connections)],
        shared_queues=[SharedQueue(**asdict(queue), client_ids=ids) for queue, ids in shared.items()],
        message="The lists of several clients have"
        f" {listed([queue_label(queue, len(group.business)) for queue in shared])}:"
        f" {counted(len(shared), 'queue')} {'is' if len(shared) == 1 else 'are'} read twice.",
    )


def _mixed_protocols(group: AssessedGroup, grpc: list[str], ranked: list[tuple[str, list[str]]]) -> Finding:
    """The finding of MIXED_STRATEGIES for gRPC clients that pop what remoting clients divide."""
    others = group.facts.connections - len(grpc)
    return _mixed(
        group,
        subjects=grpc,
        protocols=[OfProtocol(protocol=GRPC, clients=len(grpc)), OfProtocol(protocol=REMOTING, clients=others)],
        strategies=_of_strategies(ranked),
        message=f"{counted(len(grpc), 'gRPC client')} {'pops' if len(grpc) == 1 else 'pop'} every queue that "
        f"{counted(others, 'remoting client')} {'divides' if others == 1 else 'divide'}: messages are consumed twice.",
    )


def membership_disagreement(group: AssessedGroup) -> Iterator[Finding]:
    """MEMBERSHIP_DISAGREEMENT: brokers that serve a group name different members of it.

    Its clients then compute with different lists. The rule compares brokers that answered, have a topic of the client,
    and are known to at least one client of the group. A client that has just started may have reached only some
    brokers. gRPC clients use no such list. Clients behind a Proxy in cluster mode have a list of their own; those that
    broadcast need none.
    """
    remoting = [one for one in group.facts.consumers if not one.is_grpc]
    proxied = behind_proxies(group.facts, group.cluster.broker_names)
    if group.facts.is_broadcasting:
        remoting = [one for one in remoting if one.client_id not in proxied]
    named = {broker for one in remoting for broker in one.seen_on or ()}
    unknown_to: dict[str, set[str]] = {}
    for consumer in remoting:
        if consumer.seen_on is None or not group.is_settled(consumer):
            continue
        unseen = named.difference(consumer.seen_on)
        for broker in unseen and unseen & _serving(group, consumer):
            unknown_to.setdefault(broker, set()).add(consumer.client_id)
    if not unknown_to:
        return
    ids = _distinct(chain.from_iterable(unknown_to.values()))
    brokers = sorted(unknown_to)
    behind = sorted(proxied.intersection(ids), key=java_order) if group.is_divided_twice else []
    yield finding(
        MEMBERSHIP_DISAGREEMENT,
        CRITICAL if behind and not group.facts.is_orderly else WARNING,
        consumer_group=group.name,
        subjects=ids,
        evidence=DisagreementEvidence(
            unknown_to=[
                UnknownTo(broker_name=broker, client_ids=sorted(unknown_to[broker], key=java_order))
                for broker in brokers
            ],
            behind_proxies=behind or UNSET,
        ),
        message=_on_two_sides(
            len(behind), len({one.client_id for one in remoting} - proxied), locks=bool(group.facts.is_orderly)
        )
        if behind
        else _unknown(len(ids), brokers, is_clustering=group.is_clustering),
    )


def _unknown(clients: int, brokers: Sequence[str], *, is_clustering: bool) -> str:
    return f"{counted(clients, 'client')} {'is' if clients == 1 else 'are'} unknown to {listed(brokers)}; " + (
        "clients that ask it who else reads divide the queues wrongly."
        if is_clustering
        else "a client that lost its connection to a broker reads nothing from it."
    )


def _on_two_sides(behind: int, others: int, *, locks: bool) -> str:
    if locks:
        return (
            f"Proxies alone know {counted(behind, 'client')}, and brokers know {others}: each side divides all queues"
            " among its own clients, and who locks a queue first reads it."
        )
    return (
        f"Proxies alone know {counted(behind, 'client')}, and brokers know {others}: each side divides all queues among"
        " its own clients, so that messages are consumed twice."
    )


def _serving(group: AssessedGroup, consumer: Consumer) -> set[str]:
    """The brokers that answered and have a topic of the consumer."""
    return {
        place.broker_name
        for reads in group.facts.reads
        if consumer.reads(reads.topic.topic)
        for place in reads.topic.places
        if place.has_answered
    }


def _distinct(texts: Iterable[str | None]) -> list[str]:
    """The known texts, each once, sorted."""
    return sorted({text for text in texts if text is not None})


GROUP_RULES: Final[tuple[GroupRule, ...]] = (
    duplicate_client_id,
    mixed_strategies,
    membership_disagreement,
)
