"""What a plan holds while units are computed."""

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.inputs import TakenSnapshot, snapshots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def taken() -> list[TakenSnapshot]:
    """The sample, an earlier inventory of it and what a scenario makes of it."""
    now = read_inventory(sample_inventory())
    return snapshots(now, [msgspec.structs.replace(now, taken_at="2026-11-20T15:27:09Z")], msgspec.structs.replace(now))


def test_no_inventory_is_held_once_all_are_stored(tmp_path: Path) -> None:
    from rocketmq_capacity.steps.plan import plan_snapshots

    of_plan = taken()
    held = [one.inventory for one in of_plan]
    by_us = [sys.getrefcount(held[number]) for number in range(len(held))]
    let_go: list[int] = []

    class LookedError(Exception):
        pass

    def session() -> "SparkSession":
        if threading.current_thread() is not threading.main_thread():  # it allocates while the last one is stored
            raise LookedError
        let_go.extend(sys.getrefcount(held[number]) for number in range(len(held)))
        raise LookedError

    (tmp_path / "out").mkdir()
    with pytest.raises(LookedError):
        plan_snapshots(session, of_plan, Policy(), tmp_path / "out")

    # Only the list here holds them still, and the call that counts.
    assert let_go == [2] * len(held)
    assert all(before > after for before, after in zip(by_us, let_go, strict=True))
