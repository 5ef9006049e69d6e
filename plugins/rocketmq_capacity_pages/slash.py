"""Redirects from the reports' address without a slash at the end to the one with it.

A mounted app gets only addresses below its prefix. The prefix itself goes to Airflow's own page, which does not know
it. Source: starlette.routing.Mount.
"""

from http import HTTPStatus

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rocketmq_capacity_pages.responses import READING


class WithSlash:
    """A middleware before all of Airflow; every other request passes unchanged."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Source: ASGI, HTTP connection scope."""
        if scope["type"] == "http" and scope["method"] in READING and self._is_meant(scope):
            # Relative to the requested address, because the host and the prefix of a proxy are not known here.
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            there = f"{self.prefix.rpartition('/')[2]}/{query}"
            await RedirectResponse(there, HTTPStatus.TEMPORARY_REDIRECT)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_meant(self, scope: Scope) -> bool:
        return bool(scope["path"].removeprefix(scope["root_path"]) == self.prefix)
