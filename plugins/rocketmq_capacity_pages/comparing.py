"""The difference between any two reports of a cluster, chosen from lists."""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.report.difference import Difference, difference
from rocketmq_capacity.report.plan_file.plan import Plan, decoded_plan
from rocketmq_capacity.report.publish import PLAN
from rocketmq_capacity.report.shelf import UNREADABLE, Report, Search, latest_first
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.store.lake import RUN_ID
from rocketmq_capacity_pages.access import ReadableKinds
from rocketmq_capacity_pages.kinds import KINDS, Kind, shelf_of, shelves_of
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
LARGEST: Final = 64 << 20
"""Bytes of the largest plan that is compared here: to read a plan takes several times its size in memory."""
CHOICES: Final = 500
"""Entries of a list to choose from: daily plans of more than a year."""
SHOWN: Final = 100
"""Entries of one list of differences; the others are counted."""


@router.api_route("/difference", methods=READING)
def difference_page(
    request: Request, readable: ReadableKinds, cluster: str = "", before: str = "", after: str = ""
) -> HTMLResponse:
    """The form to choose two reports of a cluster, and below it the difference of the two."""
    if cluster and not RUN_ID.fullmatch(cluster):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "A cluster's name has letters, digits, '_', '.' and '-'.")
    shelves = shelves_of(readable)
    clusters = sorted({name for shelf in shelves for name in shelf.clusters()})
    cluster = cluster or (clusters[0] if len(clusters) == 1 else "")
    asked = {side: address for side, address in (("before", before), ("after", after)) if address}
    found = {side: _chosen(side, address, cluster, readable) for side, address in asked.items()}
    chosen = {side: report for side, report in found.items() if report is not None}
    plans = [_plan(report) for report in chosen.values()] if len(chosen) == 2 else []
    stored = latest_first(shelves, Search(cluster)) if cluster else []
    return page(
        request,
        "difference.html.j2",
        HTTPStatus.OK if len(chosen) == len(asked) else HTTPStatus.NOT_FOUND,
        kinds=KINDS,
        clusters=clusters,
        cluster=cluster,
        choices=stored[:CHOICES],
        left_out=max(0, len(stored) - CHOICES),
        before=chosen.get("before"),
        after=chosen.get("after"),
        missing=[address for side, address in asked.items() if side not in chosen],
        found=_difference(*plans) if plans else None,
        shown=SHOWN,
        action_title=action_title,
        places_of=places_of,
    )


def _difference(before: Plan, after: Plan) -> Difference:
    try:
        return difference(before, after)
    except BadInput:
        raise HTTPException(HTTPStatus.NOT_FOUND, "One of the two is not a plan that can be compared.") from None


def _chosen(side: str, address: str, cluster: str, readable: tuple[Kind, ...]) -> Report | None:
    """The report of an address such as ``plans/<run id>``, or None. Errors: HTTPException 400, 403."""
    name, _, run_id = address.partition("/")
    if name not in KINDS or not RUN_ID.fullmatch(run_id):
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"The report {side} is named by its kind and its run, plans/RUN.")
    if KINDS[name] not in readable:
        raise HTTPException(HTTPStatus.FORBIDDEN)
    return shelf_of(KINDS[name]).report(cluster, run_id)


def _plan(report: Report) -> Plan:
    file = shelf_of(KINDS[report.kind]).file(report, PLAN)
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    try:
        if file.stat().st_size > LARGEST:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The plan is too large to be compared here; download it."
            )
        return decoded_plan(file.read_bytes())
    except UNREADABLE:
        raise HTTPException(HTTPStatus.NOT_FOUND) from None
