"""Calls end within a time, with their result or with their error."""

from contextvars import ContextVar
from threading import Event

import pytest

from rocketmq_capacity.time_limit import TimeLimit, within

LONG_S = 60.0


def test_a_call_gives_its_result_or_its_error() -> None:
    assert within(LONG_S, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(LONG_S, lambda: 1 // 0)


def test_a_time_out_of_the_call_itself_is_not_taken_for_the_limit() -> None:
    def times_out() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        within(LONG_S, times_out)


def test_a_call_that_never_ends_is_left_alone() -> None:
    never = Event()
    with pytest.raises(TimeLimit, match=r"no answer within 0\.1 s"):
        within(0.1, never.wait)
    never.set()


def test_a_call_sees_the_context_of_its_caller() -> None:
    told: ContextVar[str] = ContextVar("told", default="nothing")
    told.set("something")

    assert within(LONG_S, told.get) == "something"
