"""The Spark session: its settings, its start during other work, and its end, also if its JVM is gone."""

import errno
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from rocketmq_capacity.errors import CapacityError, DiskFull, SparkGone, StoreUnreachable
from rocketmq_capacity.spark.daemon import daemon_settings
from rocketmq_capacity.spark.jvm import OPTIONS, environment, options
from rocketmq_capacity.spark.process import NO_ANSWER, Jvm

SETTINGS: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # A row is a unit with all its facts: Spark's default of 10,000 rows would be hundreds of megabytes.
    # It must not be small either, because the tables of a pass are searched once for each batch.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    # A task gets about 1,000 units, or fewer large ones. While one core works on big groups, others do the other tasks.
    "spark.sql.files.maxPartitionBytes": "4m",
    # Spark adds this to the size of each file. Its default of 4 MiB is more than a file of units.
    "spark.sql.files.openCostInBytes": "64k",
    # A table is read by the names of its files. Spark would start a job to look at more than 32 of them.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Without it, a byte that a disk changed is read as another figure.
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
}

_PYTHON_GONE: Final = re.compile(
    "Python worker exited unexpectedly|Python worker failed to connect back|Python daemon failed to launch worker|"
    "Failed to open socket to Python daemon|"
    "EOFException occurred while reading the port number from .+'s stdout|"
    r"java\.(io|net)\.\w+Exception.*(\s+at .+)*\s+at org\.apache\.spark\.api\.python\.PythonWorkerFactory\.createWorker"
)
"""How Spark reports that one of its Python processes, a worker or the daemon that forks them, has ended.

The last is of a worker that ends before it has said who it is. Source: PythonRunner.scala, PythonWorkerFactory.scala
and SparkCoreErrors.scala, Spark 4.2.0.
"""

_DISK_FULL: Final = os.strerror(errno.ENOSPC)
"""Python, Arrow and Java report a full disk in the system's words, and Spark repeats what its workers report."""

_OF_STORE: Final = re.compile(rf"{StoreUnreachable.__module__}\.{StoreUnreachable.__name__}: (.+)")
"""The line of a worker's traceback, which Spark repeats, if the store of the lake refuses a task."""

NONE: Final[Mapping[str, str]] = {}
Tell = Callable[[str], object]
"""Is given a line, or some text."""


@dataclass(frozen=True, slots=True)
class StartedSession:
    """A session and the JVM behind it."""

    session: SparkSession
    jvm: Jvm


