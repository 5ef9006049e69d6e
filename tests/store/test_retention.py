"""Which runs of a lake are kept."""

import multiprocessing
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import RetentionPolicy
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.retention import Expired, ahead, check_clock, check_share, delete, expired
from rocketmq_capacity.store.run_key import key_before, run_key
from rocketmq_capacity.store.writing import write_whole
from tests.store.dag_run import DagRun

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
A_MONTH = RetentionPolicy(days=30, count=1_000)
THREE = RetentionPolicy(days=1_000, count=3)


def a_run(
    lake: Path, days_old: float, *, name: str = "scheduled", is_before: bool = False, published: bool = True
) -> Run:
    """A run with a file of 100 bytes."""
    key = run_key(DagRun(name, NOW - timedelta(days=days_old)), "shop")
    run = Lake(lake).run("shop", key_before(key) if is_before else key)
    run.tables.mkdir(parents=True)
    (run.tables / "part-0.parquet").write_bytes(b"x" * 100)
    if published:
        run.begin("publish")
        run.commit("publish", [])
    return run


def names(lake: Path, rules: RetentionPolicy = A_MONTH) -> list[str]:
    return [run.run_id for run in expired(Lake(lake), rules, NOW)]


@pytest.mark.parametrize(("days_old", "is_kept"), [(30, True), (30.01, False)])
def test_a_run_is_kept_for_its_days(tmp_path: Path, days_old: float, is_kept: bool) -> None:
    old = a_run(tmp_path, days_old)
    a_run(tmp_path, 0)

    assert names(tmp_path) == ([] if is_kept else [old.folder.name])


def test_the_last_plan_is_kept_whatever_trials_came_later(tmp_path: Path) -> None:
    plan, trial = a_run(tmp_path, 40), a_run(tmp_path, 39)
    trial.own_policy.write_text('{"is_trial": true}')

    assert names(tmp_path) == [trial.folder.name]
    assert plan.folder.name not in names(tmp_path)


def test_no_more_runs_of_a_cluster_are_kept_than_their_count(tmp_path: Path) -> None:
    runs = [a_run(tmp_path, days) for days in (6, 5, 4, 3, 2)]

    assert names(tmp_path, THREE) == [run.folder.name for run in runs[:2]]


def test_a_run_of_today_is_kept_whatever_the_count(tmp_path: Path) -> None:
    for hours in range(6):
        a_run(tmp_path, hours / 24)

    assert names(tmp_path, THREE) == []


def test_the_latest_published_run_is_kept_however_old(tmp_path: Path) -> None:
    a_run(tmp_path, 400)
    latest = a_run(tmp_path, 300)
    failed = a_run(tmp_path, 200, published=False)

    assert latest.folder.name not in names(tmp_path)
    assert failed.folder.name in names(tmp_path)
    assert len(names(tmp_path)) == 2


def test_a_what_if_goes_with_the_run_that_it_started_from(tmp_path: Path) -> None:
    a_run(tmp_path, 31, name="manual", is_before=True, published=False)
    a_run(tmp_path, 31, name="manual")
    a_run(tmp_path, 31.5, name="failed", is_before=True, published=False)
    a_run(tmp_path, 0)

    assert [name.partition("-")[2] for name in names(tmp_path)] == [
        "failed--shop--before",
        "manual--shop",
        "manual--shop--before",
    ]


def test_what_no_dag_made_is_left_alone(tmp_path: Path) -> None:
    a_run(tmp_path, 0)
    for name in ("mine", "20261340T000000Z-x", ".hidden", "a b"):
        (tmp_path / "shop" / name).mkdir()
    (tmp_path / "shop" / "20200101T000000Z-link").symlink_to(tmp_path)
    (tmp_path / ".code").mkdir()

    assert names(tmp_path) == []


def test_a_lake_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert names(tmp_path / "none") == []


