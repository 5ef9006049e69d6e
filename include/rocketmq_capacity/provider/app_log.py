"""The output of a Spark app, as the log of its task shows it."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from rocketmq_capacity.spark.noise import is_noise

_STAMPED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (?P<level>INFO|WARNING|ERROR) (?P<text>.*)")
"""A line of the app itself, as progress.lines.stamped writes it."""


class AppLog:
    """A task's logger that gives the app's own lines their level, and leaves out the JVM's lines of every start.

    The time is left out as well: the log has its own.

    Args:
        log: the task's logger.
    """

    def __init__(self, log: Any) -> None:
        self._log = log
        self.error: str | None = None

    def info(self, event: str, *args: Any, **values: Any) -> None:
        """Log a line; ``error`` is the last one of the app that was an error."""
        if args:
            self._log.info(event, *args, **values)
            return
        if is_noise(event):
            return
        stamped = _STAMPED.fullmatch(event)
        if stamped is None:
            self._log.info(event, **values)
            return
        if stamped["level"] == "ERROR":
            self.error = stamped["text"]
        tell: Callable[..., None] = getattr(self._log, stamped["level"].lower())
        tell(stamped["text"], **values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


class AppHook(SparkSubmitHook):
    """``spark-submit``; its lines are logged as the app's."""

    @cached_property
    def log(self) -> AppLog:  # type: ignore[override]  # it hands everything else on to the logger
        """The task's logger."""
        return AppLog(super().log)
