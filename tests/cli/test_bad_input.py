"""Bad input ends the program with status 2 and one line, before Spark starts and with nothing written.

The program runs as its users run it, on a machine without Java: had it gone on to Spark, its status would be 1. What
else is refused stands in the files beside this one, run within one process.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import contents, run, says_what_was_expected
from tests.cli.small_cluster import LEFT_OUT, cluster_with, written

PLAN = ["plan", "--inventory=inventory.json", "--out=out"]


@pytest.fixture
def no_java(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of a machine without Java."""
    empty = str(tmp_path_factory.mktemp("no-java"))
    return {"JAVA_HOME": empty, "PATH": empty}


def refused(folder: Path, no_java: Mapping[str, str], arguments: list[str]) -> str:
    """The line of the refusal; the folder is as it was."""
    before = contents(folder)
    done = run(*arguments, cwd=folder, env=no_java)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert contents(folder) == before
    (line,) = done.stderr.splitlines()
    assert says_what_was_expected(line), line
    return line


@pytest.mark.parametrize(
    ("place", "value", "where"),
    [
        ("topics[0].queues[0].perm", 8, "$.topics[0].queues[0].perm"),
        ("consumer_groups[0].offsets[0].consumer_offset", -1, "$.consumer_groups[0].offsets[0].consumer_offset"),
        ("topics[0].offsets[0].put_msgs_per_s", float("nan"), "is not JSON"),
        ("topics[0].queues[1]", {"broker_name": "broker-a"}, "$.topics[0].queues[1]"),
        ("consumer_groups", LEFT_OUT, "$.consumer_groups"),
        ("cluster_name", "../C1", "$.cluster_name"),
    ],
)
def test_a_malformed_inventory(tmp_path: Path, no_java: Mapping[str, str], place: str, value: Any, where: str) -> None:
    written(tmp_path, cluster_with(place, value))
    assert refused(tmp_path, no_java, PLAN).startswith(f"rocketmq-capacity: inventory.json: {where}")


def test_an_inventory_that_is_cut_off(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[:-100])
    assert refused(tmp_path, no_java, PLAN).startswith("rocketmq-capacity: inventory.json: is not JSON")


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--policy", "strategis: [AVG]", "strategis: is not a known key; the nearest known key is 'strategies'"),
        ("--policy", "strategies: [AVG", "line 1: is not YAML"),
        ("--scenario", "{name: x, changes: [{change: lose_broker, broker_name: b}]}", "changes[0].broker_name: "),
    ],
)
def test_a_malformed_policy_or_scenario(
    tmp_path: Path, no_java: Mapping[str, str], option: str, text: str, said: str
) -> None:
    written(tmp_path)
    (tmp_path / "given.yaml").write_text(text)
    line = refused(tmp_path, no_java, [*PLAN, f"{option}=given.yaml"])
    assert line.startswith(f"rocketmq-capacity: given.yaml: {said}")


def test_a_history_with_a_pipe_is_not_waited_for(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    written(tmp_path)
    (tmp_path / "history").mkdir()
    os.mkfifo(tmp_path / "history" / "a.json")
    line = refused(tmp_path, no_java, [*PLAN, "--history=history"])
    assert line == "rocketmq-capacity: history/a.json: is a pipe; expected an inventory file"


def test_a_history_of_another_cluster(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    written(tmp_path)
    (tmp_path / "history").mkdir()
    written(tmp_path / "history", cluster_with("cluster_name", "C2"))
    line = refused(tmp_path, no_java, [*PLAN, "--history=history"])
    assert line.startswith("rocketmq-capacity: history/inventory.json: $.cluster_name: is 'C2'")


def test_an_output_folder_in_use(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "plan.json").write_text("{}")
    written(tmp_path)
    assert refused(tmp_path, no_java, PLAN).startswith("rocketmq-capacity: --out: out is not empty")


def test_a_missing_argument_is_named(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    done = run("plan", "--inventory=inventory.json", cwd=tmp_path, env=no_java)
    assert (done.returncode, done.stdout, contents(tmp_path)) == (2, "", {})
    assert done.stderr == (
        "rocketmq-capacity: plan: the following arguments are required: --out;"
        " rocketmq-capacity plan --help says what is expected\n"
    )


@pytest.mark.slow
def test_good_input_gets_as_far_as_spark_and_java_is_missing(tmp_path: Path, no_java: Mapping[str, str]) -> None:
    written(tmp_path)
    before = contents(tmp_path)
    done = run(*PLAN, cwd=tmp_path, env=no_java)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "rocketmq-capacity: Spark could not start Java; rocketmq-capacity doctor says what is missing"
    )
    assert contents(tmp_path) == before
