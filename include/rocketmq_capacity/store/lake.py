"""The lake, its runs, their datasets, and which of them are committed. Only this module knows paths.

A run's datasets are in the run's own folder::

    LAKE/<cluster_name>/<run_id>/inventory.json          the snapshot as it was taken
                                 tables/<dataset>/       parquet
                                 steps/<step>.json       manifest of a finished step, written last
                                 report/                 the report: all files of report/publish.py
                                 history.json            of a live cluster only: which earlier runs it uses
                                 own_policy.json         of a run only that decides values of the policy otherwise
                                 what_if.json            of a what-if only: its changes, and the run that it changes
                                 answers/                people's answers to the recommendations, a file for each
                                 approval.json           the same of an earlier version, which kept only the last
    LAKE/<cluster_name>/.accepted/                       risks that people have accepted, see acceptances.py
                        .notices/                        what owners were told, see notices.py
                        .samples/<day>/                  what was sampled between plans, like a run, see samples.py
                        .published/                      in a store only: which runs are published, see published.py

Commit by manifest: readers trust a dataset only if the manifest of the step that wrote it is there, and open exactly
the files that it lists. Nothing is ever renamed. A retry of a step writes its datasets again, then its manifest. The
report is not a dataset: once it is published it stays published, and publishing again replaces its files one by one.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput, DatasetMissing, TableDamaged, shown
from rocketmq_capacity.store.lease import Lease
from rocketmq_capacity.store.manifest import (
    File,
    Files,
    listed_in_store,
    read_manifest,
    sizes_below,
    sizes_in,
    sizes_of,
    write_manifest,
)
from rocketmq_capacity.store.new_file import PART
from rocketmq_capacity.store.place import (
    check_kept,
    contents,
    delete_in_store,
    difference,
    errors_in_one_line,
    is_local,
)
from rocketmq_capacity.store.published import mark, published, unmark
from rocketmq_capacity.store.run_lock import WAIT_S, busy, leased, locked
from rocketmq_capacity.store.writing import make_folder, refuse_link, sync, sync_together

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
CLUSTER_FOLDER: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}")
"""Names of clusters. One with a dot in front would be a hidden folder, or a parent folder."""
PUBLISH: Final = "publish"
"""The step after which people read a run."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one cluster, with all its paths.

    Attributes:
        folder: of the run.
        is_kept: False for a run that is deleted after its plan: nobody waits until its tables are on the disk.
        under_way: the files of the datasets that a step of this process has written since it began, by dataset. No
            manifest lists them yet, so only this process reads them, and its tasks, which get a copy of the run.
        known: what the manifests of a run in a store list, by dataset, and what is wrong with it.
        seen: the names of files under way that the store is known to have.
        lease: the lock that this process holds, where the lake is in a store.
    """

    folder: Path
    is_kept: bool = True
    under_way: dict[str, Files] = field(default_factory=dict, compare=False, repr=False)
    known: dict[str, tuple[Files, str | None]] = field(default_factory=dict, compare=False, repr=False)
    seen: set[str] = field(default_factory=set, compare=False, repr=False)
    lease: list[Lease] = field(default_factory=list, compare=False, repr=False)

    @property
    def inventory(self) -> Path:
        """The stored snapshot. A repeated run plans from it."""
        return self.folder / "inventory.json"

    @property
    def what_if(self) -> Path:
        """The changes of a what-if, and the run that it changes. Missing if the run is a plan."""
        return self.folder / "what_if.json"

    @property
    def own_policy(self) -> Path:
        """What the run decides otherwise than the deployment's policy. Missing if that is nothing."""
        return self.folder / "own_policy.json"

    @property
    def history(self) -> Path:
        """The earlier runs that the run uses; missing if it uses none of the lake's."""
        return self.folder / "history.json"

    @property
    def answers(self) -> Path:
        """The folder of the answers to the recommendations; missing until there is one."""
        return self.folder / "answers"

    @property
    def approval(self) -> Path:
        """The answer that an earlier version kept; missing unless there is one."""
        return self.folder / "approval.json"

    @property
    def report(self) -> Path:
        """The folder that people read."""
        return self.folder / "report"

    @property
    def tables(self) -> Path:
        """The folder of all datasets."""
        return self.folder / "tables"

    @property
    def counts(self) -> Path:
        """The folder where the tasks of a pass over units show how far they are; missing between two passes."""
        return self.folder / ".units"

    @contextmanager
    def counting(self) -> Iterator[Path]:
        """The folder of the counts, empty at first; it is deleted with what a killed pass left. A store has none."""
        if not is_local(self.folder):
            yield self.counts
            return
        shutil.rmtree(self.counts, ignore_errors=True)
        self.counts.mkdir()
        try:
            yield self.counts
        finally:
            shutil.rmtree(self.counts, ignore_errors=True)

    def table(self, dataset: str) -> Path:
        """The folder of a dataset, to write into; `files` are what is read."""
        return self.tables / dataset

    def has(self, dataset: str) -> bool:
        """Whether the run has a dataset; an earlier version of this program may have planned it without."""
        return self._listed(dataset) is not None or (is_local(self.folder) and self.table(dataset).is_dir())

    def files(self, dataset: str) -> list[Path]:
        """The files of a dataset in the order of their names: exactly those that the manifest of its step lists.

        While its step is under way, they are those that it has written so far. Where an earlier version of this program
        listed none, they are all that are there.

        Errors: TableDamaged if a file is missing or has another size; StoreUnreachable if that is one that the store
        has just accepted.
        """
        if dataset in self.under_way:
            self._look_in_store(dataset)
            return self._places(dataset, self.under_way[dataset])
        if not is_local(self.folder):
            return self._places(dataset, self._checked_in_store(dataset))
        listed, held = self._listed(dataset), sizes_in(self.table(dataset))
        problem = None if listed is None else difference(sizes_of(listed), held)
        if problem is not None:
            raise self._damaged(dataset, problem)
        return self._places(dataset, held if listed is None else listed)

    def _checked_in_store(self, dataset: str) -> Files:
        """The same of a store."""
        listed, problem = self._known_in_store().get(dataset, ({}, None))
        if problem is not None:
            raise self._damaged(dataset, problem)
        return listed

    def _look_in_store(self, dataset: str) -> None:
        """Check that a store has kept the files of a dataset whose step is under way.

        The store is asked once for the files of all such datasets: each question takes as long as a small table.
        """
        if not is_local(self.folder) and not self.under_way[dataset].keys() <= self.seen:
            held = sizes_below(self.tables)
            for name, files in self.under_way.items():
                check_kept(self.table(name), sizes_of(files), held.get(name, {}))
                self.seen.update(files)

    def _known_in_store(self) -> dict[str, tuple[Files, str | None]]:
        """What a store has, asked once for all datasets: each question takes as long as a small table."""
        if not self.known:
            self.known.update(listed_in_store(self._steps, self.tables))
        return self.known

    def rows(self, dataset: str) -> int | None:
        """The rows of a dataset, as its writers have counted them; None if they have not, in an earlier version."""
        files = self.under_way[dataset] if dataset in self.under_way else self._listed(dataset)
        counts = [None] if files is None else [file.rows for file in files.values()]
        return None if None in counts else sum(filter(None, counts))

    def check_rows(self, dataset: str, held: Mapping[str, int]) -> None:
        """Errors: TableDamaged if some files of a committed dataset have other rows than its manifest says."""
        listed = self._listed(dataset) or {}
        for name, rows in held.items():
            if name in listed and listed[name].rows not in (None, rows):
                raise self._damaged(dataset, f"{name} has {rows:,} rows instead of {listed[name].rows:,}")

    def check_bytes(self, dataset: str) -> None:
        """Errors: TableDamaged if a file of a committed dataset has other bytes than its writer has written."""
        listed = self._listed(dataset) or {}
        places = self.files(dataset)
        for place, content in zip(places, contents(places), strict=True):
            digest = listed[place.name].sha256 if place.name in listed else None
            if digest is not None and sha256(content).hexdigest() != digest:
                raise self._damaged(dataset, f"{place.name} has other bytes than were written")

    def _damaged(self, dataset: str, problem: str) -> TableDamaged:
        expected = "expected the files that its step has written; plan the snapshot of this run again"
        return TableDamaged(f"{self.folder}: the table {dataset} is damaged: {problem}; {expected}")

    def _places(self, dataset: str, names: Iterable[str]) -> list[Path]:
        return [self.table(dataset) / name for name in sorted(names)]

    def export(self, folder: Path) -> None:
        """Move report and tables into a folder of their own. The files of a table get names that do not change."""
        for file in self.report.iterdir():
            Path(file).replace(folder / file.name)
        for dataset in (table.name for table in self.tables.iterdir()):
            (folder / "tables" / dataset).mkdir(parents=True)
            for number, place in enumerate(self.files(dataset)):
                Path(place).replace(folder / "tables" / dataset / f"part-{number}.parquet")

    def snapshot_bytes(self) -> int:
        """Size of the stored inventory; 0 before there is one."""
        return self.inventory.stat().st_size if self.inventory.exists() else 0

    def new_tables(self, *datasets: str) -> None:
        """Empty these datasets.

        An executor that has outlived its driver may still write into their folders. Nobody lists its files.
        """
        make_folder(self.tables)
        if is_local(self.folder):
            for folder in map(self.table, datasets):
                shutil.rmtree(folder, ignore_errors=True)
                refuse_link(folder)
                folder.mkdir(exist_ok=True)
        else:
            for dataset in sizes_below(self.tables).keys() & {*datasets}:
                delete_in_store(self.table(dataset))
        self.under_way.update((dataset, {}) for dataset in datasets)

    def reopen(self, dataset: str) -> list[str]:
        """Begin to add files to a dataset: until `commit`, readers see the files that they saw before.

        Gives the files that are listed and missing, or have another size: they are listed no longer.
        """
        make_folder(self.table(dataset))
        refuse_link(self.table(dataset))
        listed, held = self._listed(dataset) or {}, self._held(dataset)
        self.under_way[dataset] = {
            name: file for name, file in listed.items() if PART.fullmatch(name) and held.get(name) == file.size_bytes
        }
        return sorted(listed.keys() - self.under_way[dataset].keys())

    def listed(self, dataset: str) -> list[Path]:
        """The files of a dataset that a manifest lists, there or not."""
        return self._places(dataset, self._listed(dataset) or {})

    def sweep(self, dataset: str) -> None:
        """Delete the files of a dataset that no manifest lists."""
        for name in self._held(dataset).keys() - (self._listed(dataset) or {}).keys():
            (self.table(dataset) / name).unlink(missing_ok=True)

    def _held(self, dataset: str) -> dict[str, int]:
        """The sizes of the files that are there."""
        if is_local(self.folder):
            return sizes_in(self.table(dataset))
        return sizes_below(self.tables).get(dataset, {})

    def next_part(self, dataset: str) -> int:
        """The number of the next file of a dataset whose step is under way: its rows come after all others."""
        return max((int(name.split("-")[1]) + 1 for name in self.under_way[dataset]), default=0)

    def add(self, dataset: str, name: str, file: File) -> None:
        """Count a file to a dataset whose step is under way."""
        self.under_way[dataset][name] = file

    @contextmanager
    def alone(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Work on the run while no other process does: a killed task may leave a driver that still writes.

        The lock ends with its process, in whatever way that ends.

        Errors: :class:`RunBusy` if another process has not ended when the time is up; :class:`BadInput` if a folder or
        a file of the run is a link.
        """
        self.refuse_links()
        with locked(self.folder, wait_s) if is_local(self.folder) else leased(self.folder, wait_s, self.lease):
            yield

    def refuse_links(self) -> None:
        """Errors: BadInput naming a link in the place of the run's folder, its cluster's, or what is in the run's."""
        files = self.inventory, self.history, self.what_if, self.own_policy, self.approval, self.answers
        for path in (self.folder.parent, self.folder, *files, self._steps, self.tables, self.report):
            refuse_link(path)

    def begin(self, step: str) -> None:
        """Delete the step's manifest and make its folder: its datasets are about to be replaced."""
        make_folder(self._steps)
        self.known.clear()
        if step == PUBLISH:
            unmark(self.folder)
        with errors_in_one_line(self.folder):
            self._manifest(step).unlink(missing_ok=True)
        sync(self._steps, deep=False)  # otherwise a loss of power could bring back the manifest of replaced datasets

    def commit(self, step: str, datasets: Sequence[str]) -> None:
        """Write the manifest: the step is finished, and these datasets are complete, on the disk too."""
        written = {dataset: self.under_way[dataset] for dataset in datasets}
        for dataset in written:
            self._look_in_store(dataset)
        if self.is_kept:
            self._sync(written)
        if not all(lease.is_held() for lease in self.lease):
            raise busy(self.folder)
        write_manifest(self._manifest(step), written)
        if step == PUBLISH:
            mark(self.folder)
        self.known.clear()
        for dataset in written:
            del self.under_way[dataset]

    def _sync(self, written: Mapping[str, Files]) -> None:
        """Wait until the files of these datasets are on the disk."""
        if not is_local(self.folder):
            return
        sync_together([place for dataset, files in written.items() for place in self._places(dataset, files)])
        sync_together([self.table(dataset) for dataset in written])
        if written:
            sync(self.tables, deep=False)
        sync(self.folder, deep=False)

    def uncommit(self) -> None:
        """Delete all manifests, the one of the last step first: whatever else is deleted then, nobody reads it."""
        unmark(self.folder)
        if self._steps.is_dir():
            for step in (PUBLISH, *(file.stem for file in self._steps.glob("*.json"))):
                self._manifest(step).unlink(missing_ok=True)
            sync(self._steps, deep=False)

    def require(self, step: str) -> None:
        """Errors: :class:`DatasetMissing` if the step has not finished in this run, or if its manifest is not whole."""
        if self.is_committed(step):
            return
        with errors_in_one_line(file := self._manifest(step)):
            is_there = file.exists()
        if is_there:
            raise DatasetMissing(f"{file}: is no whole manifest of the step {step}; run the step again")
        raise DatasetMissing(f"{self.folder}: the step {step} has not finished in this run; run it first")

    def datasets(self, step: str) -> list[str]:
        """The names of the datasets that a finished step has written. Errors: as :meth:`require`."""
        self.require(step)
        manifest = read_manifest(self._manifest(step))
        return [] if manifest is None else manifest.datasets

    def is_committed(self, step: str) -> bool:
        """Whether the step has finished: whether its manifest is there, and whole."""
        return read_manifest(self._manifest(step)) is not None

    def _listed(self, dataset: str) -> Files | None:
        """The files of a dataset, as the manifest of its step lists them; None if no manifest does."""
        if not is_local(self.folder):
            return self._known_in_store().get(dataset, (None,))[0]
        manifests = map(read_manifest, self._steps.glob("*.json"))
        listed = (manifest.listed(dataset) for manifest in manifests if manifest is not None)
        return next((files for files in listed if files is not None), None)

    def _manifest(self, step: str) -> Path:
        return self._steps / f"{step}.json"

    @property
    def _steps(self) -> Path:
        return self.folder / "steps"


@dataclass(frozen=True, slots=True)
class Lake:
    """A folder of clusters and their runs; ``is_kept`` is that of its runs."""

    root: Path
    is_kept: bool = True

    def run(self, cluster: str, run_id: str) -> Run:
        """The run of this name. Errors: :class:`BadInput` for a name that is not a plain folder name."""
        for what, name, allowed in (("--cluster", cluster, CLUSTER_FOLDER), ("--run-id", run_id, RUN_ID)):
            if not allowed.fullmatch(name):
                raise BadInput(what, "", f"is {shown(name)}; expected letters, digits, '_', '.' and '-', at most 255")
        return Run(self.root / cluster / run_id, self.is_kept)

    def runs(self, cluster: str) -> Iterator[Run]:
        """The published runs of a cluster, by run id."""
        if is_local(self.root):
            return (run for run in self.folders(cluster) if run.is_committed(PUBLISH))
        return (Run(self.root / cluster / name) for name in sorted(dict(published(self.root / cluster, ()))))

    def folders(self, cluster: str = "*", run_id: str = "*") -> list[Run]:
        """The runs that there are, finished or not, by cluster and id; a folder that is a link is none."""
        with errors_in_one_line(self.root):
            folders = sorted(self.root.glob(f"{cluster}/{run_id}"))
        return [Run(folder) for folder in folders if not (folder.is_symlink() or folder.parent.is_symlink())]
