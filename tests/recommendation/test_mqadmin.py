"""The official command line tool takes every command that is printed, option by option."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.recommendation.broker_plans import remove_broker_plan
from tests.oracle.maven_project import MavenProject
from tests.oracle.requirement import started_or_skipped
from tests.recommendation.answers import Answers, options
from tests.recommendation.plans_in_steps import added, of_topic, plan_to
from tests.simulation.clusters import queues

pytestmark = pytest.mark.java
PROJECT: Final = MavenProject(Path(__file__).parent / "mqadmin")
TIME_LIMIT_S: Final = 300
QUICK: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a JVM that lives for seconds."""


def _read_by_mqadmin(commands: list[list[str]]) -> list[dict[str, Any]]:
    """How mqadmin 5.3.3 understands the words after its name."""
    asked = "".join(json.dumps(words) + "\n" for words in commands)
    line = started_or_skipped(lambda: PROJECT.command("capacity.mqadmin.CommandLines", jvm=QUICK))
    done = subprocess.run(
        line, input=asked.encode(), capture_output=True, timeout=TIME_LIMIT_S, check=True, cwd=Path(__file__).parent
    )
    return [json.loads(answer) for answer in done.stdout.decode("utf-8").splitlines()]


def test_the_official_tool_reads_every_command_as_it_is_meant(answered: Answers) -> None:
    _are_read_as_meant([command for row in answered.rows for command in row["commands"]])


def test_the_official_tool_reads_every_command_and_every_check_of_the_queue_plans() -> None:
    topic, retry = of_topic(), of_topic(queues("broker-a", 1), name="%RETRY%g_pay")
    plans = [
        *plan_to(topic, 4),
        *plan_to(topic, 10),
        *plan_to(retry, 2),
        added(topic, topic.cluster),
        remove_broker_plan(topic.cluster, "broker-b", [topic]),
    ]
    steps = [step for plan in plans for step in plan.steps]
    commands = [command for step in steps for command in step.commands]
    _are_read_as_meant([*commands, *(check.command for step in steps for check in step.checks)])


def _are_read_as_meant(lines: list[str]) -> None:
    commands = [line.removeprefix("# ") for line in lines]

    read = _read_by_mqadmin([shlex.split(command)[1:] for command in commands])

    assert len(read) == len(commands) > 0
    for command, values in zip(commands, read, strict=True):
        assert values == {name: value or "" for name, value in options(command).items()}, command


def test_a_command_that_it_does_not_know_is_named() -> None:
    """The judge itself can say no."""
    unknown, missing, strange = _read_by_mqadmin([
        ["updateTopics", "-n", "x"],
        ["updateTopic", "-n", "x", "-b", "y"],
        ["topicRoute", "-n", "x", "-t", "y", "-z", "1"],
    ])

    assert unknown == {"error": "no subcommand"}
    assert "MissingOptionException" in missing["error"]
    assert "UnrecognizedOptionException" in strange["error"]
