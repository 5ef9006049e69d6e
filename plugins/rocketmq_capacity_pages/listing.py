"""Lists: all reports, those of one Airflow run, and the trend of a cluster's plans."""

from datetime import UTC, date
from functools import partial
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Final

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse

from rocketmq_capacity.language.current import speaking
from rocketmq_capacity.one_at_a_time import LARGE, SMALL
from rocketmq_capacity.report.shelf import Report, Search, latest_first, sheet_of, since_last
from rocketmq_capacity.report.trend import trend_of
from rocketmq_capacity.store.lake import CLUSTER_FOLDER
from rocketmq_capacity_pages.access import DagOfAddress, ReadableKinds, require
from rocketmq_capacity_pages.chosen_language import language_of
from rocketmq_capacity_pages.kinds import KINDS, PLANS, Kind, shelf_of, shelves_of
from rocketmq_capacity_pages.reading import made_report_page
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
Day = tuple[date, tuple[Report, ...]]
LONGEST: Final = 250
"""The most characters of a search."""
SPANS: Final = (30, 90, 365)
"""How many of the latest plans a trend may show."""


@router.api_route("/", methods=READING)
@SMALL.each
def reports(
    request: Request,
    readable: ReadableKinds,
    kind: str = "",
    cluster: str = "",
    since: Annotated[str, Query(alias="from")] = "",
    until: Annotated[str, Query(alias="to")] = "",
    text: str = "",
    sheet: str = "1",
) -> HTMLResponse:
    """The reports that fit the form and that the user may read, latest first."""
    kinds = _kinds(kind, readable)
    first, last = _day("From is a day such as 2026-11-20.", since), _day("To is a day such as 2026-11-20.", until)
    search = Search(_cluster(cluster), first, last, _text(text))
    shelves = shelves_of(kinds)
    listed = latest_first(shelves, search)
    part = sheet_of(listed, int(sheet) if sheet.isdecimal() and len(sheet) < 7 else 1)
    return page(
        request,
        "reports.html.j2",
        kinds=KINDS,
        readable=readable,
        kind=kind,
        search=search,
        sheet=part,
        days=_by_day(part.reports),
        since=since_last(part.reports, shelf_of(PLANS).plans(cluster)) if PLANS in readable else {},
        clusters=sorted({name for shelf in shelves_of(readable) for name in shelf.clusters()}),
        found_clusters=len({report.cluster for report in listed}),
        is_searched=bool(kind) or search != Search(),
        asked={"kind": kind, "cluster": cluster, "from": since, "to": until, "text": text},
    )


@router.api_route("/dag-runs/{dag_id}/{run_id}", methods=READING)
async def reports_of_dag_run(request: Request, user: GetUserDep, dag_id: DagOfAddress, run_id: str) -> HTMLResponse:
    """The report of one run of a Dag, or a list of reports if it planned several clusters.

    The tab on the run's page shows this.
    """
    kind = next((kind for kind in KINDS.values() if kind.dag_id == dag_id), None)
    reports = await SMALL.run(partial(_of_dag_run, kind, run_id))
    if kind is not None and len(reports) == 1:
        return await made_report_page(request, user, kind, reports[0].cluster, reports[0].run_id)
    return await SMALL.run(partial(_run_page, request, kind, dag_id, run_id, reports))


@router.api_route("/trends/{cluster}", methods=READING)
@LARGE.each
def trend(request: Request, user: GetUserDep, cluster: str, last: str = "") -> HTMLResponse:
    """The trend over the latest plans of a cluster."""
    require(PLANS, request, user)
    shelf = shelf_of(PLANS)
    stored = shelf.plans(_cluster(cluster)) if cluster else []
    if not stored:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    span = int(last) if last in map(str, SPANS) else SPANS[1]
    with speaking(language_of(request)):
        courses = trend_of(cluster, stored[:span])
    return page(
        request,
        "trend.html.j2",
        cluster=cluster,
        clusters=shelf.clusters(),
        trend=courses,
        span=span,
        spans=SPANS,
        stored=len(stored),
        kinds=KINDS,
    )


def _of_dag_run(kind: Kind | None, run_id: str) -> list[Report]:
    return [] if kind is None else shelf_of(kind).of_dag_run(run_id)


def _run_page(request: Request, kind: Kind | None, dag_id: str, run_id: str, reports: list[Report]) -> HTMLResponse:
    return page(request, "dag_run.html.j2", kind=kind, kinds=KINDS, dag_id=dag_id, run_id=run_id, days=_by_day(reports))


def _kinds(kind: str, readable: tuple[Kind, ...]) -> tuple[Kind, ...]:
    if not kind:
        return readable
    if kind not in KINDS:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"The kind is one of {', '.join(KINDS)}.")
    if KINDS[kind] not in readable:
        raise HTTPException(HTTPStatus.FORBIDDEN)
    return (KINDS[kind],)


def _cluster(name: str) -> str:
    if name and not CLUSTER_FOLDER.fullmatch(name):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "A cluster's name has letters, digits, '_', '.' and '-'.")
    return name


def _day(expected: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise HTTPException(HTTPStatus.BAD_REQUEST, expected) from None


def _text(text: str) -> str:
    if len(text) > LONGEST:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"A search has at most {LONGEST} characters.")
    return text


def _by_day(reports: list[Report] | tuple[Report, ...]) -> list[Day]:
    days = groupby(reports, key=lambda report: report.summary.moment.astimezone(UTC).date())
    return [(day, tuple(held)) for day, held in days]
