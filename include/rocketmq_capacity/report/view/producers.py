"""How producers spread messages over queues and brokers, as the page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import NAMED_IN_A_CELL, UNEVEN_TOPICS
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.tables.assess.brokers import ProducerBalance

KIND_WORDS: Final = {
    "KEYED": "keys",
    "DISPLACED": "brokers",
    "KEYED_OR_DISPLACED": "keys or brokers",
}
"""What makes the difference."""


@dataclass(frozen=True, slots=True)
class UnevenTopic:
    """A topic whose queues or brokers get another share than producers without keys would give them."""

    topic: str
    reason: str
    message: str
    peak: str
    brokers: First[str]
    """The brokers that are furthest from their share."""
    producers: tuple[str, ...]
    """Producer groups that can be the reason."""


def producers_of(balances: Sequence[ProducerBalance]) -> First[UnevenTopic] | None:
    """Such topics, those of which the busiest queue is furthest from the mean first; None if there are none."""
    if not balances:
        return None
    worst = sorted(balances, key=lambda one: (-one.peak, one.topic))[:UNEVEN_TOPICS]
    return First(map(_topic, worst), len(balances))


def _topic(balance: ProducerBalance) -> UnevenTopic:
    expected, measured = balance.broker_expected_ratios, balance.broker_measured_ratios
    furthest = sorted(expected, key=lambda name: (-abs(measured[name] - expected[name]), name))
    shares = (f"{name}: {per_cent(measured[name])} ({per_cent(expected[name])})" for name in furthest)
    producers = dict.fromkeys((*balance.producer_groups_elsewhere, *balance.displacing_producer_groups))
    return UnevenTopic(
        topic=balance.topic,
        reason=KIND_WORDS.get(balance.kind, balance.kind),
        message=balance.message,
        peak=number(balance.peak),
        brokers=First(islice(shares, NAMED_IN_A_CELL), len(furthest)),
        producers=tuple(producers),
    )
