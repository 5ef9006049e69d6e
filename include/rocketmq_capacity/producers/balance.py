"""The shares of a topic's messages that its queues should get, and get, and what makes the difference.

Producers without keys use the writable queues in turn from a random start, so that every queue gets the same share,
far more evenly than by chance. The bound here is chance. If queues of one broker differ by more than chance, the
messages are keyed: a producer has no other reason to prefer one queue of a broker. If only brokers differ, the messages
are displaced: producers avoid a broker, or do not know it.
Source: MQFaultStrategy.selectOneMessageQueue, rocketmq-all-4.9.7 and rocketmq-all-5.3.3.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.model.facts import TopicFacts
from rocketmq_capacity.producers.chance import chi_square_tail
from rocketmq_capacity.producers.generation import generation_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Producer, ProducerBalance, ProducerShare
from rocketmq_capacity.vocabulary import BUSINESS, JAVA, MASTER, PRIORITY, java_order
from rocketmq_capacity.wording import rounded

Kind = Literal["KEYED", "DISPLACED", "KEYED_OR_DISPLACED"]
KEYED: Final[Kind] = "KEYED"
DISPLACED: Final[Kind] = "DISPLACED"
KEYED_OR_DISPLACED: Final[Kind] = "KEYED_OR_DISPLACED"
"""Every broker has only one queue, so that keys and displacement look the same."""
SHOWN: Final = 5
"""Producer groups of each sort that the evidence names."""
MEANING: Final[dict[Kind, str]] = {
    KEYED: "Producers choose its queues by a key: queues of one broker differ by more than chance.",
    DISPLACED: "Producers prefer some of its brokers: brokers differ by more than chance, and queues of one broker do"
    " not.",
    KEYED_OR_DISPLACED: "Producers choose by a key, or prefer some of its brokers: each broker has one queue alone, and"
    " they differ by more than chance.",
}


@dataclass(frozen=True, slots=True)
class Balance:
    """What producers write to a topic, compared with the same share for every queue.

    Attributes:
        rates: messages a second by broker and queue id; all known.
        between: the probability that brokers differ so much by chance; 1 if there is only one broker.
        within: the same for the queues of each broker; 1 if each broker has only one queue.
        kind: keyed, displaced or undecided between them; None if nothing differs by more than chance.
    """

    rates: dict[str, list[float]]
    between: float
    within: float
    kind: Kind | None

    def expected(self) -> dict[str, float]:
        """The share of each broker if all queues get the same."""
        queues = _number(self.rates)
        return {name: rounded(len(rates) / queues) for name, rates in self.rates.items()}

    def measured(self) -> dict[str, float]:
        """The share of the messages that each broker gets."""
        total = _total(self.rates)
        return {name: rounded(sum(rates) / total) for name, rates in self.rates.items()}


def producer_shares(topic: TopicFacts) -> Iterator[ProducerShare]:
    """A row for each writable queue of a business topic; none if its queues are unknown."""
    counts = _writable(topic) if topic.kind == BUSINESS else None
    if not counts:
        return
    measured = _measured(topic)
    queues = sum(counts.values())
    rates = {name: [measured.get((name, queue_id)) for queue_id in range(number)] for name, number in counts.items()}
    known = {name: [rate for rate in each if rate is not None] for name, each in rates.items()}
    is_known = _number(known) == queues
    total = _total(known)
    for name, broker_rates in rates.items():
        of_broker = sum(known[name]) / total if is_known and total > 0 else None
        for queue_id, rate in enumerate(broker_rates):
            yield ProducerShare(
                topic=topic.topic,
                broker_name=name,
                queue_id=queue_id,
                expected_ratio=1 / queues,
                measured_ratio=rate / total if rate is not None and of_broker is not None else None,
                broker_expected_ratio=len(broker_rates) / queues,
                broker_measured_ratio=of_broker,
                put_msgs_per_s=rate,
            )


def balance_of(topic: TopicFacts, policy: Policy) -> Balance | None:
    """How a topic's messages are spread over its queues; None if a rate is unknown, or if there are too few messages.

    The messages are counted over the time for which a snapshot measures. ``dispersion`` is how much more the counts
    vary than those of independent choices.
    """
    bounds, span = policy.thresholds.PRODUCER_BALANCE, policy.snapshot
    counts = None if topic.message_type == PRIORITY else _writable(topic)
    if not counts:
        return None
    measured = _measured(topic)
    rates: dict[str, list[float]] = {}
    for name, number in counts.items():
        of_broker = [measured[name, queue_id] for queue_id in range(number) if (name, queue_id) in measured]
        if len(of_broker) < number:
            return None
        rates[name] = of_broker
    queues, total = _number(rates), _total(rates)
    seconds = (span.sample_count - 1) * span.sample_interval_s
    mean = total / queues
    is_low = total < policy.thresholds.LOW_UTILISATION.min_msgs_per_s
    if queues < 2 or is_low or mean <= 0 or mean * seconds < bounds.min_messages:
        return None
    weight = seconds / bounds.dispersion
    means = {name: sum(each) / len(each) for name, each in rates.items()}
    between = weight * sum(len(each) * (means[name] - mean) ** 2 for name, each in rates.items()) / mean
    within = weight * sum(
        (rate - means[name]) ** 2 / means[name] for name, each in rates.items() if means[name] > 0 for rate in each
    )
    p_between = chi_square_tail(between, len(rates) - 1) if len(rates) > 1 else 1.0
    p_within = chi_square_tail(within, queues - len(rates)) if queues > len(rates) else 1.0
    least = bounds.min_difference
    differs_within = any(abs(rate - means[name]) > least * means[name] for name, each in rates.items() for rate in each)
    differs_between = any(abs(each - mean) > least * mean for each in means.values())
    kind: Kind | None = None
    if p_within < bounds.level and differs_within:
        kind = KEYED
    elif p_between < bounds.level and differs_between:
        kind = DISPLACED if queues > len(rates) else KEYED_OR_DISPLACED
    return Balance(rates, p_between, p_within, kind)


def producers_rates(topic: TopicFacts) -> dict[tuple[str, int], float]:
    """Messages a second of the queues that producers see, by broker and id; nothing if one of them is unknown.

    Nothing of a PRIORITY topic either, whose levels are meant to differ.
    """
    counts = None if topic.message_type == PRIORITY else _writable(topic)
    seen = [(name, queue_id) for name, number in (counts or {}).items() for queue_id in range(number)]
    measured = _measured(topic)
    return {queue: measured[queue] for queue in seen} if measured.keys() >= set(seen) else {}


def is_hot(rates: Collection[float], policy: Policy) -> bool:
    """Whether the hottest queue makes a HOT_QUEUE.

    Shape: messages a second of every writable queue of a topic -> yes or no.
    """
    low, bounds = policy.thresholds.LOW_UTILISATION, policy.thresholds.HOT_QUEUE
    total, hottest = sum(rates), max(rates, default=0.0)
    if total < low.min_msgs_per_s or total <= 0:
        return False
    return hottest * len(rates) / total > bounds.peak and hottest / total > bounds.share_factor / len(rates)


def producer_balance(topic: TopicFacts, producers: Sequence[Producer], policy: Policy) -> ProducerBalance | None:
    """How a business topic differs from one whose producers use no keys; None if it does not differ."""
    balance = balance_of(topic, policy) if topic.kind == BUSINESS else None
    if balance is None or balance.kind is None:
        return None
    mean = _total(balance.rates) / _number(balance.rates)
    groups = traced(producers, balance)
    return ProducerBalance(
        topic=topic.topic,
        kind=balance.kind,
        message=MEANING[balance.kind],
        message_type=topic.message_type,
        queues=_number(balance.rates),
        msgs_per_s=rounded(_total(balance.rates)),
        peak=rounded(max(max(each) for each in balance.rates.values()) / mean),
        level=policy.thresholds.PRODUCER_BALANCE.level,
        p_between_brokers=_probability(balance.between),
        p_within_brokers=_probability(balance.within),
        broker_expected_ratios=balance.expected(),
        broker_measured_ratios=balance.measured(),
        producer_groups_elsewhere=tuple(groups.get("producer_groups_elsewhere", ())),
        displacing_producer_groups=tuple(groups.get("displacing_producer_groups", ())),
    )


def traced(producers: Sequence[Producer], balance: Balance) -> dict[str, list[str]]:
    """The producer groups that can be the reason why brokers differ; nothing for keys.

    Only a producer itself knows its topics. So these are the groups that are seen on a broker of the topic but not on
    one that gets too little, and the groups whose version can avoid a queue for ever.
    """
    if balance.kind not in (DISPLACED, KEYED_OR_DISPLACED):
        return {}
    expected, measured = balance.expected(), balance.measured()
    little = {name for name in expected if measured[name] < expected[name]}
    seen: dict[str, set[str]] = {}
    displacing: set[str] = set()
    for producer in producers:
        seen.setdefault(producer.producer_group, set()).update(producer.seen_on)
        generation = generation_of(producer.version) if producer.language == JAVA else None
        if generation is not None and generation.displaces:
            displacing.add(producer.producer_group)
    absent = (name for name, on in seen.items() if on & balance.rates.keys() and little - on)
    return {
        "producer_groups_elsewhere": sorted(absent, key=java_order)[:SHOWN],
        "displacing_producer_groups": sorted(displacing, key=java_order)[:SHOWN],
    }


def _writable(topic: TopicFacts) -> dict[str, int] | None:
    """The number of writable queues of each broker that has some, in the producers' order; None if unknown."""
    counts: dict[str, int] = {}
    for place in sorted(topic.places, key=lambda one: java_order(one.broker_name)):
        number = place.writable if place.broker_state == MASTER else 0
        if number is None:
            return None
        if number:
            counts[place.broker_name] = number
    return counts


def _measured(topic: TopicFacts) -> dict[tuple[str, int], float]:
    return {
        (queue.broker_name, queue.queue_id): queue.put_msgs_per_s
        for queue in topic.written
        if queue.put_msgs_per_s is not None
    }


def _number(rates: dict[str, list[float]]) -> int:
    return sum(map(len, rates.values()))


def _total(rates: dict[str, list[float]]) -> float:
    return sum(map(sum, rates.values()))


def _probability(value: float) -> float:
    return float(f"{value:.2g}")
