"""``make bench``: a whole plan at several sizes, next to Spark's own floor, the official classes and the admin client.

Everything is measured in this one run, on this machine. Plans, sessions and Dag runs are cold processes. Parts can be
named (copies, fleet, samples, official, pages, store, snapshot, load, dag), and behind ``copies`` the numbers of
copies::

    python -m tests.benchmarks copies 1 4 dag
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import psutil

from rocketmq_capacity.settings.policy import read_policy
from tests.benchmarks import target
from tests.benchmarks.dag import time_dag
from tests.benchmarks.inputs import FLEET_GROUPS, Inputs
from tests.benchmarks.load import CLIENTS, measure_load
from tests.benchmarks.official import time_official
from tests.benchmarks.pages import REPORTS as REPORTS_IN_AIRFLOW
from tests.benchmarks.pages import time_pages
from tests.benchmarks.plan import PARTS, PlanTiming, time_plan
from tests.benchmarks.samples import DAYS
from tests.benchmarks.snapshot import GROUPS, MANY_THREADS, time_snapshots, warm
from tests.benchmarks.store import REPORTS, time_lists, time_store
from tests.benchmarks.target import Target
from tests.benchmarks.watched import watched

ALL_PARTS: Final = ("copies", "fleet", "samples", "official", "pages", "store", "snapshot", "load", "dag")
SIZES: Final = (1, 4, 16, 64, 256)
CORES: Final = os.cpu_count() or 1
WAYS: Final = (
    ("one thread, cold, each client sorts", 1, 0.0, True),
    ("all cores, warm, on sorted lists", CORES, 2.0, False),
)
"""How the official classes are asked: how it is called, threads, seconds of warming up, and whether each client sorts
its lists before it calls ``allocate()``, as clients do. The first is what happens in a cluster, and as cold as a plan;
the second is the least that the classes can need.
"""
MANY_CORES: Final = 16
PASSES: Final = 3
"""Of the sample and of the session beside it, by turns; the medians are compared."""
GB: Final = 1e9


def main() -> None:
    """Run the parts, print what they gave, and then which targets were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="what to measure (default: everything)")
    parser.add_argument("--groups", type=int, default=FLEET_GROUPS, help="of the fleet (default: 10,000)")
    parser.add_argument("--live-topics", type=int, default=300, help="of the live cluster (default: 300)")
    parser.add_argument("--live-clients", type=int, default=CLIENTS, help="held for the load (default: 1,000)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep inputs and plans here; inputs are used again")
    args = parser.parse_args()
    numbers = tuple(sorted({int(part) for part in args.parts if part.isdecimal()}))
    parts = [part for part in args.parts if not part.isdecimal()] or (["copies"] if numbers else ALL_PARTS)
    if unknown := set(parts) - set(ALL_PARTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(ALL_PARTS)}")

    memory_gb = psutil.virtual_memory().total / GB
    before = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    say(f"{os.cpu_count()} cores, {memory_gb:.0f} GB of memory, load before {before}")
    targets: list[Target] = []
    with folder_of(args.folder) as folder:
        bench = Bench(Inputs(folder), folder, args.groups)
        measured: dict[str, Callable[[], list[Target]]] = {
            "copies": partial(bench.copies, numbers or SIZES),
            "fleet": bench.fleet,
            "samples": bench.samples,
            "official": bench.official,
            "pages": bench.pages,
            "store": bench.store,
            "snapshot": partial(snapshot, args.live_topics),
            "load": partial(load, args.live_clients),
            "dag": dag,
        }
        for part in (part for part in ALL_PARTS if part in parts):
            targets += measured[part]()
    if targets:
        say("\ntargets on 2 cores")
    for one in targets:
        say(f"  {one}")


