"""The pages: what they list, find and draw."""

import json
import re
import shutil
import time
from datetime import timedelta
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from tests.plugins.stored_reports import (
    A_TRIAL,
    CLUSTER,
    LAST,
    airflow_run_id_of,
    copied,
    put,
    put_days,
    put_trial,
    put_what_if,
    rows_of,
    run_id_of,
)
from tests.report.page_reader import HTML, SVG, elements, read_page, text_of, with_class
from tests.report.test_approval import an_approval

pytestmark = pytest.mark.airflow
ROOT = "/rocketmq-capacity/"
REPORT = re.compile(r"(\./|(\.\./)+)reports/(?P<kind>plans|what-ifs)/(?P<cluster>[^/]+)/(?P<run>[^/]+)/")


def tree_of(client, address):
    answer = client.get(urljoin(ROOT, address))
    assert answer.status_code == 200, answer.text
    return read_page(answer.text)


def runs_in(tree):
    links = [REPORT.fullmatch(a.get("href")) for a in elements(tree, "a")]
    return [(link["kind"], link["cluster"], link["run"]) for link in links if link]


def test_every_target_of_a_page_exists_and_is_valid_wherever_airflow_is_served(viewer):
    waiting, seen, asked = [ROOT], set(), set()
    while waiting:
        address = waiting.pop()
        answer = viewer.get(address)
        assert answer.status_code == 200, address
        if address.endswith((".json", ".csv", ".prom", ".yaml", "runbook.md", "report.html", ".css")):
            continue
        tree = read_page(answer.text)
        links = [a.get("href") for a in elements(tree, "a")] + [f.get("action") for f in elements(tree, "form")]
        links += [f.get("src") for f in elements(tree, "iframe")] + [e.get("href") for e in elements(tree, "link")]
        for link in links:
            assert link.startswith(("./", "../", "#")), (address, link)
            target = urljoin(address, link).partition("#")[0]
            assert target.startswith(ROOT), (address, link)
            if target not in seen:
                seen.add(target)
                waiting.append(target)
                asked.add(urlsplit(target).path)
    assert len(asked) > 30


def test_the_list_has_every_report_latest_first_under_its_day_with_its_counts(viewer, lakes):
    tree = tree_of(viewer, "")
    days = [text_of(row) for row in with_class(tree, "day")]

    assert days == [
        "20 November 2026 3 reports",
        "19 November 2026 1 report",
        "18 November 2026 1 report",
        "17 November 2026 1 report",
    ]
    found = runs_in(tree)
    assert len(found) == 6
    assert found[0][0] == "what-ifs"  # the latest run of the latest snapshot
    moments = [run.partition("-")[0] for _, cluster, run in found if cluster == CLUSTER]
    assert moments == sorted(moments, reverse=True)
    place = f"./reports/plans/{CLUSTER}/{run_id_of(LAST)}/"
    row = next(row for row in elements(tree, "tr") if place in [a.get("href") for a in row.iter(f"{HTML}a")])
    summary = json.loads((lakes[0] / CLUSTER / run_id_of(LAST) / "report" / "summary.json").read_bytes())
    cells = [text_of(cell) for cell in row.iter(f"{HTML}td")]
    counts = [str(summary["cause_counts"][name]) for name in ("CRITICAL", "WARNING", "INFO")]
    before = json.loads(
        (lakes[0] / CLUSTER / run_id_of(LAST - timedelta(days=1)) / "report" / "summary.json").read_bytes()
    )
    new, gone = (len(set(a["causes"]) - set(b["causes"])) for a, b in ((summary, before), (before, summary)))
    since = f"{new} new cause{'s' * (new != 1)}, {gone} gone"
    assert summary["score"] is None  # of these groups too little is known
    assert cells == ["Plan", since, *counts, "\u2013", str(summary["recommendations"]), "Not answered", "97.2 %"]
    assert f"02:00:00 {CLUSTER}" in [text_of(link) for link in row.iter(f"{HTML}a")]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"kind": "what-ifs"}, 1),
        ({"kind": "plans"}, 5),
        ({"cluster": "shop"}, 1),
        ({"cluster": "C9"}, 0),
        ({"from": "2026-11-20"}, 3),
        ({"to": "2026-11-18"}, 2),
        ({"from": "2026-11-18", "to": "2026-11-19", "cluster": CLUSTER}, 2),
        ({"from": "2026-11-21"}, 0),
        ({"text": "SHOP"}, 1),
        ({"text": "  lose BROKER "}, 1),
        ({"text": airflow_run_id_of(LAST)}, 2),
        ({"text": f"{LAST.toordinal():x}" * 2}, 3),
        ({"text": "%"}, 0),
        ({"kind": "", "cluster": "", "from": "", "to": "", "text": ""}, 6),
    ],
)
def test_the_form_finds(viewer, query, found):
    answer = viewer.get(ROOT, params=query)
    tree = read_page(answer.text)

    assert len(runs_in(tree)) == found
    assert ("No report is like that." in answer.text) == (found == 0)
    for name in ("cluster", "text"):
        (field,) = [e for e in tree.iter() if e.get("name") == name]
        chosen = [o for o in field.iter(f"{HTML}option") if "selected" in o.attrib]
        held = text_of(chosen[0]) if chosen else field.get("value") or ""
        assert held in {query.get(name, ""), query.get(name, "").strip()} or query.get(name) == "C9"


