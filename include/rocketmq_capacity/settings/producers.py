"""How producers send, by patterns of their groups' names: no producer reports it."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from pydantic import Field

from rocketmq_capacity.settings.patterns import NamePattern, is_found
from rocketmq_capacity.settings.section import Int, Section, Whole
from rocketmq_capacity.vocabulary import INNER_PRODUCER

SYNC: Final = "SYNC"
ASYNC: Final = "ASYNC"
ONEWAY: Final = "ONEWAY"
"""CommunicationMode."""
SEND_TIMEOUT_MS: Final = 3_000
"""DefaultMQProducer.sendMsgTimeout: the limit for all tries of a message together."""
RETRIES: Final = 2
"""DefaultMQProducer.retryTimesWhenSendFailed and retryTimesWhenSendAsyncFailed."""


class Sending(NamedTuple):
    """How a producer sends.

    Attributes:
        mode: SYNC (the thread waits for the broker), ASYNC (a callback gets the result) or ONEWAY (nobody does).
        retries: how often a message is tried again; 0 for ONEWAY.
        timeout_ms: the limit for all tries of a message together; None for ONEWAY, which waits for nothing.
    """

    mode: str = SYNC
    retries: int = RETRIES
    timeout_ms: int | None = SEND_TIMEOUT_MS

    def is_late(self, latency_ms: float) -> bool:
        """Whether messages fail that take so long."""
        return self.timeout_ms is not None and latency_ms >= self.timeout_ms


class ProducerEntry(Section):
    """What the policy tells of the producer groups whose name matches.

    Attributes:
        match: a regular expression, searched in the name of the producer group.
        sending: how it sends: SYNC, ASYNC or ONEWAY.
        retries: ``retryTimesWhenSendFailed`` for SYNC, ``retryTimesWhenSendAsyncFailed`` for ASYNC.
        timeout_ms: ``sendMsgTimeout``.
    """

    match: NamePattern
    sending: Literal["SYNC", "ASYNC", "ONEWAY"] = SYNC
    retries: Whole = Field(default=RETRIES, ge=0, le=100)
    timeout_ms: Whole = Field(default=SEND_TIMEOUT_MS, ge=1, le=Int)

    @property
    def as_sending(self) -> Sending:
        """The same without what does not count: nobody waits for a one-way message, and nobody tries it again."""
        if self.sending == ONEWAY:
            return Sending(ONEWAY, 0, None)
        return Sending(self.sending, self.retries, self.timeout_ms)


def sending_of(entries: Sequence[ProducerEntry], producer_group: str) -> Sending:
    """How a group sends: by the first entry that matches its name, else by RocketMQ's defaults."""
    return next((one.as_sending for one in entries if is_found(one.match, producer_group)), Sending())


def sendings_of(entries: Sequence[ProducerEntry], producer_groups: Iterable[str]) -> dict[Sending, tuple[str, ...]]:
    """The groups by how they send, both sorted; RocketMQ's own group is left out.

    If no group is known, these are the settings of all entries and the defaults, without groups.
    """
    groups: dict[Sending, list[str]] = {}
    for name in sorted({*producer_groups} - {INNER_PRODUCER}):
        groups.setdefault(sending_of(entries, name), []).append(name)
    if not groups:
        groups = {one: [] for one in (Sending(), *(entry.as_sending for entry in entries))}
    return {sending: tuple(groups[sending]) for sending in sorted(groups, key=_order)}


def _order(sending: Sending) -> tuple[int, int, int]:
    return (SYNC, ASYNC, ONEWAY).index(sending.mode), sending.retries, sending.timeout_ms or 0
