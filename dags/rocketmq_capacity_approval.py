"""Asks a person to approve the recommendations of a plan, and publishes it with the answer.

Runs after each daily plan. People can read a plan at once. This Dag adds their answer: what is approved, what is
rejected, by whom, when and why. The report and `plan.json` show it.

**Who is asked**: everybody who may answer Airflow's *required actions*. Recommendations that only inform need no
answer.

**The end**: a question ends when its snapshot is 24 hours old, or earlier if the plan's `valid_until` is: a freeze
begins, or the policy's validity is over. No answer until then means rejected; the report says that nobody answered. A
run that still works three hours later is stopped.

**What cannot be approved**: a plan after that moment, a plan whose cluster has a later snapshot, and two alternatives
of which one replaces the other. An answer is to the recommendations that the question shows. If
the plan was made again with others, it is refused, and the new ones are asked about. Airflow's form and API refuse such
an answer with one line, and the question stays open. Everything is checked again when the answer is saved.

**Answers are added, never replaced**: the report shows which one counts, and all others.

| task | does |
|---|---|
| `questions` | finds the plans that need an answer and can have one |
| `approval.ask` | waits for a person |
| `approval.record` | adds the answer to those of the plan, or says why it came too late |
| `approval.publish` | writes report and plan again, with the answer |
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, get_current_context, task, task_group

from rocketmq_capacity.provider.approval import ENDS_AFTER, record_or_ask_again
from rocketmq_capacity.provider.approval import questions as questions_about
from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.question import AskOperator
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.provider.report_asset import ASK_AGAIN, REPORT
from rocketmq_capacity.provider.spark_app import COMPUTE_AGAIN, PublishApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of

PLACES = DeploymentPlaces.of(home_of(__file__))

# So that a plan that waits for its answer does not block other plans.
RUNS_AT_ONCE = 16
# Every question has ended by then, also that about a plan of a snapshot of this minute.
TIME_LIMIT = ENDS_AFTER + timedelta(hours=3)
# To read a plan and to write an answer takes seconds.
A_STEP = timedelta(minutes=15)
# Publishing the plan of a large fleet takes a minute.
PUBLISHING = timedelta(hours=1)

with DAG(
    **every_dag(__file__, __doc__),
    schedule=[REPORT],
    max_active_runs=RUNS_AT_ONCE,
    dagrun_timeout=TIME_LIMIT,
) as dag:

    @task(execution_timeout=A_STEP)
    @one_line_errors()
    def questions() -> list[str]:
        """Find the plans of the triggering events that need an answer and can have one."""
        events = get_current_context()["triggering_asset_events"][REPORT]
        run_keys = [event.extra["run_id"] for event in events]
        return [question.run_key for question in questions_about(run_keys, lake_of(PLACES.lake), datetime.now(UTC))]

    @task_group
    def approval(run_key: str) -> None:
        """One plan."""
        ask = AskOperator(task_id="ask", run_key=run_key, lake=PLACES.lake)

        @task(execution_timeout=A_STEP, outlets=[ASK_AGAIN])
        @one_line_errors()
        def record(answer: dict[str, Any], run_key: str) -> str:
            """Add the answer to those of the plan; if it is to other recommendations, have a new run ask."""
            return record_or_ask_again(answer, run_key, lake_of(PLACES.lake), get_current_context())

        publish = PublishApp(
            shelf="plans",
            places=PLACES,
            lake=PLACES.lake,
            run_key=run_key,
            execution_timeout=PUBLISHING,
            **COMPUTE_AGAIN,
        )
        answer: Any = ask.output
        record(answer, run_key) >> publish

    approval.expand(run_key=questions())
