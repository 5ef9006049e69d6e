"""A step that is killed leaves nothing half-written that is read, and its retry the same bytes as a run without a kill.

What needs no Spark is killed at points one after the other here. Kills of whole apps at random points, of the driver,
the JVM, a worker or all of them, are ``python -m tests.kills``.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from rocketmq_capacity.store.lake import Lake, Run
from tests.kills.processes import ended_well, killed_at, points_of
from tests.kills.states import STEPS, Files, assert_nothing_half_written, assert_same, files_of
from tests.kills.steps import do, publish_run, take_snapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

AROUND_THE_MANIFEST: Final = 3
"""The last points of a step: its folder, the manifest's hidden file, and its rename."""


@pytest.fixture(scope="module")
def published(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that has gone all the way."""
    run = Lake(tmp_path_factory.mktemp("lake")).run("C1", "r1")
    for step in STEPS:
        do(step, run, lambda: spark)
    return run


def killed_and_tried_again(number: int, folder: Path, published: Run, step: Callable[[Path], None]) -> None:
    """The step of a published run, done anew."""
    whole: Files = files_of(published)
    run = Run(folder / "lake" / published.folder.parent.name / published.folder.name)
    shutil.rmtree(folder / "lake", ignore_errors=True)
    shutil.copytree(published.folder, run.folder)
    assert killed_at(number, folder, step, run.folder)
    assert_nothing_half_written(run, whole)
    ended_well(step, run.folder)
    assert_same(run, whole)


@pytest.mark.parametrize(("step", "drawn"), [(take_snapshot, 5), (publish_run, 2)])
def test_a_retry_gives_the_same_bytes_wherever_the_step_was_killed(
    published: Run, tmp_path: Path, step: Callable[[Path], None], drawn: int
) -> None:
    shutil.copytree(published.folder, tmp_path / "counted")
    points = points_of(tmp_path / "counted", step, tmp_path / "counted")
    last = range(points - AROUND_THE_MANIFEST + 1, points + 1)
    for number in (*random.Random(7).sample(range(1, last[0]), drawn), *last):
        killed_and_tried_again(number, tmp_path, published, step)
