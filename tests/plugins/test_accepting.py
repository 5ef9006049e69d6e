"""Accepting a risk beside a report: who gets the forms, what they hold, and what the one route refuses."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from sqlalchemy import update

from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.acceptance import accept_risk
from rocketmq_capacity.store.lake import Lake
from tests.plugins.stored_reports import CLUSTER, LAST, airflow_run_id_of, put, put_what_if, rows_of, run_id_of
from tests.report.page_reader import elements, read_page, text_of, with_class
from tests.report.row_builders import a_finding

pytestmark = pytest.mark.airflow
ROOT: Final = "/rocketmq-capacity"
REPORT: Final = f"{ROOT}/reports/plans/{CLUSTER}/r1/"
ROUTE: Final = f"{REPORT}accept"
OURS: Final = {"Sec-Fetch-Site": "same-origin"}
UNTIL: Final = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
LARGEST_BODY: Final = 16_384
HINT: Final = "rocketmq_capacity_accept"


@pytest.fixture
def plan(own_lakes):
    """The only plan of the cluster."""
    return read_plan(put(own_lakes[0], "r1", rows_of(LAST)).report / "plan.json")


def form_of(plan: Any, **changes: Any) -> dict[str, Any]:
    """What a browser sends for the first finding about a group."""
    found = next(one for one in plan.findings if one.consumer_group)
    told = {"finding": found.id, "why": "a rollout", "until": UNTIL}
    return {name: value for name, value in {**told, **changes}.items() if value is not None}


def place_of(finding: Any) -> tuple[str, str | None, str | None, str | None]:
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name


def sent(client: Any, told: dict[str, Any], address: str = ROUTE, **headers: str) -> Any:
    return client.post(address, data=told, headers=OURS | {k.replace("_", "-"): v for k, v in headers.items()})


def page_of(client: Any, address: str = REPORT) -> Any:
    answer = client.get(address, headers=OURS)
    assert answer.status_code == 200, answer.text
    return read_page(answer.text)


def forms_in(tree: Any) -> list[list[str]]:
    """The findings that each form has filled in; a person fills in why and until when."""
    forms = [form for form in elements(tree, "form") if form.get("method") == "post"]
    assert {form.get("action") for form in forms} <= {"../../../../" + ROUTE.removeprefix(f"{ROOT}/")}
    fields = [[one for one in form.iter() if one.get("name")] for form in forms]
    asked = [{one.get("name") for one in held if "required" in one.attrib} for held in fields]
    assert asked == [{"why", "until"}] * len(forms)
    return [
        [one.get("value") for one in held if one.get("name") == "finding" and "checked" in one.attrib]
        for held in fields
    ]


def said(answer: Any) -> str:
    """The sentence that says why nothing was accepted."""
    tree = read_page(answer.text)
    alerts = [text_of(one) for one in tree.iter() if one.get("role") == "alert"]
    return alerts[0] if alerts else text_of(elements(tree, "main")[0])


def test_each_cause_has_a_form_with_its_findings_once_for_each_rule_and_place(api, plan) -> None:
    tree = page_of(api("admin"))

    causes = [text_of(elements(one, "summary")[0]) for one in with_class(tree, "cause")]
    assert len(causes) == len(plan.causes)
    for shown, cause in zip(causes, plan.causes, strict=True):
        assert shown.endswith(" ".join(cause.title.split()))
    findings = {one.id: one for one in plan.findings}
    forms = forms_in(tree)
    assert len(forms) == len(plan.causes)
    for form, cause in zip(forms, plan.causes, strict=True):
        places = [place_of(findings[name]) for name in form]
        assert places == list(dict.fromkeys(place_of(findings[name]) for name in cause.findings))


@pytest.mark.parametrize("user", ["viewer", "planner"])
def test_who_may_not_trigger_the_dag_gets_no_form_and_hears_nothing_of_it(api, plan, user) -> None:
    tree = page_of(api(user))

    assert forms_in(tree) == []
    assert "ccept" not in text_of(tree)


def test_the_latest_plan_alone_has_forms_and_the_others_lead_to_it(api, own_lakes, plan) -> None:
    put(own_lakes[0], "r0", rows_of(LAST - timedelta(days=1)))
    put_what_if(own_lakes[1])
    (what_if,) = (folder.name for folder in (own_lakes[1] / CLUSTER).iterdir())
    admin = api("admin")

    older = page_of(admin, REPORT.replace("r1", "r0"))
    assert forms_in(older) == []
    (line,) = [one for one in elements(older, "p") if "Risks are accepted in the latest plan" in text_of(one)]
    assert [a.get("href") for a in elements(line, "a")] == [f"../../../../reports/plans/{CLUSTER}/r1/"]
    assert "ccept" not in text_of(page_of(admin, f"{ROOT}/reports/what-ifs/{CLUSTER}/{what_if}/"))


def test_a_browser_that_does_not_say_whence_it_asks_is_told_of_the_dag(api, plan) -> None:
    tree = read_page(api("admin").get(REPORT).text)

    assert forms_in(tree) == []
    assert f"trigger the Dag {HINT}. Forms need a browser that reaches Airflow by https" in text_of(tree)


def test_the_tab_of_a_run_has_the_forms_as_well(api, own_lakes) -> None:
    put(own_lakes[0], run_id_of(LAST), rows_of(LAST))
    address = f"{ROOT}/dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST)}"
    tree = read_page(api("admin").get(address, headers=OURS).text)

    (action,) = {form.get("action") for form in elements(tree, "form")}
    assert action == f"../../reports/plans/{CLUSTER}/{run_id_of(LAST)}/accept"


def test_names_of_a_cluster_are_only_text_in_the_forms_and_one_that_is_not_seen_whole_has_none(api, own_lakes) -> None:
    hostile = ('"><script>alert(1)</script>', "'onfocus='alert(1)", "{{7*7}}", "a\u202eb", "zwölf\U0001f600")
    rows = rows_of(LAST)
    rows["finding"] += [a_finding(rule="HOT_QUEUE", topic=name, consumer_group=None, message=name) for name in hostile]
    run = put(own_lakes[0], "r1", rows)
    tree = page_of(api("admin"))

    assert elements(tree, "script") == []
    assert not [name for one in tree.iter() for name in one.attrib if name.startswith("on")]
    findings = read_plan(run.report / "plan.json").findings
    topics = {one.id: str(one.topic) for one in findings if one.rule == "HOT_QUEUE"}
    offered = {topics[name] for form in forms_in(tree) for name in form if name in topics}
    assert offered == set(hostile) - {"a\u202eb"}
    assert all(name in text_of(tree) for name in offered)


def test_a_plan_that_is_too_large_or_damaged_is_shown_without_forms(api, own_lakes, plan) -> None:
    file = own_lakes[0] / CLUSTER / "r1" / "report" / "plan.json"
    for spoil in (lambda: file.write_bytes(b"{"), lambda: file.open("r+b").truncate((128 << 20) + 1)):
        spoil()
        tree, answer = page_of(api("admin")), sent(api("admin"), form_of(plan))

        assert forms_in(tree) == []
        assert f"trigger the Dag {HINT}. The plan cannot be read here now." in text_of(tree)
        assert answer.status_code == 503
        assert f"Nothing is accepted: the plan cannot be read here now. Trigger the Dag {HINT}." in said(answer)


def test_who_is_not_logged_in_may_not_or_comes_from_elsewhere_is_refused_whatever_is_sent(api, plan) -> None:
    for told in (form_of(plan), {"why": ""}, {"why": "x" * (1 << 20)}):
        assert sent(api(), told).status_code == 401
        for user in ("viewer", "planner", "dreamer", "stranger"):
            assert sent(api(user), told).status_code == 403
    assert "the right to trigger the Dag rocketmq_capacity_accept" in said(sent(api("viewer"), form_of(plan)))


@pytest.mark.parametrize("site", [None, "", "cross-site", "same-site", "none", "same-origin, cross-site"])
def test_only_a_page_of_airflows_own_origin_is_listened_to(api, plan, site) -> None:
    told = {} if site is None else {"Sec-Fetch-Site": site}
    answer = api("admin").post(ROUTE, data=form_of(plan), headers={"Origin": "http://testserver", **told})

    assert answer.status_code == 403
    assert "does not come from a page of this Airflow" in said(answer)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"finding": "IDLE_CONSUMERS"}, "finding: is 'IDLE_CONSUMERS'; expected the id of an open finding"),
        ({"finding": None}, "finding: is missing; expected one at least"),
        ({"finding": ""}, "finding: is ''; expected the id of an open finding of this plan"),
        ({"finding": "<b>" * 1_000}, "; expected the id of an open finding of this plan"),
        ({"why": None}, "why: is missing; expected a value"),
        ({"why": "  "}, "why: is missing; expected a value"),
        ({"why": "two\nlines"}, "why: expected one line of text"),
        ({"why": "x" * 1_001}, "why: String should have at most 1000 characters"),
        ({"until": "soon"}, "until: expected a day such as 2027-03-01"),
        ({"until": "20300101T00"}, "until: expected a day such as 2027-03-01"),
        ({"until": "2020-02-29"}, "until: is over; it is 2020-02-29; expected today (UTC) or later"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_risk_of_the_plan_is_refused_with_a_sentence_that_names_the_field(
    api, plan, changes, reason
) -> None:
    answer = sent(api("admin"), form_of(plan, **changes))

    assert answer.status_code == 400
    assert reason in said(answer)
    assert said(answer).startswith("the form: ")


def test_one_finding_that_is_not_known_refuses_all(api, plan) -> None:
    answer = sent(api("admin"), form_of(plan, finding=[plan.findings[0].id, "another"]))

    assert answer.status_code == 400
    assert "finding: is 'another'" in said(answer)


def test_a_form_with_a_wrong_reason_or_day_comes_back_filled_in(api, plan) -> None:
    told = form_of(plan, why='a "better" day', until="2020-02-29")
    tree = read_page(sent(api("admin"), told).text)

    (form,) = elements(tree, "form")
    assert {one.get("name"): one.get("value") for one in form.iter() if one.get("name")} == told


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"x" * (LARGEST_BODY + 1), 413, "Expected at most 16,384 bytes"),
        (b"why=a&why=b", 400, "has a field twice"),
        (b"by=somebody+else", 400, "an unknown one"),
        (b"rule=NO_RULE&topic=pay", 400, "an unknown one"),
        (b"cluster=", 400, "an unknown one"),
        (b"&".join([b"finding=a"] * 23), 400, "Expected at most 20 findings"),
        (b"why=%ff", 400, "cannot be read"),
        (b"why=%ed%a0%80", 400, "cannot be read"),
        (b"why=\xff", 400, "cannot be read"),
        (b"why", 400, "cannot be read"),
        (b"", 400, "finding: is missing"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_is_no_such_form_is_refused(api, plan, body, status, reason) -> None:
    answer = api("admin").post(
        ROUTE, content=body, headers=OURS | {"Content-Type": "application/x-www-form-urlencoded"}
    )

    assert answer.status_code == status
    assert reason in said(answer)


def test_a_form_of_the_greatest_length_is_read(api, plan) -> None:
    told = form_of(plan, finding=[f"{number:020}" for number in range(20)], why="\U0001f600" * 1_000)

    assert len(urlencode(told, doseq=True)) <= LARGEST_BODY
    assert "finding: is '00000000000000000000'" in said(sent(api("admin"), told))


@pytest.mark.parametrize("kind", ["", "application/json", "text/plain", "multipart/form-data; boundary=x"])
def test_a_body_of_another_type_is_not_read(api, plan, kind) -> None:
    answer = api("admin").post(ROUTE, content=json.dumps(form_of(plan)), headers=OURS | {"Content-Type": kind})

    assert answer.status_code == 415


def test_a_form_of_an_older_plan_is_refused(api, own_lakes, plan) -> None:
    put(own_lakes[0], "r2", rows_of(LAST + timedelta(days=1)))

    answer = sent(api("admin"), form_of(plan))

    assert answer.status_code == 409
    assert "the form is of an older plan. Expected one of the latest, 2026-11-21T02:00:00Z." in said(answer)


@pytest.mark.parametrize("name", ["no-such-run", "..%2fr1", ".accepted", "%ff"])
def test_a_report_that_is_not_there_has_nothing_to_accept(api, plan, name) -> None:
    assert sent(api("admin"), form_of(plan), ROUTE.replace("r1", name)).status_code in {404, 405}


def test_no_other_method_and_no_other_address_takes_a_form(api, plan) -> None:
    admin = api("admin")
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS"):
        assert admin.request(method, ROUTE, headers=OURS).status_code == 405
    for address in (REPORT, f"{ROUTE}/", ROUTE.replace("plans", "what-ifs"), f"{ROOT}/accept"):
        assert sent(admin, form_of(plan), address).status_code == 405


def test_the_login_leads_back_to_the_report(api, plan) -> None:
    assert "accept" in sent(api(), form_of(plan)).text.partition("auth/login?next=")[2]
    answer = api("viewer").get(ROUTE)

    assert (answer.status_code, answer.headers["Location"]) == (307, "./")


@pytest.fixture
def without_the_dag(airflow_database: None) -> Iterator[None]:
    """No file has the Dag any more; other tests may have stored it."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    def set_stale(*, is_stale: bool) -> None:
        with create_session() as session:
            of_dag = update(DagModel).where(DagModel.dag_id == "rocketmq_capacity_accept")
            session.execute(of_dag.values(is_stale=is_stale))

    set_stale(is_stale=True)
    yield
    set_stale(is_stale=False)


