"""The clients of a group, who owns what today, and what is planned for them: other numbers of clients start from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketmq_capacity.assessment.current import Current, OwnersToday
from rocketmq_capacity.assessment.peak import Peak
from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.model.owners import Allocator
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import OWN_CHOICE, POP


@dataclass(frozen=True, eq=False)
class Staff:
    """The clients of a group with their work.

    Attributes:
        division: its queues and consumers.
        policy: thresholds, and the strategies that groups are configured to run.
        allocator: computes the strategies.
        current: the strategy in use; None for a group that is not clustering.
        runs: the strategy of each client id, as the policy computes it.
        today: the owners of today; None if unknown.
        orphans: how many readable queues have no owner today; None if unknown.
        times: how long the clients take for a call of their listener.
        peak: the highest traffic that was seen.
        planned_msgs_per_s: messages a second of each queue that sizes are computed with; times ``peak.scale`` they are
            the peak's.
        work: the work of the clients today; None if an owner is unknown.
        planned_work: the same with ``planned_msgs_per_s``.
        pops: whether the group pops some queue.
        max_useful_clients: of :func:`max_useful_clients`.
        copied: the places of those that further clients copy, in turn; None: of all.
    """

    division: Division
    policy: Policy
    allocator: Allocator
    current: Current | None
    runs: list[str]
    today: OwnersToday | None
    orphans: int | None
    times: ResponseTimes
    peak: Peak
    planned_msgs_per_s: Numbers
    work: Work | None
    planned_work: Work | None
    pops: bool
    max_useful_clients: int | None
    copied: Sequence[int] | None = None

    @property
    def facts(self) -> GroupFacts:
        """The snapshot's facts about the group."""
        return self.division.group

    @property
    def mends_first(self) -> str | None:
        """The rule that is answered before it is known how many clients are needed: some read too little."""
        is_misread = self.facts.is_clustering and self.division.members.has_readers_of_some and bool(self.orphans)
        return "SUBSCRIPTION_MISMATCH" if is_misread else None


def pulled_sizes(facts: GroupFacts) -> dict[str, int]:
    """How many readable queues each business topic has whose mode is not POP; 0 if it has none.

    The mode is the broker's, also for an orderly group.
    """
    pulled = [reads for reads in facts.business if reads.message_request_mode != POP]
    return {reads.topic.topic: sum(place.readable for place in reads.topic.places) for reads in pulled}


def max_useful_clients(facts: GroupFacts) -> int | None:
    """How many readable queues its largest pulled topic has; None if it pops all topics or is not clustering.

    A group with gRPC clients has no such bound: each of these clients gets messages. Nor has one with clients whose
    programs choose their queues.
    """
    if facts.message_request_mode == POP or not facts.is_clustering or facts.has_grpc_clients:
        return None
    if any(one.allocate_strategy == OWN_CHOICE for one in facts.consumers):
        return None
    return max(pulled_sizes(facts).values(), default=0)
