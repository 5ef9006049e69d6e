"""A middleware before Airflow's API: what it lets through, and what it refuses before anything is stored.

Airflow checks each Param of a Dag by its own schema, which cannot see other Params, and it checks the fields of a
person's answer only when the answer is stored. A plugin's route cannot replace one of Airflow's, and a middleware runs
before the login of the route. So this middleware checks the login itself, with Airflow's own functions, before it reads
a byte of the body.
Source: airflow.api_fastapi.app, Airflow 3.3.2.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from airflow.api_fastapi.core_api.security import get_user
from airflow.configuration import conf as settings
from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rocketmq_capacity.errors import HALF_A_CHARACTER, is_writable, writable
from rocketmq_capacity.one_at_a_time import AGAIN_AFTER_S, SMALL, OneAtATime, TooManyWaiting
from rocketmq_capacity.protocol.each_once import RepeatedMemberError, each_once
from rocketmq_capacity.provider.form_text import error_words

LARGEST_BODY: Final = 512 << 10
"""Bytes of a request: every field at its greatest length, as JSON that escapes everything except ASCII."""
BEARER: Final = HTTPBearer(auto_error=False)


class RequestCheck(ABC):
    """Checks requests of one kind; every other request passes unchanged."""

    method: str
    address: re.Pattern[str]
    """Of the requests, below Airflow's URL prefix."""
    form: str
    """The member of the body that has the form's fields."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    @abstractmethod
    def permission(self, address: re.Match[str]) -> Callable[[Request, Any], None]:
        """The route's own check of what a user may do."""

    @abstractmethod
    def refusal(self, fields: dict[str, Any], body: dict[str, Any], address: re.Match[str]) -> str:
        """What is wrong with the form's fields in the body; empty if nothing is."""

    def lane(self, _found: re.Match[str]) -> OneAtATime:
        """Where the fields are checked."""
        return SMALL

    def refused_with(self, _request: Request) -> int:
        """The status of a request whose fields are refused."""
        return HTTPStatus.BAD_REQUEST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Source: ASGI, HTTP connection scope."""
        is_meant = scope["type"] == "http" and scope["method"] == self.method
        match = self.address.search(scope["path"]) if is_meant else None
        if match is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            await self._check_login(request, match)
            _check_headers(request)
            body = await _body_of(request)
            if reason := await self.lane(match).run(partial(self._refusal, body, match)):
                raise HTTPException(self.refused_with(request), reason)
        except TooManyWaiting:
            detail = error_words("Too many forms are sent at once. Send it again in a few seconds.")
            answer = JSONResponse(
                {"detail": detail}, HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": str(AGAIN_AFTER_S)}
            )
            await answer(scope, receive, send)
            return
        except HTTPException as refused:
            detail = await run_in_threadpool(error_words, str(refused.detail))
            await JSONResponse({"detail": detail}, refused.status_code, refused.headers)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read_again() -> Message:
            return unread.pop() if unread else await receive()

        await self.app(scope, read_again, send)

    async def _check_login(self, request: Request, match: re.Match[str]) -> None:
        """Errors: HTTPException 401 without a login, 403 for a user who may not do this, as the route gives."""
        user = await get_user(request, None, await BEARER(request))
        await run_in_threadpool(self.permission(match), request, user)

    def _refusal(self, body: bytes, match: re.Match[str]) -> str:
        """What is wrong; Airflow refuses what is not a request of its API."""
        try:
            document: Any = json.loads(body, object_pairs_hook=each_once)
            if not isinstance(document, dict):
                return ""
            if reason := _half_character(document, self.form):
                return reason
        except RepeatedMemberError as error:
            return str(error)
        except (ValueError, RecursionError):
            return ""
        fields = document.get(self.form) or {}
        return self.refusal(fields, document, match) if isinstance(fields, dict) else ""


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
    base = urlsplit(settings.get("api", "base_url", fallback=""))
    allowed = settings.getlist("api", "access_control_allow_origins")
    if origin in {f"{base.scheme}://{base.netloc}", *allowed} or site in {"same-origin", "none"}:
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


def _half_character(body: dict[str, Any], form: str) -> str:
    """The member of the body with half a character; empty if there is none.

    Airflow repeats what it refuses in its answer, and fails if that cannot be written.
    """
    inner = body.get(form)
    named = {f"{form}.{name}": value for name, value in inner.items()} if isinstance(inner, dict) else {}
    members = {name: value for name, value in body.items() if name != form}
    for place, value in (members | named).items():
        if not is_writable(json.dumps([place, value], ensure_ascii=False)):
            return f"{writable(place):.200}: {HALF_A_CHARACTER}"
    return ""
