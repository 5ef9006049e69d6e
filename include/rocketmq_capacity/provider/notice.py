"""Tells people of a new plan, of a task that failed and of a plan that is late; off until a connection says how.

The Airflow connection ``rocketmq_capacity_notice`` says how (`channels`). Without it nothing is sent. Owners get
notices of their own, by the channels that the policy names (`owner_notices`).
"""

import logging
from typing import Any, Final, cast
from urllib.parse import urljoin

from airflow.sdk import Context
from airflow.sdk.definitions.callback import SyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from rocketmq_capacity.errors import CapacityError, one_line
from rocketmq_capacity.provider.channels import sent
from rocketmq_capacity.provider.connections import connection_of
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.notice_text import Notice, NoticeLine, notice
from rocketmq_capacity.provider.report_asset import airflow_address, report_address, report_facts
from rocketmq_capacity.provider.spark_app import SparkApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.store.run_lookup import existing_run

CONNECTION: Final = "rocketmq_capacity_notice"


def send_published(context: Context, *, places: DeploymentPlaces) -> None:
    """Send the notices of the plan that the task has published; of a trial none.

    What fails here is a line in the log, and fails no plan.
    """
    try:
        _send_published(context, places)
    except (CapacityError, OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        logging.getLogger(__name__).error("no notice is sent: %s", one_line(error))


def _send_published(context: Context, places: DeploymentPlaces) -> None:
    # What a Dag's file imports is imported whenever it is parsed.
    from rocketmq_capacity.provider.owner_notices import OwnerNotices

    run = existing_run(lake_of(places.lake), cast("SparkApp", context["ti"].task).run_key)
    facts = report_facts(run.report / "plan.json")
    if facts["trial"]:
        return
    page = urljoin(airflow_address(), report_address("plans", run))
    notices = OwnerNotices(run, read_policy(places.policy), page, is_complete=facts["completeness"] == 1)
    if connection_of(CONNECTION) is not None:
        news = notices.news()
        counts = ", ".join(f"{count} {severity}" for severity, count in facts["findings"].items())
        moment, share = facts["taken_at"], f"{facts['completeness']:.0%}"
        lines = (
            NoticeLine(
                phrase("Snapshot of {moment}, {share} of the queues read completely.", moment=moment, share=share)
            ),
            NoticeLine(
                phrase("Findings: {found}. Recommendations: {number}.", found=counts, number=facts["recommendations"])
            ),
            *(() if news is None else notices.lines(news)),
        )
        subject = phrase("RocketMQ capacity of {cluster}: {found}", cluster=facts["cluster_name"], found=counts)
        if sent(notice(subject, *lines, link=page), CONNECTION, context) and news is not None:
            notices.keep(news)
    notices.send_all(context)


def send_failed(context: Context) -> None:
    """Send a notice that a task failed for good.

    Its log says why. It is not sent, because not everyone may read it.
    """
    task, run = context["ti"].task_id, context["dag_run"]
    failure = notice(
        phrase("RocketMQ capacity: {task} of {dag} failed", task=task, dag=run.dag_id),
        NoticeLine(phrase("Run {run}.", run=run.run_id)),
        link=f"{airflow_address()}/dags/{run.dag_id}/runs/{run.run_id}",
    )
    send(failure, context)


def late_alerts(places: DeploymentPlaces) -> list[DeadlineAlert] | None:
    """The deadline of the daily Dag, if the deployment has one.

    None is the default because ``airflow dags test`` of Airflow 3.3.2 fails at the end of a Dag that has a deadline: it
    looks for ids where it has the alerts themselves (DagRun.update_state).
    """
    if places.late_after is None:
        return None
    return [
        DeadlineAlert(
            name="late",
            reference=DeadlineReference.DAGRUN_QUEUED_AT,
            interval=places.late_after,
            callback=SyncCallback(send_late),
        )
    ]


def send_late(context: dict[str, Any]) -> None:
    """Send a notice that a run has missed its deadline.

    Airflow calls this in its executor, with a context of plain values.
    """
    run = context["dag_run"]
    delay = notice(
        phrase("RocketMQ capacity: {dag} is late", dag=run["dag_id"]),
        NoticeLine(phrase("Run {run} has not ended by its deadline.", run=run["dag_run_id"])),
        link=f"{airflow_address()}/dags/{run['dag_id']}/runs/{run['dag_run_id']}",
    )
    send(delay, cast("Context", context))


def send(message: Notice, context: Context) -> None:
    """Send it as the connection says, or not at all if there is none; a failure is a line in the log."""
    if connection_of(CONNECTION) is not None:
        sent(message, CONNECTION, context)
