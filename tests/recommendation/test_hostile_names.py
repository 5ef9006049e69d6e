"""Whatever the names in a cluster are, a shell hands mqadmin just these, and runs nothing else."""

import subprocess
from pathlib import Path
from typing import Final

import msgspec
import pytest

from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.recommendation.investigate import advice_on
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import WARNING
from tests.assessment.cases import member, members
from tests.fixtures.units import units_of
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import HOSTILE_BROKER, NAMESERVER, Cases
from tests.report.whole_evidence import whole
from tests.simulation.clusters import cluster, queues

CASES = Cases()
NAMES: Final = (
    "two words",
    "it's",
    "'''",
    'say "please"',
    "$(touch run_by_a_plan)",
    "`touch run_by_a_plan`",
    "${HOME}",
    "first; touch run_by_a_plan",
    "a && b | c > run_by_a_plan",
    "-leading",
    "-n",
    "--",
    "Zürich 東京",
    "back\\slash",
    "*",
    "~",
    "# comment",
    "a=b",
    "!history",
    "per%cent",
)
OBEYED: Final = (
    "line\ntouch run_by_a_plan",
    "carriage\rreturn",
    "tab\tstop",
    "\x1b]0;owned\x07",
    "\u202ebackwards",
)
"""Names that a terminal obeys; RocketMQ refuses them where a topic or a group is made."""
PROBE: Final = """
mqadmin() { printf '%s\\0' "$@"; printf '\\001\\0'; }
"""
"""Prints the words that it is given, each ended by NUL, and a line of its own after each call."""

for _name in NAMES + OBEYED:
    CASES.case(_name, members(3), queues("broker-a", 1), queues("broker-b", 1))
    CASES.case(f"{_name} twice", [member(_name), member(_name)], queues("broker-a", 1), queues("broker-b", 1))
CASES.topic("on the evil broker", queues("broker-a"), queues("broker-b"), queues(HOSTILE_BROKER, 2, 4))
CASES.topic("ordered\ntouch run_by_a_plan", queues("broker-a", 1), queues("broker-b", 1), order=True)
CASES.group("reads ordered", members(3), "ordered\ntouch run_by_a_plan")


def _words(commands: list[str], folder: Path) -> list[list[str]]:
    """What a POSIX shell that runs the lines in the folder calls mqadmin with."""
    script = PROBE + "\n".join(commands)
    done = subprocess.run(["sh", "-eu", "-c", script], cwd=folder, capture_output=True, timeout=300, check=True)
    assert done.stderr == b""
    calls = done.stdout.decode("utf-8").split("\1\0")[:-1]
    return [call.split("\0")[:-1] for call in calls]


def test_a_shell_gives_mqadmin_every_word_as_it_was(answered: Answers, tmp_path: Path) -> None:
    runnable = [c for row in answered.rows for c in row["commands"] if not c.startswith("#")]

    seen = _words([c for row in answered.rows for c in row["commands"]], tmp_path)

    assert len(seen) == len(runnable) > 4 * len(NAMES)
    for words, command in zip(seen, runnable, strict=True):
        given = options(command)
        assert words[1] == "-n"
        assert "".join(words[1:]) == "".join(f"{name}{value or ''}" for name, value in given.items())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_topic_and_a_client_of_any_name_are_named_exactly(answered: Answers, name: str) -> None:
    expand = answered.one("EXPAND_QUEUES", topic=name)
    fix = answered.one("FIX_CLIENT_ID", f"{name} twice")

    assert [options(command) for command in expand["commands"]] == [
        {"-n": NAMESERVER, "-b": f"{broker}:10911", "-t": name, "-r": "3", "-w": "3", "-p": "6", "-o": "false"}
        for broker in ("broker-a", "broker-b")
    ]
    assert [options(command)["-g"] for command in fix["commands"]] == [f"{name} twice"] * 2


@pytest.mark.parametrize("name", OBEYED)
def test_a_command_with_a_name_that_a_terminal_obeys_is_a_comment_of_one_line(answered: Answers, name: str) -> None:
    for found in (answered.one("EXPAND_QUEUES", topic=name), answered.one("FIX_CLIENT_ID", f"{name} twice")):
        assert len(found["commands"]) == 2
        for command in found["commands"]:
            assert command.startswith("# mqadmin ")
            assert command.isprintable()
            assert name.encode("unicode_escape").decode() in command


def test_an_address_of_any_form_is_one_word(answered: Answers) -> None:
    (command,) = answered.one("RAISE_READ_QUEUES", topic="on the evil broker")["commands"]

    assert options(command)["-b"] == "$(reboot):10911"
    assert "-b '$(reboot):10911' -t 'on the evil broker'" in command


def test_a_comment_is_one_line_whatever_it_contains(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="ordered\ntouch run_by_a_plan")

    assert found["is_manual"]
    for command in found["commands"]:
        assert command.startswith("# mqadmin updateTopic ")
        assert command.isprintable()


@pytest.mark.parametrize(
    ("rule", "figures"),
    [
        ("LAG_STATE", {"clients": 1, "slow_pulls": {"client_ids": ["{pod}"]}}),
        ("LAG_STATE", {"clients": 1, "closed_brokers": ["{pod}"]}),
        ("ORPHAN_QUEUE", {"orphans": 1, "not_taken_by": ["{pod}"]}),
        ("READ_LESS_THAN_WRITE", {"write_queue_nums": 4}),
        ("READ_LESS_THAN_WRITE", {"write_queue_nums": 4, "broker_perm": 2}),
        ("STUCK_QUEUE", {"queues": [{"cause": "NOT_CREATED"}]}),
    ],
)
def test_braces_in_a_name_are_no_places_of_the_advice(rule: str, figures: dict[str, object]) -> None:
    advised = AdvisedCluster.of(units_of(cluster([]), Policy()).cluster, Policy(), [])
    evidence = msgspec.json.encode(whole(rule, figures)).decode()
    found = Finding(
        rule=rule, severity=WARNING, broker_name="{pod}", subjects=("{pod}",), evidence=evidence, message="{pod}"
    )

    assert "{pod}" in advice_on(found, advised)