def start_session(
    name: str, tell: Tell, hold: Tell, of_executors: Mapping[str, str] = NONE, modules: Sequence[str] = ()
) -> StartedSession:
    """A session on the master that the environment names, else on all local cores.

    Args:
        name: of the application.
        tell: is given the warnings of Spark's log.
        hold: is given all other output of the JVM.
        of_executors: variables of their environment, on whatever machine they are.
        modules: those of the functions that Python workers run; on this machine they are imported once.

    Errors: JavaMissing if there is no Java to start; SparkGone if Spark refuses to start or its JVM ends early.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setAppName(name).set(OPTIONS, options()).setAll(list(SETTINGS.items()))
    conf.setAll([(f"spark.executorEnv.{variable}", value) for variable, value in of_executors.items()])
    jvm = Jvm(conf, tell=tell, hold=hold)
    try:
        conf.setAll(list(daemon_settings(jvm.setting, os.environ["PYSPARK_PYTHON"], modules).items()))
        SparkContext(conf=conf, gateway=jvm.gateway)
        return StartedSession(SparkSession.builder.getOrCreate(), jvm)
    except Py4JJavaError as error:
        said = " ".join(str(error.java_exception.getMessage()).split())
        raise SparkGone(f"Spark could not start: {said}") from error
    except NO_ANSWER as error:
        raise jvm.gone() from error


class Session:
    """A session that starts in another thread; a call waits for it and returns it."""

    def __init__(self, starting: Future[StartedSession]) -> None:
        self._starting = starting
        self._ending = Lock()
        self._has_ended = False

    def __call__(self) -> SparkSession:
        """The session. Errors: those of `start_session`."""
        return self._starting.result().session

    def jvm(self) -> Jvm | None:
        """Its JVM; None while it starts, and if it could not start."""
        is_started = self._starting.done() and self._starting.exception() is None
        return self._starting.result().jvm if is_started else None

    def end(self) -> None:
        """Stop it, once; nobody may need it any more."""
        with self._ending:
            if self._has_ended or self._starting.exception() is not None:
                return
            if self._starting.result().jvm.is_alive():
                self().stop()
            self._has_ended = True


@contextmanager
def session_under_way(
    name: str,
    inventory_bytes: int,
    tell: Tell | None = None,
    of_executors: Mapping[str, str] = NONE,
    modules: Sequence[str] = (),
) -> Iterator[Session]:
    """A session that starts while the body runs, and ends with the body; see `Session`.

    Args:
        name: of the application.
        inventory_bytes: size of the inventory; it decides the heap.
        tell: is given the warnings of Spark's log; None: standard error.
        of_executors: variables of their environment, such as those that open the lake's store.
        modules: those of the functions that Python workers run.

    Errors: SparkGone if the JVM or a Python worker ends before the body does; JavaMissing if there is no Java; DiskFull
    if no space is left; StoreUnreachable if the store of the lake refuses a task.
    """
    os.environ.update(environment(inventory_bytes))
    tell = tell or partial(print, file=sys.stderr)
    with _held_back() as hold, ThreadPoolExecutor(1) as pool:
        session = Session(pool.submit(start_session, name, tell, hold, of_executors, modules))
        try:
            yield session
        except CapacityError:
            raise
        except Exception as error:  # a JVM that ends in the middle of an answer causes many kinds of errors
            if (jvm := session.jvm()) is not None and not jvm.is_alive():
                raise jvm.gone() from error
            if (explained := explanation(error)) is not None:
                raise explained from error
            raise
        finally:
            session.end()


def explanation(error: Exception) -> CapacityError | None:
    """The error to report where a worker has ended, a disk is full or a store refuses; None for any other error."""
    if _PYTHON_GONE.search(str(error)):
        return SparkGone(
            "a Python worker of Spark's has ended before the plan was finished, as one that is killed does; "
            "most often the machine's memory was too small"
        )
    if _DISK_FULL in str(error):
        return DiskFull(
            "no space is left on a disk; expected more room where the plan is written, or in the folder of temporary "
            f"files, {tempfile.gettempdir()}"
        )
    told_by_worker = _OF_STORE.search(str(error))
    return StoreUnreachable(told_by_worker[1]) if told_by_worker else None


@contextmanager
def session_if_asked(
    name: str, tell: Tell | None = None, of_executors: Mapping[str, str] = NONE
) -> Iterator[Callable[[], SparkSession]]:
    """A session that starts when the body first asks for it, and ends with the body; most bodies never ask.

    Errors: those of `session_under_way`.
    """
    with ExitStack() as at_the_end:

        @cache
        def session() -> SparkSession:
            return at_the_end.enter_context(session_under_way(name, 0, tell, of_executors))()

        yield session


@contextmanager
def _held_back() -> Iterator[Tell]:
    """Hold back what the body writes on standard error. It is shown at the end, unless one of our errors explains it.

    When the JVM is gone, libraries write tracebacks there that no caller can catch: the thread that receives the tasks'
    counters, and the log of a command without an answer.
    Source: accumulators.UpdateRequestHandler, PySpark 4.2.0; GatewayClient.send_command, py4j 0.10.9.9.
    """
    held = io.StringIO()
    is_explained = False
    try:
        with redirect_stderr(held):
            yield held.write
    except BaseException as error:
        is_explained = isinstance(error, CapacityError) or not isinstance(error, Exception)
        raise
    finally:
        if not is_explained:
            sys.stderr.write(held.getvalue())
