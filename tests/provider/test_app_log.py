"""What a Spark app says, in the log of its task."""

import pytest
from structlog.testing import CapturingLogger

from rocketmq_capacity.progress.lines import stamped
from rocketmq_capacity.provider.app_log import AppLog

pytestmark = pytest.mark.airflow


def logged(*lines: str) -> list[tuple[str, str]]:
    """(level, text) of what a task's log says of these lines of spark-submit."""
    task = CapturingLogger()
    log = AppLog(task)
    for line in lines:
        log.info(line.strip())
    return [(call.method_name, call.args[0]) for call in task.calls]


def test_the_apps_own_lines_have_their_level_and_no_time() -> None:
    lines = [stamped("INFO", "assess: begins"), stamped("WARNING", "nobody offers a core"), stamped("ERROR", "no run")]
    assert logged(*lines) == [("info", "assess: begins"), ("warning", "nobody offers a core"), ("error", "no run")]


def test_the_error_is_remembered() -> None:
    log = AppLog(CapturingLogger())
    log.info(stamped("INFO", "assess: begins").strip())
    assert log.error is None
    log.info(stamped("ERROR", "assess: no run").strip())
    log.info("22/11/26 INFO ShutdownHookManager: done")
    assert log.error == "assess: no run"


def test_what_the_jvm_says_at_every_start_is_left_out() -> None:
    assert (
        logged(
            "WARNING: Using incubator modules: jdk.incubator.vector",
            "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g",
            "Picked up JAVA_TOOL_OPTIONS: -Xmx1g",
            "SLF4J: Class path contains multiple SLF4J bindings.",
            "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
            "26/11/22 23:40:57 WARN Utils: Your hostname, vm, resolves to a loopback address: 127.0.0.1",
            "26/11/22 23:40:57 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform...",
            'Setting default log level to "WARN".',
            "To adjust logging level use sc.setLogLevel(newLevel). For SparkR, use setLogLevel(newLevel).",
            "",
        )
        == []
    )


def test_all_else_is_logged_as_it_is() -> None:
    line = "Exception in thread main java.lang.Error: 100 % of WARN Utils: gone"
    assert logged(line) == [("info", line)]
    task = CapturingLogger()
    AppLog(task).info("Spark-Submit cmd: %s", "spark-submit")
    AppLog(task).debug("polling")
    assert [(call.method_name, call.args) for call in task.calls] == [
        ("info", ("Spark-Submit cmd: %s", "spark-submit")),
        ("debug", ("polling",)),
    ]
