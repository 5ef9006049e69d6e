"""A lake in a real HDFS; at ``gs://``, with a server that speaks as Google's; and at ``abfs://`` without an account."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import RunBusy, StoreUnreachable
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.store.place import place_of, put, usable_place
from rocketmq_capacity.store.retention import delete_run
from rocketmq_capacity.store.writing import write_together
from tests.fixtures.ports import free_port
from tests.fixtures.s3 import BUCKET


@pytest.fixture(params=["gs", "hdfs"])
def run(request: pytest.FixtureRequest) -> Run:
    """A run in each store."""
    if request.param == "gs":
        request.getfixturevalue("gcs")
        bucket = BUCKET
    else:
        bucket = request.getfixturevalue("hdfs")
    return Lake(usable_place(f"{request.param}://{bucket}/{uuid4().hex}")).run("C1", "r1")


def committed(run: Run) -> None:
    run.begin("publish")
    run.new_tables("finding")
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


def test_a_lock_that_another_process_has_taken_ends_the_step_before_its_manifest(run: Run) -> None:
    with run.alone():
        with pytest.raises(RunBusy), Run(run.folder).alone(wait_s=0):
            pass
        later = json.dumps({"until": time.time() + 60, "by": "a process that took it when this one stood still"})
        put(run.folder / ".lock.1", later.encode())
        with pytest.raises(RunBusy):
            committed(run)
    assert not run.is_committed("publish")
    assert (run.folder / ".lock.1").read_text() == later


def test_of_many_that_create_an_object_at_once_one_does(run: Run) -> None:
    def created(number: int) -> bool:
        try:
            put(run.folder / "once", b"%d" % number, is_new=True)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(created, range(8)))
    assert sum(done) == 1
    assert (run.folder / "once").read_bytes() == b"%d" % done.index(True)
    assert [place.name for place in run.folder.iterdir()] == ["once"]


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("127.0.0.1:{port}", "has not answered within 3 s; expected a store that does"),
        ("nameservice", "InvalidArgument.*; expected the store's own variables"),
    ],
)
def test_a_name_node_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch, host: str, problem: str) -> None:
    monkeypatch.setattr("rocketmq_capacity.store.place.FIRST_ANSWER_S", 3)
    url = f"hdfs://{host.format(port=free_port())}/lake"
    with pytest.raises(StoreUnreachable, match=f"^{re.escape(url)}: {problem}") as error:
        usable_place(url)
    assert "\n" not in str(error.value)


def test_a_folder_that_must_not_be_written_is_one_line(hdfs: str) -> None:
    place_of(f"hdfs://{hdfs}/is-a-file").write_bytes(b"")
    with pytest.raises(StoreUnreachable, match=f"^hdfs://{hdfs}/is-a-file: .*; expected a bucket") as error:
        usable_place(f"hdfs://{hdfs}/is-a-file")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_bucket_that_is_not_there_is_one_line(gcs: str) -> None:
    with pytest.raises(StoreUnreachable, match="there is no such bucket; expected one that exists"):
        usable_place("gs://nowhere/plans")


def test_a_url_without_an_account_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    with pytest.raises(StoreUnreachable, match="account_name with credentials") as error:
        usable_place("abfs://lake/plans")
    assert str(error.value).endswith("; expected the store's own variables, or a connection")


FORKING: Final = """
import os, sys
from rocketmq_capacity.store.place import folders_in, usable_place

folders_in(usable_place(sys.argv[1]))
child = os.fork()
if not child:
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_process_that_has_used_hdfs_can_be_forked(hdfs: str) -> None:
    """PySpark does so to start its JVM."""
    subprocess.run([sys.executable, "-c", FORKING, f"hdfs://{hdfs}/forked"], check=True, timeout=60)
