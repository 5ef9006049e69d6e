"""What every answer forbids the browser, and what it does with each file."""

import csv
import io
import json
import re

import pytest

from rocketmq_capacity.report.html import policy_of
from tests.plugins.stored_reports import CLUSTER, LAST, run_id_of
from tests.report.page_reader import elements, read_page

pytestmark = pytest.mark.airflow
ROOT = "/rocketmq-capacity"
PLAN = f"{ROOT}/reports/plans/{CLUSTER}/{run_id_of(LAST)}"
STRICT = {"default-src": "'none'", "base-uri": "'none'", "frame-ancestors": "'self'"}


def policy(answer):
    parts = (part.partition(" ") for part in answer.headers["Content-Security-Policy"].split("; "))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/difference",
        f"/trends/{CLUSTER}",
        f"/reports/plans/{CLUSTER}/{run_id_of(LAST)}/groups",
        "/style.css",
        "/nothing",
        f"/reports/plans/{CLUSTER}/no-such-run/",
    ],
)
@pytest.mark.parametrize("user", ["", "viewer"])
def test_every_answer_is_kept_nowhere_framed_by_airflow_alone_and_runs_no_script(api, lakes, address, user):
    answer = api(user).get(ROOT + address)

    assert policy(answer).items() >= STRICT.items()
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_a_method_that_is_refused_has_them_too(api):
    answer = api().post(f"{ROOT}/")

    assert policy(answer).items() >= STRICT.items()
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_page_may_use_our_style_our_forms_and_our_report_in_a_frame_and_nothing_else(api, lakes):
    assert policy(api("viewer").get(f"{PLAN}/")) == STRICT | {
        "style-src": "'self'",
        "frame-src": "'self'",
        "form-action": "'self'",
    }


def test_a_report_may_use_its_own_style_alone_and_has_no_origin(api, lakes):
    answer = api("viewer").get(f"{PLAN}/report.html")

    assert policy(answer) == STRICT | {
        "style-src": policy_of(answer.content).partition("style-src ")[2].partition(";")[0],
        "form-action": "'none'",
        "sandbox": "",
    }
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", policy(answer)["style-src"])
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_report_without_a_style_may_use_none():
    assert "style-src 'none';" in policy_of(b"<html></html>")
    assert "style-src 'none';" in policy_of(b"<style>a{}")


@pytest.mark.parametrize("name", ["plan.json", "findings.csv", "recommendations.csv"])
def test_downloads_are_the_stored_bytes_under_a_name_that_says_whose_they_are(api, lakes, name):
    answer = api("viewer").get(f"{PLAN}/{name}")

    assert answer.content == (lakes[0] / CLUSTER / run_id_of(LAST) / "report" / name).read_bytes()
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{CLUSTER}-{run_id_of(LAST)}-{name}"'
    assert policy(answer) == STRICT | {"form-action": "'none'", "sandbox": ""}
    if name == "plan.json":
        assert json.loads(answer.content)["cluster_name"] == CLUSTER
        assert answer.headers["Content-Type"] == "application/json"
    else:
        assert len(list(csv.reader(io.StringIO(answer.text)))) > 1
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"


def test_the_metrics_of_the_latest_plan_have_an_address_that_stays(api, lakes):
    answer = api("viewer").get(f"{ROOT}/metrics/{CLUSTER}")

    assert answer.content == (lakes[0] / CLUSTER / run_id_of(LAST) / "report" / "metrics.prom").read_bytes()
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert f'cluster="{CLUSTER}"' in answer.text
    for name in ("C9", ".accepted", "C1%2F.."):
        assert api("viewer").get(f"{ROOT}/metrics/{name}").status_code == 404


def test_a_large_plan_is_handed_over_whole(api, own_lakes, lakes):
    from tests.plugins.stored_reports import put, rows_of

    run = put(own_lakes[0], "r1", rows_of(LAST))
    content = b'{"x": "' + b"y" * (5 << 20) + b'"}'
    (run.report / "plan.json").write_bytes(content)

    answer = api("viewer").get(f"{ROOT}/reports/plans/{CLUSTER}/r1/plan.json")

    assert answer.content == content


def test_the_report_is_in_a_frame_that_may_do_nothing(api, lakes):
    (frame,) = elements(read_page(api("viewer").get(f"{PLAN}/").text), "iframe")

    assert frame.get("sandbox") == ""
    assert frame.get("title") == "The report"
