"""Accepting a risk: the forms beside a report, and the one route that takes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.one_at_a_time import LARGE, SMALL, TooManyWaiting
from rocketmq_capacity.own_process import OwnProcessFailed
from rocketmq_capacity.report.acceptable import Acceptable, Place, Risk, acceptable_of
from rocketmq_capacity.report.acceptance import DAG_ID, problem_of
from rocketmq_capacity.report.files import PLAN
from rocketmq_capacity.report.limits import FINDINGS
from rocketmq_capacity.report.shelf import Report
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.store.acceptances import acceptances
from rocketmq_capacity_pages.access import Acceptor, may_accept, sends_its_origin
from rocketmq_capacity_pages.airflow_run import Start, start_run
from rocketmq_capacity_pages.form_body import body_of, pairs_of
from rocketmq_capacity_pages.kinds import PLANS, Kind, report_of, shelf_of
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
ADDRESS: Final = f"/reports/{PLANS.name}/{{cluster}}/{{run_id}}/accept"
LARGEST_BODY: Final = 16 << 10
"""Bytes of a form: the longest reason takes 12,000, as characters of four bytes that are sent as ``%XX`` each."""
TEXTS: Final = ("why", "until")
"""What a person tells of the findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The forms beside a report: what can be accepted, or why nothing can be.

    Attributes:
        why_not: why there are none; empty if there are, and for a report that is not of the latest plan.
        latest: the latest plan, if it is another one.
        acceptable: what can be accepted.
        waiting: what was accepted after the plan's snapshot, so that it counts from the next plan on.
        today: the first day (UTC) until which a risk can be accepted.
    """

    why_not: str = ""
    latest: Report | None = None
    acceptable: Acceptable | None = None
    waiting: Mapping[Place, AcceptedRisk] = field(default_factory=dict)
    today: str = ""


async def forms_of(request: Request, user: GetUserDep, kind: Kind, cluster: str, run_id: str) -> Forms | None:
    """The forms for this report; None for a user who may not accept, and for a report that is not of a plan."""
    forms = await SMALL.run(partial(_begun, request, user, kind, cluster, run_id))
    if forms is None or forms.why_not or forms.latest is not None:
        return forms
    try:
        acceptable = await LARGE.run(partial(_acceptable, cluster, run_id))
    except (TooManyWaiting, BadInput, OwnProcessFailed):
        return Forms(why_not="The plan cannot be read here now.")
    return replace(forms, acceptable=acceptable)


def _begun(request: Request, user: GetUserDep, kind: Kind, cluster: str, run_id: str) -> Forms | None:
    latest = _latest(cluster) if kind is PLANS and may_accept(request, user) else None
    if latest is None:
        return None
    if latest.run_id != run_id:
        return Forms(latest=latest)
    if not sends_its_origin(request):
        return Forms(why_not="Forms need a browser that reaches Airflow by https or as localhost.")
    now = datetime.now(UTC)
    return Forms(waiting=_waiting(latest, now), today=now.date().isoformat())


def _waiting(latest: Report, now: datetime) -> dict[Place, AcceptedRisk]:
    folder = shelf_of(PLANS).lake.root / latest.cluster
    try:
        counted = acceptances(folder, latest.summary.taken_at)
        kept = [risk for risk in acceptances(folder, now.isoformat()) if risk not in counted]
    except BadInput:
        return {}  # the next plan says which file is damaged
    return {(risk.rule, risk.consumer_group, risk.topic, risk.broker_name): risk for risk in reversed(kept)}


@router.api_route(ADDRESS, methods=READING)
def back_to_the_report() -> Response:
    """Redirects to the report, which has the forms; a person comes here from the login."""
    return RedirectResponse("./", HTTPStatus.TEMPORARY_REDIRECT)


@router.post(ADDRESS)
async def accept(request: Request, by: Acceptor, cluster: str, run_id: str) -> HTMLResponse:
    """Start the runs that accept risks of the latest plan, one for each finding, in the name of the user."""
    sent = _sent(await body_of(request, LARGEST_BODY))
    report = await SMALL.run(partial(_latest_report, cluster, run_id))
    known = await LARGE.run(partial(_known, report))
    return await SMALL.run(partial(_answer, request, by, report, sent, known))


@dataclass(frozen=True, slots=True, kw_only=True)
class SentForm:
    """What the form has sent."""

    findings: tuple[str, ...]
    """Their ids."""
    texts: Mapping[str, str]
    """Why, and until when, as far as the form has it."""


def _sent(body: bytes) -> SentForm:
    """The fields. Errors: HTTPException 400 for what is no such form."""
    pairs = pairs_of(body, FINDINGS + len(TEXTS))
    if pairs is None:
        said = f"The form cannot be read. Expected at most {FINDINGS} findings, and {' and '.join(TEXTS)}, as UTF-8."
        raise HTTPException(HTTPStatus.BAD_REQUEST, said)
    findings = tuple(dict.fromkeys(value for name, value in pairs if name == "finding"))
    others = [(name, value.strip()) for name, value in pairs if name != "finding"]
    names = {name for name, _ in others}
    if len(names) < len(others) or not names <= set(TEXTS):
        said = f"The form has a field twice, or an unknown one. Expected finding, and {' and '.join(TEXTS)} once."
        raise HTTPException(HTTPStatus.BAD_REQUEST, said)
    return SentForm(findings=findings, texts={name: value for name, value in others if value})


def _latest_report(cluster: str, run_id: str) -> Report:
    """The report. Errors: HTTPException 404 if there is none, 409 if it is not of the cluster's latest plan."""
    report = report_of(PLANS, cluster, run_id)
    latest = _latest(cluster)
    if latest is not None and latest.run_id != run_id:
        last = latest.summary.taken_at
        said = f"Nothing is accepted: the form is of an older plan. Expected one of the latest, {last}."
        raise HTTPException(HTTPStatus.CONFLICT, said)
    return report


