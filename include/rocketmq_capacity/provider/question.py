"""Airflow's operator that asks a person about one plan."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import AirflowSkipException, TaskAwaitingInput

from rocketmq_capacity.provider.approval import answer_fields, question_about
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.report.refusal import APPROVE, REJECT

NOT_ASKED: Final[dict[str, Any]] = {
    "chosen_options": [REJECT],
    "params_input": {},
    "responded_at": None,
    "responded_by_user": None,
    "digest": "",
}
"""The result of a task that runs again: an answer to nothing, which is not kept, so that a new run asks."""


class AskOperator(HITLOperator):
    """Asks a person about the plan of a run, as it is when the task runs.

    The question ends when the snapshot is too old to be approved; then the answer is that of nobody. The result has the
    answer, and the ``digest`` of what was asked about.

    An answer through the API may have some of the fields; the others have their defaults. Airflow's own operator fails
    if an answer lacks a field, and the answer is lost.

    Args:
        run_key: the run's id in the lake.
        lake: its address.
        task: further arguments of Airflow's operator.
    """

    template_fields: Sequence[str] = ("run_key",)

    def __init__(self, *, run_key: str, lake: str, **task: Any) -> None:
        super().__init__(
            subject="",
            options=[APPROVE, REJECT],
            defaults=[REJECT],
            params=answer_fields(),
            **task,
        )
        self.run_key = run_key
        self.lake = lake

    def execute(self, context: Context) -> dict[str, Any]:
        """Ask. Errors: AirflowSkipException if the plan needs no approval, or can have none any more.

        A task that was cleared does not ask: Airflow keeps the text of its first question, which may show other
        recommendations. Source: airflow.api_fastapi.execution_api.routes.hitl.upsert_hitl_detail, Airflow 3.3.2.
        """
        if context["ti"].try_number > 1:
            return NOT_ASKED
        now = datetime.now(UTC)
        with one_line_errors():
            question = question_about(self.run_key, lake_of(self.lake), now)
        if question is None:
            raise AirflowSkipException("the plan needs no approval any more, or can have none")
        self.subject, self.body = question.subject, question.body
        self.params = ParamsDict(answer_fields(question.digest))
        self.response_timeout = question.until - now
        try:
            asked: dict[str, Any] = super().execute(context)
        except TaskAwaitingInput as waiting:
            # What was asked, for the process that gets the answer: the plan may be made again meanwhile.
            waiting.kwargs = {"digest": question.digest}
            raise
        return asked

    def execute_complete(self, context: Context, event: dict[str, Any], digest: str = "") -> dict[str, Any]:
        """The answer, with the digest of what was asked about."""
        self.params = ParamsDict(answer_fields(digest))
        return {**super().execute_complete(context, event), "digest": digest}

    def validate_params_input(self, params_input: Mapping[str, Any]) -> None:
        """Check the fields of an answer; errors: ValueError if the question has no such field."""
        super().validate_params_input({**dict(self.params), **params_input} if params_input else {})
