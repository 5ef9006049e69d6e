"""The difference between any two reports of a cluster, chosen from lists."""

from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.language.current import NONE
from rocketmq_capacity.one_at_a_time import LARGE, SMALL
from rocketmq_capacity.own_process import OwnProcessFailed
from rocketmq_capacity.report.compared import DifferenceSummary, comparison_of
from rocketmq_capacity.report.files import PLAN
from rocketmq_capacity.report.shelf import Report, Search, latest_first, since_of
from rocketmq_capacity.store.lake import CLUSTER_FOLDER, RUN_ID
from rocketmq_capacity_pages.access import ReadableKinds
from rocketmq_capacity_pages.kinds import KINDS, Kind, shelf_of, shelves_of
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
CHOICES: Final = 500
"""Entries of a list to choose from: daily plans of more than a year."""
SHOWN: Final = 100
"""Entries of one list of differences; the others are counted."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the form chooses from, and what was chosen: by its side, ``before`` and ``after``."""

    cluster: str
    clusters: list[str]
    stored: list[Report]
    asked: dict[str, str]
    reports: dict[str, Report]


@router.api_route("/difference", methods=READING)
async def difference_page(
    request: Request, readable: ReadableKinds, cluster: str = "", before: str = "", after: str = ""
) -> HTMLResponse:
    """The form to choose two reports of a cluster, and below it the difference of the two."""
    asked = {side: address for side, address in (("before", before), ("after", after)) if address}
    chosen = await SMALL.run(partial(_look_up, readable, cluster, asked))
    comparison = await LARGE.run(partial(_compared, chosen)) if len(chosen.reports) == 2 else None
    return await SMALL.run(partial(_page, request, chosen, comparison))


def _look_up(readable: tuple[Kind, ...], cluster: str, asked: dict[str, str]) -> Chosen:
    if cluster and not CLUSTER_FOLDER.fullmatch(cluster):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "A cluster's name has letters, digits, '_', '.' and '-'.")
    shelves = shelves_of(readable)
    clusters = sorted({name for shelf in shelves for name in shelf.clusters()})
    cluster = cluster or (clusters[0] if len(clusters) == 1 else "")
    reports = {side: _chosen(side, address, cluster, readable) for side, address in asked.items()}
    stored = latest_first(shelves, Search(cluster)) if cluster else []
    return Chosen(cluster, clusters, stored, asked, {side: one for side, one in reports.items() if one is not None})


def _page(request: Request, chosen: Chosen, comparison: DifferenceSummary | None) -> HTMLResponse:
    before, after = chosen.reports.get("before"), chosen.reports.get("after")
    return page(
        request,
        "difference.html.j2",
        HTTPStatus.OK if len(chosen.reports) == len(chosen.asked) else HTTPStatus.NOT_FOUND,
        NONE if comparison is None else comparison.sentences,
        kinds=KINDS,
        clusters=chosen.clusters,
        cluster=chosen.cluster,
        choices=chosen.stored[:CHOICES],
        left_out=max(0, len(chosen.stored) - CHOICES),
        before=before,
        after=after,
        causes=None if before is None or after is None else since_of(before.summary, after.summary),
        missing=[address for side, address in chosen.asked.items() if side not in chosen.reports],
        found=comparison,
    )


def _compared(chosen: Chosen) -> DifferenceSummary:
    try:
        return comparison_of(_file(chosen.reports["before"]), _file(chosen.reports["after"]), SHOWN)
    except BadInput:
        raise HTTPException(HTTPStatus.NOT_FOUND, "One of the two is not a plan that can be compared.") from None
    except OwnProcessFailed as error:
        said = f"The two plans cannot be compared here: {error}. Download them."
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said) from None


def _chosen(side: str, address: str, cluster: str, readable: tuple[Kind, ...]) -> Report | None:
    """The report of an address such as ``plans/<run id>``, or None. Errors: HTTPException 400, 403."""
    name, _, run_id = address.partition("/")
    if name not in KINDS or not RUN_ID.fullmatch(run_id):
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"The report {side} is named by its kind and its run, plans/RUN.")
    if KINDS[name] not in readable:
        raise HTTPException(HTTPStatus.FORBIDDEN)
    return shelf_of(KINDS[name]).report(cluster, run_id)


def _file(report: Report) -> Path:
    file = shelf_of(KINDS[report.kind]).file(report, PLAN)
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return file
