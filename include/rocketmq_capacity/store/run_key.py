"""A Dag run's name in the lake: one for all its tasks and tries, so that a cleared run finds its snapshot.

No other module knows the form of a key: ``<moment it was due>-<Airflow's run id>--<what it plans>``, and ``--before``
at the end for the run that a what-if starts from.
"""

import hashlib
import re
from datetime import UTC, datetime
from typing import Final, Protocol

LONGEST_RUN_ID: Final = 120
"""Characters of Airflow's run id in a folder's name, which may have 255 in all."""

_MOMENT: Final = "%Y%m%dT%H%M%SZ"
_SOURCE: Final = "--"
_BEFORE: Final = "--before"
_KEY: Final = re.compile(r"(?P<due>\d{8}T\d{6}Z)-(?P<name>.+)")
_OF_MOMENTS: Final = str.maketrans(":+", "__")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]")


class DagRunLike(Protocol):
    """The members of Airflow's Dag run that are used."""

    @property
    def run_id(self) -> str:
        """Airflow's name of the run."""

    @property
    def run_after(self) -> datetime:
        """The moment from which the run may start; a run by hand has no other date."""


def run_key(dag_run: DagRunLike, source: str) -> str:
    """The moment the run was due, its id and what it plans. So keys sort by time, and no id leads to a parent folder.

    Example: ``20261120T020000Z-scheduled__2026-11-20T02_00_00_00_00--rocketmq_shop``.
    """
    due = dag_run.run_after.astimezone(UTC).strftime(_MOMENT)
    return f"{due}-{_name(dag_run.run_id)}{_SOURCE}{_plain(source)}"


def key_before(key: str) -> str:
    """The run of the cluster as it is, which the what-if of this key starts from."""
    return key + _BEFORE


def key_of_what_if(key: str) -> str:
    """The key of the what-if that this run belongs to; any other key is returned unchanged."""
    return key.removesuffix(_BEFORE)


def due_of(key: str) -> datetime | None:
    """The moment the run was due; None for a name that is not a key."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    try:
        return datetime.strptime(match["due"], _MOMENT).replace(tzinfo=UTC)
    except ValueError:  # such as of a 13th month
        return None


def is_of_dag_run(key: str, run_id: str) -> bool:
    """Whether it is the key of a run with this Airflow id, whatever it plans."""
    match = _KEY.fullmatch(key)
    return match is not None and f"{match['name']}{_SOURCE}".startswith(f"{_name(run_id)}{_SOURCE}")


def is_of_source(key: str, source: str) -> bool:
    """Whether it is the key of a run that plans this; a what-if's run of the cluster as it is does not count."""
    return _KEY.fullmatch(key) is not None and key.endswith(f"{_SOURCE}{_plain(source)}")


def part_in_key(text: str) -> str:
    """The form of a part of Airflow's usual run ids in a key; any other text is returned unchanged."""
    return text.translate(_OF_MOMENTS)


def _name(run_id: str) -> str:
    """Airflow's run id; a long one is cut, and a digest of all of it makes it unique."""
    name = _plain(run_id)
    if len(name) > LONGEST_RUN_ID:
        name = f"{name[:LONGEST_RUN_ID]}_{hashlib.sha256(run_id.encode()).hexdigest()[:12]}"
    return name


def _plain(text: str) -> str:
    """Characters that Hadoop paths refuse, or that lead to other folders, become ``_``."""
    return _UNSAFE.sub("_", text)
