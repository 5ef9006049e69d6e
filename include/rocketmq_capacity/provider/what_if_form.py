"""Stands before Airflow's API: a what-if whose fields describe no scenario together is refused before a run is made.

Airflow checks each Param of a Dag by a schema of its own, which cannot see another.
Source: airflow.serialization.definitions.dag.SerializedDAG.create_dagrun, Airflow 3.3.2.
"""

import json
from http import HTTPStatus
from typing import Any, Final

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rocketmq_capacity.provider.scenario_form import contradiction

TRIGGER: Final = "/api/v2/dags/rocketmq_what_if/dagRuns"
"""Where the form and clients of the API start a what-if, below Airflow's URL prefix."""


class WhatIfForm:
    """Reads what a what-if is started with; every other request passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Source: ASGI, HTTP connection scope."""
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].endswith(TRIGGER):
            await self.app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if reason := await run_in_threadpool(_refusal, body):
            await JSONResponse({"detail": reason}, HTTPStatus.BAD_REQUEST)(scope, receive, send)
            return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read_again() -> Message:
            return unread.pop() if unread else await receive()

        await self.app(scope, read_again, send)


def _refusal(body: bytes) -> str:
    """What is wrong with the fields together; what is no request of the API is Airflow's to refuse."""
    try:
        told: Any = json.loads(body)
    except ValueError:
        return ""
    conf = (told.get("conf") or {}) if isinstance(told, dict) else None
    return contradiction(conf) if isinstance(conf, dict) else ""
