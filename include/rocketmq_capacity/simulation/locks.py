"""How clients pass on the broker's lock of a queue that they consume in order; it depends on their version.

Source: RebalanceImpl.updateProcessQueueTableInRebalance and RebalancePushImpl.removeUnnecessaryMessageQueue of each
version, apache/rocketmq#5465.
"""

from typing import Final, NamedTuple

from rocketmq_capacity.assessment.balancing_faults import WAITS_WITH_A_LOCK
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.protocol.version import Version, numbers_of
from rocketmq_capacity.simulation.delays import Delay
from rocketmq_capacity.simulation.timing import MIN_REBALANCE_S, UNLOCK_DELAY_S
from rocketmq_capacity.vocabulary import JAVA, LOCK_RENEWAL_S

TRIES_AGAIN_SOON: Final[Version] = (5, 0, 0)
"""The first version whose clients ask again for a lock before the next rebalance of their loop."""
UNLOCKS_AT_ONCE: Final[Version] = (5, 2, 0)
"""The first version whose clients do not keep the lock of a queue because they have messages of it in memory."""
FIRST_RENEWAL_S: Final = 1.0
"""ConsumeMessageOrderlyService.start: so long after its start a client renews its locks, and from then on each 20 s."""
RETRY_PULL_S: Final = 3.0
"""DefaultMQPushConsumerImpl.pullTimeDelayMillsWhenException: how often a queue without a lock is tried."""


class Locks(NamedTuple):
    """When a lock goes from one client to another.

    Attributes:
        asked_again: after a client was refused a lock, when it asks again.
        kept: after a client that goes on running has stopped reading a queue, when it gives the lock back.
        noticed: after a client has got a lock, when it reads the queue.
    """

    asked_again: Delay = Delay.of(0.0, (MIN_REBALANCE_S,))
    kept: Delay = Delay.of(0.0, most=UNLOCK_DELAY_S + MIN_REBALANCE_S)
    noticed: Delay = Delay()

    @property
    def of_newcomer(self) -> "Locks":
        """The same if the new reader starts: from then on it rebalances and renews its locks at equal intervals."""
        if not self.noticed.most:
            return self
        return self._replace(noticed=Delay.of(0.0, (FIRST_RENEWAL_S,), FIRST_RENEWAL_S + RETRY_PULL_S))

    @classmethod
    def of(cls, group: GroupFacts, rebalance_s: float) -> "Locks":
        """Those of a group; the oldest version of its Java clients counts, and 5.3.3 if no version is known.

        From 5.2.0 on a client asks again after a second and gives a lock back at once. In the middle of a long call it
        tries once a second, and gives the lock back at most `UNLOCK_DELAY_S` later. An older one waits `UNLOCK_DELAY_S`
        if it has messages of the queue in memory, which is unknown. In the middle of a call it tries once a rebalance.

        Args:
            group: the group.
            rebalance_s: how often its clients rebalance without being told to.
        """
        names = {one.version for one in group.consumers if one.language == JAVA and not one.is_grpc}
        oldest = min(filter(None, map(numbers_of, names)), default=UNLOCKS_AT_ONCE)
        if oldest >= UNLOCKS_AT_ONCE:
            return cls()
        delayed = Delay.of(0.0, (UNLOCK_DELAY_S,), UNLOCK_DELAY_S + rebalance_s + MIN_REBALANCE_S)
        if oldest >= TRIES_AGAIN_SOON:
            return cls(kept=delayed)
        in_loop = Delay.of(0.0, (rebalance_s,))
        if WAITS_WITH_A_LOCK.range_of(oldest) is None:
            return cls(in_loop, delayed)
        return cls(in_loop, delayed, Delay.of(0.0, (LOCK_RENEWAL_S,), LOCK_RENEWAL_S + RETRY_PULL_S))
