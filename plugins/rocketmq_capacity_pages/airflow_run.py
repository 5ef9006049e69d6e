"""A run of one of our Dags, started in the name of the user, at most once for what was sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final

from airflow.exceptions import ParamValidationError
from airflow.models import Log
from airflow.models.dag import DagModel
from airflow.models.dagbag import DBDagBag
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType, DagRunType
from fastapi import HTTPException
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

DIGITS: Final = 24
"""Hexadecimal digits of a run's name."""


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The run."""

    run_id: str
    state: str
    """As Airflow has it: queued, running, success, failed."""
    is_new: bool
    """It was started now; otherwise the same was sent before."""
    is_paused: bool
    """The Dag is paused: the run waits until somebody switches it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is started.

    Attributes:
        dag_id: the Dag.
        fields: of the run.
        by: the name of the user.
        what: what the run does, as a part of its name.
        once: the same fields of the same user start another run only if this is another text.
    """

    dag_id: str
    fields: Mapping[str, Any]
    by: str
    what: str
    once: str

    @property
    def run_id(self) -> str:
        """The name of the run."""
        document = json.dumps([self.once, self.by, sorted(self.fields.items())]).encode()
        return f"{DagRunType.MANUAL.value}__{self.what}-{sha256(document).hexdigest()[:DIGITS]}"


def start_run(start: Start) -> StartedRun:
    """Start the run, as Airflow's own route for it does, or find the one that the same request has started.

    Errors: HTTPException 409 if Airflow does not know the Dag, 400 for fields that its schema refuses.
    Source: airflow.api_fastapi.core_api.routes.public.dag_run.trigger_dag_run, Airflow 3.3.2.
    """
    try:
        with create_session() as session:
            is_paused = _paused(session, start.dag_id)
            return _earlier(session, start, is_paused=is_paused) or _made(session, start, is_paused=is_paused)
    except IntegrityError:  # the same was sent twice at once
        with create_session() as session:
            if earlier := _earlier(session, start, is_paused=_paused(session, start.dag_id)):
                return earlier
        raise


def _paused(session: Session, dag_id: str) -> bool:
    dag = session.scalar(select(DagModel).where(~DagModel.is_stale, DagModel.dag_id == dag_id))
    if dag is None or dag.has_import_errors:
        raise _unknown(dag_id)
    return bool(dag.is_paused)


def _unknown(dag_id: str) -> HTTPException:
    said = f"Nothing is started: Airflow does not know the Dag {dag_id}, or its file has an error."
    return HTTPException(HTTPStatus.CONFLICT, said)


def _earlier(session: Session, start: Start, *, is_paused: bool) -> StartedRun | None:
    state = session.scalar(select(DagRun.state).where(DagRun.dag_id == start.dag_id, DagRun.run_id == start.run_id))
    return None if state is None else StartedRun(start.run_id, str(state), is_new=False, is_paused=is_paused)


def _made(session: Session, start: Start, *, is_paused: bool) -> StartedRun:
    dag = DBDagBag().get_latest_version_of_dag(start.dag_id, session=session)
    if dag is None:
        raise _unknown(start.dag_id)
    try:
        run = dag.create_dagrun(
            run_id=start.run_id,
            run_after=datetime.now(UTC),
            conf=dict(start.fields),
            run_type=DagRunType.MANUAL,
            triggered_by=DagRunTriggeredByType.UI,
            triggering_user_name=start.by,
            state=DagRunState.QUEUED,
            session=session,
        )
    except ParamValidationError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from None
    # Airflow's own routes keep an entry of the audit log too.
    document = json.dumps({"conf": start.fields})
    entry = Log(
        "trigger_dag_run",
        owner=start.by,
        owner_display_name=start.by,
        extra=document,
        dag_id=start.dag_id,
        run_id=start.run_id,
    )
    session.add(entry)
    return StartedRun(start.run_id, str(run.state), is_new=True, is_paused=is_paused)
