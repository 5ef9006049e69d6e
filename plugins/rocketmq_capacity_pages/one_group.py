"""The groups of a plan: each of them over the days."""

from functools import partial
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse

from rocketmq_capacity.one_at_a_time import LARGE
from rocketmq_capacity.own_process import OwnProcessFailed
from rocketmq_capacity.report.files import PLAN
from rocketmq_capacity.report.group_days import find_group
from rocketmq_capacity_pages.access import KindOfAddress
from rocketmq_capacity_pages.chosen_language import language_of
from rocketmq_capacity_pages.kinds import KINDS, Kind, report_of, shelf_of
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
LONGEST: Final = 255
"""Characters of a group's name, and so of what is looked for."""


@router.api_route("/reports/{kind}/{cluster}/{run_id}/groups", methods=READING)
async def groups(request: Request, kind: KindOfAddress, cluster: str, run_id: str, text: str = "") -> HTMLResponse:
    """The groups whose names have a text; of a single one its traffic, lag, clients, week and forecast."""
    return await LARGE.run(partial(_page, request, kind, cluster, run_id, text))


def _page(request: Request, kind: Kind, cluster: str, run_id: str, text: str) -> HTMLResponse:
    if len(text) > LONGEST:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"A group's name has at most {LONGEST} characters.")
    shelf, report = shelf_of(kind), report_of(kind, cluster, run_id)
    run = shelf.lake.run(cluster, run_id)
    try:
        answer = find_group(run, shelf.file(report, PLAN), text, language_of(request))
    except OwnProcessFailed as error:
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, f"The groups cannot be read: {error}.") from None
    return page(request, "groups.html.j2", kinds=KINDS, kind=kind, report=report, text=text, found=answer)
