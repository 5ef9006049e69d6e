"""Calls that end within a time, whatever the other side does: servers may accept a connection and never answer."""

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


class TimeLimit(Exception):
    """A call takes longer than it may."""


def within(limit_s: float, call: Callable[[], Result]) -> Result:
    """What the call returns. A call that takes longer goes on in its thread, which ends with the process.

    Errors: TimeLimit if it takes longer; those of the call.
    """
    done: Future[Result] = Future()
    context = copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(call))
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return done.result(limit_s)
    except FutureTimeout:
        if done.done():  # it is the call's own error, or the call has just ended
            return done.result()
        raise TimeLimit(f"no answer within {limit_s:g} s") from None
