"""Where runs of a lake are: a cluster's name is a folder's name, and nothing leads out of the lake."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput, DatasetMissing, TableDamaged
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.manifest import File
from rocketmq_capacity.store.run_lookup import stored_run
from rocketmq_capacity.store.writing import write_together, write_whole
from tests.power_loss.losses import states_of


@pytest.mark.parametrize("cluster", ["_prod", "-x", "a.b", "C1"])
def test_every_name_of_a_cluster_without_a_dot_in_front_has_a_folder(tmp_path: Path, cluster: str) -> None:
    assert Lake(tmp_path).run(cluster, "20261120T020000Z-x").folder.parent == tmp_path / cluster


@pytest.mark.parametrize("cluster", ["..", ".code", "", "a/b", "a" * 256])
def test_a_name_that_would_be_hidden_or_lead_elsewhere_is_refused(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(BadInput, match="expected letters, digits"):
        Lake(tmp_path).run(cluster, "20261120T020000Z-x")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"step": "assess", "datasets": []}', b'{"datasets": []}', b"\xff"]
)
def test_a_manifest_that_is_not_whole_commits_nothing(tmp_path: Path, content: bytes) -> None:
    run = Run(tmp_path)
    run.begin("publish")
    (tmp_path / "steps" / "publish.json").write_bytes(content)
    assert not run.is_committed("publish")
    with pytest.raises(DatasetMissing, match=r"publish\.json: is no whole manifest of the step publish"):
        run.datasets("publish")


NAMES = ("part-0.parquet", "part-1.parquet")
DIGEST = sha256(b"0123456789").hexdigest()


def committed(lake: Path) -> Run:
    """A run of C1 with a table of two files."""
    run = Lake(lake).run("C1", "r1")
    run.begin("assess")
    run.new_tables("finding")
    folder = run.table("finding")
    for name in NAMES:
        (folder / name).write_bytes(b"0123456789")
        run.add("finding", name, File(10, 2, DIGEST))
    run.commit("assess", ["finding"])
    return run


def test_readers_open_exactly_the_files_of_the_manifest(tmp_path: Path) -> None:
    run = committed(tmp_path)
    (run.table("finding") / "part-00000-0f.parquet").write_bytes(b"of an executor that has outlived its driver")
    assert [file.name for file in run.files("finding")] == ["part-0.parquet", "part-1.parquet"]
    assert json.loads((run.folder / "steps" / "assess.json").read_bytes()) == {
        "step": "assess",
        "datasets": ["finding"],
        "files": {"finding": {name: {"size_bytes": 10, "rows": 2, "sha256": DIGEST} for name in NAMES}},
    }


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda folder: (folder / "part-1.parquet").unlink(), "part-1.parquet is missing"),
        (lambda folder: shutil.rmtree(folder), "part-0.parquet is missing"),
        (lambda folder: (folder / "part-0.parquet").write_bytes(b""), "part-0.parquet has 0 bytes instead of 10"),
        (lambda folder: linked(folder / "part-1.parquet"), "part-1.parquet is missing"),
        (lambda folder: linked(folder), "part-0.parquet is missing"),
    ],
)
def test_a_table_that_is_not_as_its_manifest_says_is_named(
    tmp_path: Path, spoil: Callable[[Path], object], problem: str
) -> None:
    run = committed(tmp_path)
    spoil(run.table("finding"))
    with pytest.raises(TableDamaged) as error:
        run.files("finding")
    assert str(error.value) == (
        f"{run.folder}: the table finding is damaged: {problem}; "
        "expected the files that its step has written; plan the snapshot of this run again"
    )


def test_bytes_that_were_changed_in_place_are_found_where_a_table_of_another_process_is_checked(tmp_path: Path) -> None:
    run = committed(tmp_path)
    run.check_bytes("finding")
    (run.table("finding") / NAMES[1]).write_bytes(b"0123456788")
    assert len(run.files("finding")) == 2
    with pytest.raises(TableDamaged, match=r"part-1.parquet has other bytes than were written"):
        run.check_bytes("finding")


@pytest.mark.parametrize("number", [-1, 1.5, "2", 10**30, True])
@pytest.mark.parametrize("member", ["rows", "size_bytes"])
def test_a_manifest_with_what_is_no_number_of_rows_or_bytes_is_none_and_is_named(
    tmp_path: Path, member: str, number: object
) -> None:
    run = committed(tmp_path)
    file = run.folder / "steps" / "assess.json"
    manifest = json.loads(file.read_bytes())
    manifest["files"]["finding"][NAMES[0]][member] = number
    file.write_text(json.dumps(manifest))

    assert not run.is_committed("assess")
    with pytest.raises(DatasetMissing) as error:
        run.require("assess")
    assert str(error.value) == f"{file}: is no whole manifest of the step assess; run the step again"


def linked(path: Path) -> None:
    """The same content, behind a link."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def test_of_a_manifest_of_an_earlier_version_all_files_are_read(tmp_path: Path) -> None:
    run = committed(tmp_path)
    (run.folder / "steps" / "assess.json").write_text('{"step": "assess", "datasets": ["finding"]}')
    (run.table("finding") / "part-2.parquet").write_bytes(b"more")
    assert run.is_committed("assess")
    assert [file.name for file in run.files("finding")] == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]


