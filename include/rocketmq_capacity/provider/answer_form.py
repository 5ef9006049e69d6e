"""Refuses an answer to the question about a plan before it is stored, if its fields approve nothing that can be.

That is a word that names no recommendation, one that is approved and rejected, two alternatives, a plan that can no
longer be approved, and an answer to other recommendations than the plan has now. The question stays open, and the
person reads why. Airflow itself checks only the options of an answer.
Source: airflow.api_fastapi.core_api.routes.public.hitl.update_hitl_detail, Airflow 3.3.2.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import requires_access_dag
from airflow.models.hitl import HITLDetail
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from sqlalchemy import select
from starlette.requests import Request

from rocketmq_capacity.one_at_a_time import LARGE, OneAtATime
from rocketmq_capacity.own_process import OwnProcessFailed
from rocketmq_capacity.provider.approval import answer_fields
from rocketmq_capacity.provider.known_fields import unknown_field
from rocketmq_capacity.provider.lakes import address_of, variables_of
from rocketmq_capacity.provider.latest_names import places_of_deployment
from rocketmq_capacity.provider.report_asset import run_of_address
from rocketmq_capacity.provider.request_check import RequestCheck
from rocketmq_capacity.report.refusal import DIGEST, CheckedAnswer, refusal_by_own_process

DAG_ID: Final = "rocketmq_capacity_approval"
MAY_ANSWER: Final = requires_access_dag("PUT", DagAccessEntity.HITL_DETAIL, DAG_ID)
FIELDS: Final = frozenset(answer_fields())
SHOWN_WITH_ITS_REASON: Final = 427
"""A status that no registry has given a meaning. Airflow's form for answers shows fixed words for every status that it
knows, such as *Bad Request* for 400, and shows the body of the response for any other.

Source: airflow/ui/openapi-gen/requests/core/request.ts, catchErrorCodes, Airflow 3.3.2.
"""


class AnswerForm(RequestCheck):
    """Checks a person's answer, from Airflow's form or from a client of the API."""

    method = "PATCH"
    address = re.compile(
        rf"/api/v2/dags/{DAG_ID}/dagRuns/(?P<run_id>[^/]+)/taskInstances/(?P<task_id>[^/]+)/(?P<map_index>-?\d{{1,9}})"
        r"/hitlDetails\Z"
    )
    form = "params_input"

    def permission(self, _found: re.Match[str]) -> Callable[[Request, Any], None]:
        """To answer a question of the Dag."""
        return MAY_ANSWER

    def lane(self, _found: re.Match[str]) -> OneAtATime:
        """A process of its own reads the plan."""
        return LARGE

    def refused_with(self, request: Request) -> int:
        """400; to a page, which names its origin, the status whose reason Airflow's form shows.

        Other programs take an unknown status of the 400s for 400. Source: RFC 9110, section 15.
        """
        return SHOWN_WITH_ITS_REASON if "Origin" in request.headers else HTTPStatus.BAD_REQUEST

    def refusal(self, fields: dict[str, Any], body: dict[str, Any], address: re.Match[str]) -> str:
        """What is wrong with the answer."""
        if reason := unknown_field(fields, FIELDS):
            return reason
        question = _question(address)
        run_id = None if question is None else run_of_address(question.body)
        chosen = body.get("chosen_options")
        if not isinstance(chosen, list) or len(chosen) != 1 or question is None or run_id is None:
            return ""
        lake = places_of_deployment().lake
        answer = CheckedAnswer(
            option=str(chosen[0]),
            fields=fields,
            run_key=run_id,
            digest=question.digest,
            lake=address_of(lake).place,
            now=datetime.now(UTC),
        )
        try:
            return refusal_by_own_process(answer, variables_of(lake)) or ""
        except OwnProcessFailed as error:
            return f"The answer cannot be checked: {error}."


@dataclass(frozen=True, slots=True)
class _Open:
    """A question that nobody has answered yet."""

    body: str
    digest: str
    """Of the recommendations that it shows; empty in a question of an earlier version."""


def _question(address: re.Match[str]) -> _Open | None:
    """The question that nobody has answered yet; None if there is none."""
    with create_session() as session:
        stored: Any = session.execute(
            select(HITLDetail.body, HITLDetail.params)
            .join(TaskInstance, TaskInstance.id == HITLDetail.ti_id)
            .where(
                TaskInstance.dag_id == DAG_ID,
                TaskInstance.run_id == address["run_id"],
                TaskInstance.task_id == address["task_id"],
                TaskInstance.map_index == int(address["map_index"]),
                HITLDetail.responded_at.is_(None),
            )
        ).one_or_none()
    if stored is None:
        return None
    field = (stored.params or {}).get(DIGEST)
    digest = field.get("value") if isinstance(field, dict) else field
    return _Open(stored.body or "", str(digest or ""))
