"""Names that lead out, links that lead out, files that are spoiled, texts that would be mark-up."""

import json
import os
import shutil
from urllib.parse import quote

import pytest

from rocketmq_capacity.store.lake import Lake
from tests.plugins.stored_reports import CLUSTER, LAST, put, put_days, rows_of, run_id_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import elements, read_page, text_of
from tests.report.row_builders import a_finding, a_group, a_recommendation, a_strategy

pytestmark = pytest.mark.airflow
ROOT = "/rocketmq-capacity"
PRIVATE = "nobody is to read this"
HOSTILE = (
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "</title><img src=x onerror=alert(1)>",
    "{{7*7}}",
    "a\u202eb",
)
LEADING_OUT = [
    "..",
    "../secret",
    "..%2fsecret",
    "%2e%2e/secret",
    "%2e%2e%2fsecret",
    "..%5csecret",
    "....//secret",
    "%252e%252e%252fsecret",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "a%00b",
    ".code",
    "-rf",
    "%ff",
    "x" * 300,
]


@pytest.fixture
def spoiled(own_lakes):
    """A lake with one good run, and a secret next to it and inside it."""
    plans, _ = own_lakes
    run = put(plans, run_id_of(LAST), rows_of(LAST))
    (plans.parent / "secret").mkdir()
    (plans.parent / "secret" / "plan.json").write_text(PRIVATE)
    (run.folder / "inventory.json").write_text(PRIVATE)
    (run.report / "secret").write_text(PRIVATE)
    return plans, run


@pytest.mark.parametrize("name", LEADING_OUT)
def test_no_name_leads_out_of_the_lake(api, spoiled, name):
    viewer = api("viewer")
    good = f"{CLUSTER}/{run_id_of(LAST)}"
    addresses = [
        f"reports/plans/{name}/{run_id_of(LAST)}/plan.json",
        f"reports/plans/{CLUSTER}/{name}/plan.json",
        f"reports/plans/{CLUSTER}/{name}/",
        f"reports/plans/{good}/{name}",
        f"reports/{name}/{good}/plan.json",
        f"trends/{name}",
        f"reports/plans/{good}/groups?text={quote(name)}",
        f"difference?cluster={quote(name)}&before=plans/x",
        f"difference?cluster={CLUSTER}&before=plans/{quote(name)}&after={quote(name)}",
        f"?cluster={quote(name)}",
    ]
    for address in addresses:
        answer = viewer.get(f"{ROOT}/{address}")
        if answer.status_code == 307:  # the client itself has shortened trends/.. to our own root
            assert (answer.url.path, answer.headers["Location"]) == (ROOT, f"{ROOT[1:]}/"), address
            continue
        assert answer.status_code in {200, 400, 404}, address
        assert answer.headers["Content-Type"].startswith("text/html"), address
        assert PRIVATE not in answer.text


@pytest.mark.parametrize(
    "name",
    ["summary.json", "secret", "../inventory.json", "..%2finventory.json", "plan.json/", "plan.json%00", ".", ""],
)
def test_only_the_known_files_of_a_report_are_handed_out(api, spoiled, name):
    answer = api("viewer").get(f"{ROOT}/reports/plans/{CLUSTER}/{run_id_of(LAST)}/{name}")

    assert PRIVATE not in answer.text
    assert answer.status_code == (200 if name in {"", "."} else 404)
    assert answer.headers["Content-Type"].startswith("text/html")


def test_no_symbolic_link_leads_out_of_a_run_or_replaces_one(api, spoiled):
    plans, run = spoiled
    secret = plans.parent / "secret"
    (run.report / "findings.csv").unlink()
    (run.report / "findings.csv").symlink_to(secret / "plan.json")
    (run.report / "recommendations.csv").unlink()
    (run.report / "recommendations.csv").symlink_to(run.folder / "inventory.json")
    elsewhere = plans.parent / "elsewhere"
    shutil.copytree(run.folder, elsewhere / CLUSTER / "r2")
    (plans / CLUSTER / "r2").symlink_to(elsewhere / CLUSTER / "r2")
    (plans / "linked").symlink_to(elsewhere / CLUSTER)
    viewer = api("viewer")

    for name in ("findings.csv", "recommendations.csv"):
        answer = viewer.get(f"{ROOT}/reports/plans/{CLUSTER}/{run_id_of(LAST)}/{name}")
        assert answer.status_code == 404
        assert PRIVATE not in answer.text
    for address in (f"reports/plans/{CLUSTER}/r2/", "reports/plans/linked/r2/plan.json", "trends/linked"):
        assert viewer.get(f"{ROOT}/{address}").status_code == 404
    assert viewer.get(f"{ROOT}/").text.count(">02:00:00 ") == 1


