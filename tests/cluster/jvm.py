"""One of our Java programs: commands in, answers out, each a JSON object on a line, each answer within its time."""

import ctypes
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.oracle.maven_project import MavenProject
from tests.oracle.rocketmq_version import ROCKETMQ

HERE: Final = Path(__file__).parent
ANSWER_TIME_LIMIT_S: Final = 300.0

_LOG_LINES: Final = 20
_WITHOUT_TLS: Final = {
    "tls.server.mode": "disabled",
    "io.grpc.netty.shaded.io.netty.handler.ssl.util.selfSignedKeyStrength": 1024,
}
"""Every server makes keys of its own for TLS, although nobody uses them: a third of the work of a broker's start, even
if they are short. A Proxy makes one in any case. What a program is told wins over this."""
_TIMER_SLACK_MS: Final = 10
"""A broker wakes some thousand times a second to look for work. So late, the kernel wakes many threads at once: three
idle brokers take 8 % of a core instead of 13 %."""
_PR_SET_TIMERSLACK: Final = 29
"""Source: prctl(2)."""


def project_of(rocketmq: str) -> MavenProject:
    """Our programs, built for a version of RocketMQ."""
    return MavenProject(HERE, also=(HERE.parent / "oracle",), rocketmq=rocketmq)


PROJECT: Final = project_of(ROCKETMQ)
ACL_1: Final = MavenProject(HERE / "acl1")
"""A broker of the last version that has ACL 1.0."""


class ClusterError(Exception):
    """The real RocketMQ or its clients did not do what they were told; the message is theirs."""


class Jvm:
    """A running program; its files stay in ``folder``. It ends when this process does, or with ``close``.

    Not for two threads at once.
    """

    def __init__(
        self,
        main_class: str,
        *args: str,
        folder: Path,
        name: str,
        jvm: Sequence[str],
        project: MavenProject = PROJECT,
    ) -> None:
        """Build what is not built and start it; its first answer says that it is up.

        Errors: OracleUnavailable without Java, Maven or Maven Central.
        """
        self._log = folder / f"{name}.log"
        self._output = folder / f"{name}.err"
        # RocketMQ keeps what it is not told a place for under the home folder.
        properties = {
            "capacity.log": self._log.name,
            "user.home": ".",
            "rocketmq.client.localOffsetStoreDir": "offsets",
            "rocketmq.client.rebalance.waitInterval": 2000,
            **_WITHOUT_TLS,
        }
        options = [*(f"-D{key}={value}" for key, value in properties.items()), *jvm]
        with self._output.open("wb") as errors, _timers_together():
            self._process = subprocess.Popen(
                project.command(main_class, *args, jvm=options),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env={**os.environ, "ROCKETMQ_HOME": "."},
            )
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, command: str, **fields: Any) -> None:
        """Send a command; its answer is taken with ``answer``."""
        if self._process.stdin is None:
            raise ClusterError("no input")
        line = json.dumps({"command": command, **fields}).encode("ascii") + b"\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise ClusterError(f"the JVM is gone: {self._last_words()}") from error

    def answer(self, time_limit_s: float = ANSWER_TIME_LIMIT_S) -> Any:
        """The next answer, in the order of the commands.

        Errors: ClusterError where the command failed, the program ended or the time is up.
        """
        try:
            line = self._answers.get(timeout=time_limit_s)
        except queue.Empty:
            raise ClusterError(f"no answer within {time_limit_s} s: {self._last_words()}") from None
        if not line:
            raise ClusterError(f"the JVM ended: {self._last_words()}")
        answer: Mapping[str, Any] = json.loads(line)
        if "error" in answer:
            raise ClusterError(f"{answer['error']}: {self._last_words()}")
        return answer["ok"]

    def ask(self, command: str, **fields: Any) -> Any:
        """Send a command and take its answer."""
        self.send(command, **fields)
        return self.answer()

    def end(self) -> None:
        """End the program as an operator does, with SIGTERM, and wait until it is gone."""
        self._process.terminate()
        self._process.wait()
        self.close()

    def close(self) -> None:
        """End the program at once: what it holds is to be thrown away, and a stopped process cannot listen."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        if self._process.stdout is None:
            return
        try:
            for line in self._process.stdout:
                self._answers.put(line)
        except ValueError:
            pass  # closed under our hands
        self._answers.put(b"")

    def _last_words(self) -> str:
        lines = [
            line
            for path in (self._output, self._log)
            if path.exists()
            for line in path.read_text("utf-8", errors="replace").splitlines()[-_LOG_LINES:]
        ]
        return "\n".join(lines) or "nothing in its log"


@contextmanager
def _timers_together() -> Iterator[None]:
    """A process that is started in the body may wake from its waits a little later than it asked for, on Linux.

    A process inherits this from the thread that starts it.
    """
    if sys.platform != "linux":
        yield
        return
    of_this_thread = ctypes.CDLL(None).prctl
    of_this_thread(_PR_SET_TIMERSLACK, _TIMER_SLACK_MS * 1_000_000)
    try:
        yield
    finally:
        of_this_thread(_PR_SET_TIMERSLACK, 0)  # its usual one
