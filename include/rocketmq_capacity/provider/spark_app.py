"""One Spark app as one task; what all of them share is said here, once."""

from datetime import timedelta
from typing import Any, Final

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context

from rocketmq_capacity.provider.executor_code import write_packed
from rocketmq_capacity.provider.places import Places

CONNECTION: Final = "spark_default"
"""Where Spark runs is the connection's to say alone: local[*], spark://…, k8s://… or yarn."""

RUN_KEY: Final = "{{ run_key(dag_run) }}"

READ_AGAIN: Final[dict[str, Any]] = {
    "retries": 2,
    "retry_delay": timedelta(minutes=2),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
}
"""A name server that restarts is back within minutes. The client has retried single calls already."""

CONF: Final[dict[str, str]] = {
    "spark.ui.showConsoleProgress": "false",  # a progress bar is thousands of lines in a task's log
    # What session.HUGE_METHODS says; the driver's JVM runs before the app can ask for it.
    "spark.driver.extraJavaOptions": "-XX:-DontCompileHugeMethods",
}

COMPUTE_AGAIN: Final[dict[str, Any]] = {"retries": 1, "retry_delay": timedelta(minutes=1)}
"""Equal input gives equal output: trying again helps only against a lost driver or executor, and that once."""


def spark_app(step: str, places: Places, *arguments: str, **task: Any) -> SparkSubmitOperator:
    """The task of ``spark_apps/<step>.py``, with the run's place in the lake and further (templated) arguments.

    Every task gets a ``conf`` of its own, since executing one may add to it. The environment of the Spark driver is the
    worker's: it has ``spark-submit`` on its PATH.
    """
    code = places.lake / ".code" / "rocketmq_capacity.zip"

    def with_code(_context: Context) -> None:
        write_packed(code)

    policy = [f"--policy={places.policy}"] if places.policy else []
    return SparkSubmitOperator(
        task_id=step,
        conn_id=CONNECTION,
        name=f"rocketmq_capacity_{step}",
        application=str(places.spark_apps / f"{step}.py"),
        application_args=[f"--lake={places.lake}", f"--run-id={RUN_KEY}", *policy, *arguments],
        py_files=str(code),
        conf=dict(CONF),
        pre_execute=with_code,
        **task,
    )
