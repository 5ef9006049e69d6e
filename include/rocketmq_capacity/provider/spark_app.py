"""One Spark app as one task, with the settings that all of them share."""

import os
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.app_log import AppHook, AppLog
from rocketmq_capacity.provider.connections import needed_connection
from rocketmq_capacity.provider.executor_code import packed_file
from rocketmq_capacity.provider.lakes import address_of, lake_of, variables_of
from rocketmq_capacity.provider.refused import Refused, one_line_errors, refuse
from rocketmq_capacity.provider.report_asset import ReportLink
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.spark.jvm import OPTIONS, environment, options
from rocketmq_capacity.store.run_lookup import stored_run

CONNECTION: Final = "spark_default"
"""Only the connection says where Spark runs: local[*], spark://…, k8s://… or yarn."""

POOL: Final = "rocketmq_capacity"
"""Airflow's pool of all Spark apps. A cluster's apps follow one another, so its slots limit the clusters at a time."""

READ_AGAIN: Final[dict[str, Any]] = {
    "retries": 2,
    "retry_delay": timedelta(minutes=2),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
}
"""A name server that restarts is back within minutes. The client has retried single calls already."""

COMPUTE_AGAIN: Final[dict[str, Any]] = {"retries": 1, "retry_delay": timedelta(minutes=1)}
"""Equal input gives equal output. Another try helps only after a lost driver or executor, so there is only one."""

ASK_AGAIN: Final[dict[str, Any]] = {"retries": 2, "retry_delay": timedelta(seconds=20)}
"""For tasks without Spark: they fail if Airflow's API server is away for minutes."""

CONF: Final[dict[str, str]] = {
    "spark.ui.showConsoleProgress": "false",  # a progress bar is thousands of lines in a task's log
}

OF_THE_FORM: Final = (
    "--strategies={{ (params.get('strategies') or []) | join(',') }}",
    "--policy-changes={{ params.get('policy_changes') or '' }}",
)
"""The arguments of every app from the run's form. If a field is empty or missing, the policy decides."""

REPLACES_PLAN: Final = "{{ 'yes' if params.get('replaces_plan') else '' }}"
"""Whether a run whose form decides something otherwise than the policy is the day's plan nevertheless."""

_STATUS: Final = re.compile(r"Error code is: (\d+)\.(?:\nLast spark-submit output:|\Z)")
"""The app's exit status, in the error of SparkSubmitHook (client mode)."""


class SparkApp(SparkSubmitOperator):
    """The task of ``spark_apps/<step>.py``.

    The environment of the Spark driver is the worker's: it has ``spark-submit`` on its PATH.

    Args:
        step: name of the app.
        places: the deployment's folders.
        lake: the address of the run's lake.
        run_key: the run's id in the lake, as a template or from a mapping.
        arguments: further (templated) arguments of the app.
        task: further arguments of Airflow's operator.
    """

    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, "run_key")

    def __init__(
        self,
        *,
        step: str,
        places: DeploymentPlaces,
        lake: str,
        run_key: str,
        arguments: Sequence[str] = (),
        **task: Any,
    ) -> None:
        policy = [f"--policy={places.policy}"] if places.policy else []
        super().__init__(
            conn_id=CONNECTION,
            name=f"rocketmq_capacity_{step}",
            application=str(places.spark_apps / f"{step}.py"),
            application_args=[
                f"--lake={address_of(lake).place}",
                "--run-id",
                run_key,
                *policy,
                *OF_THE_FORM,
                *arguments,
            ],
            conf=dict(CONF),  # a copy, because executing a task may add to it
            **{"task_id": step, "pool": POOL, **task},
        )
        self.lake = lake
        self.run_key = run_key
        self.app_log: AppLog | None = None

    def execute(self, context: Context) -> None:
        """Submit the app with the current package, in a JVM that fits the stored snapshot.

        Errors: SystemExit if the app has said in one line why it ends; an exception would add a traceback to that line.
        `Refused`, which is not retried, if the app refuses its input, such as a scenario that names an unknown broker.
        AirflowException for all other errors.
        """
        with one_line_errors():
            _master()  # without the connection, Airflow's hook would take YARN and say nothing
            stored = stored_run(lake_of(self.lake), self.run_key)
            variables = variables_of(self.lake)
        self.conf = {OPTIONS: options(), **(self.conf or {})}
        # For the driver that starts from here. The operator's own variables would go to containers instead.
        os.environ.update({**environment(stored.snapshot_bytes() if stored else 0), **variables})
        try:
            with packed_file() as code:
                self.py_files = str(code)
                super().execute(context)
        except AirflowException as error:
            status = _STATUS.search(str(error))
            if self.app_log is None or self.app_log.error is None or status is None:
                raise
            ends_with = Refused if int(status[1]) == BadInput.exit_status else SystemExit
            raise ends_with(int(status[1])) from None

    def _get_hook(self) -> AppHook:
        """The operator's hook, with its lines logged as the app's."""
        hook = AppHook(
            conf=self.conf,
            conn_id=CONNECTION,
            name=self.name,
            py_files=self.py_files,
            application_args=self.application_args,
        )
        self.app_log = hook.log
        return hook


