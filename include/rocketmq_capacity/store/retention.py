"""Which runs of a lake are kept, and the deletion of the others."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from rocketmq_capacity.errors import BadInput, RunBusy
from rocketmq_capacity.settings.policy import Retention
from rocketmq_capacity.store.lake import CLUSTER_FOLDER, RUN_ID, Lake, Run
from rocketmq_capacity.store.run_key import due_of, key_of_what_if

ALWAYS_ALLOWED: Final = 10
"""Runs of a cluster that may be deleted at once, however few it has."""


@dataclass(frozen=True, slots=True)
class Expired:
    """A run that is no longer kept.

    Attributes:
        cluster: its folder in the lake.
        run_id: its own.
        size_bytes: of all its files.
        reason: why, in words.
    """

    cluster: str
    run_id: str
    size_bytes: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """JSON values, because the list is stored in Airflow's database."""
        return asdict(self)


def expired(lake: Lake, rules: Retention, now: datetime) -> list[Expired]:
    """The runs that the rules no longer keep, by cluster and age, oldest first.

    A cluster's latest published run is always kept. So is whatever is not a run of the Dags: a folder whose name does
    not begin with a moment, and any link.
    """
    return [run for cluster in _folders(lake) for run in _expired_of(lake, cluster, rules, now)]


def check_share(lake: Lake, runs: Sequence[Expired], rules: Retention) -> None:
    """Check that no cluster would lose more runs at once than the rules allow.

    Errors: :class:`BadInput` naming the cluster and both numbers.
    """
    for cluster, number in Counter(run.cluster for run in runs).items():
        every = len(_runs(lake, cluster))
        most = max(ALWAYS_ALLOWED, int(every * rules.most_deleted_ratio))
        if number > most:
            problem = (
                f"{number} of the {every} runs of {cluster} would be deleted at once; expected at most {most} "
                f"(most_deleted_ratio {rules.most_deleted_ratio:g}). Check the clock of this machine and the policy; "
                "if both are right, start the Dag by hand with 'Delete any number'"
            )
            raise BadInput("retention", "", problem)


def delete(lake: Lake, runs: Sequence[Expired]) -> list[Expired]:
    """Delete these runs, and return those that are spared because a process works on them.

    It is no error if one is already gone. The manifest of the last step is deleted first, so that no reader takes a
    half-deleted run for a published one. Links are not followed.
    """
    spared = []
    for one in runs:
        run = lake.run(one.cluster, one.run_id)
        if not run.folder.is_dir() or any(folder.is_symlink() for folder in (run.folder, run.folder.parent)):
            continue
        try:
            with run.alone(wait_s=0):
                run.begin("publish")
                shutil.rmtree(run.folder)
        except RunBusy:
            spared.append(one)
    return spared


def _expired_of(lake: Lake, cluster: str, rules: Retention, now: datetime) -> Iterator[Expired]:
    runs = _runs(lake, cluster)
    due = {key_of_what_if(run.folder.name): moment for run, moment in runs}
    names = sorted(due)
    published = [name for name in names if lake.run(cluster, name).is_committed("publish")]
    for index, name in enumerate(names):
        reason = _reason(now - due[name], len(names) - index, rules)
        if reason is not None and name != max(published, default=None):
            for run, _ in runs:
                # A what-if and the run that it started from: both are kept, or neither.
                if key_of_what_if(run.folder.name) == name:
                    yield Expired(cluster, run.folder.name, _size(run), reason)


def _reason(age: timedelta, number_from_last: int, rules: Retention) -> str | None:
    if age > timedelta(days=rules.days):
        return f"{age.days} days old; {rules.days} are kept"
    if number_from_last > rules.count and age > timedelta(days=1):  # a run of today may still be running
        return f"number {number_from_last} of the cluster from the last; {rules.count} are kept"
    return None


def _folders(lake: Lake) -> list[str]:
    if not lake.root.is_dir():
        return []
    found = (folder for folder in lake.root.iterdir() if folder.is_dir() and not folder.is_symlink())
    return sorted(folder.name for folder in found if CLUSTER_FOLDER.fullmatch(folder.name))


def _runs(lake: Lake, cluster: str) -> list[tuple[Run, datetime]]:
    """Runs that the Dags made, and when they were due; oldest first."""
    found = (lake.root / cluster).iterdir() if (lake.root / cluster).is_dir() else ()
    names = sorted(folder.name for folder in found if folder.is_dir() and not folder.is_symlink())
    dues = ((name, due_of(name)) for name in names if RUN_ID.fullmatch(name))
    return [(lake.run(cluster, name), due) for name, due in dues if due is not None]


def _size(run: Run) -> int:
    return sum(file.lstat().st_size for file in run.folder.rglob("*") if not file.is_dir())
