"""A lake in an object store: a real S3 server keeps the objects, and only what was committed is read."""

import json
import socket
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import BadInput, RunBusy, StoreUnreachable, TableDamaged
from rocketmq_capacity.store import place
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.lease import Lease
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.store.place import errors_in_one_line, place_of, usable_place
from rocketmq_capacity.store.run_lookup import is_trial, stored_run
from rocketmq_capacity.store.writing import write_together, write_whole
from tests.fixtures.s3 import BUCKET, S3, served, use
from tests.fixtures.troubled_s3 import Trouble, TroubledS3, troubled


@pytest.fixture
def run(s3: S3) -> Run:
    """A run in a prefix of its own."""
    return Lake(usable_place(f"s3://{BUCKET}/{uuid4().hex}")).run("C1", "r1")


def on_disk(s3: S3, file: Path) -> Path:
    """Where the server keeps it."""
    return s3.folder / str(file).removeprefix("s3://")


def add(run: Run, content: bytes) -> None:
    with NewFile(run.table("finding"), run.next_part("finding")) as file:
        file.write(content)
    run.add("finding", file.place.name, file.written(1))


def committed(run: Run, *contents: bytes) -> None:
    run.begin("assess")
    run.new_tables("finding")
    for content in contents:
        add(run, content)
    run.commit("assess", ["finding"])


def test_readers_open_exactly_the_files_of_the_manifest(run: Run) -> None:
    committed(run, b"one", b"two")
    (run.table("finding") / "part-00000-leftover.parquet").write_bytes(b"of a dead executor")
    again = Run(run.folder)
    assert [file.read_bytes() for file in again.files("finding")] == [b"one", b"two"]
    again.check_bytes("finding")


def test_how_much_there_is_to_empty_and_to_read_is_asked_once_for_all_tables(run: Run, s3: S3) -> None:
    committed(run, b"one", b"two")
    again = Run(run.folder)
    assert again.rows("finding") == 2
    assert s3.asked(lambda: again.rows("finding")) == {}
    for_one = s3.asked(lambda: run.new_tables("table"))
    assert s3.asked(lambda: run.new_tables(*(f"table_{number}" for number in range(30)))) == for_one


def test_a_step_that_runs_again_deletes_what_a_dead_one_left(run: Run) -> None:
    committed(run, b"one")
    (run.table("finding") / "part-00000-leftover.parquet").write_bytes(b"of a dead executor")
    committed(run, b"new")
    assert [file.read_bytes() for file in run.table("finding").iterdir()] == [b"new"]
    assert [file.read_bytes() for file in Run(run.folder).files("finding")] == [b"new"]


def test_a_file_that_is_missing_is_named(s3: S3, run: Run) -> None:
    committed(run, b"one", b"two")
    (first, _) = run.files("finding")
    on_disk(s3, first).unlink()
    with pytest.raises(TableDamaged, match=f"{first.name} is missing"):
        Run(run.folder).files("finding")


def test_an_object_that_the_store_has_damaged_is_called_so(s3: S3, run: Run) -> None:
    committed(run, b"one")
    (file,) = run.files("finding")
    on_disk(s3, file).write_bytes(b"two")
    with pytest.raises(StoreUnreachable, match="expected the object as it was written: it is damaged") as error:
        Run(run.folder).check_bytes("finding")
    assert str(error.value).startswith(f"{file}: ")


def test_a_run_is_found_by_its_id(run: Run) -> None:
    lake = Lake(run.folder.parent.parent)
    assert stored_run(lake, "r1") is None
    write_whole(run.inventory, b"{}")
    assert stored_run(lake, "r1") == run
    assert run.snapshot_bytes() == 2


def test_files_that_are_written_together_are_all_old_if_one_cannot_be_made(run: Run) -> None:
    write_together(run.report, {"plan.json": b"old", "by-owner/a.csv": b"old"})

    def broken() -> Iterator[bytes]:
        raise OSError("the disk is full")

    class Broken:
        def __iter__(self) -> Iterator[bytes]:
            return broken()

    with pytest.raises(OSError, match="the disk is full"):
        write_together(run.report, {"plan.json": b"new", "by-owner/a.csv": Broken()})
    assert (run.report / "plan.json").read_bytes() == b"old"
    assert (run.report / "by-owner" / "a.csv").read_bytes() == b"old"