@pytest.mark.usefixtures("without_the_dag")
def test_without_the_dag_nothing_is_accepted(api, plan) -> None:
    answer = sent(api("admin"), form_of(plan))

    assert answer.status_code == 409
    assert "Airflow does not know the Dag rocketmq_capacity_accept" in said(answer)


def test_what_was_accepted_after_the_snapshot_is_shown_and_not_asked_again(api, own_lakes) -> None:
    now = datetime.now(UTC)
    plan = read_plan(put(own_lakes[0], "r1", rows_of(now - timedelta(days=2))).report / "plan.json")
    admin, lake = api("admin"), Lake(own_lakes[0])
    found = next(one for one in plan.findings if one.consumer_group)
    names = ("rule", "consumer_group", "topic", "broker_name")
    told = dict(zip(names, place_of(found), strict=True)) | {"why": "<b>a rollout</b>", "until": UNTIL}
    accept_risk(told, "bob", lake, now - timedelta(days=3))  # the plan has counted it already
    before = forms_in(page_of(admin))

    accept_risk(told, "alice", lake, now - timedelta(hours=1))
    tree = page_of(admin)

    assert found.id in [name for form in before for name in form]
    left = [[name for name in form if name != found.id] for form in before]
    assert forms_in(tree) == [form for form in left if form]
    assert f"by alice until {UNTIL}, from the next plan on: <b>a rollout</b>" in text_of(tree)