class PublishApp(SparkApp):
    """The publish app; when it is done, it has a button that opens the report.

    Args:
        shelf: where the reports' pages show the run: ``plans`` or ``what-ifs``.
        app: the arguments of :class:`SparkApp`.
    """

    def __init__(self, *, shelf: str, **app: Any) -> None:
        super().__init__(step="publish", **app)
        self.operator_extra_links = (ReportLink(self.lake, shelf),)


class ClusterApp(SparkApp):
    """An app that asks a live cluster, with what it needs to reach it.

    Args:
        connection: id of the cluster's Airflow connection.
        app: the arguments of :class:`SparkApp`.
    """

    template_fields: Sequence[str] = (*SparkApp.template_fields, "connection")

    def __init__(self, *, connection: str | None, **app: Any) -> None:
        super().__init__(**{**READ_AGAIN, **app})
        self.connection = connection

    def execute(self, context: Context) -> None:
        """Submit the app. The connection's secrets are in a file that only this task can read.

        Errors: `Refused` for a connection with an error, SystemExit for one that Airflow does not give; the task's log
        says which.
        """
        from rocketmq_capacity.provider.connection_file import connection_file

        with one_line_errors(), connection_file(str(self.connection)) as (nameserver, file):
            self.submit(context, f"--nameserver={nameserver}", f"--connection={file}")

    def submit(self, context: Context, *source: str) -> None:
        """Submit the app with further arguments."""
        self.application_args = [*(self.application_args or []), *source]
        super().execute(context)


class SnapshotApp(ClusterApp):
    """The snapshot app, with what it needs to reach the cluster.

    The sample is planned as if it had been taken when the run was due: a plan that is older cannot be approved.

    Args:
        connection: id of the cluster's Airflow connection; empty for an inventory file.
        inventory: path of the file; empty for a live cluster.
        places: the deployment's folders, and the sample.
        app: the arguments of :class:`ClusterApp`.
    """

    template_fields: Sequence[str] = (*ClusterApp.template_fields, "inventory", "replaces_plan")

    def __init__(self, *, inventory: str | None, places: DeploymentPlaces, **app: Any) -> None:
        super().__init__(step="snapshot", places=places, **app)
        self.inventory = inventory
        self.replaces_plan = REPLACES_PLAN
        self.sample = places.sample

    def execute(self, context: Context) -> None:
        """Submit the app, with the cluster's connection if it is asked.

        A cleared run has its snapshot stored, so it needs neither file nor connection.

        Errors: `Refused` for a file or a connection with an error; the task's log says which.
        """
        with one_line_errors():
            stored = stored_run(lake_of(self.lake), self.run_key)
        if not stored and not self.inventory:
            super().execute(context)
            return
        try:
            file = stored.inventory if stored else self._file()
        except BadInput as error:
            refuse(error)
        self.submit(context, f"--inventory={file}", *(["--dated"] if file == self.sample else []))

    def submit(self, context: Context, *source: str) -> None:
        """Submit the app with further arguments."""
        replaces = ["--replaces-plan"] if self.replaces_plan else []
        with one_line_errors():  # with local[*], the executors are the driver itself
            check = [] if _master().startswith("local") else ["--check-executors"]
        super().submit(context, *source, *replaces, *check)

    def _file(self) -> Path:
        inventory = Path(str(self.inventory))
        if not inventory.is_file():
            raise BadInput(inventory.name, "", f"no such file in the inventory folder {inventory.parent}")
        return inventory


def _master() -> str:
    """Where Spark runs. Errors: ConnectionMissing if Airflow does not give the connection that says it."""
    return needed_connection(CONNECTION, "spark").host or ""
