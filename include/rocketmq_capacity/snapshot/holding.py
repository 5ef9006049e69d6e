"""How long ago a client did something with each queue that it holds.

A client gives times by its own clock, which may be wrong. Its last sign of life is the newest time that it gives for
any queue: a client asks for messages of every queue at least every 20 s or so. Where that is shortly before its answer,
its clock is believed, and what it did is as old as it is at the answer. Else its queues are compared with its last sign
of life.
"""

from typing import Final, NamedTuple

from rocketmq_capacity.snapshot.inventory import HELD_TIMES, Client, OwnedQueue
from rocketmq_capacity.snapshot.seconds import Seconds


class Ages(NamedTuple):
    """Seconds, each None where the client does not say it."""

    locked_ago_s: float | None = None
    pulled_ago_s: float | None = None
    consumed_ago_s: float | None = None
    silent_s: float | None = None


UNKNOWN: Final = Ages()
BELIEVED_S: Final = 30.0
"""A question for messages waits at the broker for up to 15 s (DefaultMQPushConsumerImpl.brokerSuspendMaxTimeMillis)."""


def ages_of(client: Client, taken_at: str, seconds: Seconds) -> list[Ages]:
    """Of each queue that the client holds; ``taken_at`` stands in where nobody noted when it answered."""
    held = client.owned_queues or ()
    told = [seconds[at] for queue in held for at in _times(queue) if at is not None]
    if not told:
        return [UNKNOWN] * len(held)
    newest = max(told)
    answered_s = seconds[client.answered_at or taken_at]
    now_s = answered_s if 0 <= answered_s - newest <= BELIEVED_S else newest
    silent_s = max(answered_s - newest, 0.0)
    each = ([None if at is None else now_s - seconds[at] for at in _times(queue)] for queue in held)
    return [Ages(locked, pulled, consumed, silent_s) for locked, pulled, consumed in each]


def _times(queue: OwnedQueue) -> list[str | None]:
    return [getattr(queue, name) for name in HELD_TIMES]
