"""How often Python's garbage collector looks for cycles, and what a process does with memory that is free."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

from rocketmq_capacity.collector import SELDOM, collect_seldom, without_collector

CYCLE: Final = """
class Cycle:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("found")
Cycle()
"""

FREED: Final = """
import gc, psutil
from rocketmq_capacity.collector import give_memory_back
held_bytes = lambda: psutil.Process().memory_info().rss
gc.disable()
texts = ["x" * (2000 + number % 2) for number in range(100_000)]
kept, most = texts[::100], held_bytes()
del texts
{then}
print(most - held_bytes() > 100_000_000)
"""


@pytest.fixture
def own_thresholds() -> Iterator[None]:
    """The collector as it was, after a test."""
    was = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*was)
        gc.unfreeze()


@pytest.mark.usefixtures("own_thresholds")
def test_a_process_of_many_units_collects_seldom_and_sets_aside_what_is_there_once() -> None:
    gc.set_threshold(700, 10, 10)
    collect_seldom()
    assert gc.get_threshold() == SELDOM
    assert gc.isenabled()
    frozen = gc.get_freeze_count()
    assert frozen > 0
    kept = [[number] for number in range(1000)]
    collect_seldom()
    assert gc.get_freeze_count() <= frozen
    assert len(kept) == 1000


def test_the_collector_works_again_after_an_error_in_a_body_without_it() -> None:
    def fail() -> None:
        assert not gc.isenabled()
        raise LookupError

    assert gc.isenabled()
    with pytest.raises(LookupError), without_collector():
        fail()
    assert gc.isenabled()


@pytest.mark.parametrize(("ending", "said"), [("", "found\n"), ("end_without_collector()", "")])
def test_a_process_ends_without_a_last_look_for_cycles(ending: str, said: str) -> None:
    code = f"from rocketmq_capacity.collector import end_without_collector\n{ending}\n{CYCLE}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout == said


@pytest.mark.parametrize(("then", "is_given_back"), [("", False), ("give_memory_back()", True)])
def test_free_memory_between_what_is_still_held_goes_back_to_the_system(then: str, is_given_back: bool) -> None:
    ended = subprocess.run([sys.executable, "-c", FREED.format(then=then)], capture_output=True, text=True, check=True)

    assert ended.stdout == f"{is_given_back}\n"
