"""Ctrl-C and SIGTERM end a command, whatever it does at that moment."""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

import pytest

from rocketmq_capacity.cli import stopped_in_good_order

LIMIT_S: Final = 60.0


class Freed:
    """An object during whose freeing a signal arrives, as when py4j tells the JVM about it."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self._number)


def stopped(command: Callable[[], None]) -> str:
    """What a command says that a signal stops."""
    with pytest.raises(SystemExit) as end, stopped_in_good_order():
        command()
    return str(end.value)


def works_on() -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        time.sleep(0.01)
    raise AssertionError("the command was not stopped")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command(number: signal.Signals) -> None:
    def command() -> None:
        os.kill(os.getpid(), number)
        works_on()

    assert stopped(command) == f"rocketmq-capacity: stopped by {number.name}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_arrives_while_an_object_is_freed_ends_a_command(number: signal.Signals) -> None:
    def command() -> None:
        freed = Freed(number)
        del freed
        works_on()

    assert stopped(command) == f"rocketmq-capacity: stopped by {number.name}"


def test_an_error_that_follows_the_signal_does_not_hide_it() -> None:
    def command() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            works_on()
        except SystemExit:
            raise OSError("the JVM did not answer") from None

    assert stopped(command) == "rocketmq-capacity: stopped by SIGTERM"


def test_afterwards_signals_are_handled_as_before() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers], sys.unraisablehook
    stopped(lambda: os.kill(os.getpid(), signal.SIGTERM))

    assert ([signal.getsignal(number) for number in numbers], sys.unraisablehook) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
