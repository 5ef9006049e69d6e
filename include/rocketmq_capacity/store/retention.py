"""Which runs of a lake are kept, and the deletion of the others."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from rocketmq_capacity.errors import BadInput, RunBusy
from rocketmq_capacity.settings.policy import RetentionPolicy
from rocketmq_capacity.store.lake import CLUSTER_FOLDER, PUBLISH, RUN_ID, Lake, Run
from rocketmq_capacity.store.place import delete_in_store, folders_in, is_local, size_in_store
from rocketmq_capacity.store.run_key import due_of, key_of_what_if
from rocketmq_capacity.store.run_lock import LOCK
from rocketmq_capacity.store.run_lookup import is_trial

ALWAYS_ALLOWED: Final = 10
"""Runs of a cluster that may be deleted at once, however few it has."""
LONGEST_PAUSE: Final = timedelta(days=45)
"""Between two days with runs: more than a month, because clusters may be planned once a month."""
DAYS_AFTER_A_PAUSE: Final = 3
"""Days with runs after which a longer pause was one: a clock that has jumped is seen by then."""
MOST_AHEAD: Final = timedelta(days=1)
"""A run that was due later than this after now has the time of a wrong clock."""
BY_HAND: Final = "if it is right, start the Dag by hand with 'Delete any number'"


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


def expired(lake: Lake, rules: RetentionPolicy, now: datetime) -> list[Expired]:
    """The runs that the rules no longer keep, by cluster and age, oldest first.

    A cluster's latest published run that is no trial is always kept. So is whatever is not a run of the Dags: a folder
    whose name does not begin with a moment, and any link. Runs that were due after now are kept, and take the place of
    no other run.
    """
    return [run for cluster in _folders(lake) for run in _expired_of(lake, cluster, rules, now)]


def check_clock(lakes: Iterable[Lake], now: datetime) -> None:
    """Check that the clock fits the days of the runs: no long time without a run before the last days, or before now.

    A clock that jumps ahead makes all runs old at once. Runs that were due after now do not count.

    Errors: BadInput naming both moments.
    """
    dues = {due for lake in lakes for cluster in _folders(lake) for _, due in _runs(lake, cluster)}
    days = sorted({due.date() for due in dues if not _is_ahead(due, now)})
    for before, after in pairwise([*days[-DAYS_AFTER_A_PAUSE:], now.date()]):
        if after - before > LONGEST_PAUSE:
            problem = (
                f"no run was due between {before} and {after}, and the clock says {now:%Y-%m-%d %H:%M} UTC; expected "
                f"at most {LONGEST_PAUSE.days} days without a run, or {DAYS_AFTER_A_PAUSE} days with runs since. "
                f"Check the clock of this machine; {BY_HAND}"
            )
            raise BadInput("retention", "", problem)


def ahead(lake: Lake, now: datetime) -> list[str]:
    """The runs of a lake that were due after now, by path: now or then, a clock was wrong."""
    return [
        f"{cluster}/{run.folder.name}"
        for cluster in _folders(lake)
        for run, due in _runs(lake, cluster)
        if _is_ahead(due, now)
    ]


def check_share(lake: Lake, runs: Sequence[Expired], rules: RetentionPolicy) -> None:
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
                f"{BY_HAND}"
            )
            raise BadInput("retention", "", problem)


def delete(lake: Lake, runs: Sequence[Expired]) -> list[Expired]:
    """Delete these runs, and return those that are spared: a process works on them, or they have links.

    It is no error if one is already gone. The manifests are deleted first, the one of the last step before the others,
    so that no reader takes a half-deleted run for a whole one, not even after a loss of power. The lock is held until
    nothing else is left. Links are not followed.
    """
    spared, clusters = [], set(_folders(lake))
    there = {
        cluster: set(folders_in(lake.root / cluster)) if cluster in clusters else set()
        for cluster in {one.cluster for one in runs}
    }
    for run_to_delete in runs:
        run = lake.run(run_to_delete.cluster, run_to_delete.run_id)
        if run_to_delete.run_id in there[run_to_delete.cluster] and not delete_run(run):
            spared.append(run_to_delete)
    return spared


def delete_run(run: Run) -> bool:
    """Delete a run as :func:`delete` does; whether it is not spared."""
    try:
        with run.alone(wait_s=0):
            run.uncommit()
            if is_local(run.folder):
                _delete_all_but_the_lock(run)
                (run.folder / LOCK).unlink()
                with suppress(OSError):  # a retry that has waited for the lock begins the run anew
                    run.folder.rmdir()
        delete_in_store(run.folder)
    except (RunBusy, BadInput):  # a process works on it, or it has links, which a person should look at
        return False
    return True


def _delete_all_but_the_lock(run: Run) -> None:
    """Until a retry can take the lock, nothing may be left that it could mistake for its own files."""
    for entry in run.folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()


def _expired_of(lake: Lake, cluster: str, rules: RetentionPolicy, now: datetime) -> Iterator[Expired]:
    runs = [(run, moment) for run, moment in _runs(lake, cluster) if not _is_ahead(moment, now)]
    due = {key_of_what_if(run.folder.name): moment for run, moment in runs}
    names = sorted(due)
    latest = _latest(lake, cluster, names)
    for index, name in enumerate(names):
        reason = _reason(now - due[name], len(names) - index, rules)
        if reason is not None and name != latest:
            for run, _ in runs:
                # A what-if and the run that it started from: both are kept, or neither.
                if key_of_what_if(run.folder.name) == name:
                    yield Expired(cluster, run.folder.name, _size(run), reason)


def _latest(lake: Lake, cluster: str, names: Sequence[str]) -> str | None:
    """The latest of these runs that is published and no trial.

    A copy of a store's lake may lack the marks of published runs, as other hidden files. Then the runs are asked.
    """
    plans = [run.folder.name for run in lake.runs(cluster) if run.folder.name in names and not is_trial(run)]
    if plans:
        return max(plans)
    runs = (lake.run(cluster, name) for name in reversed(names))
    return next((run.folder.name for run in runs if run.is_committed(PUBLISH) and not is_trial(run)), None)


def _reason(age: timedelta, number_from_last: int, rules: RetentionPolicy) -> str | None:
    if age > timedelta(days=rules.days):
        return f"{age.days} days old; {rules.days} are kept"
    if number_from_last > rules.count and age > timedelta(days=1):  # a run of today may still be running
        return f"number {number_from_last} of the cluster from the last; {rules.count} are kept"
    return None


def _is_ahead(due: datetime, now: datetime) -> bool:
    return due > now + MOST_AHEAD


def _folders(lake: Lake) -> list[str]:
    return [name for name in folders_in(lake.root) if CLUSTER_FOLDER.fullmatch(name)]


def _runs(lake: Lake, cluster: str) -> list[tuple[Run, datetime]]:
    """Runs that the Dags made, and when they were due; oldest first."""
    dues = ((name, due_of(name)) for name in folders_in(lake.root / cluster) if RUN_ID.fullmatch(name))
    return [(lake.run(cluster, name), due) for name, due in dues if due is not None]


def _size(run: Run) -> int:
    if not is_local(run.folder):
        return size_in_store(run.folder)
    return sum(file.lstat().st_size for file in run.folder.rglob("*") if not file.is_dir())