def test_a_lake_that_is_itself_reached_by_a_link_is_read(api, spoiled, monkeypatch):
    plans, _ = spoiled
    linked = plans.with_name("linked")
    linked.symlink_to(plans)
    monkeypatch.setitem(os.environ, "RMQC_LAKE", str(linked))

    assert api("viewer").get(f"{ROOT}/reports/plans/{CLUSTER}/{run_id_of(LAST)}/plan.json").status_code == 200


SPOILT = {
    "empty": b"",
    "half": b'{"format": "rocketmq-capacity/summary/1", "clus',
    "no_object": b"[]",
    "other_types": json.dumps({"format": "rocketmq-capacity/summary/1", "cluster_name": 1}).encode(),
    "no_utf_8": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("content", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize("name", ["summary.json", "plan.json"])
def test_a_spoilt_run_is_left_out_and_breaks_no_page(api, own_lakes, name, content):
    good, bad = put_days(own_lakes[0], 2)
    (bad.report / name).write_bytes(content)
    viewer = api("viewer")
    pair = f"before=plans/{good.folder.name}&after=plans/{bad.folder.name}"

    listed = viewer.get(f"{ROOT}/")
    assert listed.status_code == 200
    assert listed.text.count(">02:00:00 ") == (1 if name == "summary.json" else 2)
    for address in (f"difference?cluster={CLUSTER}&{pair}", f"reports/plans/{CLUSTER}/{bad.folder.name}/"):
        assert viewer.get(f"{ROOT}/{address}").status_code in {200, 404}
    assert viewer.get(f"{ROOT}/difference?cluster={CLUSTER}&{pair}").status_code == 404
    assert viewer.get(f"{ROOT}/trends/{CLUSTER}").status_code == 200


def test_what_is_not_published_or_is_no_run_is_not_shown(api, own_lakes):
    plans, _ = own_lakes
    put(plans, "done", rows_of(LAST))
    put(plans, "half", rows_of(LAST)).begin("publish")
    (plans / ".code").mkdir()
    (plans / "a file").write_text("x")
    (plans / CLUSTER / "a file").write_text("x")
    (Lake(plans).run(CLUSTER, "empty").folder / "steps").mkdir(parents=True)
    (Lake(plans).run(CLUSTER, "empty").folder / "steps" / "publish.json").write_text("{}")

    viewer = api("viewer")

    assert viewer.get(f"{ROOT}/").text.count(">02:00:00 ") == 1
    assert viewer.get(f"{ROOT}/reports/plans/{CLUSTER}/half/plan.json").status_code == 404
    assert viewer.get(f"{ROOT}/reports/plans/{CLUSTER}/done/plan.json").status_code == 200


def test_hostile_texts_of_a_cluster_are_only_text_on_every_page(api, own_lakes):
    plans, what_ifs = own_lakes
    rows = rows_of(LAST)
    for name in HOSTILE:
        rows["finding"].append(a_finding(message=name, topic=name, consumer_group=name, subjects=[name]))
        rows["recommendation"].append(a_recommendation(id=name, topic=name, reason=name))
        rows["group_status"].append(a_group(name))
        rows["strategy_load"].append(a_strategy(name, idle_clients=[name]))
    rows["cluster"][0]["fingerprint"] = HOSTILE[0]
    put(plans, "r1", rows_of(LAST))
    put(plans, "r2", rows)
    put(what_ifs, "w1", rows, scenario=a_scenario() | {"name": HOSTILE[2]})
    viewer = api("viewer")

    for address in (
        "",
        f"?text={quote(HOSTILE[1])}",
        f"difference?cluster={CLUSTER}&before=plans/r1&after=plans/r2",
        f"difference?cluster={CLUSTER}&before=plans/r2&after=what-ifs/w1",
        f"reports/what-ifs/{CLUSTER}/w1/",
        f"trends/{CLUSTER}",
        f"dag-runs/rocketmq_capacity_plan/{quote(HOSTILE[2].replace('/', ''))}",
        f"dag-runs/{quote(HOSTILE[0].replace('/', ''))}/x",
    ):
        answer = viewer.get(f"{ROOT}/{address}")
        assert answer.status_code == 200, address
        tree = read_page(answer.text)
        assert elements(tree, "script") == elements(tree, "img") == []
        assert not [name for e in tree.iter() for name in e.attrib if name.startswith("on")]
    answer = viewer.get(f"{ROOT}/difference?cluster={CLUSTER}&before=plans/r1&after=plans/r2")
    compared = text_of(read_page(answer.text))
    for name in HOSTILE[:4]:
        assert name in compared
    assert "a[U+202E]b" in compared


def test_a_defect_of_ours_gives_an_error_page_that_reveals_nothing_and_is_as_strict(api, monkeypatch):
    monkeypatch.setitem(os.environ, "RMQC_CLUSTERS", "no/connection")  # bad input of the deployment

    answer = api("viewer").get(f"{ROOT}/")

    assert answer.status_code == 500
    assert "no/connection" not in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
