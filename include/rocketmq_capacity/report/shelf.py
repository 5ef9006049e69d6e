"""The reports in a lake: lists of them, the latest first; one of them; the files of one.

A lake changes while it is read: runs are published, replaced and deleted. Reports that cannot be read are left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.handed_over import HANDED_OVER
from rocketmq_capacity.plan_file.plan import decoded_plan
from rocketmq_capacity.report.files import FINDINGS, PLAN, RECOMMENDATIONS, REPORT, SUMMARY
from rocketmq_capacity.report.scripts import FILE_NAME
from rocketmq_capacity.report.scripts import FOLDER as SCRIPTS
from rocketmq_capacity.report.shelf_index import summaries
from rocketmq_capacity.report.summary_file import PlanSummary, read_summary, summary_of_plan
from rocketmq_capacity.report.tables import BY_OWNER
from rocketmq_capacity.store.copies import copy_of
from rocketmq_capacity.store.lake import CLUSTER_FOLDER, PUBLISH, RUN_ID, Lake, Run
from rocketmq_capacity.store.place import errors_in_one_line, folders_in, is_local, listed
from rocketmq_capacity.store.run_key import is_of_dag_run, part_in_key

OWNER_FILE: Final = re.compile(rf"{BY_OWNER}/[A-Za-z0-9_-][A-Za-z0-9._-]*\.csv")
"""The findings of an owner."""
FILES: Final = (REPORT, PLAN, FINDINGS, RECOMMENDATIONS, *HANDED_OVER)
"""The files of a run that people get."""
LARGEST: Final = 16 << 20
"""Bytes of a plan without a summary, of an early version, that a list reads: it takes a tenth of a second."""
UNREADABLE: Final = (OSError, ValueError, RecursionError)
"""Errors of a run that is damaged, or is deleted while it is read; msgspec's DecodeError is a ValueError."""


@dataclass(frozen=True, slots=True)
class Report:
    """One published run: its names and its summary."""

    kind: str
    """The name of its shelf: plans or what-ifs."""
    cluster: str
    run_id: str
    summary: PlanSummary

    @property
    def order(self) -> tuple[datetime, str]:
        """A sort key: the snapshot's time; for several reports on one snapshot, the run's time."""
        return self.summary.moment, self.run_id


@dataclass(frozen=True, slots=True)
class Search:
    """Which reports are looked for; an empty member does not restrict the search."""

    cluster: str = ""
    first_day: date | None = None
    last_day: date | None = None
    text: str = ""
    """Part of the cluster's name, the run's id, the scenario's name or the fingerprint, in any case."""

    def finds(self, report: Report) -> bool:
        """Whether the report fits the search."""
        if self.cluster and report.cluster != self.cluster:
            return False
        day = report.summary.moment.astimezone(UTC).date()
        if (self.first_day and day < self.first_day) or (self.last_day and day > self.last_day):
            return False
        wanted = self.text.strip().casefold()
        summary = report.summary
        held = (report.cluster, report.run_id, summary.scenario or "", summary.fingerprint)
        # A person may enter Airflow's name of the run, some of whose characters are replaced in the run's key.
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
        """The number of its first report in the whole list, counted from 1; 0 if the list is empty."""
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
            return [name for name in folders_in(self.lake.root) if CLUSTER_FOLDER.fullmatch(name)]
        except OSError:
            return []

    def reports(self, cluster: str = "") -> list[Report]:
        """Every readable report, or those of one cluster, latest first."""
        clusters = [name for name in self.clusters() if cluster in ("", name)]
        held = summaries(self.lake, clusters, self._summary_of)
        reports = [Report(self.kind, name, run_id, summary) for name, run_id, summary in held]
        return sorted(reports, key=lambda report: report.order, reverse=True)

    def plans(self, cluster: str = "") -> list[Report]:
        """The same without trials: what a trend, a comparison, an approval and a scrape count."""
        return [report for report in self.reports(cluster) if not report.summary.trial]

    def report(self, cluster: str, run_id: str) -> Report | None:
        """The report of this run, or None if there is none, or it cannot be read."""
        try:
            run = self.lake.run(cluster, run_id)
        except BadInput:
            return None
        # What a list has read of a store is not asked for again; a run of the last seconds is in no list.
        listed = () if is_local(self.lake.root) else summaries(self.lake, [cluster], self._summary_of)
        known = (Report(self.kind, cluster, run_id, summary) for _, name, summary in listed if name == run_id)
        return next(known, None) or self._read(run)

    def before(self, report: Report) -> Report | None:
        """The cluster's last report before this one that is no trial."""
        return next((other for other in self.plans(report.cluster) if other.order < report.order), None)

    def of_dag_run(self, run_id: str) -> list[Report]:
        """Reports of the Dag run with this id in Airflow: one for each cluster that it planned."""
        return [report for report in self.reports() if is_of_dag_run(report.run_id, run_id)]

    def file(self, report: Report, name: str) -> Path | None:
        """The path of one of the report's ``FILES`` or of an owner's findings, or None for another name or no file.

        The path is one of this machine: of a file in a store it is a copy. Links are not followed: a run's folder or
        file that is a link gives None.
        """
        return self._stored(report, name) if name in FILES or OWNER_FILE.fullmatch(name) else None

    def script(self, report: Report, name: str) -> Path | None:
        """The path of one of the report's scripts, as :meth:`file`."""
        return self._stored(report, f"{SCRIPTS}/{name}") if FILE_NAME.fullmatch(name) else None

    def _stored(self, report: Report, name: str) -> Path | None:
        file = self.lake.run(report.cluster, report.run_id).report / name
        try:
            return copy_of(file) if _is_in_its_place(file, self.lake) else None
        except OSError:
            return None

    def names(self, report: Report) -> list[str]:
        """The names of the files that `file` would give: of ``FILES`` in their order, then of owners' findings."""
        folder = self.lake.run(report.cluster, report.run_id).report
        if not is_local(folder):
            held = {*listed(folder), *(f"{BY_OWNER}/{name}" for name in listed(folder / BY_OWNER))}
        else:
            owners = (file.relative_to(folder).as_posix() for file in (folder / BY_OWNER).glob("*.csv"))
            held = {name for name in (*FILES, *owners) if self.file(report, name) is not None}
        return [*(name for name in FILES if name in held), *sorted(filter(OWNER_FILE.fullmatch, held))]

    def _summary_of(self, run: Run) -> PlanSummary | None:
        report = self._read(run)
        return None if report is None else report.summary

    def _read(self, run: Run) -> Report | None:
        cluster, run_id = run.folder.parent.name, run.folder.name
        try:
            if not RUN_ID.fullmatch(run_id) or not run.is_committed(PUBLISH):
                return None
            if not _is_in_its_place(run.report, self.lake):
                return None
            # A store that does not answer is no reason to keep in the index that there is no report.
            with errors_in_one_line(run.report):
                summary = _summary(run.report)
            return Report(self.kind, cluster, run_id, summary) if summary.cluster_name == cluster else None
        except UNREADABLE:
            return None


