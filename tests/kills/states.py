"""What a run's folder may hold at any moment, and what a reader takes from it."""

import json
import re
from pathlib import Path
from typing import Final

from rocketmq_capacity.store.lake import Run

STEPS: Final = ("snapshot", "allocate", "assess", "recommend", "publish")
"""In their order; each is an app as well."""
LOCK: Final = ".lock"
UNIQUE: Final = re.compile(r"-[0-9a-f]{32}\.parquet")
UNIQUE_BYTES: Final = re.compile(UNIQUE.pattern.encode())

Files = dict[str, bytes]
"""Path below the run's folder -> content."""


def files_of(run: Run) -> Files:
    """Every file of a run, hidden ones as well, but for the lock, which holds nothing."""
    return dict(_named(run, path) for path in run.folder.rglob("*") if path.is_file() and path.name != LOCK)


def readable(run: Run) -> Files:
    """What readers take: the tables of steps whose manifest is there, and the files of the report.

    Errors: TableDamaged where a table is not as its manifest says.
    """
    paths: list[Path] = [run.inventory] if run.inventory.exists() else []
    for step in STEPS:
        if run.is_committed(step):
            paths += [file for name in run.datasets(step) for file in run.files(name)]
    if run.report.is_dir():
        paths += (file for file in run.report.rglob("[!.]*") if file.is_file())
    return dict(_named(run, path) for path in paths)


def _named(run: Run, path: Path) -> tuple[str, bytes]:
    """A file's name and content, without the part of names that is another one each time, in manifests as well."""
    name, content = str(path.relative_to(run.folder)), path.read_bytes()
    return UNIQUE.sub(".parquet", name), UNIQUE_BYTES.sub(b".parquet", content) if "steps" in path.parts else content


def assert_nothing_half_written(run: Run, whole: Files) -> None:
    """Whatever can be read is as in the whole run; and a dataset that can be read is there with all its files."""
    found = readable(run)
    different = [name for name, content in found.items() if content != whole.get(name)]
    assert different == [], different
    for step in STEPS:
        if run.is_committed(step):
            for name in json.loads(whole[f"steps/{step}.json"])["datasets"]:
                expected = {path for path in whole if path.startswith(f"tables/{name}/")}
                assert expected <= found.keys(), (step, name)


def assert_same(run: Run, whole: Files) -> None:
    """Every file of the run, and no other, with every byte of it."""
    found = files_of(run)
    assert sorted(found) == sorted(whole)
    assert [name for name in whole if found[name] != whole[name]] == []
