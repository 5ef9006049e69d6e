"""The responses: pages from templates, and files as they are stored, each with a strict policy."""

import re
from collections.abc import Mapping, MutableMapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rocketmq_capacity.language.current import NONE, speaking
from rocketmq_capacity.plan_file.sentence import Sentence
from rocketmq_capacity.report.figures import day, per_cent, when
from rocketmq_capacity.report.html import environment_of
from rocketmq_capacity.vocabulary import SEVERITIES
from rocketmq_capacity_pages.chosen_language import language_of

HERE: Final = Path(__file__).parent
PAGE_POLICY: Final = "; ".join((
    "default-src 'none'",
    "style-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
))
FILE_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
HEADERS: Final = {
    "Cache-Control": "no-store",  # a user may lose the right to read it
    "Content-Security-Policy": FILE_POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",  # Airflow shows the pages in a frame
}
READING: Final[list[str]] = ["GET", "HEAD"]
"""The methods of every route but two. The API server sends no body after HEAD."""
POSTED: Final = re.compile(r"(/reports/plans/[^/]+/[^/]+/accept|/what-if)\Z")
"""The addresses, below the app's own, of the routes that take a POST."""
LANGUAGE_HEADER: Final = "Accept-Language"
"""The header by which one address gives pages in several languages."""


class Guard:
    """The outermost layer: it refuses other methods than GET and HEAD, and adds the headers to every response.

    Two addresses alone take a POST: a person accepts a risk of a plan, or tries a change.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Source: ASGI, HTTP connection scope."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["method"] not in READING and not _is_form(scope):
            refusal = Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(READING)})
            await refusal(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)


def _is_form(scope: Scope) -> bool:
    return scope["method"] == "POST" and POSTED.match(_inside(scope)) is not None


def page(
    request: Request,
    template: str,
    status: HTTPStatus = HTTPStatus.OK,
    sentences: Mapping[str, tuple[Sentence, ...]] = NONE,
    /,
    **values: Any,
) -> HTMLResponse:
    """A page in the reader's language; its links are relative, so that they work behind any URL prefix.

    ``sentences`` are those of a plan that the page shows.
    """
    language = language_of(request)
    may_try = getattr(request.state, "may_try", False)
    values = {"root": root_of(request), "lang": language, "may_try": may_try, **values}
    with speaking(language, sentences):
        content = templates().get_template(template).render(values)
    # Headers here as well, because the page of an unexpected error does not pass the guard.
    return HTMLResponse(content, status, {**HEADERS, "Content-Security-Policy": PAGE_POLICY, "Vary": LANGUAGE_HEADER})


def root_of(request: Request) -> str:
    """The app's root, relative to the page of this request: ``./`` or ``../../``."""
    depth = _inside(request.scope).count("/") - 1
    return "../" * depth or "./"


def _inside(scope: MutableMapping[str, Any]) -> str:
    """The address below the app's own; in a mounted app the path begins with the root path (ASGI, HTTP scope)."""
    return str(scope["path"].removeprefix(scope["root_path"]))


def query(**values: Any) -> str:
    """A query string of the values that are not empty."""
    return urlencode({name: value for name, value in values.items() if value not in ("", None)})


@cache
def templates() -> Environment:
    """The templates of these pages."""
    environment = environment_of(FileSystemLoader(HERE / "templates"))
    environment.globals.update(query=query, severities=SEVERITIES)
    environment.filters.update(per_cent=per_cent, when=when, day=day)
    return environment
