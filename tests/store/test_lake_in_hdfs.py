"""A lake at an ``hdfs://`` URL: all of ours and of fsspec's, with a folder of this machine in the place of HDFS.

Arrow speaks to HDFS through libhdfs, which no registry has. So its file system alone is another one here. Like HDFS, it
cannot create a file only where it is absent.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow.fs as pafs
import pytest

from rocketmq_capacity.errors import RunBusy, StoreUnreachable
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.lease import Lease
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.store.place import usable_place
from rocketmq_capacity.store.retention import delete_run
from rocketmq_capacity.store.writing import write_together


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    folders = pafs.PyFileSystem(pafs.FSSpecHandler(fsspec.filesystem("file", auto_mkdir=True)))
    monkeypatch.setattr(pafs, "HadoopFileSystem", lambda *_, **__: folders)
    yield Lake(usable_place(f"hdfs://namenode:8020{tmp_path}/lake")).run("C1", "r1")
    fsspec.get_filesystem_class("hdfs").clear_instance_cache()


def committed(run: Run) -> None:
    run.begin("publish")
    run.new_table("finding")
    with NewFile(run.table("finding"), run.next_part("finding")) as file:
        file.write(b"rows")
    run.add("finding", file.place.name, file.written(1))
    write_together(run.report, {"plan.json": b"{}", "by-owner/a.csv": b"a"})
    run.commit("publish", ["finding"])


def test_a_run_is_published_found_and_deleted(run: Run) -> None:
    with run.alone():
        committed(run)
    lake = Lake(run.folder.parent.parent)
    assert list(lake.runs("C1")) == [run]
    assert [file.read_bytes() for file in Run(run.folder).files("finding")] == [b"rows"]
    assert (run.report / "by-owner" / "a.csv").read_bytes() == b"a"
    assert delete_run(run)
    assert list(lake.runs("C1")) == []


def test_of_two_processes_that_take_the_same_lock_the_last_one_holds_it(run: Run) -> None:
    with run.alone():
        assert not Lease(run.folder).take()
        later = {"until": time.time() + 60, "by": "a process that asked at the same moment"}
        (run.folder / ".lock.1").write_bytes(json.dumps(later).encode())
        with pytest.raises(RunBusy):
            committed(run)
    assert not run.is_committed("publish")
    assert json.loads((run.folder / ".lock.1").read_bytes()) == later


def test_a_machine_without_hadoops_library_is_told_so_in_one_line() -> None:
    with pytest.raises(StoreUnreachable, match="libhdfs") as error:
        usable_place("hdfs://namenode:8020/lake")
    assert "\n" not in str(error.value)