def test_the_list_says_how_large_and_why(tmp_path: Path) -> None:
    old = a_run(tmp_path, 31)
    a_run(tmp_path, 0)

    (found,) = expired(Lake(tmp_path), A_MONTH, NOW)

    assert found.reason == "31 days old; 30 are kept"
    assert found.size_bytes == sum(file.stat().st_size for file in old.folder.rglob("*") if file.is_file())


def test_exactly_what_was_listed_is_deleted_and_twice_is_no_error(tmp_path: Path) -> None:
    a_run(tmp_path, 31)
    kept = a_run(tmp_path, 0)
    listed = expired(Lake(tmp_path), A_MONTH, NOW)

    delete(Lake(tmp_path), listed)
    delete(Lake(tmp_path), listed)

    assert list((tmp_path / "shop").iterdir()) == [kept.folder]


@pytest.mark.parametrize(("cluster", "run_id"), [("..", "x"), ("shop", ".."), ("shop", "../../x"), ("/", "etc")])
def test_no_name_leads_out_of_the_lake(tmp_path: Path, cluster: str, run_id: str) -> None:
    with pytest.raises(BadInput):
        delete(Lake(tmp_path), [Expired(cluster, run_id, 0, "")])


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = a_run(tmp_path / "elsewhere", 400)
    (tmp_path / "lake" / "shop").mkdir(parents=True)
    (tmp_path / "lake" / "shop" / target.folder.name).symlink_to(target.folder)

    delete(Lake(tmp_path / "lake"), [Expired("shop", target.folder.name, 0, "")])

    assert (target.tables / "part-0.parquet").exists()


def test_a_clock_that_is_a_year_ahead_deletes_nothing(tmp_path: Path) -> None:
    for days in range(80):
        a_run(tmp_path, days)
    lake, rules = Lake(tmp_path), RetentionPolicy()
    ahead = expired(lake, rules, NOW + timedelta(days=365))
    assert len(ahead) == 79
    with pytest.raises(BadInput, match=r"79 of the 80 runs of shop would be deleted at once; expected at most 20 "):
        check_share(lake, ahead, rules)


def test_what_expires_day_by_day_may_go(tmp_path: Path) -> None:
    for days in range(90, 101):
        a_run(tmp_path, days)
    lake, rules = Lake(tmp_path), RetentionPolicy()
    daily = expired(lake, rules, NOW)
    assert len(daily) == 10
    check_share(lake, daily, rules)


def test_a_run_that_a_process_works_on_is_spared(tmp_path: Path) -> None:
    busy, old = a_run(tmp_path, 40), a_run(tmp_path, 50)
    a_run(tmp_path, 0)
    found = expired(Lake(tmp_path), A_MONTH, NOW)
    with busy.alone():
        spared = delete(Lake(tmp_path), found)
    assert [one.run_id for one in spared] == [busy.folder.name]
    assert busy.is_committed("publish")
    assert not old.folder.exists()


def test_a_linked_folder_of_a_cluster_is_never_followed(tmp_path: Path) -> None:
    lake, elsewhere = tmp_path / "lake", tmp_path / "elsewhere"
    run = a_run(elsewhere, 40)
    lake.mkdir()
    (lake / "shop").symlink_to(elsewhere / "shop")
    assert delete(Lake(lake), [Expired("shop", run.folder.name, 100, "old")]) == []
    assert run.is_committed("publish")


@pytest.mark.parametrize("number", [3, 8, 80])
def test_a_clock_that_has_jumped_ahead_is_told_however_few_runs_there_are(tmp_path: Path, number: int) -> None:
    for days in range(number):
        a_run(tmp_path, days)
    lake, wrong = Lake(tmp_path), NOW + timedelta(days=365)
    assert len(expired(lake, A_MONTH, wrong)) == number - 1
    with pytest.raises(BadInput, match=r"no run was due between 2026-11-20 and 2027-11-20, and the clock says 2027-11"):
        check_clock([lake], wrong)
    a_run(tmp_path, -365)  # of the same clock
    with pytest.raises(BadInput, match=r"Check the clock of this machine; if it is right, start the Dag by hand"):
        check_clock([lake], wrong)


