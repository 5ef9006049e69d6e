"""Single steps, killed in a process of their own at a random point or moment, and tried again with Spark."""

import random
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_capacity.spark.session import session_under_way
from rocketmq_capacity.store.lake import Lake, Run
from tests.kills.processes import killed_after, killed_at, points_of
from tests.kills.states import STEPS, assert_nothing_half_written, assert_same, files_of
from tests.kills.steps import do, do_without_spark

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


def kill_steps(kills: int, chance: random.Random, folder: Path) -> int:
    """As many kills as asked for, one line each; how many of them could not be made good."""
    with session_under_way("kills", 0) as session:
        return _kill_steps(kills, chance, folder, session)


def _kill_steps(kills: int, chance: random.Random, folder: Path, session: "Callable[[], SparkSession]") -> int:
    whole_lake, lake = folder / "whole", folder / "lake"
    whole_lake.mkdir()
    points: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for step in STEPS:
        before = folder / f"before-{step}"
        shutil.copytree(whole_lake, before)
        shutil.copytree(whole_lake, lake)
        began = time.monotonic()
        points[step] = points_of(lake, do_without_spark, step, run_in(lake).folder)
        seconds[step] = time.monotonic() - began
        do(step, run_in(whole_lake), session)
        assert_same(run_in(lake), files_of(run_in(whole_lake)))
        shutil.rmtree(lake)
    whole = files_of(run_in(whole_lake))
    print(f"points of each step: {points}", flush=True)
    killed, failed = Counter[str](), 0
    for number in range(kills * 2):
        if sum(killed.values()) + failed == kills:
            break
        step, is_repeated = STEPS[number % len(STEPS)], chance.random() < 0.5
        shutil.rmtree(lake, ignore_errors=True)
        shutil.copytree(whole_lake if is_repeated else folder / f"before-{step}", lake)
        told, is_killed = _killed(step, lake, points[step], seconds[step], chance)
        told = f"{step}{' of a published run' if is_repeated else ''}: {told}"
        try:
            expected = whole if is_repeated else _up_to(step, folder, whole)
            assert_nothing_half_written(run_in(lake), whole)
            do(step, run_in(lake), session)
            assert_same(run_in(lake), expected)
        except Exception as error:  # whatever is wrong, the next kills are made as well
            failed += 1
            print(f"FAILED {told}: {error!r}", flush=True)
            continue
        killed[step] += is_killed
        print(f"{told}: {'good again' if is_killed else 'ended before it was killed'}", flush=True)
    print(f"{sum(killed.values())} kills of single steps made good again ({dict(killed)}), {failed} not", flush=True)
    return failed


def run_in(lake: Path) -> Run:
    """The one run of the lake."""
    return Lake(lake).run("C1", "r1")


def _killed(step: str, lake: Path, points: int, seconds: float, chance: random.Random) -> tuple[str, bool]:
    """Kill the step; when that was, and whether it was under way."""
    if chance.random() < 0.7:
        point = chance.randint(1, points)
        return f"at point {point}", killed_at(point, lake, do_without_spark, step, run_in(lake).folder)
    after = chance.uniform(0, seconds)
    return f"after {after:.2f} s", killed_after(after, do_without_spark, step, run_in(lake).folder)


def _up_to(step: str, folder: Path, whole: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a run whose last step was this one."""
    later = STEPS.index(step) + 1
    return files_of(run_in(folder / f"before-{STEPS[later]}")) if later < len(STEPS) else whole
