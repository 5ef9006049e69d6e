"""RocketMQ's own producer and Proxy of one version, driven over scenarios on a clock that moves only where they say so.

What is official is every choice and all bookkeeping; the network answers what the scenario says.
"""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rocketmq_capacity.producers.producer import SendAnswer, SendOutcome
from rocketmq_capacity.producers.route import WritePlace
from tests.oracle.maven_project import MavenProject

VERSIONS: Final = ("4.9.7", "4.9.8", "5.1.3", "5.1.4", "5.3.3")
WITH_PROXY: Final = "5.3.3"
"""The only one of these versions whose Proxy is in Maven Central."""

_JVM: Final = ("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_TIME_LIMIT_S: Final = 300
_OUTCOMES: Final = {SendOutcome.STORED: "OK", SendOutcome.UNREACHABLE: "CONNECT", SendOutcome.UNKNOWN_ADDRESS: "GONE"}


class Step(NamedTuple):
    """A message to send, or a round of the detector: after a wait, with how each place of the first route answers."""

    is_detection: bool
    wait_ms: int
    answers: tuple[SendAnswer, ...]


class Learning(NamedTuple):
    """Another route is taken, after a wait; its brokers are among those of the first route."""

    wait_ms: int
    route: tuple[WritePlace, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """A topic's route, what a sender is set to, the random numbers that it draws, and what happens."""

    route: tuple[WritePlace, ...]
    steps: tuple[Step | Learning, ...]
    start: int
    worst_start: int = 0
    resets: tuple[int, ...] = ()
    tolerates: bool = False
    detects: bool = False
    retries: int = 2
    timeout_ms: int = 3_000
    mode: str = "SYNC"


class Result(NamedTuple):
    """The result of a step: (broker_name, queue_id) of each try, how it ended, and the ms since the start.

    It ends with OK, FAILED, DETECTED or LEARNT.
    """

    tries: tuple[tuple[str, int], ...]
    end: str
    at_ms: int


def ask_producer(version: str, scenarios: Iterable[Scenario]) -> list[list[Result]]:
    """What the official producer of a version does; one list for each scenario, one entry for each step.

    Errors: OracleUnavailable without Java, Maven or Maven Central.
    """
    return [_results(line) for line in _ask(version, (_line("PRODUCER", one) for one in scenarios))]


def ask_proxy(scenarios: Iterable[Scenario]) -> list[list[Result]]:
    """What the official Proxy does; as :func:`ask_producer`."""
    return [_results(line) for line in _ask(WITH_PROXY, (_line("PROXY", one) for one in scenarios))]


def ask_buckets(message_groups: Iterable[tuple[str, int]]) -> list[int]:
    """The index of the queue of each (message group, number of queues), as the official Proxy finds it."""
    return [int(line) for line in _ask(WITH_PROXY, (f"BUCKET|{name}|{queues}" for name, queues in message_groups))]


def _ask(version: str, requests: Iterable[str]) -> list[str]:
    asked = list(requests)
    project = MavenProject(Path(__file__).parent / "sending", rocketmq=version)
    with TemporaryDirectory() as logs:
        done = subprocess.run(
            project.command("capacity.sending.Sending", jvm=[*_JVM, f"-Duser.home={logs}"]),
            input="\n".join(asked) + "\n",
            capture_output=True,
            encoding="utf-8",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    answers = done.stdout.splitlines()
    assert len(answers) == len(asked), f"{len(answers)} of {len(asked)} answers came: {done.stderr[-2000:]}"
    return answers


def _line(sender: str, scenario: Scenario) -> str:
    steps = map(_step, scenario.steps)
    fields = (
        sender,
        f"{scenario.tolerates:d}",
        f"{scenario.detects:d}",
        scenario.start,
        scenario.worst_start,
        scenario.retries,
        scenario.timeout_ms,
        ",".join(map(str, scenario.resets)),
        _places(scenario.route),
        ";".join(steps),
        scenario.mode,
    )
    return "|".join(map(str, fields))


def _step(step: Step | Learning) -> str:
    if isinstance(step, Learning):
        return f"LEARN,{step.wait_ms},{step.start},{_places(step.route)}"
    return f"{'DETECT' if step.is_detection else 'SEND'},{step.wait_ms},{','.join(map(_answer, step.answers))}"


def _places(route: Iterable[WritePlace]) -> str:
    places = (f"{one.broker_name}:{one.write_queue_nums}:{one.perm}:{one.has_master:d}" for one in route)
    return ",".join(places)


def _answer(answer: SendAnswer) -> str:
    outcome = answer.outcome
    return f"{answer.latency_ms}:{_OUTCOMES[outcome] if isinstance(outcome, SendOutcome) else outcome}"


def _results(line: str) -> list[Result]:
    results = []
    for step in line.split(";"):
        tries, _, end = step.partition("=")
        what, _, at = end.partition("@")
        queues = (queue.rpartition(":") for queue in tries.split(",") if queue)
        results.append(Result(tuple((name, int(queue_id)) for name, _, queue_id in queues), what, int(at)))
    return results