@pytest.mark.parametrize(
    "query", [{"from": "today"}, {"to": "2026-13-01"}, {"kind": "x"}, {"cluster": "../x"}, {"text": "x" * 251}]
)
def test_a_form_that_makes_no_sense_is_refused_with_its_reason(viewer, query):
    answer = viewer.get(ROOT, params=query)

    assert answer.status_code == 400
    assert text_of(elements(read_page(answer.text), "p")[1])


@pytest.mark.parametrize("cluster", ["_shop", "-shop"])
def test_every_cluster_that_the_lake_takes_has_its_pages(api, own_lakes, cluster):
    put_days(own_lakes[0], 2, cluster)
    viewer = api("viewer")
    for address in ("", f"?cluster={cluster}"):
        assert len(runs_in(tree_of(viewer, address))) == 2
    for address in (f"trends/{cluster}", f"metrics/{cluster}", "difference"):
        answer = viewer.get(urljoin(ROOT, address), params={"cluster": cluster} if address == "difference" else {})
        assert answer.status_code == 200
        assert cluster in answer.text


def test_hundreds_of_reports_are_on_several_pages_and_each_page_has_the_form(api, own_lakes):
    (run,) = put_days(own_lakes[0], 1)
    for number in range(1, 330):
        copied(run, number)
    viewer, seen, address, sheets = api("viewer"), [], f"{ROOT}?cluster={CLUSTER}", 0
    while address:
        began = time.process_time()
        tree = tree_of(viewer, address)
        assert time.process_time() - began < 5  # of the processor, whatever else runs here
        seen += runs_in(tree)
        sheets += 1
        following = [a.get("href") for a in elements(tree, "a") if a.get("rel") == "next"]
        address = urljoin(ROOT, following[0]) if following else ""
        assert not following or parse_qs(urlsplit(address).query)["cluster"] == [CLUSTER]

    assert sheets == 7
    assert len(seen) == len(set(seen)) == 330
    assert [run for _, _, run in seen] == sorted((run for _, _, run in seen), reverse=True)
    assert "Page 7 of 7" in text_of(tree_of(viewer, f"{ROOT}?sheet=999"))
    for odd in ("0", "-1", "x", "9" * 30):
        assert "Page 1 of 7" in text_of(tree_of(viewer, f"{ROOT}?sheet={odd}"))


def test_an_empty_lake_says_what_would_fill_it(api, own_lakes):
    assert "No report has been published yet." in api("viewer").get(ROOT).text
    assert api("viewer").get(f"{ROOT}difference").status_code == 200


def one_report(viewer):
    """The tab of a run that planned one cluster."""
    return tree_of(viewer, f"dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST - timedelta(days=1))}")


