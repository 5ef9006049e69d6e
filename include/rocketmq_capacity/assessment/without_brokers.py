"""How busy a group would be without each of its brokers, and which queues nobody would read: all brokers at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.effect import Crossed
from rocketmq_capacity.assessment.failure_effects import QueuesByReaders, twice_after, unread_after
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.owners_by_strategy import divide
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.owners import Owners


@dataclass(frozen=True)
class WithoutBrokers:
    """A group without each of its brokers.

    Attributes:
        shares: the busy share of its busiest client at the peak: three rows (lower, estimate and upper) and a
            column for each broker; NaN if unknown.
        readers: for each broker who reads the queues that stay without it.
    """

    shares: Numbers
    readers: list[QueuesByReaders]

    @classmethod
    def of_each(cls, groups: Sequence[AssessedGroup]) -> "list[WithoutBrokers | None]":
        """Each group without its brokers; see :meth:`_of`."""
        divide(
            (group.churn.without_brokers.owners, strategy)
            for group in groups
            if (strategy := group.one_strategy) is not None and len(group.losses.base_queue)
        )
        return list(map(cls._of, groups))

    @classmethod
    def _of(cls, group: AssessedGroup) -> "WithoutBrokers | None":
        """The group without its brokers; None if today's owners are not computed from one strategy."""
        strategy, work, losses = group.one_strategy, group.planned_work, group.losses
        if strategy is None or work is None:
            return None
        change = group.churn.without_brokers
        owners = change.owners[strategy] if len(losses.division.queues) else None
        if owners is not None and (owners.unknown or owners.strangers):
            return None
        rates = group.planned_msgs_per_s[losses.base_queue] + added_at_peak(group, losses)
        shares = shares_without(work, losses, owners, rates) * group.peak.scale
        if owners is None:
            return cls(shares, [QueuesByReaders()] * len(losses.losses))
        unread = unread_after(group, owners, change.base_queue)
        twice = twice_after(group, owners, change.division, change.base_queue)
        counts = [losses.per_loss(flags).tolist() for flags in (*unread, *twice)]
        return cls(shares, [QueuesByReaders(Crossed(*own[:2]), Crossed(*own[2:])) for own in zip(*counts, strict=True)])

    def busy(self, broker: int) -> Interval | None:
        """The busy share at the peak without one of the brokers."""
        lower, estimate, upper = self.shares[:, broker].tolist()
        return None if np.isnan(estimate) else Interval(lower, estimate, upper)


def added_at_peak(group: AssessedGroup, losses: BrokerLosses) -> Numbers:
    """Further messages a second from each queue that is left, in the unit of ``planned_msgs_per_s``; NaN if unknown."""
    ratios = group.peak.of_topics
    added = losses.added_msgs_per_s
    return added if ratios is None else added * ratios[losses.base_topic][losses.division.queues.topic]


def shares_without(work: Work, losses: BrokerLosses, owners: Owners | None, msgs_per_s: Numbers) -> Numbers:
    """Lower, estimate and upper of the busiest client's share, without each broker.

    Args:
        work: of the clients with all brokers.
        losses: the losses of the brokers.
        owners: the owners of the queues that are left; None if none are.
        msgs_per_s: of these queues.
    """
    times = np.stack([work.times.lower, work.times.estimate, work.times.upper])
    base = np.where(work.incoming_msgs_per_s == 0, 0.0, work.incoming_msgs_per_s * times / 1000)
    clients, pairs, brokers = base.shape[1], len(losses.loss), len(losses.losses)
    owned: Numbers
    incoming: Numbers
    owned, incoming = np.zeros((clients, pairs)), np.zeros((clients, pairs))
    if owners is not None:
        cell = owners.client * pairs + losses.division.queues.topic[owners.queue]
        rates = msgs_per_s[owners.queue]
        number = np.bincount(cell, minlength=clients * pairs).reshape(clients, pairs)
        owned = number.astype(np.float64)
        incoming = np.asarray(np.bincount(cell, rates, clients * pairs), np.float64).reshape(clients, pairs)
    changed = np.where(incoming == 0, 0.0, incoming * times[:, :, losses.base_topic] / 1000)
    first = np.searchsorted(losses.loss, np.arange(brokers))
    seconds = np.add.reduceat(changed, first, axis=2)
    queues = np.add.reduceat(owned, first, axis=1)
    is_untouched = np.ones((brokers, base.shape[2]), bool)
    is_untouched[losses.loss, losses.base_topic] = False
    for broker in np.flatnonzero(is_untouched.any(axis=1)).tolist():
        untouched = is_untouched[broker]
        seconds[:, :, broker] += base[:, :, untouched].sum(axis=2)
        queues[:, broker] += work.queues[:, untouched].sum(axis=1)
    calls = np.fmin(work.threads[:, None], queues) if work.is_orderly else work.threads[:, None]
    at_once = calls * work.batch[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(queues > 0, seconds / np.where(at_once > 0, at_once, np.nan), 0.0)
    return np.asarray(shares.max(axis=1))
