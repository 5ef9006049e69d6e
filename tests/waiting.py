"""Waiting for a state, with a generous limit: a test never waits for seconds."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

LOOK_EVERY_S: Final = 0.5
Found = TypeVar("Found")


def until(
    look: Callable[[], Found | None], limit_s: float, what: str = "a state", every_s: float = LOOK_EVERY_S
) -> Found:
    """What looking gives as soon as it gives something; errors: AssertionError where the time is up."""
    deadline = time.monotonic() + limit_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"waited {limit_s:.0f} s in vain for {what}"
        time.sleep(every_s)
    return found
