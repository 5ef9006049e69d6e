"""Queues that clients should have by their strategy, and that nobody has taken.

A client divides the queues and the clients that it knows. It asks a name server for the queues every 30 s
(``pollNameServerInterval``), and keeps those that it has where no answer comes. Before it takes a queue, it asks the
broker where to begin, and leaves the queue for the next time where the broker does not say, or gives no lock to a
client that consumes in order (RebalanceImpl.updateProcessQueueTableInRebalance, rocketmq-all-5.3.3).
"""

from collections.abc import Callable
from typing import Final

from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.assessment.suspended import Shares
from rocketmq_capacity.model.facts import Consumer, GroupFacts
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CONSUME_ACTIVELY, MASTERLESS

NOT_TAKEN: Final = "NOT_TAKEN"
"""The cause of queues without an owner: their owners by the strategy have not taken them."""

ADVICE: Final = (
    "Look in the logs of {clients} for why these queues are not taken. A client does not know a queue if no name server"
    " answers it, or if it seldom asks (pollNameServerInterval, 30 s). Or the broker does not let it ask where to begin"
    " (rights), or lock the queue. A client that is restarted asks for all queues again. More clients or another"
    " strategy do not help."
)


def not_taken(
    sampled: Sampled, bound_s: float, is_settled: Callable[[Consumer], bool], shares: Callable[[], Shares | None]
) -> dict[Queue, str]:
    """The queues that no client holds, each with the client id whose share it is, sorted.

    There are none as long as messages have waited in none of them for longer than a bound: then clients may be about to
    take them. Nor if a client does not tell what it holds, has just started, or does not divide the queues itself.
    ``shares`` is called only if such messages wait; it gives None if shares are unknown.
    """
    facts = sampled.group
    if not _is_known(facts) or not all(map(is_settled, facts.consumers)):
        return {}
    standing = sampled.standing(bound_s)
    held = {one.queue for one in facts.owned} if standing else set()
    if held.issuperset(standing) or (of_clients := shares()) is None:
        return {}
    without_lock = _without_master(facts) if facts.is_orderly else frozenset[str]()
    owners = {
        queue: client_id
        for client_id, share in of_clients.items()
        for queue in share
        if queue not in held and queue.broker_name not in without_lock
    }
    return dict(sorted(owners.items())) if owners.keys() & set(standing) else {}


def _is_known(facts: GroupFacts) -> bool:
    """Whether all clients divide the queues themselves, each with an id of its own, and tell what they hold."""
    consumers = facts.consumers
    pops = any(map(facts.pops, facts.business))
    if not facts.is_clustering or not consumers or pops or facts.consume_type == CONSUME_ACTIVELY:
        return False
    if len({one.client_id for one in consumers}) < len(consumers):
        return False
    return all(one.has_owned_queues and not one.is_grpc for one in consumers)


def _without_master(facts: GroupFacts) -> frozenset[str]:
    """The brokers at which an orderly client cannot lock a queue."""
    places = (place for reads in facts.business for place in reads.topic.places)
    return frozenset(place.broker_name for place in places if place.broker_state == MASTERLESS)
