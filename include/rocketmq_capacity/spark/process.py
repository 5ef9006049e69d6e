"""The JVM of Spark's driver as a process: its start, its output, whether it runs, and how it ended.

Under ``spark-submit`` the JVM runs already and has started this program; ``spark-submit`` has its output.
"""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from rocketmq_capacity.errors import JavaMissing, SparkGone
from rocketmq_capacity.spark.jvm import HEAP, java_program
from rocketmq_capacity.spark.noise import is_noise

NO_ANSWER: Final = (Py4JError, ConnectionError, EOFError)
"""The errors of a call into a JVM that is gone."""

LAST_LINES: Final = 5
"""The most lines of the JVM that an error quotes."""
ENDS_WITHIN_S: Final = 5.0
"""How long a JVM that no longer answers is waited for."""
_LIVE: Final = re.compile(r"\d\d:\d\d:\d\d WARN ")
"""A line of the log (log4j2.properties) that is shown at once."""
_OUT_OF_MEMORY: Final = "Terminating due to "
"""The JVM's line when -XX:+ExitOnOutOfMemoryError ends it."""
_GONE: Final = "Spark's JVM has ended before the plan was finished"


class Jvm:
    """A JVM that runs.

    Args:
        conf: the settings that it is started with.
        tell: is given the warnings of Spark's log.
        hold: is given all other output of the JVM, in case something unforeseen happens.

    Errors: JavaMissing if there is no Java; SparkGone if Java ends before Spark is ready.
    """

    def __init__(self, conf: SparkConf, *, tell: Callable[[str], object], hold: Callable[[str], object]) -> None:
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._tell, self._hold = tell, hold
        read, write = os.pipe()
        # The thread ends with the JVM, and does not keep the program from ending earlier.
        listener = threading.Thread(target=self._listen, args=(read,), daemon=True)
        listener.start()
        try:
            # Its second argument is there for this: "capturing stdout/stderr".
            self.gateway = launch_gateway(conf, {"stdout": write, "stderr": write})  # type: ignore[no-untyped-call]  # PySpark gives it no types
            # Asked now, because a JVM that has ended does not answer.
            self._heap_mib = self.gateway.jvm.java.lang.Runtime.getRuntime().maxMemory() // 1024**2
            failed = None
        except (PySparkRuntimeError, *NO_ANSWER) as error:
            failed = error
        finally:
            os.close(write)
        if failed is not None:
            if isinstance(failed, PySparkRuntimeError) and failed.getCondition() != "JAVA_GATEWAY_EXITED":
                raise failed
            listener.join(ENDS_WITHIN_S)
            raise self._not_started()

    def setting(self, name: str) -> str | None:
        """A setting such as ``spark.master``, which ``spark-submit`` has from all its sources; None without one."""
        value: str | None = self.gateway.jvm.java.lang.System.getProperty(name)
        return value

    def is_alive(self) -> bool:
        """Whether it answers."""
        try:
            self.gateway.jvm.java.lang.System.nanoTime()
        except NO_ANSWER:
            return False
        return True

    def gone(self) -> SparkGone:
        """The error that says how it ended, and what helps."""
        memory = f"its heap was {self._heap_mib} MiB; set {HEAP}, such as {HEAP}=4g, or spark.driver.memory"
        for line in self._said:
            if line.startswith(_OUT_OF_MEMORY):
                return SparkGone(f"{_GONE}: {line.removeprefix(_OUT_OF_MEMORY)}; {memory}")
        return SparkGone(f"{_GONE}: {self._how()}; most often memory was too small: {memory}")

    def _how(self) -> str:
        process: subprocess.Popen[bytes] | None = self.gateway.proc
        status = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):  # it runs, but does not answer
                status = process.wait(ENDS_WITHIN_S)
        if status is not None and status < 0:
            return f"it was killed by {signal.Signals(-status).name}"
        ended = "it does not answer" if status is None else f"it ended with status {status}"
        return f"{ended} and said: {' / '.join(self._said)}" if self._said else ended

    def _not_started(self) -> JavaMissing | SparkGone:
        program = java_program()
        if program is None or shutil.which(program) is None:
            return JavaMissing("Spark could not start Java; rocketmq-capacity doctor says what is missing")
        said = " / ".join(self._said) or "it said nothing, as a process that is killed"
        return SparkGone(f"Spark's JVM ended before it was ready: {said}; rocketmq-capacity doctor examines {program}")

    def _listen(self, pipe: int) -> None:
        with open(pipe, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._hear(line.rstrip("\n"))

    def _hear(self, line: str) -> None:
        if is_noise(line):
            return
        if _LIVE.match(line):
            self._tell(line)
            return
        if not line.startswith("\tat "):
            self._said.append(line)
        self._hold(f"{line}\n")
