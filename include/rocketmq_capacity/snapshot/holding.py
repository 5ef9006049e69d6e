"""How long ago a client did something with each queue that it holds.

A client gives times by its own clock, which may be wrong. Its last sign of life is the newest time that it gives for
any queue, because a client asks for messages of every queue at least about every 20 s. If that is shortly before its
answer, its clock is trusted, and ages are counted up to the answer. Otherwise ages are counted up to its last sign of
life.
"""

from typing import Final, NamedTuple

from rocketmq_capacity.snapshot.inventory import Client
from rocketmq_capacity.snapshot.seconds import Seconds


class Ages(NamedTuple):
    """Seconds since an event on a queue; each is None if the client does not give the time.

    Attributes:
        locked_ago_s: since it locked the queue.
        pulled_ago_s: since it asked for messages.
        consumed_ago_s: since it consumed messages.
        silent_s: from its last sign of life to its answer; the same for all its queues.
    """

    locked_ago_s: float | None = None
    pulled_ago_s: float | None = None
    consumed_ago_s: float | None = None
    silent_s: float | None = None


UNKNOWN: Final = Ages()
BELIEVED_S: Final = 30.0
"""A clock is trusted if the last sign of life is at most this old: a pull waits at the broker for up to 15 s
(DefaultMQPushConsumerImpl.brokerSuspendMaxTimeMillis)."""


def ages_of(client: Client, taken_at: str, seconds: Seconds) -> list[Ages]:
    """The ages of each queue that the client holds; without a time of its answer, ``taken_at`` is used."""
    held = client.owned_queues or ()
    given = [seconds[at] for queue in held for at in queue.times() if at is not None]
    if not given:
        return [UNKNOWN] * len(held)
    newest = max(given)
    answered_s = seconds[client.answered_at or taken_at]
    now_s = answered_s if 0 <= answered_s - newest <= BELIEVED_S else newest
    silent_s = max(answered_s - newest, 0.0)
    ages = ([None if at is None else now_s - seconds[at] for at in queue.times()] for queue in held)
    return [Ages(locked, pulled, consumed, silent_s) for locked, pulled, consumed in ages]
