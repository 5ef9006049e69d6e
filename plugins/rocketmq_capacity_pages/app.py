"""The FastAPI app that Airflow mounts: its routes, and the pages of its refusals."""

import logging
from http import HTTPStatus
from typing import Any, Final

from airflow.api_fastapi.app import get_auth_manager
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException as AnyHTTPException

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.one_at_a_time import AGAIN_AFTER_S, TooManyWaiting
from rocketmq_capacity.report.html import policy_of
from rocketmq_capacity_pages import accepting, comparing, listing, one_group, reading, scraping, trying
from rocketmq_capacity_pages.access import logged_in
from rocketmq_capacity_pages.responses import HERE, READING, Guard, page

log: Final = logging.getLogger(__name__)
STYLE: Final = (HERE / "style.css").read_bytes()
OWN_STYLE: Final = Markup(STYLE.decode())  # noqa: S704  # our own file
"""Inside the login page, because the file with the style needs a login."""
TEXTS: Final = {
    HTTPStatus.UNAUTHORIZED: "Log in to Airflow to read the reports.",
    HTTPStatus.FORBIDDEN: "You may not read the Dag that made these reports.",
    HTTPStatus.NOT_FOUND: "There is no such page or report. It may have been deleted since.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Too many of these pages are asked for at once. Ask again in a few seconds.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The page could not be made. The API server's log says why.",
}
NO_STORE: Final = "The store of the reports does not answer, or refuses. The API server's log says why."


def create_app() -> FastAPI:
    """The app. Every address in it, also the style and unknown ones, needs a login; for metrics a token will do."""
    login = [Depends(logged_in)]
    app = FastAPI(
        title="RocketMQ capacity reports",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # behind a proxy, a redirect would name the wrong host
    )
    app.add_middleware(Guard)
    app.add_exception_handler(AnyHTTPException, _refusal)
    app.add_exception_handler(TooManyWaiting, _busy)
    app.add_exception_handler(StoreUnreachable, _no_store)
    app.add_exception_handler(Exception, _failure)
    app.api_route("/style.css", methods=READING, dependencies=login)(_style)
    for room in (listing, comparing, accepting, trying, one_group, reading):
        app.include_router(room.router, dependencies=login)
    app.include_router(scraping.router)
    app.api_route("/{rest:path}", methods=READING, dependencies=login)(_nothing)
    return app


def _style() -> Response:
    return Response(STYLE, media_type="text/css")


def _nothing() -> None:
    raise HTTPException(HTTPStatus.NOT_FOUND)


def _refusal(request: Request, error: Any) -> HTMLResponse:
    status = HTTPStatus(error.status_code)
    is_ours = isinstance(error.detail, str) and error.detail not in {status.phrase, "Forbidden", "Not authenticated"}
    said = error.detail if is_ours else TEXTS.get(status, status.phrase)
    if status is not HTTPStatus.UNAUTHORIZED:
        return page(request, "refusal.html.j2", status, title=status.phrase, said=said, login=None)
    login = get_auth_manager().get_url_login(next_url=request.scope["path"])
    answer = page(request, "refusal.html.j2", status, title="Log in", said=said, login=login, own_style=OWN_STYLE)
    answer.headers["Content-Security-Policy"] = policy_of(bytes(answer.body))
    return answer


def _busy(request: Request, _error: Exception) -> HTMLResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    answer = page(request, "refusal.html.j2", status, title=status.phrase, said=TEXTS[status], login=None)
    answer.headers["Retry-After"] = str(AGAIN_AFTER_S)
    return answer


def _no_store(request: Request, error: Exception) -> HTMLResponse:
    log.error("no page for %s: %s", request.scope["path"], error)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    return page(request, "refusal.html.j2", status, title=status.phrase, said=NO_STORE, login=None)


def _failure(request: Request, error: Exception) -> HTMLResponse:
    log.error("no page for %s", request.scope["path"], exc_info=error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return page(request, "refusal.html.j2", status, title=status.phrase, said=TEXTS[status], login=None)