def latest_first(shelves: Iterable[Shelf], search: Search) -> list[Report]:
    """The reports on all shelves that fit the search, the latest first."""
    reports = [report for shelf in shelves for report in shelf.reports(search.cluster) if search.finds(report)]
    return sorted(reports, key=lambda report: report.order, reverse=True)


@dataclass(frozen=True, slots=True)
class Since:
    """How many causes came, went and stayed since another plan, without causes that are only notes (INFO)."""

    new: int
    gone: int
    still: int


def since_of(before: PlanSummary, after: PlanSummary) -> Since | None:
    """What changed from one to the other; None if the causes of one of the two are unknown."""
    if before.causes is None or after.causes is None:
        return None
    old, new = set(before.causes), set(after.causes)
    return Since(len(new - old), len(old - new), len(new & old))


def since_last(reports: Sequence[Report], plans: Iterable[Report]) -> Mapping[tuple[str, str, str], Since]:
    """For each of these reports, by (kind, cluster, run id), what changed since the cluster's plan before it.

    A report is missing if there is no plan before it, or if the causes of one of the two are unknown.
    """
    wanted = {(one.kind, one.cluster, one.run_id) for one in reports}
    of_cluster: dict[str, list[Report]] = {}
    for plan in sorted(plans, key=lambda report: report.order):
        of_cluster.setdefault(plan.cluster, []).append(plan)
    changes: dict[tuple[str, str, str], Since] = {}
    for ordered in of_cluster.values():
        for before, after in pairwise(ordered):
            key = after.kind, after.cluster, after.run_id
            if key in wanted and (since := since_of(before.summary, after.summary)) is not None:
                changes[key] = since
    return changes


def sheet_of(reports: Sequence[Report], number: int) -> Sheet:
    """One page of a list; a number beyond the last page gives the last page."""
    sheets = max(1, -(-len(reports) // SHEET))
    number = min(max(1, number), sheets)
    return Sheet(tuple(reports[(number - 1) * SHEET : number * SHEET]), number, sheets, len(reports))


def _is_in_its_place(path: Path, lake: Lake) -> bool:
    if not is_local(path):
        return True  # a store has no links, and a file that is missing is an error of whoever opens it
    root = lake.root.resolve()
    return path.resolve() == root / path.relative_to(lake.root) and path.exists()


def _summary(folder: Path) -> PlanSummary:
    """The run's summary file; for a run without one, from an earlier version, the summary of its plan."""
    with suppress(FileNotFoundError):
        return read_summary(folder / SUMMARY)
    plan = copy_of(folder / PLAN)
    stat = plan.stat()
    return _summary_of_plan(plan, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4096)
def _summary_of_plan(plan: Path, _modified: int, size: int) -> PlanSummary:
    if size > LARGEST:
        raise ValueError(f"{plan}: too large to be read whole by a list of reports")
    summary = summary_of_plan(decoded_plan(plan.read_bytes()))
    if summary.moment.tzinfo is None:
        raise ValueError(f"{plan}: a time without its zone")
    return summary
