"""What an error shows of a value from outside is bounded, and so is the work of showing it."""

import sys
from datetime import UTC, date, datetime
from typing import Any

import pytest

from rocketmq_capacity.errors import LONGEST_VALUE, BadInput, most_like, shown


class Counted:
    """A value that counts how often it is written."""

    written = 0

    def __repr__(self) -> str:
        Counted.written += 1
        return "x" * 50


def nested(depth: int, width: int) -> list[Any]:
    """``width ** depth`` ends in a list that takes next to no memory, as YAML's aliases make one."""
    value: list[Any] = ["x"]
    for _ in range(depth):
        value = [value] * width
    return value


@pytest.mark.parametrize(
    "value",
    [
        "x" * 1_000_000,
        b"\xff" * 1_000_000,
        list(range(1_000_000)),
        {str(key): key for key in range(100_000)},
        [["x" * 500] * 500] * 500,
        (("x" * 500,) * 500,) * 500,
        nested(200, 9),
        1 << 10_000_000,
        -(1 << 10_000_000),
        [1 << 10_000_000] * 9,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_large_value_is_shown_shortened(value: Any) -> None:
    assert len(shown(value)) <= LONGEST_VALUE


def test_only_what_is_shown_is_written() -> None:
    Counted.written = 0

    shown([[Counted()] * 1_000] * 1_000)

    assert 0 < Counted.written < 100


@pytest.mark.parametrize("value", [None, True, 5, -1.5, "it's", "10.0.0.1@1#1", ["AVG", 1], {"a": [None]}, 10**80])
def test_a_usual_value_is_shown_as_it_is(value: Any) -> None:
    assert shown(value) == repr(value)


def test_a_number_too_long_for_python_to_write_is_described_by_its_size() -> None:
    number = 10 ** (sys.get_int_max_str_digits() + 1)

    assert shown(number) == f"a number of {number.bit_length()} bits"


def test_a_line_of_an_error_is_bounded_whatever_it_is_about() -> None:
    error = BadInput("policy.yaml", "k" * 100_000, "is\nwrong " * 100_000)

    assert str(error).startswith("policy.yaml: kkk")
    assert len(str(error)) < 1_500
    assert "\n" not in str(error)


def test_a_moment_is_shown_as_it_is_written() -> None:
    value = {"from": datetime(2026, 12, 20, tzinfo=UTC), "until": date(2027, 3, 1)}

    assert shown(value) == "{'from': 2026-12-20T00:00:00+00:00, 'until': 2027-03-01}"


@pytest.mark.parametrize(
    ("name", "like"), [("A", "a"), ("brocker-b", "broker-b"), ("GROUP", "group"), ("a", "a"), ("strasse", "STRAßE")]
)
def test_the_name_that_is_most_like_another_is_found_whatever_its_case(name: str, like: str) -> None:
    assert most_like(name, ["broker-a", "STRAßE", "b", "a", "group", "broker-b"]) == like
    assert most_like(name, []) is None
