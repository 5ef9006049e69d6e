"""What a lake's reports are looked through with: order, search, pages, and what cannot be read."""

import json
import shutil
from dataclasses import replace
from datetime import date, timedelta
from threading import Event, Thread

import pytest
from msgspec import structs

from rocketmq_capacity.report import shelf_index
from rocketmq_capacity.report.shelf import SHEET, Search, Shelf, Since, latest_first, sheet_of, since_last
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.writing import write_whole
from tests.plugins.stored_reports import (
    CLUSTER,
    LAST,
    copied,
    put,
    put_days,
    put_trial,
    put_what_if,
    rows_of,
    run_id_of,
)


@pytest.fixture
def shelf(tmp_path):
    put_days(tmp_path, 3)
    put_days(tmp_path, 1, "shop")
    return Shelf(Lake(tmp_path), "plans")


def found(shelf, **search):
    return [report.run_id for report in latest_first([shelf], Search(**search))]


def test_reports_are_listed_latest_first_by_snapshot_then_by_run(tmp_path):
    moments = [LAST - timedelta(days=days) for days in (2, 0, 1)]
    for moment in moments:
        put(tmp_path, run_id_of(moment), rows_of(moment))
    put(tmp_path, "20260101T000000Z-again", rows_of(LAST))  # an old run on the newest snapshot

    reports = Shelf(Lake(tmp_path), "plans").reports()

    assert [report.run_id for report in reports] == [
        run_id_of(LAST),
        "20260101T000000Z-again",
        run_id_of(LAST - timedelta(days=1)),
        run_id_of(LAST - timedelta(days=2)),
    ]


def test_a_trial_is_listed_and_is_not_the_plan_before_another_one(tmp_path):
    put_days(tmp_path, 2)
    before, trial = run_id_of(LAST - timedelta(days=1)), put_trial(tmp_path, LAST - timedelta(days=1)).folder.name
    shelf = Shelf(Lake(tmp_path), "plans")

    last, tried, first = shelf.reports()

    assert [one.run_id for one in (last, tried, first)] == [run_id_of(LAST), trial, before]
    assert [one.run_id for one in shelf.plans()] == [run_id_of(LAST), before]
    assert shelf.before(last) == first
    assert shelf.before(tried) == first
    assert (tried.summary.trial, tried.summary.is_waiting) == (True, False)
    assert tried.summary.policy_differences == (
        "strategies is AVG instead of AVG, POP",
        "thresholds.HOT_QUEUE.peak is 3.0 instead of 2.0",
    )


def test_what_is_looked_for_is_found_and_nothing_else(shelf):
    assert len(found(shelf)) == 4
    assert len(found(shelf, cluster=CLUSTER)) == 3
    assert found(shelf, cluster="pro") == []
    assert len(found(shelf, first_day=date(2026, 11, 19), last_day=date(2026, 11, 20))) == 3
    assert found(shelf, last_day=date(2026, 11, 17)) == []
    assert len(found(shelf, text="Prod")) == 3
    assert found(shelf, text="2026-11-18t02:00:00+00") == [run_id_of(LAST - timedelta(days=2))]
    assert found(shelf, text="*") == []


def test_shelves_are_looked_through_together(shelf, tmp_path_factory):
    other = tmp_path_factory.mktemp("what_ifs")
    put_what_if(other)
    reports = latest_first([shelf, Shelf(Lake(other), "what-ifs")], Search(text="lose broker"))

    assert [(report.kind, report.summary.scenario) for report in reports] == [("what-ifs", "lose broker-b")]


def test_the_one_before_is_of_the_same_cluster_and_earlier(shelf):
    reports = shelf.reports(CLUSTER)

    assert [shelf.before(report) for report in reports] == [*reports[1:], None]
    assert shelf.before(shelf.report("shop", run_id_of(LAST))) is None


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("scheduled__2026-11-20T02:00:00+00:00", True),
        ("scheduled__2026-11-20T02_00_00_00_00", True),
        ("scheduled__2026-11-20T02_00_00_00_0", False),
        ("scheduled__2026-11-20T02_00_00_00_00--e", False),
        ("2026-11-20T02_00_00_00_00", False),
        (".*", False),
    ],
)
def test_a_dag_runs_reports_are_those_of_its_whole_name(shelf, name, is_found):
    assert {report.cluster for report in shelf.of_dag_run(name)} == ({CLUSTER, "shop"} if is_found else set())


def test_a_list_is_parted_into_sheets_that_hold_everything_once(tmp_path):
    (run,) = put_days(tmp_path, 1)
    for number in range(1, 2 * SHEET + 1):
        copied(run, number)
    reports = Shelf(Lake(tmp_path), "plans").reports()

    sheets = [sheet_of(reports, number) for number in (1, 2, 3)]

    assert [report for sheet in sheets for report in sheet.reports] == reports
    assert [(sheet.first, len(sheet.reports), sheet.sheets, sheet.total) for sheet in sheets] == [
        (1, SHEET, 3, 2 * SHEET + 1),
        (SHEET + 1, SHEET, 3, 2 * SHEET + 1),
        (2 * SHEET + 1, 1, 3, 2 * SHEET + 1),
    ]
    assert sheet_of(reports, 0) == sheets[0]
    assert sheet_of(reports, 99) == sheets[2]
    assert (sheet_of([], 1).first, sheet_of([], 1).sheets) == (0, 1)


def test_a_plan_from_before_there_were_summaries_is_listed_by_its_plan(shelf):
    (first, *_) = shelf.reports()
    file = shelf.lake.run(first.cluster, first.run_id).report / "summary.json"
    file.unlink()

    assert first in shelf.reports()
    assert shelf.report(first.cluster, first.run_id) == first


