"""Clients that look suspended: they stay members of their group, keep their queues, and read none of them.

A cluster does not tell that a program has called ``suspend()``: no property of a client says so. What shows it is what
such a client does (DefaultMQPushConsumerImpl, rocketmq-all-5.3.3):

- It sends heartbeats, so that it keeps its share. A client that consumes in order renews its locks.
- Every second it marks each of its queues as asked for, and asks the broker for nothing (``pullMessage``).
- It handles what it has in its cache, and then has nothing.
- It does not rebalance (``doRebalance``, ``tryRebalance``): it keeps queues that others get, and takes none.

``DefaultLitePullConsumer.pause`` is another thing: its queues are not marked any more, which makes them NOT_PULLED.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.model.facts import GroupFacts, Owned
from rocketmq_capacity.settings.thresholds import StuckQueue
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CONSUME_ACTIVELY

SUSPENDED: Final = "SUSPENDED"
"""It reads nothing, and holds other queues than its share: it does not rebalance either."""
SUSPENDED_OR_REFUSED: Final = "SUSPENDED_OR_REFUSED"
"""It reads nothing, and holds its share: brokers may as well refuse each of its requests."""
Why = Literal["SUSPENDED", "SUSPENDED_OR_REFUSED"]

MARKED_S: Final = 2.0
"""A suspended client has marked each of its queues at most so many seconds ago. It does so every second
(PULL_TIME_DELAY_MILLS_WHEN_SUSPEND). A request that waits for messages marks a queue every 15 s, and one that fails
every 3 s (brokerSuspendMaxTimeMillis, pullTimeDelayMillsWhenException)."""

ADVICE: Final = (
    "Find out whether the program of a client that looks suspended has called suspend(): its log then says every second"
    ' "consumer was paused". Call resume(), or restart the client. If its log says instead that pulls fail, look for'
    " what the broker refuses. More clients do not help: it stays a member and keeps its share."
)

Shares = Mapping[str, Set[Queue]]
"""By client id, the queues that a client should hold."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """A client that looks suspended.

    Attributes:
        client_id: its id.
        why: whether only ``suspend()`` explains it.
        unread: queues that it alone holds, in which messages wait and whose offset does not move, sorted.
        not_taken: queues of its share that it has not taken and nobody holds, sorted.
        held: how many queues it holds.
    """

    client_id: str
    why: Why
    unread: tuple[Queue, ...]
    not_taken: tuple[Queue, ...]
    held: int


def suspended_clients(
    sampled: Sampled, bounds: StuckQueue, shares: Callable[[], Shares | None]
) -> tuple[Suspended, ...]:
    """The clients of a group that look suspended, by client id.

    ``shares`` gives the share of each client that can be judged by it; None if shares are unknown. It is called only if
    a client reads nothing.
    """
    facts = sampled.group
    if not facts.is_clustering or facts.consume_type == CONSUME_ACTIVELY:
        return ()
    copies = Counter(one.client_id for one in facts.consumers)
    pulled = {reads.topic.topic for reads in facts.business if not facts.pops(reads)}
    held = [one for one in facts.owned if one.topic in pulled]
    awake = {one.client_id for one in held if not _is_only_marked(facts, one, bounds)}
    idle = sorted({one.client_id for one in held if one.client_id not in awake and copies[one.client_id] == 1})
    if not idle:
        return ()
    names: dict[str, list[Queue]] = {}
    for owned in held:
        names.setdefault(owned.client_id, []).append(owned.queue)
    holders = Counter(queue for queues in names.values() for queue in set(queues))
    unread = {one: _unread(names[one], holders, sampled, bounds.no_progress_s) for one in idle}
    silent = [client_id for client_id in idle if unread[client_id]]
    known_shares = shares() if silent else None
    # A queue that a silent client may hold is not known to be nobody's.
    everybody_tells = all(one.has_owned_queues for one in facts.consumers)
    return tuple(
        _suspended(client_id, unread[client_id], names[client_id], known_shares, holders if everybody_tells else None)
        for client_id in silent
    )


def _suspended(
    client_id: str,
    unread: tuple[Queue, ...],
    names: Collection[Queue],
    shares: Shares | None,
    holders: Collection[Queue] | None,
) -> Suspended:
    held = set(names)
    share = None if shares is None else shares.get(client_id)
    if share is None or held == share:
        return Suspended(client_id, SUSPENDED_OR_REFUSED, unread, (), len(held))
    nobodys = () if holders is None else tuple(sorted(queue for queue in share - held if queue not in holders))
    return Suspended(client_id, SUSPENDED, unread, nobodys, len(held))


def _is_only_marked(facts: GroupFacts, owned: Owned, bounds: StuckQueue) -> bool:
    """Whether a client has just marked a queue, has nothing of it, and has long handled nothing of it.

    A dropped queue and one that is not locked have states of their own.
    """
    is_unlocked = facts.is_orderly and (owned.locked is False or (owned.locked_ago_s or 0.0) > bounds.lock_s)
    if owned.dropped or is_unlocked or owned.cached_msgs != 0:
        return False
    if owned.pulled_ago_s is None or owned.consumed_ago_s is None:
        return False
    return owned.pulled_ago_s <= MARKED_S and owned.consumed_ago_s > bounds.no_progress_s


def _unread(
    names: Collection[Queue], holders: Mapping[Queue, int], sampled: Sampled, bound_s: float
) -> tuple[Queue, ...]:
    """The queues that one client alone holds and that stand with messages; none if it is seen to read any."""
    alone = sorted({queue for queue in names if holders[queue] == 1})
    if any(map(sampled.moved_last, alone)):
        return ()
    return tuple(queue for queue in alone if (sampled.stands_s(queue) or 0.0) > bound_s)


def looks_suspended(clients: Collection[Suspended]) -> str:
    """A further sentence on each of these clients; empty if there are none."""
    return "".join(f" {_sentence(one)}" for one in clients)


def _sentence(client: Suspended) -> str:
    unread = f"asks for none of the messages that wait in {len(client.unread)} of its {client.held} queues"
    if client.why == SUSPENDED_OR_REFUSED:
        return (
            f"{client.client_id} looks suspended, or all its requests are refused: it {unread}, and its cache is empty."
        )
    return f"{client.client_id} looks suspended: it {unread}, its cache is empty, and it does not rebalance."
