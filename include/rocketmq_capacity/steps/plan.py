"""A whole plan in one Spark session, without Airflow: all steps in sequence, with a lake that is deleted afterwards."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from rocketmq_capacity.collector import give_memory_back
from rocketmq_capacity.language.catalogue import words_of
from rocketmq_capacity.language.of_plan import CATALOGUE
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.progress.progress import Progress
from rocketmq_capacity.report.html import get_ready
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.spark.units import warm_up
from rocketmq_capacity.steps.allocate import allocate, allocate_early
from rocketmq_capacity.steps.assess import assess
from rocketmq_capacity.steps.inputs import BEFORE, TakenSnapshot
from rocketmq_capacity.steps.planning import Planning, RunFindings, waited_for
from rocketmq_capacity.steps.publish import publish
from rocketmq_capacity.steps.recommend import recommend
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.steps.what_if import effect
from rocketmq_capacity.store.lake import Lake


def plan_snapshots(
    session: Callable[[], SparkSession],
    taken: list[TakenSnapshot],
    policy: Policy,
    out: Path,
    *,
    scenario: Scenario | None = None,
    progress: Progress | None = None,
    end_session: Callable[[], object] | None = None,
) -> Plan:
    """Plan the cluster into the folder ``out``: report, plan and tables. Gives the plan.

    Args:
        session: returns the session.
        taken: the `snapshots` to plan. Each is removed from the list once it is stored, so that no inventory is in
            memory while its groups are assessed.
        policy: the policy.
        out: an empty folder. The lake is made beside it, in a folder that the caller deletes when Spark has ended.
        scenario: the changes of the last snapshot, which is planned in addition to the cluster as it is.
        progress: shows how far the steps are.
        end_session: is called in a thread once everything is computed, because what publishes needs no session.
    """
    progress = progress or Progress()
    # After an error Spark's tasks may still write here; whoever gave the folder deletes the rest when Spark has ended.
    a_lake = tempfile.TemporaryDirectory(prefix=".lake.", dir=out.parent, ignore_cleanup_errors=True)
    with a_lake as folder, _thread() as thread, _thread() as beside:
        lake, shown = Lake(Path(folder), is_kept=False), waited_for(session, progress)
        stored: list[Planning] = []
        early: list[Future[int]] = []

        def begin(units: Sequence[Path]) -> None:
            """Allocate for the last snapshot while more of it is made. The progress shows it when it is waited for."""
            last = replace(stored[-1], session=session, progress=Progress())
            early.append(thread.submit(allocate_early, last, units, is_first=not early))

        def start_workers() -> None:
            """Start them while this process is still busy with units, unless they have units already."""
            spark = session()
            if not early:
                warm_up(spark)

        thread.submit(start_workers)
        while taken:
            # A cluster may have a name such as "_prod" or "..", which is no name for a folder of a lake.
            run = lake.run("cluster", taken[0].name or "now")
            stored.append(Planning(shown, run, policy, progress, taken[0].name))
            _store(stored[-1], taken.pop(0), None if taken else begin)
        beside.submit(get_ready)  # for the page, while Spark's processes start or allocate
        beside.submit(words_of, CATALOGUE)
        give_memory_back()
        _computed(stored, early)
        result = None if scenario is None else effect(stored[-2], stored[-1], scenario)
        if end_session is not None:
            beside.submit(end_session)
        plan = publish(stored[-1], result)
        stored[-1].run.export(out)
        return plan


def _store(planning: Planning, taken: TakenSnapshot, after_groups: Callable[[Sequence[Path]], object] | None) -> None:
    """Store a snapshot. Only this function has it, so that it is freed when it is stored."""
    snapshot(planning, taken.inventory, taken.history, keeps_inventory=False, after_groups=after_groups)


@contextmanager
def _thread() -> Iterator[Executor]:
    """A thread beside this one. After an error nobody waits for it: what it does ends with the session."""
    pool = ThreadPoolExecutor(1)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _computed(stored: Sequence[Planning], early: Sequence[Future[int]]) -> None:
    """Compute all that the plan of the last run needs; ``early`` already allocates for it."""
    before: RunFindings | None = None
    for planning in stored:
        allocate(planning, early if planning is stored[-1] else ())
        assess(planning, before)
        if planning.name == BEFORE:
            before = planning.found()
    recommend(stored[-1])