def test_a_run_shows_its_reports_one_for_each_cluster(api, own_lakes):
    for source, cluster in (("eu", CLUSTER), ("shop", "shop")):
        put(own_lakes[0], run_id_of(LAST, source=source), rows_of(LAST, cluster=cluster))
    put(own_lakes[0], run_id_of(LAST - timedelta(days=1)), rows_of(LAST - timedelta(days=1)))
    viewer = api("viewer")

    tab = tree_of(viewer, f"dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST)}")
    escaped = tree_of(viewer, "dag-runs/rocketmq_capacity_plan/scheduled__2026-11-20T02%3A00%3A00%2B00%3A00")

    assert {cluster for _, cluster, _ in runs_in(tab)} == {CLUSTER, "shop"}
    assert runs_in(escaped) == runs_in(tab)
    (link,) = [a.get("href") for a in elements(one_report(viewer), "a") if text_of(a) == "Download plan.json"]
    assert link.startswith(f"../../reports/plans/{CLUSTER}/")
    nothing = tree_of(viewer, "dag-runs/rocketmq_capacity_plan/scheduled")
    assert runs_in(nothing) == []
    assert "This run has published no report." in text_of(nothing)


def test_the_trend_draws_and_lists_the_plans(viewer):
    tree = tree_of(viewer, f"trends/{CLUSTER}")

    chart, *small = elements(tree, "svg", SVG)
    assert chart.get("role") == "img"
    assert [line.get("class") for line in small] == ["small-line"] * 2
    assert "Causes" in text_of(tree)
    assert len(runs_in(tree)) == 4
    assert "4 plans of 4 stored plans." in text_of(tree)
    assert not [e for e in tree.iter() if e.get("style")]


def test_a_trend_shows_as_many_of_the_latest_as_are_asked_for(api, own_lakes):
    (run,) = put_days(own_lakes[0], 1)
    for number in range(1, 40):
        copied(run, number)

    tree = tree_of(api("viewer"), f"trends/{CLUSTER}?last=30")

    assert len(runs_in(tree)) == 30
    assert "30 plans of 40 stored plans." in text_of(tree)


def test_a_trial_is_listed_with_what_it_tries_and_is_no_part_of_the_trend(api, own_lakes):
    put_days(own_lakes[0], 2)
    trial = put_trial(own_lakes[0]).folder.name
    replacing = put_trial(own_lakes[0], LAST + timedelta(days=1), own_policy=replace(A_TRIAL, is_trial=False))
    viewer, tried = api("viewer"), "thresholds.HOT_QUEUE.peak is 3.0 instead of 2.0"

    rows = {run: row for row in elements(tree_of(viewer, ""), "tr") for _, _, run in runs_in(row)}
    kind, since, *_, approval, _read = (text_of(cell) for cell in rows[trial].iter(f"{HTML}td"))
    assert kind.startswith("Trial")
    assert tried in kind
    assert "cause" not in since
    assert approval == "Not asked"
    kind, since, *_, approval, _read = (text_of(cell) for cell in rows[replacing.folder.name].iter(f"{HTML}td"))
    assert kind.startswith("Plan")
    assert tried in kind
    assert "cause" in since
    assert approval == "Not answered"
    assert trial not in [run for _, _, run in runs_in(tree_of(viewer, f"trends/{CLUSTER}"))]
    assert replacing.folder.name in [run for _, _, run in runs_in(tree_of(viewer, f"trends/{CLUSTER}"))]
    page = text_of(tree_of(viewer, f"reports/plans/{CLUSTER}/{trial}/"))
    assert "A trial, not the day's plan:" in page
    assert tried in page
    report = viewer.get(f"{ROOT}reports/plans/{CLUSTER}/{trial}/report.html").text
    assert tried in report
    assert 'href="#changes"' not in report


def test_one_plan_is_no_trend_and_no_plan_is_none(viewer):
    assert "One snapshot shows no trend yet." in text_of(tree_of(viewer, "trends/shop"))
    assert viewer.get(f"{ROOT}trends/C9").status_code == 404


def test_an_answer_is_seen_in_the_list_and_in_the_report(api, own_lakes):
    rows = rows_of(LAST)
    approval = an_approval(status="REJECTED", recommendations=[rows["recommendation"][0]["id"]])
    put(own_lakes[0], "r1", rows, approval=approval)
    viewer = api("viewer")

    listed = text_of(with_class(tree_of(viewer, ""), "reports")[0])
    assert "Rejected" in listed
    assert "admin, 20 November 2026, 08:00:00 UTC: the change window is tonight" in listed
    assert "Approval: Rejected" in text_of(tree_of(viewer, f"reports/plans/{CLUSTER}/r1/"))
    assert "Rejected by admin" in viewer.get(f"{ROOT}reports/plans/{CLUSTER}/r1/report.html").text


