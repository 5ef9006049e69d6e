"""The metrics of a cluster's latest plan, for Prometheus: behind a login, or a token that opens nothing else."""

import hmac
import logging
from http import HTTPStatus
from pathlib import Path
from typing import Final

from airflow.api_fastapi.core_api.security import bearer_scheme, get_user
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.one_at_a_time import SMALL
from rocketmq_capacity.plan_file.handed_over import METRICS
from rocketmq_capacity.settings.deployment import METRICS_VARIABLE, DeploymentPlaces, home_of
from rocketmq_capacity.settings.token_file import read_token
from rocketmq_capacity.store.lake import CLUSTER_FOLDER
from rocketmq_capacity_pages.access import require
from rocketmq_capacity_pages.kinds import PLANS, shelf_of
from rocketmq_capacity_pages.reading import stored_file
from rocketmq_capacity_pages.responses import READING

router: Final = APIRouter()


async def scraper(request: Request) -> None:
    """Whoever has the deployment's token, or is logged in and may read the Dag of plans.

    Errors: HTTPException 401 or 403, as Airflow's own check of the login.
    """
    given = await bearer_scheme(request)
    if given is None or not _is_token(given.credentials):
        await run_in_threadpool(require, PLANS, request, await get_user(request, None, given))


def _is_token(given: str) -> bool:
    """Whether it is the token in the deployment's file, which is read each time: it may be replaced at any time."""
    file = DeploymentPlaces.of(home_of(str(Path(__file__).parent))).metrics_token
    if file is None:
        return False
    try:
        return hmac.compare_digest(given.encode("utf-8", "replace"), read_token(METRICS_VARIABLE, file))
    except BadInput as error:
        logging.getLogger(__name__).error("metrics need a login: %s", error)
        return False


@router.api_route("/metrics/{cluster}", methods=READING, dependencies=[Depends(scraper)])
@SMALL.each
def latest_metrics(request: Request, cluster: str) -> Response:
    """The metrics of a cluster's latest plan: the address stays the same."""
    latest = next(iter(shelf_of(PLANS).plans(cluster)), None) if CLUSTER_FOLDER.fullmatch(cluster) else None
    if latest is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return stored_file(request, PLANS, cluster, latest.run_id, METRICS)
