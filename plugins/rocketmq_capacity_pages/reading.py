"""One report: its page, and its files as they are stored."""

from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from os import fstat
from typing import BinaryIO, Final

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from rocketmq_capacity.one_at_a_time import SMALL
from rocketmq_capacity.plan_file.handed_over import HANDED_OVER
from rocketmq_capacity.report.acceptance import DAG_ID as ACCEPT
from rocketmq_capacity.report.files import FINDINGS, PLAN, RECOMMENDATIONS, REPORT
from rocketmq_capacity.report.html import policy_of
from rocketmq_capacity.report.shelf import Report
from rocketmq_capacity.report.tables import BY_OWNER
from rocketmq_capacity_pages.accepting import Forms, forms_of
from rocketmq_capacity_pages.access import KindOfAddress, may_read
from rocketmq_capacity_pages.kinds import KINDS, PLANS, WHAT_IFS, Kind, report_of, shelf_of
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
DOWNLOADS: Final = {
    PLAN: "application/json",
    FINDINGS: "text/csv; charset=utf-8",
    RECOMMENDATIONS: "text/csv; charset=utf-8",
    **HANDED_OVER,
}
CHUNK: Final = 1 << 20


@router.api_route("/reports/{kind}/{cluster}/{run_id}", methods=READING)
@router.api_route("/reports/{kind}/{cluster}/{run_id}/", methods=READING)
async def report_page(
    request: Request, user: GetUserDep, kind: KindOfAddress, cluster: str, run_id: str
) -> HTMLResponse:
    """The report with what belongs to it: downloads, the plan before it, the cluster's trend, forms to accept risks."""
    return await made_report_page(request, user, kind, cluster, run_id)


async def made_report_page(request: Request, user: GetUserDep, kind: Kind, cluster: str, run_id: str) -> HTMLResponse:
    """The page of one report."""
    forms = await forms_of(request, user, kind, cluster, run_id)
    return await SMALL.run(partial(_page, request, user, kind, cluster, run_id, forms))


def _page(
    request: Request, user: GetUserDep, kind: Kind, cluster: str, run_id: str, forms: Forms | None
) -> HTMLResponse:
    report = report_of(kind, cluster, run_id)
    names = shelf_of(kind).names(report)
    earlier = _before(kind, report) if may_read(PLANS, request, user) else None
    return page(
        request,
        "report.html.j2",
        kinds=KINDS,
        kind=kind,
        report=report,
        earlier=earlier,
        downloads=tuple(name for name in DOWNLOADS if name in names),
        owner_files=[name for name in names if name.startswith(f"{BY_OWNER}/")],
        forms=forms,
        accept_dag=ACCEPT,
        may_read_plans=may_read(PLANS, request, user),
    )


@router.api_route("/reports/{kind}/{cluster}/{run_id}/by-owner/{name}", methods=READING)
@SMALL.each
def owner_file(request: Request, kind: KindOfAddress, cluster: str, run_id: str, name: str) -> Response:
    """The findings of one owner, to download."""
    return stored_file(request, kind, cluster, run_id, f"{BY_OWNER}/{name}")


@router.api_route("/reports/{kind}/{cluster}/{run_id}/{name}", methods=READING)
@SMALL.each
def report_file(request: Request, kind: KindOfAddress, cluster: str, run_id: str, name: str) -> Response:
    """A file of the report: report.html to show, the others to download."""
    return stored_file(request, kind, cluster, run_id, name)


def stored_file(request: Request, kind: Kind, cluster: str, run_id: str, name: str) -> Response:
    """A file as it is stored. Errors: HTTPException 404 if there is none."""
    report = report_of(kind, cluster, run_id)
    path = shelf_of(kind).file(report, name)
    if path is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    try:
        file = path.open("rb")
    except OSError:
        raise HTTPException(HTTPStatus.NOT_FOUND) from None
    if name == REPORT:
        with file:
            content = file.read()
        return HTMLResponse(content, headers={"Content-Security-Policy": policy_of(content)})
    # It has only letters, digits, '_', '.' and '-': both names exist as folders.
    file_name = f"{cluster}-{run_id}-{name.replace('/', '-')}"
    media_type = DOWNLOADS.get(name, DOWNLOADS[FINDINGS])
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name}"',
        "Content-Length": str(fstat(file.fileno()).st_size),
    }
    if request.method == "HEAD":
        file.close()
        return Response(media_type=media_type, headers=headers)
    return StreamingResponse(_chunks(file), media_type=media_type, headers=headers)


@router.api_route("/reports/{kind}/{cluster}/{run_id}/scripts/{name}", methods=READING)
@SMALL.each
def script(kind: KindOfAddress, cluster: str, run_id: str, name: str) -> Response:
    """A script of the report, to be read: the report's own page leads here."""
    path = shelf_of(kind).script(report_of(kind, cluster, run_id), name)
    try:
        content = None if path is None else path.read_bytes()
    except OSError:
        content = None
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(content, media_type="text/plain; charset=utf-8")


def _before(kind: Kind, report: Report) -> Report | None:
    """The plan to compare with: for a plan the one before it, for a what-if the latest up to its snapshot."""
    plans = shelf_of(PLANS)
    if kind is not WHAT_IFS:
        return plans.before(report)
    moment = report.summary.moment
    return next((plan for plan in plans.plans(report.cluster) if plan.summary.moment <= moment), None)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk
