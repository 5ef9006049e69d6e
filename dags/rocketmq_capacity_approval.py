"""Asks a person to approve the recommendations of a plan, and publishes it with the answer.

Runs after each daily plan. People can read a plan at once. This Dag adds their answer: what is approved, what is
rejected, by whom, when and why. The report and `plan.json` show it.

**Who is asked**: everybody who may answer Airflow's *required actions*. Recommendations that only inform need no
answer. **No answer in time means rejected.**

**What cannot be approved**: a plan whose snapshot is older than 24 hours, a plan that was made again, a plan whose
cluster has a later snapshot, and two alternatives of which one replaces the other. Airflow's form and API refuse such
an answer with one line, and the question stays open. Everything is checked again when the answer is saved.

| task | does |
|---|---|
| `questions` | finds the plans that need an answer and can have one |
| `approval.ask` | waits for a person |
| `approval.record` | saves the answer with the plan, or says why it came too late |
| `approval.publish` | writes report and plan again, with the answer |
"""

from datetime import UTC, datetime
from typing import Any

from airflow.sdk import DAG, get_current_context, task, task_group

from rocketmq_capacity.provider.approval import APPROVE, OLDEST, REJECT, answer_fields, record_answer
from rocketmq_capacity.provider.approval import questions as questions_about
from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.question import AskOperator
from rocketmq_capacity.provider.report_asset import REPORT
from rocketmq_capacity.provider.spark_app import COMPUTE_AGAIN, PublishApp
from rocketmq_capacity.settings.deployment import Places, home_of
from rocketmq_capacity.store.lake import Lake

PLACES = Places.of(home_of(__file__))

# So that a plan that waits for its answer does not block other plans.
RUNS_AT_ONCE = 16

with DAG(
    **every_dag(__file__, __doc__),
    schedule=[REPORT],
    max_active_runs=RUNS_AT_ONCE,
) as dag:

    @task
    def questions() -> list[dict[str, str]]:
        """Find the plans of the triggering events that need an answer and can have one."""
        events = get_current_context()["triggering_asset_events"][REPORT]
        run_keys = [event.extra["run_id"] for event in events]
        asked = questions_about(run_keys, Lake(PLACES.lake), datetime.now(UTC))
        return [question.task_arguments() for question in asked]

    @task_group
    def approval(run_key: str, fingerprint: str, subject: str, body: str) -> None:
        """One plan."""
        ask = AskOperator(
            task_id="ask",
            subject=subject,
            body=body,
            options=[APPROVE, REJECT],
            defaults=[REJECT],
            response_timeout=OLDEST,
            params=answer_fields(),
        )

        @task
        def record(answer: dict[str, Any], run_key: str, fingerprint: str) -> str:
            """Save the answer with the plan."""
            return record_answer(answer, run_key, fingerprint, Lake(PLACES.lake), datetime.now(UTC))

        publish = PublishApp(shelf="plans", places=PLACES, lake=PLACES.lake, run_key=run_key, **COMPUTE_AGAIN)
        answer: Any = ask.output
        record(answer, run_key, fingerprint) >> publish

    approval.expand_kwargs(questions())