def test_a_summary_of_another_cluster_is_not_believed(shelf):
    file = shelf.lake.run("shop", run_id_of(LAST)).report / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"cluster_name": CLUSTER}))

    assert shelf.reports("shop") == []
    assert shelf.report("shop", run_id_of(LAST)) is None


def test_no_lake_is_an_empty_shelf(tmp_path):
    shelf = Shelf(Lake(tmp_path / "none"), "plans")

    assert (shelf.clusters(), shelf.reports(), shelf.report("C1", "r")) == ([], [], None)


def test_only_what_people_are_given_is_handed_out(shelf):
    (report, *_) = shelf.reports()

    for name in ("report.html", "plan.json", "findings.csv", "recommendations.csv"):
        assert shelf.file(report, name).is_file()
    for name in ("summary.json", "../inventory.json", "", ".", "../../../x"):
        assert shelf.file(report, name) is None


def test_lists_stay_whole_while_runs_come_and_go(tmp_path):
    lasting = put_days(tmp_path, 5)
    passing, over, failed = put(tmp_path, "passing", rows_of(LAST)), Event(), []
    aside = tmp_path.parent / f"{tmp_path.name}-aside"
    shutil.copytree(passing.folder, aside)

    def come_and_go():
        while not over.is_set():
            try:
                shutil.rmtree(passing.folder)
                shutil.copytree(aside, passing.folder)
            except OSError as error:
                failed.append(error)

    thread = Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(25):
            listed = {report.run_id for report in Shelf(Lake(tmp_path), "plans").reports()}
            assert {run.folder.name for run in lasting} <= listed <= {run.folder.name for run in lasting} | {"passing"}
    finally:
        over.set()
        thread.join(20)
    assert failed == []


def test_an_index_of_the_lake_answers_without_a_look_at_the_reports(tmp_path, monkeypatch):
    put_days(tmp_path, 3)
    before = Shelf(Lake(tmp_path), "plans").reports()
    monkeypatch.setattr(shelf_index, "_known", {})  # as in another process

    def refuse(_):
        raise AssertionError("a report was opened")

    monkeypatch.setattr(Shelf, "_summary_of", lambda _shelf, run: refuse(run))
    assert Shelf(Lake(tmp_path), "plans").reports() == before


@pytest.mark.parametrize("is_new_process", [False, True])
def test_a_stale_index_is_made_anew(tmp_path, monkeypatch, *, is_new_process):
    first, second, third = put_days(tmp_path, 3)
    lake = Lake(tmp_path)
    assert len(Shelf(lake, "plans").reports()) == 3

    shutil.rmtree(first.folder)
    summary = json.loads((second.report / "summary.json").read_bytes())
    write_whole(second.report / "summary.json", json.dumps(summary | {"groups": 77}).encode())
    (third.folder / "steps" / "publish.json").unlink()
    added = copied(second, 30)
    if is_new_process:
        monkeypatch.setattr(shelf_index, "_known", {})

    reports = Shelf(lake, "plans").reports()
    assert [(report.run_id, report.summary.groups) for report in reports] == [
        (second.folder.name, 77),
        (added.folder.name, 77),
    ]
    stored = json.loads((tmp_path / shelf_index.INDEX).read_bytes())
    assert stored["clusters"][CLUSTER].keys() == {second.folder.name, added.folder.name}


@pytest.mark.parametrize("content", [b"", b"[1", b'{"format": "another/1", "clusters": {}}', b"\xff"])
def test_a_spoiled_index_is_made_anew(tmp_path, monkeypatch, content):
    put_days(tmp_path, 2)
    (tmp_path / shelf_index.INDEX).write_bytes(content)
    monkeypatch.setattr(shelf_index, "_known", {})

    assert len(Shelf(Lake(tmp_path), "plans").reports()) == 2
    assert json.loads((tmp_path / shelf_index.INDEX).read_bytes())["clusters"].keys() == {CLUSTER}


def test_a_look_at_one_cluster_keeps_the_others_in_the_index(shelf):
    assert len(shelf.reports("shop")) == 1
    assert len(shelf.reports()) == 4
    assert len(shelf.reports("shop")) == 1
    assert json.loads((shelf.lake.root / shelf_index.INDEX).read_bytes())["clusters"].keys() == {CLUSTER, "shop"}


def test_a_lake_that_cannot_be_written_to_is_listed_all_the_same(tmp_path, monkeypatch):
    put_days(tmp_path, 2)
    (tmp_path / shelf_index.INDEX).mkdir()

    for _ in range(2):
        assert len(Shelf(Lake(tmp_path), "plans").reports()) == 2


def test_the_causes_that_changed_since_the_plan_before_are_listed(shelf):
    latest, *older = shelf.reports(CLUSTER)
    had, has = (set(report.summary.causes) for report in (older[0], latest))

    told = since_last([latest, older[-1]], shelf.reports())

    assert told == {("plans", CLUSTER, latest.run_id): Since(len(has - had), len(had - has), len(had & has))}
    unknown = replace(older[0], summary=structs.replace(older[0].summary, causes=None))
    assert since_last([latest], [latest, unknown, older[1]]) == {}


def test_only_scripts_of_the_report_are_given(shelf):
    report = next(one for one in shelf.reports() if one.cluster == CLUSTER)
    folder = shelf.lake.run(report.cluster, report.run_id).report
    script = next((folder / "scripts").iterdir())
    (folder / "scripts" / "link.sh").symlink_to(folder / "plan.json")

    assert shelf.script(report, script.name) == script
    for name in ("../plan.json", "none.sh", "link.sh", ".hidden.sh", "", "plan.json"):
        assert shelf.script(report, name) is None
