"""The Spark session: its settings, its start beside other work, and its end, also where its JVM is gone."""

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from rocketmq_capacity.errors import CapacityError, JavaMissing, SparkGone
from rocketmq_capacity.spark.jvm import HEAP, OPTIONS, environment, options

SETTINGS: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # A row is a unit with everything that is known of it: Spark's own 10,000 of them would be hundreds of megabytes.
    # It must not be small either, since the tables of a pass are looked through once for each batch.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
}


def start_session(name: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session of the master that the environment names, else of all local cores; reused where one runs.

    Errors: JavaMissing where there is no Java to start; SparkGone where Spark refuses to start or its JVM ends early.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    for key, value in {OPTIONS: options(), **SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        _let_end_quietly(session)
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise JavaMissing("Spark could not start Java; rocketmq-capacity doctor says what is missing") from None
    except Py4JJavaError as error:
        said = " ".join(str(error.java_exception.getMessage()).split())
        raise SparkGone(f"Spark could not start: {said}") from error
    except _NO_ANSWER as error:
        raise SparkGone(_GONE.format(heap=os.environ.get(HEAP, "Spark's default"))) from error
    return session


@contextmanager
def session_under_way(name: str, inventory_bytes: int) -> Iterator[Callable[[], SparkSession]]:
    """A session that starts while the body goes on, and ends with the body; the callable waits for it.

    Errors: SparkGone where the JVM ends before the body does; JavaMissing where there is none.
    """
    os.environ.update(environment(inventory_bytes))
    with ThreadPoolExecutor(1) as pool:
        session = pool.submit(start_session, name)
        heap = pool.submit(lambda: _heap(session.result()))  # a JVM that has ended cannot be asked
        try:
            yield session.result
        except CapacityError:
            raise
        except Exception as error:  # what a JVM leaves behind that ends in the middle of an answer takes many forms
            if session.done() and session.exception() is None and not _is_alive(session.result()):
                raise SparkGone(_GONE.format(heap=heap.result())) from error
            raise
        finally:
            if session.exception() is None and _is_alive(session.result()):
                session.result().stop()


@contextmanager
def session_if_asked(name: str) -> Iterator[Callable[[], SparkSession]]:
    """A session that starts when the body first asks for it, and ends with the body; most such bodies never do."""
    with ExitStack() as at_the_end:

        @cache
        def session() -> SparkSession:
            started = start_session(name)
            at_the_end.callback(started.stop)
            return started

        yield session


_NO_ANSWER: Final = (Py4JError, ConnectionError, EOFError)
_GONE: Final = (
    "Spark's JVM has ended before the plan was finished; most often its memory was too small ({heap}): set"
    f" {HEAP}, such as {HEAP}=4g, or spark.driver.memory"
)


def _is_alive(session: SparkSession) -> bool:
    """Whether the JVM answers."""
    try:
        session.sparkContext._jvm.System.nanoTime()  # type: ignore[union-attr]  # there since it runs
    except _NO_ANSWER:
        return False
    return True


def _let_end_quietly(session: SparkSession) -> None:
    """Have the libraries that talk with the JVM say nothing when it is gone: it is told once, as an error.

    Both write tracebacks to standard error where no caller can catch them: the thread that takes the tasks' counters,
    and the log of a command without an answer, which is an error of its own besides.
    Source: accumulators.UpdateRequestHandler, PySpark 4.2.0; GatewayClient.send_command, py4j 0.10.9.9.
    """
    session.sparkContext._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


def _heap(session: SparkSession) -> str:
    """How large the JVM's heap may grow, whoever has said so."""
    runtime = session.sparkContext._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]  # there since it runs
    return f"{runtime.maxMemory() // 1024**2} MiB"
