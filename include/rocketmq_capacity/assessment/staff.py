"""The clients of a group, who owns what today, and what is planned for them: other numbers of clients start from it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rocketmq_capacity.assessment.current import Current, OwnersToday
from rocketmq_capacity.assessment.peak import Peak
from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts, Reads
from rocketmq_capacity.model.owners import Allocator
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import CONSISTENT_HASH, MACHINE_ROOM_NEARBY, MIXED, OWN_CHOICE, POP


@dataclass(frozen=True, eq=False)
class Staff:
    """The clients of a group with their work.

    Attributes:
        division: its queues and consumers.
        policy: thresholds, and the strategies that groups are configured to run.
        allocator: computes the strategies.
        current: the strategy in use; None for a group that is not clustering.
        strategy: the same by the name under which it is computed.
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
        useful_clients: of :func:`useful_clients`.
        is_divided_twice: of :func:`~rocketmq_capacity.assessment.two_sides.is_divided_twice`.
        stays: the places of the consumers in the order in which they stay, if there are fewer; None: as
            `choice_of_clients.staying` has it.
    """

    division: Division
    policy: Policy
    allocator: Allocator
    current: Current | None
    strategy: str | None
    runs: list[str]
    today: OwnersToday | None
    orphans: int | None
    times: ResponseTimes
    peak: Peak
    planned_msgs_per_s: Numbers
    work: Work | None
    planned_work: Work | None
    pops: bool
    useful_clients: int | None
    is_divided_twice: bool
    stays: Sequence[int] | None = None

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
    return {reads.topic.topic: sum(place.readable for place in reads.topic.places) for reads in _pulled(facts)}


def may_have_queues(facts: GroupFacts) -> bool:
    """Whether a pulled topic has a readable queue, as far as it is known."""
    return any(place.may_be_readable for reads in _pulled(facts) for place in reads.topic.places)


def _pulled(facts: GroupFacts) -> list[Reads]:
    return [reads for reads in facts.business if reads.message_request_mode != POP]


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


def useful_clients(facts: GroupFacts, strategy: str | None) -> int | None:
    """How many clients can own a queue under the strategy in use; None as of :func:`max_useful_clients`.

    None as well if the group pops some topic, which every client reads. AVG and AVG_BY_CIRCLE give the queues of every
    topic to the same clients, CONSISTENT_HASH those of each topic to others. MACHINE_ROOM_NEARBY gives the queues of
    each machine room to the clients there.
    """
    largest = None if facts.message_request_mode == MIXED else max_useful_clients(facts)
    if not largest or strategy is None:
        return largest
    if strategy == CONSISTENT_HASH:
        return sum(pulled_sizes(facts).values())
    return _useful_in_rooms(facts) if strategy.startswith(MACHINE_ROOM_NEARBY) else largest


def _useful_in_rooms(facts: GroupFacts) -> int:
    """The same for MACHINE_ROOM_NEARBY, with clients in the rooms of today, wherever further ones run.

    The queues of a room without clients go to the first clients of all, who are the first of their own rooms, too.
    """
    most: Counter[str | None] = Counter()
    for reads in _pulled(facts):
        in_room: Counter[str | None] = Counter()
        for place in reads.topic.places:
            in_room[place.room] += place.readable
        most |= in_room
    with_clients = {room: most[room] for room in {one.room for one in facts.consumers}}
    elsewhere = max((queues for room, queues in most.items() if room not in with_clients), default=0)
    return sum(with_clients.values()) + max(0, elsewhere - min(with_clients.values(), default=0))
