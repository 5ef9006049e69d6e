"""The run of the Dag that keeps an accepted risk, started in the name of the user, at most once for what was sent."""

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

from rocketmq_capacity.report.acceptance import DAG_ID

DIGITS: Final = 24
"""Hexadecimal digits of a run's name."""
UNKNOWN_DAG: Final = f"Nothing is accepted: Airflow does not know the Dag {DAG_ID}, or its file has an error."


@dataclass(frozen=True, slots=True)
class Started:
    """The run that keeps the risk."""

    run_id: str
    state: str
    """As Airflow has it: queued, running, success, failed."""
    is_new: bool
    """It was started now; otherwise the same was sent before."""
    is_paused: bool
    """The Dag is paused: the run waits until somebody switches it on."""


def start_acceptance(fields: Mapping[str, str], by: str, plan_id: str) -> Started:
    """Start the run, as Airflow's own route for it does, or find the one that the same request has started.

    Args:
        fields: of the run, the cluster included.
        by: the name of the user.
        plan_id: of the plan whose page the form was on; after the next plan the same risk can be accepted again.

    Errors: HTTPException 409 if Airflow does not know the Dag, 400 for fields that its schema refuses.
    Source: airflow.api_fastapi.core_api.routes.public.dag_run.trigger_dag_run, Airflow 3.3.2.
    """
    name = sha256(json.dumps([plan_id, by, sorted(fields.items())]).encode()).hexdigest()[:DIGITS]
    run_id = f"{DagRunType.MANUAL.value}__accept-{name}"
    try:
        with create_session() as session:
            is_paused = _paused(session)
            return _earlier(session, run_id, is_paused=is_paused) or _made(
                session, dict(fields), by, run_id, is_paused=is_paused
            )
    except IntegrityError:  # the same was sent twice at once
        with create_session() as session:
            if earlier := _earlier(session, run_id, is_paused=_paused(session)):
                return earlier
        raise


def _paused(session: Session) -> bool:
    dag = session.scalar(select(DagModel).where(~DagModel.is_stale, DagModel.dag_id == DAG_ID))
    if dag is None or dag.has_import_errors:
        raise HTTPException(HTTPStatus.CONFLICT, UNKNOWN_DAG)
    return bool(dag.is_paused)


def _earlier(session: Session, run_id: str, *, is_paused: bool) -> Started | None:
    state = session.scalar(select(DagRun.state).where(DagRun.dag_id == DAG_ID, DagRun.run_id == run_id))
    return None if state is None else Started(run_id, str(state), is_new=False, is_paused=is_paused)


def _made(session: Session, fields: dict[str, Any], by: str, run_id: str, *, is_paused: bool) -> Started:
    dag = DBDagBag().get_latest_version_of_dag(DAG_ID, session=session)
    if dag is None:
        raise HTTPException(HTTPStatus.CONFLICT, UNKNOWN_DAG)
    try:
        run = dag.create_dagrun(
            run_id=run_id,
            run_after=datetime.now(UTC),
            conf=fields,
            run_type=DagRunType.MANUAL,
            triggered_by=DagRunTriggeredByType.UI,
            triggering_user_name=by,
            state=DagRunState.QUEUED,
            session=session,
        )
    except ParamValidationError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from None
    # Airflow's own routes keep an entry of the audit log too.
    told = json.dumps({"conf": fields})
    session.add(Log("trigger_dag_run", owner=by, owner_display_name=by, extra=told, dag_id=DAG_ID, run_id=run_id))
    return Started(run_id, str(run.state), is_new=True, is_paused=is_paused)
