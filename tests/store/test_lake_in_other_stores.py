"""A lake at ``gs://``, with a server that speaks as Google's; at ``hdfs://``; and at ``abfs://`` without an account.

Arrow speaks to HDFS through libhdfs, which no registry has. So a folder is in the place of HDFS here, behind Arrow, and
all else is as it is there: fsspec's class for Arrow's file system cannot create a file only where it is absent.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import fsspec
import pyarrow.fs as pafs
import pytest

from rocketmq_capacity.errors import RunBusy, StoreUnreachable
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.store.place import usable_place
from rocketmq_capacity.store.retention import delete_run
from rocketmq_capacity.store.writing import write_together
from tests.fixtures.s3 import BUCKET


@pytest.fixture
def hdfs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folders = pafs.PyFileSystem(pafs.FSSpecHandler(fsspec.filesystem("file", auto_mkdir=True)))
    monkeypatch.setattr(pafs, "HadoopFileSystem", lambda *_, **__: folders)
    yield
    fsspec.get_filesystem_class("hdfs").clear_instance_cache()


@pytest.fixture(params=["gs", "hdfs"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """A run in each store."""
    request.getfixturevalue({"gs": "gcs", "hdfs": "hdfs"}[request.param])
    url = f"gs://{BUCKET}/{uuid4().hex}" if request.param == "gs" else f"hdfs://namenode:8020{tmp_path}/lake"
    return Lake(usable_place(url)).run("C1", "r1")


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


def test_of_two_processes_that_write_the_same_lock_the_last_one_holds_it(run: Run) -> None:
    with run.alone():
        with pytest.raises(RunBusy), Run(run.folder).alone(wait_s=0):
            pass
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


def test_a_bucket_that_is_not_there_is_one_line(gcs: str) -> None:
    with pytest.raises(StoreUnreachable, match="there is no such bucket; expected one that exists"):
        usable_place("gs://nowhere/plans")


def test_a_url_without_an_account_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    with pytest.raises(StoreUnreachable, match="account_name with credentials") as error:
        usable_place("abfs://lake/plans")
    assert str(error.value).endswith("; expected the store's own variables, or a connection")