def _known(report: Report) -> dict[str, Risk]:
    """What can be accepted, by the ids of findings. Errors: HTTPException 503 if the plan cannot be read here."""
    try:
        return _acceptable(report.cluster, report.run_id).risks()
    except (BadInput, OwnProcessFailed):
        said = f"Nothing is accepted: the plan cannot be read here now. Trigger the Dag {DAG_ID}."
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, said) from None


def _answer(request: Request, by: str, report: Report, sent: SentForm, known: Mapping[str, Risk]) -> HTMLResponse:
    """Start a run for each risk, or say what is wrong with the form."""
    now = datetime.now(UTC)
    risks = [known[name] for name in sent.findings if name in known]
    problem = _problem(sent, known, risks, now)
    if problem:
        values = {"problem": problem, "risks": risks, "told": sent.texts, "today": now.date().isoformat()}
        return page(request, "not_accepted.html.j2", HTTPStatus.BAD_REQUEST, report=report, **values)
    # After the next plan the same risk can be accepted again.
    start = partial(Start, dag_id=DAG_ID, by=by, what="accept", once=report.run_id)
    fields = {"cluster": report.cluster, **sent.texts}
    runs = [(risk, start_run(start(fields={**fields, **risk.fields}))) for risk in risks]
    is_new = any(run.is_new for _, run in runs)
    status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    values = {"by": by, "runs": runs, "told": sent.texts, "dag_id": DAG_ID}
    return page(request, "accepted.html.j2", status, report=report, is_new=is_new, **values)


def _problem(sent: SentForm, known: Mapping[str, Risk], risks: Sequence[Risk], now: datetime) -> str:
    """What is wrong with the form; empty if nothing is."""
    if not sent.findings:
        return "the form: finding: is missing; expected one at least"
    unknown = [name for name in sent.findings if name not in known]
    if unknown:
        return f"the form: finding: is {shown(unknown[0])}; expected the id of an open finding of this plan"
    missing = [name for name in TEXTS if name not in sent.texts]
    if missing:
        return f"the form: {missing[0]}: is missing; expected a value"
    problems = (problem_of({**risk.fields, **sent.texts}, now) for risk in risks)
    return next((problem for problem in problems if problem), "")


def _latest(cluster: str) -> Report | None:
    return next(iter(shelf_of(PLANS).plans(cluster)), None) if cluster else None


def _acceptable(cluster: str, run_id: str) -> Acceptable:
    file = shelf_of(PLANS).file(report_of(PLANS, cluster, run_id), PLAN)
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return acceptable_of(file)
