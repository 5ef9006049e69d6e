"""How long ago a client did something with each queue that it holds.

A client gives times by its own clock, which may be wrong: its queues are compared with the newest time that it gives
for any of them, its last sign of life. A client asks for messages of every queue at least every 20 s or so.
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


def ages_of(client: Client, taken_at: str, seconds: Seconds) -> list[Ages]:
    """Of each queue that the client holds; ``taken_at`` stands in where nobody noted when it answered."""
    held = client.owned_queues or ()
    told = [seconds[at] for queue in held for at in _times(queue) if at is not None]
    if not told:
        return [UNKNOWN] * len(held)
    newest = max(told)
    silent_s = max(seconds[client.answered_at or taken_at] - newest, 0.0)
    each = ([None if at is None else newest - seconds[at] for at in _times(queue)] for queue in held)
    return [Ages(locked, pulled, consumed, silent_s) for locked, pulled, consumed in each]


def _times(queue: OwnedQueue) -> list[str | None]:
    return [getattr(queue, name) for name in HELD_TIMES]
