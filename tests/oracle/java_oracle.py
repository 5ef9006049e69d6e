"""RocketMQ's own strategy classes, asked in bulk: the oracle that allocation is compared with."""

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.oracle.maven_project import JavaBuildError, MavenProject, OracleUnavailable
from tests.oracle.rocketmq_version import ROCKETMQ
from tests.oracle.started import Started

__all__ = ["Allocation", "Case", "JavaBuildError", "JavaOracle", "OracleError", "OracleUnavailable", "Queue", "Refusal"]

TIME_LIMIT_S: Final = 300.0


def project_of(rocketmq: str) -> MavenProject:
    """The oracle, built for a version of RocketMQ."""
    return MavenProject(Path(__file__).parent, rocketmq=rocketmq)


PROJECT: Final = project_of(ROCKETMQ)

_JVM: Final = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_STOP_TIME_LIMIT_S: Final = 10.0


class OracleError(Exception):
    """A request could not be asked at all, or the Java side died; never an answer of an official class."""


class Queue(NamedTuple):
    """One message queue, as the contract writes it."""

    topic: str
    broker_name: str
    queue_id: int


@dataclass(frozen=True, slots=True)
class Case:
    """One group's topic, one strategy and its parameters; a parameter left None is not set on the official object.

    ``queues`` are (broker_name, queue_id) in any order, ``client_ids`` may repeat; ``config`` is one list a client.
    """

    strategy: str
    queues: Sequence[tuple[str, int]]
    client_ids: Sequence[str]
    consumer_group: str = "group"
    topic: str = "topic"
    machine_rooms: Sequence[str] | None = None
    virtual_nodes: int = 10
    broker_rooms: Mapping[str, str] = field(default_factory=dict)
    client_rooms: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Sequence[tuple[str, str, int]]] | None = None
    pop_share_queue_num: int = -1
    pop_strategy: str = "AVG"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The exception that an official class threw at a client: its Java class and message."""

    java_class: str
    message: str | None


@dataclass(frozen=True, slots=True)
class Allocation:
    """What the official classes gave.

    ``queues`` and ``client_ids`` are in the order in which Collections.sort put them, repeated ids kept; ``owned`` has
    one entry for each of ``client_ids``: its queues in the order of the answer (under POP a set, given in queue order),
    None where the class returned null, or the Refusal.
    """

    queues: list[Queue]
    client_ids: list[str]
    owned: list[list[Queue] | Refusal | None]

    def rows(self) -> list[tuple[str, Queue]]:
        """(client id, queue) for every queue given; the clients that got none or were refused have no row."""
        return [
            (client_id, queue)
            for client_id, queues in zip(self.client_ids, self.owned, strict=True)
            if isinstance(queues, list)
            for queue in queues
        ]

    def refusals(self) -> list[tuple[str, Refusal]]:
        """(client id, refusal) for every client at which the official class threw."""
        return [
            (client_id, owned)
            for client_id, owned in zip(self.client_ids, self.owned, strict=True)
            if isinstance(owned, Refusal)
        ]


class JavaOracle(Started):
    """One JVM with the official classes; requests are pipelined to it.

    Not for two threads at once. Use it as a context manager, or call ``start`` and ``close``.
    """

    def __init__(self, rocketmq: str = ROCKETMQ) -> None:
        """Make the oracle of a version of RocketMQ; nothing runs before ``start``."""
        self._project = project_of(rocketmq)
        self._process: subprocess.Popen[bytes] | None = None

    def _start(self) -> None:
        """Build what is not built and start the JVM."""
        command = self._project.command("capacity.oracle.Oracle", jvm=_JVM)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        """End the JVM; does nothing if there is none."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.communicate(timeout=_STOP_TIME_LIMIT_S)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            process.kill()
            process.wait()

    def allocate(self, cases: Iterable[Case], time_limit_s: float = TIME_LIMIT_S) -> list[Allocation]:
        """Ask the official classes; one allocation for each case, in the order of the cases.

        Errors: OracleError for a case that cannot be asked (an unknown strategy, say), for a JVM that died, and past
        the time limit; after the last two the oracle is closed.
        """
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise OracleError("the oracle is not started")
        asked = list(cases)
        overdue = threading.Event()

        def stop() -> None:
            overdue.set()
            process.kill()

        timer = threading.Timer(time_limit_s, stop)
        writer = threading.Thread(target=_write, args=(process.stdin, asked), daemon=True)
        timer.start()
        writer.start()
        try:
            # The cases stand first: zip must not wait for a line after the last.
            lines = [line for _, line in zip(asked, process.stdout, strict=False)]
        finally:
            timer.cancel()
        if len(lines) < len(asked):
            self.close()
            why = f"did not answer within {time_limit_s} s" if overdue.is_set() else "died"
            raise OracleError(f"the Java oracle {why}: {len(lines)} of {len(asked)} answers came")
        writer.join()
        return [_decode(case, json.loads(line)) for case, line in zip(asked, lines, strict=True)]


def _write(stdin: Any, cases: Sequence[Case]) -> None:
    try:
        stdin.writelines(_lines(cases))
        stdin.flush()
    except (BrokenPipeError, ValueError):
        return  # The JVM is gone; the reader finds its output closed and says so.


def _lines(cases: Sequence[Case]) -> Iterator[bytes]:
    for case in cases:
        request = {name: getattr(case, name) for name in Case.__slots__}
        yield json.dumps(request, separators=(",", ":")).encode("ascii") + b"\n"


def _decode(case: Case, answer: Mapping[str, Any]) -> Allocation:
    if "error" in answer:
        error = answer["error"]
        raise OracleError(f"{error['class']}: {error['message']} at {case}")
    queues = [Queue(case.topic, broker_name, queue_id) for broker_name, queue_id in answer["queues"]]
    return Allocation(queues, answer["client_ids"], [_owned(entry, queues) for entry in answer["owned"]])


def _owned(entry: Any, queues: Sequence[Queue]) -> list[Queue] | Refusal | None:
    if entry is None:
        return None
    if isinstance(entry, dict):
        return Refusal(entry["class"], entry["message"])
    return [queues[queue] if isinstance(queue, int) else Queue(*queue) for queue in entry]