def test_a_pause_is_one_after_three_days_with_runs(tmp_path: Path) -> None:
    for days in (80, 81, 1, 2):
        a_run(tmp_path, days)
    lake = Lake(tmp_path)
    with pytest.raises(BadInput, match="no run was due between 2026-09-01 and 2026-11-18"):
        check_clock([lake], NOW)
    a_run(tmp_path, 0)
    check_clock([lake], NOW)


def test_a_cluster_may_be_planned_once_a_month_and_another_never_again(tmp_path: Path) -> None:
    for days in (10, 41, 71, 102):
        a_run(tmp_path / "plans", days)
    a_run(tmp_path / "what-ifs", 300)
    check_clock([Lake(tmp_path / "plans"), Lake(tmp_path / "what-ifs")], NOW)
    check_clock([Lake(tmp_path / "none")], NOW)


def test_a_clock_that_is_a_year_behind_deletes_nothing(tmp_path: Path) -> None:
    for days in range(80):
        a_run(tmp_path, days)
    lake, wrong = Lake(tmp_path), NOW - timedelta(days=365)
    assert expired(lake, RetentionPolicy(days=30, count=3), wrong) == []
    assert len(ahead(lake, wrong)) == 80


def test_runs_of_the_future_are_kept_and_take_the_place_of_no_other(tmp_path: Path) -> None:
    runs = [a_run(tmp_path, days) for days in (400, 300)]
    wrong = [a_run(tmp_path, -days) for days in (300, 301, 302, 303, 304)]
    lake = Lake(tmp_path)
    found = expired(lake, THREE.model_copy(update={"days": 30}), NOW)
    assert [run.run_id for run in found] == [runs[0].folder.name]  # the other one is the latest that counts
    assert ahead(lake, NOW) == [f"shop/{run.folder.name}" for run in wrong]
    a_run(tmp_path, 2)
    assert [run.run_id for run in expired(lake, THREE, NOW)] == []


def test_a_run_with_a_link_in_it_is_left_to_a_person(tmp_path: Path) -> None:
    elsewhere, old = tmp_path / "elsewhere", a_run(tmp_path / "lake", 40)
    a_run(tmp_path / "lake", 0)
    elsewhere.mkdir()
    (elsewhere / "thesis").write_text("the only copy")
    old.report.symlink_to(elsewhere)
    found = expired(Lake(tmp_path / "lake"), A_MONTH, NOW)
    assert delete(Lake(tmp_path / "lake"), found) == found
    assert (elsewhere / "thesis").exists()
    assert old.is_committed("publish")


def test_a_retry_that_waits_for_a_run_that_is_deleted_begins_anew(tmp_path: Path) -> None:
    old = a_run(tmp_path, 40)
    a_run(tmp_path, 0)
    for number in range(200):
        (old.tables / f"part-{number}.parquet").write_bytes(b"x")
    ours, theirs = PROCESSES.Pipe()
    found = expired(Lake(tmp_path), A_MONTH, NOW)
    with old.alone():
        waiting = PROCESSES.Process(target=publish_anew, args=(old.folder, theirs))
        waiting.start()
        assert ours.recv() == "waits"
    delete(Lake(tmp_path), found)  # one of the two is first
    waiting.join(120)
    assert waiting.exitcode == 0
    held = sorted(path.relative_to(old.folder).as_posix() for path in old.folder.rglob("*") if path.is_file())
    assert [name for name in held if name != ".lock"] in ([], ["report/plan.json", "steps/publish.json"], WITH_TABLES)


WITH_TABLES = sorted([
    *(f"tables/part-{number}.parquet" for number in range(200)),
    "report/plan.json",
    "steps/publish.json",
])
PROCESSES = multiprocessing.get_context("forkserver")


def publish_anew(folder: Path, pipe: "Connection[str, str]") -> None:
    run = Run(folder)
    pipe.send("waits")
    with run.alone(wait_s=100):
        run.begin("publish")
        write_whole(run.report / "plan.json", b"{}")
        run.commit("publish", [])