def test_of_a_manifest_that_lists_sizes_alone_the_sizes_are_checked(tmp_path: Path) -> None:
    run = committed(tmp_path)
    manifest = {"step": "assess", "datasets": ["finding"], "files": {"finding": dict.fromkeys(NAMES, 10)}}
    (run.folder / "steps" / "assess.json").write_text(json.dumps(manifest))
    assert [file.name for file in run.files("finding")] == [*NAMES]
    (run.table("finding") / NAMES[1]).write_bytes(b"")
    with pytest.raises(TableDamaged, match=r"part-1.parquet has 0 bytes instead of 10"):
        run.files("finding")


def test_while_a_step_is_under_way_only_the_files_that_were_handed_over_are_read(tmp_path: Path) -> None:
    run = committed(tmp_path)
    run.begin("assess")
    run.new_tables("finding")
    folder = run.table("finding")
    for name in ("part-00000-1a.parquet", "part-00000-0f.parquet"):
        (folder / name).write_bytes(b"0123456789")
    run.add("finding", "part-00000-1a.parquet", File(10, 2, DIGEST))
    assert [file.name for file in run.files("finding")] == ["part-00000-1a.parquet"]
    assert [file.name for file in pickle.loads(pickle.dumps(run)).files("finding")] == ["part-00000-1a.parquet"]


@pytest.mark.parametrize("name", ["steps", "tables", "report", "inventory.json", "history.json", "approval.json", ""])
def test_nothing_is_read_or_written_through_a_link(tmp_path: Path, name: str) -> None:
    run = committed(tmp_path / "lake")
    write_whole(run.inventory, b"{}")
    for path in (run.history, run.approval, run.report / "plan.json"):
        write_whole(path, b"[]")
    linked(run.folder / name if name else run.folder.parent)
    with pytest.raises(BadInput, match="is a link; expected a file or a folder of the lake itself"):
        run.alone().__enter__()
    if name:
        with pytest.raises(BadInput, match="is a link"):
            stored_run(Lake(tmp_path / "lake"), "r1")
    else:
        # The cluster's folder is told by its name: behind a link it is none, and the one that it leads to is.
        assert stored_run(Lake(tmp_path / "lake"), "r1") == Lake(tmp_path / "lake").run("elsewhere", "r1")
        assert list(Lake(tmp_path / "lake").folders("C1")) == []


def test_a_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"theirs")
    for name in ("plan.json", ".plan.json.part"):
        (tmp_path / name).symlink_to(tmp_path / "theirs")
    write_whole(tmp_path / "plan.json", b"ours")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"
    assert not (tmp_path / "plan.json").is_symlink()
    (tmp_path / "scripts").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="is a link"):
        write_together(tmp_path, {"scripts/a.sh": b"ours"})


def test_an_answer_to_earlier_recommendations_does_not_come_back(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    run = committed(tmp_path / "lake")
    write_whole(run.approval, b"{}")

    def recommend() -> None:
        run.begin("recommend")
        run.approval.unlink()
        run.commit("recommend", [])

    _, after = states_of(tmp_path / "lake", recommend)
    assert not [state for state in after if "C1/r1/approval.json" in state]


def test_tables_and_the_new_manifest_are_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def noted(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").resolve().name)
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    run = Run(tmp_path / "run")
    run.begin("assess")
    run.new_tables("finding")
    (run.table("finding") / "part-0.parquet").write_bytes(b"rows")
    run.add("finding", "part-0.parquet", File(4, 1, ""))
    run.commit("assess", ["finding"])
    tables = ["part-0.parquet", "finding", "tables", "run"]
    assert synced[-len(tables) - 2 :] == [*tables, ".assess.json.part", "steps"]
