"""FIX_CLIENT_ID and FIX_SUBSCRIPTION: clients of a group that are set up wrongly. The commands only read."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.balancing_faults import BARE_PROCESS_ID
from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.ownership import OrphanEvidence
from rocketmq_capacity.catalogue.action import Action, Proof, Recommended
from rocketmq_capacity.model.cases import CaseSide
from rocketmq_capacity.model.facts import Consumer, GroupFacts
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.protocol.version import numbers_of
from rocketmq_capacity.recommendation.answer import answer, sentences
from rocketmq_capacity.recommendation.commands import consumer_connection, consumer_status
from rocketmq_capacity.recommendation.consequences import set_up_behind
from rocketmq_capacity.recommendation.effects import side_shown
from rocketmq_capacity.recommendation.facts import AdvisedGroup, GroupAction
from rocketmq_capacity.vocabulary import JAVA
from rocketmq_capacity.wording import listed

DUPLICATE: Final = "DUPLICATE_CLIENT_ID"
MISMATCH: Final = "SUBSCRIPTION_MISMATCH"
ORPHAN: Final = "ORPHAN_QUEUE"
CAPACITY: Final = "CONSUMER_CAPACITY"


def _ids(recommended: Recommended, nameserver: str) -> Proof:
    return consumer_connection(nameserver, recommended.consumer_group or ""), "each client id stands there once."


def _subscriptions(recommended: Recommended, nameserver: str) -> Proof:
    command = consumer_status(nameserver, recommended.consumer_group or "")
    return command, "it ends with: Same subscription in the same group of consumer."


FIX_CLIENT_ID: Final = Action(
    name="FIX_CLIENT_ID",
    title="Give each consumer of {group} its own client id",
    meaning="A change in the consumers' set-up.",
    place=100,
    changes="clients",
    check=_ids,
    way_back="Start the clients with their old set-up; they then share the id again.",
    answers=(DUPLICATE,),
    offered="for every group whose consumers share an id",
    moves_queues=True,
    details="""
    The commands only look.
    """,
)
FIX_SUBSCRIPTION: Final = Action(
    name="FIX_SUBSCRIPTION",
    title="Let all consumers of {group} read the same messages",
    meaning="A change in the consumers' code.",
    place=110,
    changes="clients",
    check=_subscriptions,
    way_back="Start the clients that were changed with their old code.",
    answers=(MISMATCH,),
    offered="for every group whose clients subscribe differently",
    moves_queues=True,
    details="""
    A canary with another filter needs a group of its own. The commands only look.
    """,
)


def fix_client_id(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation for a group with consumers that share an id."""
    for finding in group.named(DUPLICATE):
        after = group.after(each_an_id(group.facts))
        old = any(map(_takes_bare_pid, group.facts.consumers))
        yield answer(
            FIX_CLIENT_ID,
            consumer_group=group.name,
            target=finding.subjects,
            reason=sentences(
                "Give each consumer an id of its own (instanceName or clientIP in its set-up); now shared:"
                f" {listed(finding.subjects)}.",
                "Java clients before 4.9.0 use their process id alone, which repeats: upgrade them." if old else None,
                _effect(group.before, after),
            ),
            rules=_rules(group, DUPLICATE, after),
            commands=[
                consumer_connection(group.cluster.nameserver, group.name, address) for address in group.addresses
            ],
            before=side_shown(group.before),
            after=side_shown(after),
        )


def fix_subscription(group: AdvisedGroup) -> Iterator[tables.Recommendation]:
    """One recommendation for a group whose clients subscribe differently."""
    for finding in group.named(MISMATCH):
        after = group.after(all_subscribe(group.facts))
        yield answer(
            FIX_SUBSCRIPTION,
            consumer_group=group.name,
            target=finding.subjects,
            reason=sentences(
                "Let every client subscribe to the same topics with the same filters. These differ from most:"
                f" {listed(finding.subjects)}. Two kinds of consumers belong in two groups, a canary included.",
                _effect(group.before, after),
            ),
            rules=_rules(group, MISMATCH, after),
            # Without a client's name, mqadmin asks every client, also gRPC ones, which cannot answer.
            commands=[consumer_connection(group.cluster.nameserver, group.name, address) for address in group.addresses]
            if group.facts.has_grpc_clients
            else [consumer_status(group.cluster.nameserver, group.name)],
            before=side_shown(group.before),
            after=side_shown(after),
        )


def each_an_id(facts: GroupFacts) -> GroupFacts:
    """The group with an id of its own for each consumer."""
    copies: dict[str, list[Consumer]] = {}
    for consumer in Members.of(facts).consumers:
        copies.setdefault(consumer.client_id, []).append(consumer)
    consumers = []
    for client_id, (first, *others) in copies.items():
        # The ids that the consumers will get are unknown; any different ones show how the queues will be divided.
        renamed = [replace(one, client_id=f"{client_id}#{number}") for number, one in enumerate(others, 2)]
        runs = min((one.allocate_strategy for one in (first, *others) if one.allocate_strategy), default=None)
        consumers += [replace(first, allocate_strategy=runs), *renamed]
    return replace(facts, consumers=tuple(consumers))


def all_subscribe(facts: GroupFacts) -> GroupFacts:
    """The group in which each consumer subscribes to all of its topics."""
    consumers = tuple(replace(one, only_topics=None) for one in facts.consumers)
    return replace(facts, consumers=consumers)


def _takes_bare_pid(consumer: Consumer) -> bool:
    """Whether its library takes only the process id as the name of its instance."""
    return consumer.language == JAVA and BARE_PROCESS_ID.range_of(numbers_of(consumer.version)) is not None


def _rules(group: AdvisedGroup, rule: str, after: CaseSide | None) -> list[str]:
    """The rule, with those of the findings that come of it."""
    before = group.before
    rules = [rule]
    is_cause = any(OrphanEvidence.of(one).cause == rule for one in group.named(ORPHAN))
    if is_cause and (before is None or after is None or after.orphan_queues < before.orphan_queues):
        rules.append(ORPHAN)
    rules += [
        CAPACITY for one in group.named(CAPACITY) if (busy := TooBusyEvidence.read(one)) and busy.mend_first == rule
    ]
    behind = {one.rule for one in group.findings if set_up_behind(one.rule, one.subjects, group.set_up) == rule}
    return rules + sorted(behind)


def _effect(before: CaseSide | None, after: CaseSide | None) -> str | None:
    """What becomes less, in a sentence; None if nothing does, or if that is unknown."""
    if before is None or after is None:
        return None
    figures = (
        ("queues that nobody reads", before.orphan_queues, after.orphan_queues),
        ("queues that are read twice", before.doubly_owned_queues, after.doubly_owned_queues),
    )
    less = [f"{what} go from {was} to {would_be}" for what, was, would_be in figures if would_be < was]
    return f"Then {' and '.join(less)}." if less else None


GROUP_ACTIONS: Final[tuple[GroupAction, ...]] = (fix_client_id, fix_subscription)