class Bench:
    """The plans: what one part has planned, another compares."""

    def __init__(self, inputs: Inputs, folder: Path, groups: int) -> None:
        self._inputs = inputs
        self._folder = folder
        self._groups = groups
        self._fleet: PlanTiming | None = None

    def copies(self, sizes: Sequence[int]) -> list[Target]:
        """The sample so many times over, and the session that counts one row."""
        say("\ncopies of the sample: seconds of each step, and below them the most memory of all processes, in MB")
        head()
        seconds: dict[int, float] = {}
        targets, counts = [], []
        for k in sizes:
            session, plan = self._sample() if k == 1 else (None, self._plan(k))
            seconds[k] = plan.seconds
            row(f"{k} copies" if k > 1 else "the sample", plan)
            if session is not None:
                say(f"{'':12}{session:8.1f}  a session that counts one row; both are medians of {PASSES} by turns")
                targets.append(
                    Target("the sample / counting one row", plan.seconds / session, target.SAMPLE_PER_SESSION)
                )
            writing(self._folder, f"copies_{k}", plan)
            counts.append(plan.sql_executions)
        growth = (f"{small} to {large}: {by:.2f}" for (small, large), by in target.exponents(seconds).items())
        say(f"  growth exponents: {', '.join(growth)}")
        most = Target("copies: SQL executions of a plan, at most", max(counts), target.SQL_EXECUTIONS)
        return [*targets, *target.of_line(seconds), *target.of_growth(seconds), most]

    def fleet(self) -> list[Target]:
        """A fleet with a full inventory."""
        plan = self._planned_fleet()
        return [
            Target(f"fleet of {self._groups:,} groups: seconds", plan.seconds, target.FLEET_SECONDS),
            Target(f"fleet of {self._groups:,} groups: GB of all processes", plan.peak_bytes / GB, target.FLEET_GB),
            Target(f"fleet of {self._groups:,} groups: SQL executions", plan.sql_executions, target.SQL_EXECUTIONS),
            Target(
                f"fleet of {self._groups:,} groups: the driver's share", plan.shares.driver_ratio, target.DRIVER_RATIO
            ),
        ]

    def samples(self) -> list[Target]:
        """The fleet with days of samples in its lake, beside the same without."""
        without = self._planned_fleet()
        inventory = self._inputs.fleet(self._groups)
        say(f"\nthe same fleet with samples of {DAYS} days, which are written first")
        history = self._inputs.samples(self._groups)
        plan = time_plan(inventory, self._inputs.fleet_policy(), self._folder / "fleet_sampled", history)
        row("with samples", plan)
        processor, memory = plan.processor_s / without.processor_s, plan.peak_bytes / without.peak_bytes
        say(f"{'':12}{plan.processor_s:8.1f}  s of processor time; {without.processor_s:.1f} s without samples")
        return [
            Target(f"{DAYS} days of samples: processor time / that without", processor, target.OF_SAMPLES),
            Target(f"{DAYS} days of samples: memory / that without", memory, target.OF_SAMPLES),
        ]

    def official(self) -> list[Target]:
        """The official classes, which only allocate, compared with our whole plan of the same fleet."""
        plan = self._planned_fleet()
        policy = read_policy(self._inputs.fleet_policy())
        tables = self._folder / "fleet" / "tables"
        say("\nthe official classes allocate for the fleet")
        totals = []
        for how, threads, warm_up_s, sorts in WAYS:
            say(f"  {how}")
            total = 0.0
            asked = time_official(tables, policy, self._folder, threads=threads, warm_up_s=warm_up_s, sorts=sorts)
            for timing in asked:
                total += timing.seconds
                rows = f"{timing.rows:11,} rows, ours {plan.allocation_rows.get(timing.strategy, 0):11,}"
                calls = f"{timing.calls:,} calls, {timing.failed_calls:,} of them refused"
                say(f"    {timing.strategy:25} {timing.seconds:8.2f} s  {rows}  ({calls})")
            say(f"    all: {total:.1f} s; our plan from inventory to report: {plan.seconds:.1f} s")
            totals.append((how, total))
        return [
            Target(f"fleet: our whole plan / the official classes, {how}", plan.seconds / total, 1.0)
            for how, total in totals
        ]

    def pages(self) -> list[Target]:
        """The pages in Airflow over many reports and the fleet's plan."""
        self._planned_fleet()
        timing = time_pages(self._folder / "fleet")
        say(f"\npages of a running API server: {REPORTS_IN_AIRFLOW:,} reports, the plan of {self._groups:,} groups")
        for name, seconds in timing.warm.items():
            say(f"  {name:14}{seconds * 1e3:8.0f} ms warm, {timing.cold[name] * 1e3:,.0f} ms the first time")
        slowest = max(timing.warm, key=timing.warm.__getitem__)
        return [
            Target(f"pages: ms of the slowest ({slowest}), warm", timing.warm[slowest] * 1e3, target.PAGE_MS),
            Target("pages: MB that the API server grows by", timing.grown_bytes / 1e6, target.PAGES_MB),
        ]

    def store(self) -> list[Target]:
        """A lake in an S3 server beside one in a folder, for the sample and the fleet."""
        say("\nthe apps of a plan with a lake in a folder, and in an S3 server on this machine: seconds of each step")
        fleet = time_store(self._inputs.fleet(self._groups), self._inputs.fleet_policy())
        timings = {"the sample": time_store(self._inputs.copies(1)), f"fleet of {self._groups:,} groups": fleet}
        for name, timing in timings.items():
            for lake, apps in (("folder", timing.folder), ("S3", timing.store)):
                steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in apps.steps.items())
                say(f"  {name}, {lake}: {apps.seconds:.1f} s  ({steps})")
        folder_s, store_s = time_lists()
        say(f"  a warm list of {REPORTS:,} reports: {folder_s * 1e3:.0f} ms in a folder, {store_s * 1e3:.0f} ms in S3")
        sample, fleet_name = timings
        return [
            Target(f"{sample}: a lake in S3 / in a folder", timings[sample].ratio, target.STORE_SAMPLE),
            Target(f"{fleet_name}: a lake in S3 / in a folder", timings[fleet_name].ratio, target.STORE_FLEET),
            Target("a warm list of reports: in S3 / in a folder", store_s / folder_s, target.STORE_LIST),
        ]

    def _sample(self) -> tuple[float, PlanTiming]:
        """The sample's plan of median length, and the median of the session beside it."""
        sessions, plans = [], []
        for _ in range(PASSES):
            sessions.append(watched([sys.executable, "-m", "tests.benchmarks.spark_session", "count"]).seconds)
            plans.append(self._plan(1))
        return statistics.median(sessions), sorted(plans, key=lambda plan: plan.seconds)[PASSES // 2]

    def _plan(self, k: int) -> PlanTiming:
        return time_plan(self._inputs.copies(k), None, self._folder / f"copies_{k}")

    def _planned_fleet(self) -> PlanTiming:
        if self._fleet is None:
            self._fleet = time_plan(
                self._inputs.fleet(self._groups), self._inputs.fleet_policy(), self._folder / "fleet"
            )
            say(f"\na fleet of {self._groups:,} groups with offsets, rates and running info, as above")
            head()
            row("the fleet", self._fleet)
            writing(self._folder, "fleet", self._fleet)
        return self._fleet


def head() -> None:
    """The columns of a plan."""
    say(f"{'':12}{'whole':>8}" + "".join(f"{part:>10}" for part in PARTS) + f"{'SQL':>6}")


def row(name: str, plan: PlanTiming) -> None:
    """A plan in four lines: seconds, memory, sizes of what people and programs read, and the driver's share."""
    of_parts = "".join(f"{part.seconds:10.1f}" for part in plan.parts.values())
    memory = "".join(f"{part.peak_bytes / 1e6:10,.0f}" for part in plan.parts.values())
    say(f"{name:12}{plan.seconds:8.1f}{of_parts}{plan.sql_executions:6}")
    say(f"{'':12}{plan.peak_bytes / 1e6:8,.0f}{memory}")
    say(f"{'':12}{plan.page_bytes / 1e6:8.1f}  MB of report.html; {plan.plan_bytes / 1e6:,.1f} MB of plan.json")
    shares = plan.shares
    told = f"{shares.driver_ratio:.0%}; on {MANY_CORES} cores the whole takes at most {shares.on(MANY_CORES):.1f} s"
    say(f"{'':12}{shares.driver_s:8.1f}  s are the driver's alone: {told}")


def writing(folder: Path, name: str, plan: PlanTiming) -> None:
    """The rows of ``allocation`` read and written again by Spark, in a cold session that does nothing else."""
    target_folder = folder / f"{name}.floor"
    shutil.rmtree(target_folder, ignore_errors=True)
    source = folder / name / "tables" / "allocation"
    done = watched([sys.executable, "-m", "tests.benchmarks.spark_session", "write", str(source), str(target_folder)])
    alone, rows = float(done.output.splitlines()[-1]), sum(plan.allocation_rows.values())
    told = f"Spark writing the {rows:,} rows of allocation again, its start included ({alone:.1f} s without)"
    say(f"{'':12}{done.seconds:8.1f}  {told}")


def snapshot(topics: int) -> list[Target]:
    """One sample of everything beside the official admin client, cold and warm, with one thread and with many."""
    timing = time_snapshots(topics)
    say(f"\nsnapshot of a live cluster of three brokers, {timing.topics} topics and {GROUPS} groups with clients")
    say(f"  ours: {timing.ours:.2f} s  ({', '.join(f'{s:.2f}' for s in timing.seconds)})")
    for theirs in (timing.one_thread, timing.many_threads):
        threads = "sequential" if theirs.threads == 1 else f"{MANY_THREADS} threads"
        took = f"warm {warm(theirs):.2f} s, cold {theirs.seconds[0]:.2f} s, {theirs.calls:,} calls"
        say(f"  DefaultMQAdminExt, {threads}: {took}; official / ours: {warm(theirs) / timing.ours:.1f}")
    return []


def load(clients: int) -> list[Target]:
    """What one snapshot with the default samples asks of each broker, of a Proxy and of the name server."""
    measured = measure_load(clients)
    held = f"{measured.clients:,} clients in {measured.groups} groups"
    say(f"\nload of one snapshot of three brokers and a Proxy with {held}: {measured.seconds:.1f} s")
    for each in measured.asked:
        rate = f"{each.questions / measured.seconds:.0f} a second, at most {each.most_in_a_second:,} in one"
        clients_at_a_time = f"; at most {each.most_running_info} clients at a time" if each.most_running_info else ""
        say(f"  {each.who}: {each.questions:,} questions, {rate}{clients_at_a_time}")
    return []


def dag() -> list[Target]:
    """The daily Dag on the recorded inventory beside the same apps in a shell script."""
    timing = time_dag()
    say("\na run of the daily Dag on the recorded inventory")
    say(f"  the Dag: {timing.dag_seconds:.1f} s, Airflow's own start included")
    apps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in timing.shell.steps.items())
    say(f"  the same apps in a shell script: {timing.shell.seconds:.1f} s  ({apps})")
    say(f"  Dag / script: {timing.dag_seconds / timing.shell.seconds:.2f}")
    return [Target("the daily Dag on the sample: seconds", timing.dag_seconds, target.DAG_SECONDS)]


@contextmanager
def folder_of(given: Path | None) -> Iterator[Path]:
    """Where inputs and plans are: the given folder, else one that is deleted in the end."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="rocketmq-bench-") as folder:
        yield Path(folder)


def say(line: str) -> None:
    """Print a line at once: a run takes minutes."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