def hold(folder: str, has_taken: Event, may_end: Event) -> None:
    """Hold the lock of a run in another process."""
    with Run(place_of(folder)).alone():
        has_taken.set()
        may_end.wait(60)


def test_of_two_processes_one_works_on_a_run(run: Run) -> None:
    context = get_context("spawn")
    has_taken, may_end = context.Event(), context.Event()
    other = context.Process(target=hold, args=(str(run.folder), has_taken, may_end))
    other.start()
    assert has_taken.wait(60)
    with pytest.raises(RunBusy, match="another process still works on this run"), run.alone(wait_s=0):
        pass
    may_end.set()
    other.join(60)
    with run.alone(wait_s=0):
        committed(run, b"one")


def test_a_lock_that_a_killed_process_left_ends_by_itself_and_a_late_holder_commits_nothing(run: Run) -> None:
    with run.alone():
        run.begin("assess")
        run.new_tables("finding")
        add(run, b"one")
        (held,) = run.folder.glob(".lock.*")
        held.write_text(json.dumps({"until": 1}))  # as if this process had stood still for a minute
        later = Run(run.folder)
        with later.alone(wait_s=0):
            with pytest.raises(RunBusy):
                run.commit("assess", ["finding"])
            assert not later.is_committed("assess")
    assert Lease(run.folder).take()


