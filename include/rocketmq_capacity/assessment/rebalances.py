"""REBALANCE_FREQUENCY: members of a group that come and go."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import Struct

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import WARNING
from rocketmq_capacity.wording import counted, rounded


class CameAgain(Struct, frozen=True, kw_only=True):
    """A host whose clients were started more often than a deployment starts them."""

    host: Annotated[str, means("where the clients run")]
    came: Annotated[int, means("that came there", "client")]
    clients: Annotated[int, means("that ran there at the same time, at most", "client")]


class RebalanceEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of REBALANCE_FREQUENCY."""

    hours: Annotated[float, means("time between the snapshots that were compared")]
    snapshots: Annotated[int, means("that were compared, each with the next one", "snapshot")]
    changed: Annotated[int, means("from a snapshot to the next in which members changed", "step")]
    came: Annotated[int, means("that came, at least", "client")]
    left: Annotated[int, means("that left, at least", "client")]
    clients: Annotated[int, means("of the group at the same time, at most", "client")]
    hosts: Annotated[Sequence[CameAgain], means("hosts whose clients came again and again")]


REBALANCE_FREQUENCY: Final = Rule(
    name="REBALANCE_FREQUENCY",
    title="Consumers that come and go",
    meaning=(
        "Each time a member comes or leaves, all consumers of the group divide the queues anew. Queues that move are"
        " unread for some seconds, and messages that were not yet committed come twice."
    ),
    place=185,
    goal="LITTLE_CHURN",
    evidence=RebalanceEvidence,
    advice="Find out why its clients end: logs, restarts and probes of pods, memory, or a network that they lose.",
    looks="members",
    shows="the same clients in two calls that are some minutes apart.",
    shown_by="members",
    needs=("clients", "seen"),
    severities={
        "WARNING": "queues stop again and again, and messages come twice",
    },
    details="""
    Inventories of the last `window_h` hours are compared, each with the next one, if they are at most `longest_gap_h`
    apart and without failures: those of the history (`plan --history`), of the lake, and the planned one. If the group
    has samples of these hours (`rocketmq_capacity_sample`), they are compared instead, by ids alone. A client is new if
    its id is, or if it was started again. A deployment replaces each client once. So there is a finding if the
    clients of a host came `returns` times as often as there are clients on it, or all clients of the group did. What
    comes and leaves between two snapshots is not seen, so the numbers are the least.
    """,
)


def rebalance_frequency(group: AssessedGroup) -> Iterator[Finding]:
    """REBALANCE_FREQUENCY: clients of a clustering group came again and again in the last hours."""
    past, bounds = group.facts.past_members, group.policy.thresholds.REBALANCE_FREQUENCY
    if past is None or not group.is_clustering:
        return
    hosts = [one for one in past.returned if one.came >= bounds.returns * one.clients]
    if not hosts and past.came < bounds.returns * max(1, past.most_clients):
        return
    again = ", ".join(f"those of {one.host} {counted(one.came, 'time')}" for one in hosts[:3])
    yield finding(
        REBALANCE_FREQUENCY,
        WARNING,
        consumer_group=group.name,
        subjects=[one.host for one in hosts],
        evidence=RebalanceEvidence(
            hours=rounded(past.hours, 2),
            snapshots=past.snapshots,
            changed=past.changed,
            came=past.came,
            left=past.left,
            clients=past.most_clients,
            hosts=[CameAgain(host=one.host, came=one.came, clients=one.clients) for one in hosts],
        ),
        message=f"In {rounded(past.hours, 1)} hours at least {counted(past.came, 'client')} came and {past.left} left,"
        f" of {past.most_clients} at the same time at most." + (f" Clients came again: {again}." if again else ""),
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (rebalance_frequency,)
