"""The steps of a run of the sample, with a loss of power at any moment of each."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_capacity.store.lake import Lake, Run
from tests.kills.states import STEPS, Files, assert_nothing_half_written, files_of
from tests.kills.steps import do
from tests.power_loss.losses import each_put, states_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepared(folder: Path, session: "Callable[[], SparkSession]") -> Path:
    """The folder with a lake for each step, as the step finds it, and `whole`."""
    (folder / "whole").mkdir()
    for step in STEPS:
        shutil.copytree(folder / "whole", folder / step)
        do(step, run_in(folder / "whole"), session)
    return folder


def lose_power(
    step: str,
    lakes: Path,
    folder: Path,
    session: "Callable[[], SparkSession]",
    *,
    is_repeated: bool,
    moments: int | None = None,
    tried_again: int,
) -> int:
    """Do the step below the folder, and look at the states after a loss of power; the number of all of them.

    Args:
        step: what is done.
        lakes: as `prepared`.
        folder: an empty one.
        session: Spark's.
        is_repeated: whether the run was published before.
        moments: at how many moments, drawn; None: at all.
        tried_again: how many states are tried again, so that every byte can be compared.

    Errors: AssertionError where something half-written is read, something published is lost, or bytes differ.
    """
    lake = folder / "lake"
    shutil.copytree(lakes / ("whole" if is_repeated else step), lake)
    during, after = states_of(lake, lambda: do(step, run_in(lake), session), moments)
    whole = visible(run_in(lake))
    if is_repeated or step == STEPS[-1]:
        assert whole == visible(run_in(lakes / "whole"))
    tried = {id(state) for state in random.Random(1).sample(during, min(tried_again, len(during)))}
    for state, place in zip(during, each_put(during, folder / "states"), strict=True):
        assert_nothing_half_written(run_in(place), whole)
        if id(state) in tried:
            do(step, run_in(place), session)
            assert visible(run_in(place)) == whole
    for place in each_put(after, folder / "after"):
        assert visible(run_in(place)) == whole
    shutil.rmtree(lake)
    return len(during) + len(after)


def run_in(lake: Path) -> Run:
    """The one run of the lake."""
    return Lake(lake).run("C1", "r1")


def visible(run: Run) -> Files:
    """Every file of the run but the hidden ones, which are never read."""
    return {name: content for name, content in files_of(run).items() if not Path(name).name.startswith(".")}
