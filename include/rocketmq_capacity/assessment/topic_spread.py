"""Where the business topics of a cluster are, and how their messages spread over its brokers."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker
from rocketmq_capacity.vocabulary import is_open
from rocketmq_capacity.wording import rounded

CLUSTER: Final = "brokerClusterName"
"""The property of a broker with the name of its cluster."""
SHARED: Final = 2
"""Topics with the same brokers, from which on these brokers count as a set that is chosen on purpose."""


@dataclass(frozen=True)
class TopicSpread:
    """Where the business topics of a cluster are.

    Attributes:
        brokers: masters that may be read and written, by name.
        topics: for each topic that has queues, its brokers with their messages a second (None: unknown).
        closed: for each topic, the brokers where it may be neither read nor written, or has no queues.
        placed: for each topic that the policy places, its brokers there.
        named: the brokers that the policy's placement names.
        cluster_of: the cluster of each broker, by its properties (None: unknown); a name server may have several.
    """

    brokers: Mapping[str, Broker]
    topics: Mapping[str, Mapping[str, float | None]]
    closed: Mapping[str, Collection[str]]
    placed: Mapping[str, Sequence[str]]
    named: Collection[str]
    cluster_of: Mapping[str, str | None]

    @classmethod
    def of(cls, places: Iterable[TopicLoss], cluster: ClusterFacts, policy: Policy) -> "TopicSpread":
        """The topics and brokers of a cluster; ``places`` has a row for each topic and broker."""
        topics: dict[str, dict[str, float | None]] = {}
        closed: dict[str, set[str]] = {}
        for place in places:
            if place.was_readable or place.was_writable is not False:
                topics.setdefault(place.topic, {})[place.lost] = place.msgs_per_s
            else:
                closed.setdefault(place.topic, set()).add(place.lost)
        names = topics if policy.placement else ()
        placed = {topic: brokers for topic in names if (brokers := policy.placed_on(topic)) is not None}
        return cls(
            brokers={
                one.broker_name: one for one in sorted(cluster.brokers, key=lambda one: one.broker_name) if _serves(one)
            },
            topics=topics,
            closed=closed,
            placed=placed,
            named={name for each in policy.placement for name in each.brokers},
            cluster_of={one.broker_name: (one.config or {}).get(CLUSTER) for one in cluster.brokers},
        )

    def peers(self, name: str) -> list[str]:
        """The other brokers of a broker's cluster that may be read and written: topics stay within a cluster."""
        cluster = self.cluster_of.get(name)
        return [other for other in self.brokers if other != name and self.cluster_of[other] == cluster]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of topics on each broker."""
        return Counter(name for on in self.topics.values() for name in on)

    @cached_property
    def rates(self) -> dict[str, float | None]:
        """Messages a second of each broker; None if the rate of one of its topics is unknown."""
        rates: dict[str, float | None] = dict.fromkeys(self.brokers, 0.0)
        for on in self.topics.values():
            for name, rate in on.items():
                rates[name] = sum_of((rates.get(name, 0.0), rate))
        return rates

    @cached_property
    def total(self) -> float | None:
        """Messages a second of all brokers; None if unknown."""
        return sum_of(self.rates.values())

    @cached_property
    def sets(self) -> Counter[frozenset[str]]:
        """The sets of several brokers that topics share, with the number of these topics."""
        every = Counter(frozenset(on) for on in self.topics.values())
        return Counter({brokers: topics for brokers, topics in every.items() if len(brokers) > 1 and topics >= SHARED})

    def share(self, rate: float | None) -> float | None:
        """A rate's share of all messages, rounded; None if unknown, or if nothing is written."""
        return None if rate is None or not self.total else rounded(rate / self.total)


def _serves(broker: Broker) -> bool:
    return broker.broker_id == 0 and is_open(broker.broker_perm)
