"""Tells people of a new plan, of a task that failed and of a plan that is late; off until a connection says how.

The Airflow connection ``rocketmq_capacity_notice`` says how. Of the type ``smtp`` it is the mail server, and its
extra's ``to`` the address. Of any other type its extra names a notifier class of Airflow and its arguments::

    {"notifier": "package.module.Class", "arguments": {"text": "SUBJECT: TEXT, see LINK"}}

where ``SUBJECT``, ``TEXT`` and ``LINK`` are replaced by those of the notice. Without such a connection nothing is sent.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast
from urllib.parse import urljoin

from airflow.sdk import BaseHook, BaseNotifier, Context
from airflow.sdk.definitions.callback import SyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference
from airflow.sdk.exceptions import AirflowNotFoundException

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.report_asset import airflow_address, report_address, report_facts
from rocketmq_capacity.provider.spark_app import SparkApp
from rocketmq_capacity.settings.deployment import Places
from rocketmq_capacity.store.run_lookup import existing_run

CONNECTION: Final = "rocketmq_capacity_notice"


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice: a line, some more lines, and a link."""

    subject: str
    text: str
    link: str


def tell_published(context: Context, *, lake: str) -> None:
    """Send a notice of the plan that the task has published: its counts, and where it is; of a trial none."""
    run = existing_run(lake_of(lake), cast("SparkApp", context["ti"].task).run_key)
    facts = report_facts(run.report / "plan.json")
    if facts["trial"]:
        return
    found = ", ".join(f"{count} {severity}" for severity, count in facts["findings"].items())
    notice = Notice(
        subject=f"RocketMQ capacity of {facts['cluster_name']}: {found}",
        text=f"Snapshot of {facts['taken_at']}, {facts['completeness']:.0%} of the queues read completely.\n"
        f"Findings: {found}. Recommendations: {facts['recommendations']}.",
        link=urljoin(airflow_address(), report_address("plans", run)),
    )
    send(notice, context)


def tell_failed(context: Context) -> None:
    """Send a notice that a task failed for good.

    Its log says why. It is not sent, because not everyone may read it.
    """
    task, run = context["ti"].task_id, context["dag_run"]
    notice = Notice(
        subject=f"RocketMQ capacity: {task} of {run.dag_id} failed",
        text=f"Run {run.run_id}.",
        link=f"{airflow_address()}/dags/{run.dag_id}/runs/{run.run_id}",
    )
    send(notice, context)


def late_alerts(places: Places) -> list[DeadlineAlert] | None:
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
            callback=SyncCallback(tell_late),
        )
    ]


def tell_late(context: dict[str, Any]) -> None:
    """Send a notice that a run has missed its deadline.

    Airflow calls this in its executor, with a context of plain values.
    """
    run = context["dag_run"]
    notice = Notice(
        subject=f"RocketMQ capacity: {run['dag_id']} is late",
        text=f"Run {run['dag_run_id']} has not ended by its deadline.",
        link=f"{airflow_address()}/dags/{run['dag_id']}/runs/{run['dag_run_id']}",
    )
    send(notice, cast("Context", context))


def send(notice: Notice, context: Context) -> None:
    """Send it as the connection says, or not at all if there is none.

    Errors: BadInput for a connection without a way to send; those of the notifier.
    """
    try:
        connection = BaseHook.get_connection(CONNECTION)
    except AirflowNotFoundException:
        return
    notifier_of(connection.conn_type, connection.extra_dejson, notice)(context)


def notifier_of(conn_type: str | None, extra: Mapping[str, Any], notice: Notice) -> BaseNotifier:
    """Airflow's notifier that sends the notice. Errors: BadInput naming the key of the connection's extra."""
    if conn_type == "smtp":
        from airflow.providers.smtp.notifications.smtp import SmtpNotifier

        if not extra.get("to"):
            raise _refusal("to", "is missing; expected the address to send to")
        text = "<br>".join(html.escape(line) for line in notice.text.splitlines())
        link = html.escape(notice.link)
        content = f'<p>{text}</p><p><a href="{link}">{link}</a></p>'
        return SmtpNotifier(to=extra["to"], subject=notice.subject, html_content=content, smtp_conn_id=CONNECTION)
    arguments = extra.get("arguments") or {}
    if not isinstance(arguments, dict):
        raise _refusal("arguments", f"is a {type(arguments).__name__}; expected an object of arguments by their names")
    notifier = _notifier_class(extra.get("notifier"))
    try:
        return notifier(**_filled_in(arguments, notice))
    except TypeError as error:
        raise _refusal("arguments", f"{error}; expected the arguments of {extra['notifier']}") from None


def _notifier_class(path: object) -> type[BaseNotifier]:
    """The class of that dotted name: its module is imported, and nothing in it is called.

    Errors: BadInput for anything except a subclass of BaseNotifier, which would be called without a check.
    """
    module, _, name = str(path or "").rpartition(".")
    problem = f"is {shown(path)}; expected the name of an installed class, a subclass of airflow.sdk.BaseNotifier"
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise _refusal("notifier", problem) from None
    if not (isinstance(found, type) and issubclass(found, BaseNotifier)) or found is BaseNotifier:
        raise _refusal("notifier", problem)
    return found


def _refusal(key: str, problem: str) -> BadInput:
    return BadInput(f"connection {CONNECTION}", f"extra.{key}", problem)


def _filled_in(value: Any, notice: Notice) -> Any:
    if isinstance(value, str):
        told = {"SUBJECT": notice.subject, "TEXT": notice.text, "LINK": notice.link}
        for word, said in told.items():
            value = value.replace(word, said)
        return value
    if isinstance(value, dict):
        return {key: _filled_in(held, notice) for key, held in value.items()}
    if isinstance(value, list):
        return [_filled_in(held, notice) for held in value]
    return value