def test_the_findings_of_each_owner_are_offered_and_nothing_beside_them(api, own_lakes):
    policy = Policy.model_validate({"groups": [{"match": ".", "owner": "pay & co"}]})
    run = put(own_lakes[0], "r1", rows_of(LAST), policy=policy)
    (file,) = (run.report / "by-owner").iterdir()
    (run.report / "by-owner" / "linked.csv").symlink_to(run.report / "plan.json")
    viewer, page = api("viewer"), f"{ROOT}reports/plans/{CLUSTER}/r1/"

    offered = [one.get("href") for one in elements(tree_of(viewer, f"reports/plans/{CLUSTER}/r1/"), "a")]
    assert [one.rpartition("/")[2] for one in offered if "by-owner" in one] == [file.name]
    answer = viewer.get(f"{page}by-owner/{file.name}")
    assert answer.content == file.read_bytes()
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert f"by-owner-{file.name}" in answer.headers["Content-Disposition"]
    for name in ("linked.csv", "..%2Fplan.json", ".hidden.csv", "nobody.csv", file.name + "/"):
        assert viewer.get(f"{page}by-owner/{name}").status_code in (404, 307), name
    assert viewer.head(f"{page}by-owner/{file.name}").status_code == 200
    assert api("stranger").get(f"{page}by-owner/{file.name}").status_code == 403
    assert api().get(f"{page}by-owner/{file.name}").status_code == 401


def test_a_report_deleted_while_it_is_looked_at_is_not_found(api, own_lakes):
    run = put(own_lakes[0], "r1", rows_of(LAST))
    put_what_if(own_lakes[1])
    viewer = api("viewer")
    page = f"{ROOT}reports/plans/{CLUSTER}/r1/"
    assert viewer.get(page).status_code == 200

    (run.report / "report.html").unlink()
    assert viewer.get(f"{page}report.html").status_code == 404
    shutil.rmtree(run.folder)

    assert viewer.get(page).status_code == 404
    assert viewer.get(f"{page}plan.json").status_code == 404
    assert len(runs_in(tree_of(viewer, ""))) == 1


def test_tables_have_captions_and_headers_and_fields_have_labels(viewer):
    before, after = run_id_of(LAST - timedelta(days=1)), run_id_of(LAST)
    compared = f"difference?cluster={CLUSTER}&before=plans/{before}&after=plans/{after}"
    for address in ("", f"trends/{CLUSTER}", compared, f"reports/plans/{CLUSTER}/{after}/"):
        tree = tree_of(viewer, address)
        for table in elements(tree, "table"):
            assert text_of(table.find(f"{HTML}caption"))
            assert all(cell.get("scope") for cell in table.iter(f"{HTML}th"))
        labels = {label.get("for") for label in elements(tree, "label")}
        fields = {e.get("id") for name in ("input", "select") for e in elements(tree, name)}
        assert fields <= labels
        assert len(elements(tree, "h1")) == 1
        assert elements(tree, "script") == []


@pytest.mark.parametrize(("score", "said"), [(87.5, "87.5"), (100.0, "100"), (0.0, "0"), (None, "\u2013")])
def test_a_line_of_the_list_has_the_score_of_the_cluster(api, score, said):
    assert made_by("ui.score(shown)", {"score": score}) == said


@pytest.mark.parametrize(
    ("predictions", "said"),
    [((9, 10), "9 of 10 predictions came"), ((0, 1), "0 of 1 prediction came"), ((0, 0), ""), (None, "")],
)
def test_a_line_of_the_list_says_how_many_predictions_came(api, predictions, said):
    assert made_by("ui.came(shown)", predictions) == said


def made_by(macro, shown):
    """The text that a macro makes of what is shown."""
    from rocketmq_capacity_pages.responses import templates

    page = "{% import 'macros.html.j2' as ui with context %}{{ " + macro + " }}"
    return re.sub(r"<[^>]+>", "", templates().from_string(page).render(shown=shown))
