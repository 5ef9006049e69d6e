"""The reports that a lake holds, as people look for them: lists, latest first; one of them; the files of one.

A lake changes while it is read: runs are published, replaced and deleted. What cannot be read is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.report.plan_file import decoded_plan
from rocketmq_capacity.report.publish import FINDINGS, PLAN, RECOMMENDATIONS, REPORT, SUMMARY
from rocketmq_capacity.report.shelf_index import summaries
from rocketmq_capacity.report.summary_file import PlanSummary, read_summary, summary_of_plan
from rocketmq_capacity.store.lake import RUN_ID, Lake, Run
from rocketmq_capacity.store.run_key import is_of_dag_run, part_in_key

FILES: Final = (REPORT, PLAN, FINDINGS, RECOMMENDATIONS)
"""What of a run is handed to people."""
UNREADABLE: Final = (OSError, ValueError, RecursionError)
"""What a spoiled or vanishing run may raise; msgspec's DecodeError is a ValueError."""


@dataclass(frozen=True, slots=True)
class Report:
    """One published run: what it is called and what it holds in short."""

    kind: str
    """What the shelf is called: plans, or what-ifs."""
    cluster: str
    run_id: str
    summary: PlanSummary

    @property
    def order(self) -> tuple[datetime, str]:
        """By the snapshot's time; of several reports on one snapshot, by the run's."""
        return self.summary.moment, self.run_id


@dataclass(frozen=True, slots=True)
class Search:
    """Which reports are looked for; what is empty does not matter."""

    cluster: str = ""
    first_day: date | None = None
    last_day: date | None = None
    text: str = ""
    """Part of the cluster's name, the run's id, the scenario's name or the fingerprint, in any case."""

    def finds(self, report: Report) -> bool:
        """Whether the report is one of them."""
        if self.cluster and report.cluster != self.cluster:
            return False
        day = report.summary.moment.astimezone(UTC).date()
        if (self.first_day and day < self.first_day) or (self.last_day and day > self.last_day):
            return False
        wanted = self.text.strip().casefold()
        summary = report.summary
        held = (report.cluster, report.run_id, summary.scenario or "", summary.fingerprint)
        # Airflow's own name of the run has characters that the key has not.
        return any(wanted in name.casefold() for name in held) or part_in_key(wanted) in report.run_id.casefold()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A part of a long list."""

    reports: tuple[Report, ...]
    number: int
    """Counted from 1."""
    sheets: int
    total: int

    @property
    def first(self) -> int:
        """The place of its first report in the whole list, counted from 1; 0 where there is none."""
        return (self.number - 1) * SHEET + 1 if self.reports else 0


SHEET: Final = 50
"""Reports on one page of a list."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The published runs of one lake."""

    lake: Lake
    kind: str

    def clusters(self) -> list[str]:
        """Names of the clusters that have a folder, sorted."""
        try:
            names = [folder.name for folder in self.lake.root.iterdir() if folder.is_dir()]
        except OSError:
            return []
        return sorted(name for name in names if RUN_ID.fullmatch(name))

    def reports(self, cluster: str = "") -> list[Report]:
        """Every readable report, or those of one cluster, latest first."""
        clusters = [name for name in self.clusters() if cluster in ("", name)]
        held = summaries(self.lake, clusters, self._summary_of)
        found = [Report(self.kind, name, run_id, summary) for name, run_id, summary in held]
        return sorted(found, key=lambda report: report.order, reverse=True)

    def report(self, cluster: str, run_id: str) -> Report | None:
        """The report of that name, or None where there is none that can be read."""
        try:
            return self._read(self.lake.run(cluster, run_id))
        except BadInput:
            return None

    def before(self, report: Report) -> Report | None:
        """The cluster's last report before this one."""
        return next((other for other in self.reports(report.cluster) if other.order < report.order), None)

    def of_dag_run(self, run_id: str) -> list[Report]:
        """Reports of the Dag run that Airflow calls so: one a cluster that it planned."""
        return [report for report in self.reports() if is_of_dag_run(report.run_id, run_id)]

    def file(self, report: Report, name: str) -> Path | None:
        """A file of the report that people are given, or None for any other name and for what is not in its place.

        No link is followed: neither a run's folder nor a file in it may stand for something elsewhere.
        """
        if name not in FILES:
            return None
        file = self.lake.run(report.cluster, report.run_id).report / name
        try:
            return file if _is_in_its_place(file, self.lake) else None
        except OSError:
            return None

    def _summary_of(self, run: Run) -> PlanSummary | None:
        report = self._read(run)
        return None if report is None else report.summary

    def _read(self, run: Run) -> Report | None:
        cluster, run_id = run.folder.parent.name, run.folder.name
        try:
            if not RUN_ID.fullmatch(run_id) or not run.is_committed("publish"):
                return None
            if not _is_in_its_place(run.report, self.lake):
                return None
            summary = _summary(run.report)
            return Report(self.kind, cluster, run_id, summary) if summary.cluster_name == cluster else None
        except UNREADABLE:
            return None


def latest_first(shelves: Iterable[Shelf], search: Search) -> list[Report]:
    """What the search finds on all shelves."""
    found = [report for shelf in shelves for report in shelf.reports(search.cluster) if search.finds(report)]
    return sorted(found, key=lambda report: report.order, reverse=True)


@dataclass(frozen=True, slots=True)
class Since:
    """What came and went since the plan before: causes that are more than notes."""

    new: int
    gone: int


def since_last(reports: Sequence[Report], plans: Iterable[Report]) -> Mapping[tuple[str, str, str], Since]:
    """For each of these reports, by kind, cluster and run, what changed since the cluster's plan before it.

    Missing where there is no plan before, or where one of the two does not name its causes.
    """
    wanted = {(one.kind, one.cluster, one.run_id) for one in reports}
    of_cluster: dict[str, list[Report]] = {}
    for plan in sorted(plans, key=lambda report: report.order):
        of_cluster.setdefault(plan.cluster, []).append(plan)
    found: dict[tuple[str, str, str], Since] = {}
    for ordered in of_cluster.values():
        for before, after in pairwise(ordered):
            key = after.kind, after.cluster, after.run_id
            had, has = before.summary.causes, after.summary.causes
            if key in wanted and had is not None and has is not None:
                found[key] = Since(len(set(has) - set(had)), len(set(had) - set(has)))
    return found


def sheet_of(reports: Sequence[Report], number: int) -> Sheet:
    """One page of a list; a number beyond the last page gives the last."""
    sheets = max(1, -(-len(reports) // SHEET))
    number = min(max(1, number), sheets)
    return Sheet(tuple(reports[(number - 1) * SHEET : number * SHEET]), number, sheets, len(reports))


def _is_in_its_place(path: Path, lake: Lake) -> bool:
    root = lake.root.resolve()
    return path.resolve() == root / path.relative_to(lake.root) and path.exists()


def _summary(folder: Path) -> PlanSummary:
    """The run's summary; of a run published before there were any, that of its plan."""
    file = folder / SUMMARY
    if file.is_file():
        return read_summary(file)
    plan = folder / PLAN
    stat = plan.stat()
    return _summary_of_plan(plan, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4096)
def _summary_of_plan(plan: Path, _modified: int, _size: int) -> PlanSummary:
    summary = summary_of_plan(decoded_plan(plan.read_bytes()))
    if summary.moment.tzinfo is None:
        raise ValueError(f"{plan}: a time without its zone")
    return summary