@pytest.mark.parametrize(
    ("url", "changes", "problem"),
    [
        ("s3://nowhere/plans", {}, "there is no such bucket"),
        ("s3://lake/plans", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "expected a bucket that exists, and credentials"),
        ("s3://lake/plans", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "Could not connect to the endpoint URL"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line(
    s3: S3, monkeypatch: pytest.MonkeyPatch, url: str, changes: dict[str, str], problem: str
) -> None:
    use(changes, monkeypatch)
    with pytest.raises(StoreUnreachable, match=problem) as error:
        usable_place(url)
    assert str(error.value).startswith(f"{url}: ")
    assert "\n" not in str(error.value)
    assert error.value.exit_status == 3


def test_a_package_that_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    expected = r"the package gcsfs is not installed; expected pip install 'rocketmq-capacity\[gcs\]'"
    with pytest.raises(StoreUnreachable, match=f"^gs://lake/plans: {expected}$"):
        usable_place("gs://lake/plans")


def test_a_bucket_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s3" / BUCKET).mkdir(parents=True)
    with served(tmp_path / "s3", "--readonly") as server:
        use(server.environment, monkeypatch)
        with pytest.raises(StoreUnreachable, match="credentials that may read and write there") as error:
            usable_place(f"s3://{BUCKET}/plans")
    assert "\n" not in str(error.value)


def test_a_store_that_never_answers_is_given_up(s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "FIRST_ANSWER_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use({"AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}, monkeypatch)
        with pytest.raises(StoreUnreachable, match="has not answered within 1 s"):
            usable_place("s3://lake/plans")


@pytest.mark.parametrize("url", ["ftp://lake/plans", "s3://", "s3:///", "s3:/lake/plans", "s3:lake", "S3:/lake"])
def test_another_kind_of_url_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput, match="expected a folder or s3://bucket/prefix"):
        usable_place(url)


@pytest.mark.parametrize("prefix", ["/plans", "a//b", ".", "..", "../plans", "a/../b", "a/./b", "a/.."])
def test_a_prefix_has_names_alone(prefix: str) -> None:
    with pytest.raises(BadInput, match=r"where a part is empty, '\.' or '\.\.'; expected names between the slashes"):
        usable_place(f"s3://{BUCKET}/{prefix}")


def test_a_store_that_stops_answering_is_an_error_and_no_missing_step_or_trial(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(run, b"one")
    asked = {**dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "x"), "AWS_REGION": "us-east-1"}
    nowhere = Run(place_of(str(run.folder), {**asked, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}))
    for ask in (lambda: nowhere.is_committed("assess"), lambda: is_trial(nowhere)):
        with pytest.raises(StoreUnreachable):
            ask()


def test_a_store_that_denies_is_an_error_and_no_missing_step_or_trial(s3: S3, run: Run) -> None:
    committed(run, b"one")
    other_keys = {**s3.environment, "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "else"}
    denied = Run(place_of(str(run.folder), other_keys))
    for ask in (lambda: denied.is_committed("assess"), lambda: is_trial(denied)):
        with pytest.raises(StoreUnreachable):
            ask()


@pytest.fixture
def store(s3_server: S3) -> Iterator[TroubledS3]:
    """The server behind a proxy that can be told to lose what is written."""
    with troubled(s3_server) as store:
        yield store


def run_behind(store: TroubledS3) -> Run:
    return Run(place_of(f"s3://{BUCKET}/{uuid4().hex}/C1/r1", store.environment))


@pytest.mark.parametrize(
    ("of", "trouble", "said"),
    [
        ("/tables/", Trouble.LOSES, r"/finding: part-00001-\w+.parquet is missing, although the store has accepted it"),
        ("/tables/", Trouble.CUTS, r"/finding: part-00001-\w+.parquet has 2 bytes instead of 5, although the store"),
        ("/steps/", Trouble.LOSES, "/steps: assess.json is missing, although the store has accepted it"),
        ("/steps/", Trouble.CUTS, r"/steps: assess.json has \d+ bytes instead of \d+, although the store"),
        ("/tables/", Trouble.DENIES, "Access Denied; expected a bucket that exists, and credentials"),
    ],
)
def test_a_step_whose_files_the_store_does_not_keep_is_not_committed(
    store: TroubledS3, of: str, trouble: Trouble, said: str
) -> None:
    run = run_behind(store)
    store.has(trouble, after=of == "/tables/", of=of)
    with pytest.raises(StoreUnreachable, match=said) as error, errors_in_one_line(run.folder):
        committed(run, b"first", b"other")
    assert error.value.exit_status == 3
    store.has(None)
    assert not Run(run.folder).is_committed("assess")
    committed(Run(run.folder), b"first", b"other")
    assert [file.read_bytes() for file in Run(run.folder).files("finding")] == [b"first", b"other"]


def test_a_lock_and_a_mark_that_the_store_does_not_keep_are_none(store: TroubledS3) -> None:
    run = run_behind(store)
    store.has(Trouble.LOSES, of="/.lock.")
    with pytest.raises(StoreUnreachable, match=r"\.lock\.1 is missing"), run.alone():
        pass
    store.has(Trouble.LOSES, of="/.published/")
    run.begin("publish")
    with pytest.raises(StoreUnreachable, match=r"/\.published: r1 is missing"):
        run.commit("publish", [])


@pytest.mark.parametrize("trouble", [Trouble.LOSES, Trouble.CUTS])
def test_what_a_store_has_cut_is_no_file_of_a_report(store: TroubledS3, trouble: Trouble) -> None:
    run = run_behind(store)
    store.has(trouble, after=1)
    with pytest.raises(StoreUnreachable, match="although the store has accepted it"):
        write_together(run.report, {"a.csv": b"whole", "by-owner/a.csv": b"whole", "plan.json": b"whole"})
    store.has(None)
    assert [file.name for file in run.report.rglob("*") if file.is_file()] == ["a.csv"]


@pytest.mark.parametrize("trouble", [Trouble.LOSES, Trouble.CUTS])
def test_a_store_that_keeps_nothing_cannot_be_used(
    store: TroubledS3, monkeypatch: pytest.MonkeyPatch, trouble: Trouble
) -> None:
    use(store.environment, monkeypatch)
    store.has(trouble)
    with pytest.raises(StoreUnreachable, match=r"^s3://lake/plans: .check-\w+ .*, although the store has accepted it"):
        usable_place("s3://lake/plans")
