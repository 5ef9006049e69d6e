"""Power is lost at any moment while the store writes or deletes: what is read is whole, what was reported is there."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.settings.policy import RetentionPolicy
from rocketmq_capacity.store import whole_folder as module
from rocketmq_capacity.store.acceptances import acceptances, keep_acceptance
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.store.retention import delete, expired
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.writing import write_together, write_whole
from tests.cli.program import contents
from tests.kills.steps import write_folder, write_folder_in_two_steps
from tests.power_loss.losses import each_put, states_of
from tests.store.dag_run import DagRun

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OLD, NEW = {"a.json": b"old a" * 99, "b/c.csv": b"old c" * 99}, {"a.json": b"new a" * 99, "b/c.csv": b"new c" * 99}
TABLES = {"finding": ("part-0", "part-1"), "demand": ("part-0",)}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The folder of a lake, which is on the disk."""
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


def bytes_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder that is no hidden one."""
    found = (path for path in folder.rglob("[!.]*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def commit(run: Run, text: str) -> None:
    """A step of two datasets and three files."""
    run.begin("assess")
    for dataset, names in TABLES.items():
        run.new_tables(dataset)
        folder = run.table(dataset)
        for number, name in enumerate(names):
            with NewFile(folder, number) as file:
                file.write(f"{dataset} {name} {text}".encode() * 9)
            run.add(dataset, file.place.name, file.written(9))
    run.commit("assess", [*TABLES])


def committed(run: Run) -> list[bytes]:
    """What readers get of these datasets."""
    return [file.read_bytes() for dataset in TABLES for file in run.files(dataset)]


def test_what_is_written_without_a_sync_is_lost_or_cut(lake: Path, tmp_path: Path) -> None:
    during, after = states_of(lake, lambda: (lake / "file").write_bytes(b"0123456789"))
    found = {frozenset(bytes_in(place).items()) for place in each_put([*during, *after], tmp_path / "states")}
    assert found >= {frozenset(), frozenset({("file", b"")}), frozenset({("file", b"01234")})}


@pytest.mark.parametrize("old", [{}, OLD])
def test_files_that_are_written_together_are_each_the_old_or_the_new_one(
    lake: Path, tmp_path: Path, old: dict[str, bytes]
) -> None:
    folder = lake / "C1" / "r1" / "report"
    if old:
        write_together(folder, old)
    during, after = states_of(lake, lambda: write_together(folder, NEW))
    assert len(during) > 10
    for place in each_put(during, tmp_path / "states"):
        for name, content in bytes_in(place / folder.relative_to(lake)).items():
            assert content in (NEW[name], old.get(name)), name
    for place in each_put(after, tmp_path / "states"):
        assert bytes_in(place / folder.relative_to(lake)) == NEW


@pytest.mark.parametrize("is_new", [True, False])
def test_a_dataset_that_is_committed_is_whole(lake: Path, tmp_path: Path, is_new: bool) -> None:
    run = Lake(lake).run("C1", "r1")
    if not is_new:
        commit(run, "old")
    had = committed(run)
    during, after = states_of(lake, lambda: commit(run, "new"))
    has = committed(run)
    assert len(during) > 20
    for place in each_put(during, tmp_path / "states"):
        left = Lake(place).run("C1", "r1")
        if left.is_committed("assess"):
            assert committed(left) in (had, has)
        commit(left, "new")
        assert committed(left) == has
    for place in each_put(after, tmp_path / "states"):
        assert Lake(place).run("C1", "r1").is_committed("assess")
        assert committed(Lake(place).run("C1", "r1")) == has


def test_a_risk_that_is_accepted_is_kept_and_never_read_by_half(lake: Path, tmp_path: Path) -> None:
    risk = AcceptedRisk(rule="LAG_STATE", consumer_group="g", by="li", why="a rollout", until=date(2026, 12, 1))
    keep_acceptance(lake / "C1", risk, NOW)
    other = risk.model_copy(update={"why": "a migration"})
    during, after = states_of(lake, lambda: keep_acceptance(lake / "C1", other, NOW + timedelta(hours=1)))
    for place in each_put(during, tmp_path / "states"):
        assert acceptances(place / "C1", "2026-11-21T00:00:00Z") in ((risk,), (other, risk))
    for place in each_put(after, tmp_path / "states"):
        assert acceptances(place / "C1", "2026-11-21T00:00:00Z") == (other, risk)


def test_an_answer_is_the_old_or_the_new_one(lake: Path, tmp_path: Path) -> None:
    run = Lake(lake).run("C1", "r1")
    write_whole(run.approval, b'{"status": "REJECTED"}')
    during, after = states_of(lake, lambda: write_whole(run.approval, b'{"status": "APPROVED"}'))
    read = [Lake(place).run("C1", "r1").approval.read_bytes() for place in each_put(during, tmp_path / "states")]
    assert {*read} == {b'{"status": "REJECTED"}', b'{"status": "APPROVED"}'}
    for place in each_put(after, tmp_path / "states"):
        assert Lake(place).run("C1", "r1").approval.read_bytes() == b'{"status": "APPROVED"}'


def test_a_run_that_is_deleted_is_whole_or_not_published(lake: Path, tmp_path: Path) -> None:
    runs = [Lake(lake).run("shop", run_key(DagRun("r", NOW - timedelta(days=days)), "shop")) for days in (40, 0)]
    for run in runs:
        commit(run, "old")
        run.begin("publish")
        write_together(run.report, OLD)
        run.commit("publish", [])
    whole = [bytes_in(run.folder) for run in runs]
    found = expired(Lake(lake), RetentionPolicy(days=30), NOW)
    assert [one.run_id for one in found] == [runs[0].folder.name]
    during, after = states_of(lake, lambda: delete(Lake(lake), found))
    assert len(during) > 10
    for place in each_put([*during, *after], tmp_path / "states"):
        left, kept = (Run(place / run.folder.relative_to(lake)) for run in runs)
        assert bytes_in(kept.folder) == whole[1]
        if left.is_committed("publish") or left.is_committed("assess"):
            tables_and_report = {name: content for name, content in whole[0].items() if not name.startswith("steps")}
            assert bytes_in(left.folder).items() >= tables_and_report.items()
        delete(Lake(place), expired(Lake(place), RetentionPolicy(days=30), NOW))
        assert not left.folder.exists()
        assert kept.is_committed("publish")


@pytest.mark.parametrize("write", [write_folder, write_folder_in_two_steps])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_plan_in_a_folder_is_the_old_or_the_new_one(
    lake: Path, tmp_path: Path, write, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_exchanged", module._exchanged)  # the write in two steps takes it away
    place = lake / "plans" / "out"
    if not is_new:
        write(place, "old", False)
    had = contents(place) if not is_new else {}
    during, after = states_of(lake, lambda: write(place, "new", True))
    has = contents(place)
    assert len(during) > 10
    for left in each_put(during, tmp_path / "states"):
        out = left / "plans" / "out"
        assert contents(out) in ([had, has] if write is write_folder else [had, has, {}])
        write(out, "newer", True)
        assert (out / "plan.json").read_text() == "newer"
        assert [path.name for path in out.parent.iterdir()] == ["out"]
    for left in each_put(after, tmp_path / "states"):
        assert contents(left / "plans" / "out") == has
