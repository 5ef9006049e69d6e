"""The pages of a report beside another one, in the real API server."""

import json
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.plugins.stored_reports import CLUSTER, LAST, put, rows_of, run_id_of
from tests.plugins.test_pages import ROOT, tree_of
from tests.report.page_reader import elements, text_of

pytestmark = pytest.mark.airflow


def test_a_report_leads_to_the_difference_to_the_plan_before_it(viewer):
    tree = tree_of(viewer, f"reports/plans/{CLUSTER}/{run_id_of(LAST)}/")
    (link,) = [a.get("href") for a in elements(tree, "a") if text_of(a) == "Difference to the plan before"]

    query = parse_qs(urlsplit(link).query)

    assert query == {
        "cluster": [CLUSTER],
        "before": [f"plans/{run_id_of(LAST - timedelta(days=1))}"],
        "after": [f"plans/{run_id_of(LAST)}"],
    }


def test_the_first_report_has_nothing_before_it(viewer):
    first = tree_of(viewer, f"reports/plans/{CLUSTER}/{run_id_of(LAST - timedelta(days=3))}/")

    assert "Difference" not in text_of(first)


def test_a_what_if_is_marked_and_compared_with_the_plan_of_its_snapshot(viewer, lakes):
    (folder,) = lakes[1].glob("*/*")
    tree = tree_of(viewer, f"reports/what-ifs/{CLUSTER}/{folder.name}/")
    (link,) = [a.get("href") for a in elements(tree, "a") if text_of(a) == "Difference to the plan"]

    assert "A what-if, not the cluster as it is: lose broker-b" in text_of(tree)
    assert parse_qs(urlsplit(link).query)["before"] == [f"plans/{run_id_of(LAST)}"]


def test_the_difference_to_a_what_if_begins_with_what_is_still_carried(viewer, lakes):
    (folder,) = lakes[1].glob("*/*")
    query = f"difference?cluster={CLUSTER}&before=plans/{run_id_of(LAST)}&after=what-ifs/{folder.name}"

    text = text_of(tree_of(viewer, query))

    said = text.index("Not everything is still carried: nobody can read or write pay.")
    assert said < text.index("What falls with them, such as lag, is not better.") < text.index("In short")


def test_the_difference_counts_what_the_plans_themselves_hold(viewer, lakes):
    before, after = run_id_of(LAST - timedelta(days=1)), run_id_of(LAST)
    tree = tree_of(viewer, f"difference?cluster={CLUSTER}&before=plans/{before}&after=plans/{after}")
    plans = [json.loads((lakes[0] / CLUSTER / run / "report/plan.json").read_bytes()) for run in (before, after)]

    short = {text_of(row[0]): [int(text_of(cell)) for cell in row[1:]] for row in elements(tree, "tr")[1:4]}
    was, now = ({one["id"] for one in plan["causes"] if one["severity"] != "INFO"} for plan in plans)
    assert short["Causes, critical and warning"] == [len(now - was), len(was - now), len(now & was)]
    assert f"{len(now - was)} new causes, {len(was - now)} gone" in text_of(tree_of(viewer, ""))  # the list's
    for title, name in (("Findings", "findings"), ("Recommendations", "recommendations")):
        new, gone, still = short[title]
        assert gone + still == len(plans[0][name])
        assert new + still == len(plans[1][name])
    assert short["Findings"][0] > 0
    chosen = [o.get("value") for o in elements(tree, "option") if "selected" in o.attrib]
    assert chosen == [None, f"plans/{before}", f"plans/{after}"]


def test_two_reports_are_chosen_from_lists_of_the_cluster(viewer):
    every = tree_of(viewer, "difference")
    assert [text_of(o) for o in elements(every, "option")] == ["Choose a cluster", CLUSTER, "shop"]

    chosen = tree_of(viewer, f"difference?cluster={CLUSTER}")
    values = [o.get("value") for o in elements(chosen, "option") if "/" in (o.get("value") or "")]
    assert len(values) == 2 * 5
    assert values[:5] == values[5:]


def test_a_report_that_is_gone_leaves_the_form(viewer):
    answer = viewer.get(f"{ROOT}difference?cluster={CLUSTER}&before=plans/no-such-run&after=plans/{run_id_of(LAST)}")

    assert answer.status_code == 404
    assert "This cluster has no such report" in answer.text
    assert "<select" in answer.text


@pytest.mark.parametrize("address", ["plans/../x", "x/y", "plans", "/etc/passwd", "plans/"])
def test_what_names_no_report_cannot_be_compared(viewer, address):
    query = {"cluster": CLUSTER, "before": address, "after": f"plans/{run_id_of(LAST)}"}

    assert viewer.get(f"{ROOT}difference", params=query).status_code == 400


def test_a_plan_too_large_to_compare_is_refused_with_its_reason(api, own_lakes, lakes):
    run = put(own_lakes[0], "r1", rows_of(LAST))
    with (run.report / "plan.json").open("r+b") as file:
        file.truncate((128 << 20) + 1)

    answer = api("viewer").get(f"{ROOT}difference?cluster={CLUSTER}&before=plans/r1&after=plans/r1")

    assert answer.status_code == 413
    assert "too large" in answer.text
