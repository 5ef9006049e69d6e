"""A middleware before Airflow's API: refuses a run of our Dags before it is made if its fields are wrong together.

It refuses a field that the Dag does not know, a what-if whose fields describe no scenario, and one that names what the
latest snapshot of its cluster does not have. Airflow checks each Param of a Dag by its own schema, which
cannot see other Params, and ignores what is not a Param. A plugin's route
cannot replace one of Airflow's, and a middleware runs before the login of the route. So this middleware checks the
login itself, with Airflow's own functions, before it reads a byte of the body.
Source: airflow.serialization.definitions.dag.SerializedDAG.create_dagrun, airflow.api_fastapi.app, Airflow 3.3.2.
"""

import json
import re
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import get_user, requires_access_dag
from airflow.configuration import conf as settings
from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rocketmq_capacity.errors import HALF_A_CHARACTER, is_writable, writable
from rocketmq_capacity.provider.form import policy_params
from rocketmq_capacity.provider.known_fields import unknown_field
from rocketmq_capacity.provider.latest_names import places_of_deployment
from rocketmq_capacity.provider.scenario_form import contradiction, excess, scenario_params

WHAT_IF: Final = "rocketmq_what_if"
FIELDS: Final = {
    "rocketmq_capacity_plan": frozenset({"clusters", "inventory", *policy_params()}),
    "rocketmq_capacity_approval": frozenset[str](),
    "rocketmq_capacity_retention": frozenset({"only_list"}),
    WHAT_IF: frozenset({"cluster", "inventory", *scenario_params(), *policy_params()}),
}
"""The names of the Params of each Dag; the API server reads no Dag file."""
TRIGGER: Final = re.compile(rf"/api/v2/dags/(?P<dag_id>{'|'.join(FIELDS)})/dagRuns\Z")
"""Where the form and clients of the API start a run, below Airflow's URL prefix."""
LARGEST_BODY: Final = 512 << 10
"""Bytes of a request: every field at its greatest length, as JSON that escapes everything except ASCII."""
MAY_TRIGGER: Final = {dag_id: requires_access_dag("POST", DagAccessEntity.RUN, dag_id) for dag_id in FIELDS}
BEARER: Final = HTTPBearer(auto_error=False)


class TriggerForm:
    """Checks the input of a run of one of our Dags; every other request passes unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Source: ASGI, HTTP connection scope."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        triggered = TRIGGER.search(scope["path"]) if is_post else None
        if triggered is None:
            await self.app(scope, receive, send)
            return
        dag_id = triggered["dag_id"]
        request = Request(scope, receive)
        try:
            await _check_login(request, dag_id)
            _check_headers(request)
            body = await _body_of(request)
            if reason := await run_in_threadpool(_refusal, body, dag_id):
                raise HTTPException(HTTPStatus.BAD_REQUEST, reason)
        except HTTPException as refused:
            await JSONResponse({"detail": refused.detail}, refused.status_code, refused.headers)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read_again() -> Message:
            return unread.pop() if unread else await receive()

        await self.app(scope, read_again, send)


async def _check_login(request: Request, dag_id: str) -> None:
    """Errors: HTTPException 401 without a login, 403 for who may not trigger the Dag, as of the route itself."""
    user = await get_user(request, None, await BEARER(request))
    await run_in_threadpool(MAY_TRIGGER[dag_id], request, user)


def _check_headers(request: Request) -> None:
    """Errors: HTTPException 403 for a request from a page of another origin, 415 for a body that is not JSON."""
    if _is_foreign(request):
        raise HTTPException(HTTPStatus.FORBIDDEN, "The request comes from a page of another origin.")
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected a body of the type application/json.")


def _is_foreign(request: Request) -> bool:
    """Whether a browser sent this for a page whose origin is neither Airflow's nor allowed by its settings.

    Other programs send neither header. Source: Fetch Metadata Request Headers; Fetch, section 3.2, Origin header.
    """
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    own = urlsplit(settings.get("api", "base_url", fallback=""))
    allowed = settings.getlist("api", "access_control_allow_origins")
    if origin in {f"{own.scheme}://{own.netloc}", *allowed} or site in {"same-origin", "none"}:
        return False
    if site is not None:
        return True
    host = request.headers.get("Host")
    return origin not in {None, f"http://{host}", f"https://{host}"}


async def _body_of(request: Request) -> bytes:
    """The body; errors: HTTPException 413 once it is longer than allowed."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            reason = f"The body is too long. Expected at most {LARGEST_BODY:,} bytes."
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
    return bytes(body)


def _refusal(body: bytes, dag_id: str) -> str:
    """What is wrong with the fields; Airflow refuses what is not a request of its API."""
    try:
        told: Any = json.loads(body)
        if reason := _half_character(told):
            return reason
    except (ValueError, RecursionError):
        return ""
    conf = (told.get("conf") or {}) if isinstance(told, dict) else None
    if not isinstance(conf, dict):
        return ""
    if reason := unknown_field(conf, FIELDS[dag_id]):
        return reason
    return contradiction(conf, places_of_deployment()) if dag_id == WHAT_IF else excess(conf)


def _half_character(told: Any) -> str:
    """The member of the body with half a character; empty if there is none.

    Airflow repeats what it refuses in its answer, and fails if that cannot be written.
    """
    members = dict(told) if isinstance(told, dict) else {}
    conf = members.pop("conf", None)
    fields = {f"conf.{name}": value for name, value in conf.items()} if isinstance(conf, dict) else {}
    for place, value in (members | fields).items():
        if not is_writable(json.dumps([place, value], ensure_ascii=False)):
            return f"{writable(place):.200}: {HALF_A_CHARACTER}"
    return ""
