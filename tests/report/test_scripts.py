"""The scripts of a plan, run by a real shell with a mqadmin that records what it is called with."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.report.scripts import script_names
from rocketmq_capacity.settings.policy import Policy
from tests.recommendation.test_hostile_names import NAMES
from tests.report.from_rows import page_of, plan_of, publish_rows
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import elements, read_page, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation
from tests.report.varied_cluster import varied_rows

DEFAULTS = Policy()
NAMESERVER = "10.0.9.1:9876;10.0.9.2:9876"
UPDATE = commands.update_topic(NAMESERVER, "10.0.1.1:10911", "pay", (6, 6), 6, "false")
ROUTE = commands.topic_route(NAMESERVER, "pay")
RECORDER = """#!/bin/sh
for word in "$@"; do printf '%s\\0' "$word" >> "$RECORD"; done
printf '\\001\\0' >> "$RECORD"
echo 'answer of mqadmin'
"""
"""A mqadmin that writes down the words of each call, each ended by NUL."""


def now(**ago):
    return f"{datetime.now(UTC) - timedelta(**ago):%Y-%m-%dT%H:%M:%SZ}"


def an_answer(topic="pay", **changes):
    told = {
        "id": "aaaaaaaaaaaa",
        "topic": topic,
        "consumer_group": None,
        "rules": ["HOT_QUEUE"],
        "commands": [UPDATE],
        "check_command": ROUTE,
        "check_shows": "#ReadQueue is 6.",
        "way_back": "Set 4 again.",
    }
    return a_recommendation(**{**told, **changes})


def rows_of(*answers, taken_at=None):
    return {
        "cluster": [a_cluster(taken_at=taken_at or now(hours=1))],
        "group_status": [a_group()],
        "finding": [a_finding("HOT_QUEUE", consumer_group=None, topic="pay", message="The busiest gets $(all).")],
        "recommendation": list(answers),
    }


@pytest.fixture
def run(tmp_path):
    """Publishes rows and runs their only script; gives its end and the calls of mqadmin."""
    tools, record = tmp_path / "tools", tmp_path / "record"
    tools.mkdir()
    (tools / "mqadmin").write_text(RECORDER, encoding="utf-8")
    (tools / "mqadmin").chmod(0o755)

    def run_script(rows, *arguments, says="", policy=DEFAULTS, **variables):
        publish_rows(rows, tmp_path / "plan", policy=policy)
        (script,) = (tmp_path / "plan" / "scripts").iterdir()
        record.write_bytes(b"")
        done = subprocess.run(
            ["bash", script, *arguments],
            input=says,
            env={"PATH": f"{tools}:{os.environ['PATH']}", "RECORD": str(record), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        calls = [call.split("\0")[:-1] for call in record.read_text(encoding="utf-8").split("\1\0")[:-1]]
        return done, calls

    return run_script


LOOK = ["topicRoute", "-n", NAMESERVER, "-t", "pay", "-l"]
CHANGE = [
    "updateTopic",
    "-n",
    NAMESERVER,
    *["-b", "10.0.1.1:10911", "-t", "pay", "-r", "6", "-w", "6", "-p", "6", "-o", "false"],
]


def test_a_dry_run_calls_nothing_and_shows_the_state_the_change_the_check_and_the_way_back(run):
    done, calls = run(rows_of(an_answer()))

    assert done.returncode == 0
    assert calls == []
    shown = done.stdout.splitlines()
    nameserver = NAMESERVER.replace(";", "\\;")
    look, change = (f"+ mqadmin {' '.join(words)}".replace(NAMESERVER, nameserver) for words in (LOOK, CHANGE))
    in_order = ["The busiest gets $(all).", look, change, look, "It must show: #ReadQueue is 6."]
    places = [shown.index(line, start) for start, line in zip((0, 0, 0, shown.index(change), 0), in_order, strict=True)]
    assert places == sorted(places)
    assert shown[-1] == "The way back: Set 4 again."


def test_applied_it_looks_first_then_changes_then_checks(run):
    done, calls = run(rows_of(an_answer()), "--apply", says="yes\nyes\n")

    assert done.returncode == 0, done.stderr
    assert calls == [LOOK, CHANGE, LOOK]
    assert "answer of mqadmin" in done.stdout


@pytest.mark.parametrize(("says", "expected"), [("", [LOOK]), ("no\n", [LOOK]), ("yes\nno\n", [LOOK]), ("y\n", [LOOK])])
def test_it_changes_nothing_unless_a_person_says_yes_twice(run, says, expected):
    done, calls = run(rows_of(an_answer()), "--apply", says=says)

    assert done.returncode == 3
    assert calls == expected
    assert "Nothing more is run." in done.stdout


def test_it_can_be_agreed_to_beforehand(run):
    assert run(rows_of(an_answer()), "--apply", "--yes")[1] == [LOOK, CHANGE, LOOK]


@pytest.mark.parametrize(
    ("age", "valid", "arguments", "runs"),
    [
        (23, 24, [], True),
        (25, 24, [], False),
        (25, 24, ["--even-if-old"], True),
        (5, 6, [], True),
        (7, 6, [], False),
        (25, 48, [], False),
    ],
)
def test_a_snapshot_of_more_than_a_day_and_a_plan_that_is_not_valid_any_more_are_refused(
    run, age, valid, arguments, runs
):
    policy = Policy.model_validate({"validity": {"hours": float(valid)}})
    rows = rows_of(an_answer(), taken_at=now(hours=age))
    done, calls = run(rows, "--apply", "--yes", *arguments, policy=policy)

    assert bool(calls) is runs
    assert done.returncode == (0 if runs else 3)
    assert ("plan the cluster again" in done.stderr) is not runs


def test_the_name_server_is_the_plans_or_that_of_the_environment_or_of_the_argument(run):
    rows = rows_of(an_answer())

    for arguments, variables, expected in (
        ([], {}, NAMESERVER),
        ([], {"NAMESRV": "env:1"}, "env:1"),
        (["given:2"], {"NAMESRV": "env:1"}, "given:2"),
    ):
        _, calls = run(rows, "--apply", "--yes", *arguments, **variables)
        assert {words[2] for words in calls} == {expected}


def test_without_any_name_server_nothing_is_called(run):
    unknown = commands.topic_route(commands.placeholder("name server"), "pay")
    done, calls = run(rows_of(an_answer(commands=[unknown], check_command=unknown)), "--apply", "--yes")

    assert (done.returncode, calls) == (2, [])
    assert done.stderr == "No name server: give host:port, or set NAMESRV.\n"


def test_a_failed_command_ends_the_script(run, tmp_path):
    (tmp_path / "tools" / "mqadmin").write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    done, _ = run(rows_of(an_answer()), "--apply", "--yes")

    assert done.returncode == 7


REFUSES = """#!/bin/sh
echo "$1" >> "$RECORD"
case $1 in {subcommand})
  echo 'org.apache.rocketmq.tools.command.SubCommandException: the command failed' >&2
  printf '\\tat org.apache.rocketmq.tools.command.MQAdminStartup.main(MQAdminStartup.java:128)\\n' >&2 ;;
esac
echo answered
"""
"""A mqadmin that does as the real one: if a broker refuses, it shows an exception, and ends with 0."""


@pytest.mark.parametrize(
    ("refused", "status", "calls"),
    [
        ("updateTopic", 1, ["topicRoute", "updateTopic"]),
        ("topicRoute", 0, ["topicRoute", "updateTopic", "updateTopic", "topicRoute"]),
    ],
)
def test_a_change_that_a_broker_refuses_ends_the_script_although_mqadmin_ends_with_0(
    run, tmp_path, refused, status, calls
):
    (tmp_path / "tools" / "mqadmin").write_text(REFUSES.format(subcommand=refused), encoding="utf-8")
    other = commands.update_topic(NAMESERVER, "10.0.1.2:10911", "pay", (6, 6), 6, "false")
    done, _ = run(rows_of(an_answer(commands=[UPDATE, other])), "--apply", "--yes")

    assert (done.returncode, (tmp_path / "record").read_text(encoding="utf-8").split()) == (status, calls)
    assert done.stderr.count("SubCommandException: the command failed") == (1 if status else 2)
    assert done.stdout.count("answered") == len(calls)
    assert ("It failed. Nothing more is run." in done.stderr) is bool(status)


def test_an_unknown_argument_is_refused(run):
    done, calls = run(rows_of(an_answer()), "--aply")

    assert (done.returncode, calls) == (2, [])


def test_what_is_a_comment_or_manual_or_incomplete_is_never_run(run):
    status = ["topicStatus", "-n", NAMESERVER, "-t", "pay"]
    look = commands.topic_status(NAMESERVER, "pay")
    to_fill_in = commands.set_retry_queues(NAMESERVER, "10.0.1.1:10911", "g_pay", 2)
    for answer, expected in (
        (an_answer(commands=[commands.comment(UPDATE)]), [LOOK, LOOK]),
        (an_answer(commands=[to_fill_in]), [LOOK, LOOK]),
        (
            an_answer(commands=[UPDATE, look], is_manual=True),
            [LOOK, status, LOOK],
        ),
    ):
        done, calls = run(rows_of(answer), "--apply", "--yes")
        assert calls == expected
        assert "\n# " in done.stdout


def test_a_change_in_steps_asks_before_each_of_them(run):
    steps = [
        {"title": f"Step of {count}", "expect": "It spreads.", "commands": [command], "blocks": ["It is night."]}
        | {"checks": [{"command": ROUTE, "shows": "the new number"}], "way_back": None}
        for count in (5, 6)
        for command in [commands.update_topic(NAMESERVER, "10.0.1.1:10911", "pay", (count, 6), 6, "false")]
    ]
    answer = an_answer(steps=json.dumps(steps), commands=[])
    done, calls = run(rows_of(answer), "--apply", says="yes\nyes\nyes\nno\n")

    assert done.returncode == 3
    assert [words[0] for words in calls] == ["topicRoute", "updateTopic", "topicRoute"]
    assert "Stop here if this is so: It is night." in done.stdout

    # Whether the checks of a step show what they should, as that its queues are read to their end, a person must see.
    for says, number in (("", 1), ("yes\n", 2)):
        done, calls = run(rows_of(answer), "--apply", "--yes", says=says)
        assert (done.returncode, sum(words[0] == "updateTopic" for words in calls)) == (3 if number == 1 else 0, number)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_form_reaches_mqadmin_as_it_is_or_there_is_no_script(run, tmp_path, name):
    update = commands.update_topic(NAMESERVER, "10.0.1.1:10911", name, (6, 6), 6, "false")
    rows = rows_of(an_answer(name, commands=[update], check_command=commands.topic_route(NAMESERVER, name)))
    rows["finding"] = [a_finding("HOT_QUEUE", consumer_group=None, topic=name, message=f"Of {name}.")]
    if not name.isprintable():
        publish_rows(rows, tmp_path / "plan")
        assert not list((tmp_path / "plan").glob("scripts/*"))
        return

    dry, none = run(rows)
    _, calls = run(rows, "--apply", "--yes")

    assert none == []
    assert f"Of {name}." in dry.stdout
    topic = [f"-t{name}"] if name.startswith("-") else ["-t", name]
    assert calls[1] == ["updateTopic", "-n", NAMESERVER, "-b", "10.0.1.1:10911", *topic, *CHANGE[7:]]
    assert not (tmp_path / "run_by_a_plan").exists()


def test_escapes_in_texts_never_reach_the_terminal(run):
    rows = rows_of(an_answer(reason="\x1b[2J\u202e gone"))
    done, _ = run(rows)

    assert "[U+001B][2J[U+202E] gone" in done.stdout
    assert "\x1b" not in done.stdout


def test_each_alternative_has_its_own_script_and_answers_that_are_alike_share_one():
    alike = [an_answer("pay"), an_answer("pay2", id="bbbbbbbbbbbb", rules=["IDLE_CONSUMERS"])]
    idle = a_finding(consumer_group="g_pay", topic=None)
    for one in alike:
        one["rules"] = ["IDLE_CONSUMERS"]
    other = a_recommendation("SWITCH_TO_POP", id="cccccccccccc", commands=[UPDATE], consumer_group="g_pay", topic=None)
    by_hand = a_recommendation("SCALE_CONSUMERS", id="dddddddddddd", commands=[], consumer_group="g_pay", topic=None)
    rows = rows_of(*alike, other, by_hand) | {"finding": [idle], "group_status": [a_group(topics=["pay", "pay2"])]}

    made = plan_of(rows)

    (cause,) = made.causes
    assert script_names(made) == {
        "aaaaaaaaaaaa": f"scripts/{cause.id}.aaaaaaaaaaaa.sh",
        "cccccccccccc": f"scripts/{cause.id}.cccccccccccc.sh",
    }


def test_a_what_if_and_a_rejected_answer_have_no_script():
    rows = rows_of(an_answer())
    rejected: dict[str, Any] = {
        "status": "REJECTED",
        "by": "li",
        "at": "2026-11-20T03:00:00Z",
        "why": None,
        "recommendations": ["aaaaaaaaaaaa"],
        "approved": [],
        "rejected": ["aaaaaaaaaaaa"],
        "reasons": {},
    }

    assert script_names(plan_of(rows))
    assert script_names(plan_of(rows, scenario=a_scenario())) == {}
    assert script_names(plan_of(rows, approval=rejected)) == {}


def test_the_page_leads_to_each_script_and_an_old_one_is_deleted(tmp_path):
    rows = rows_of(an_answer(), taken_at="2026-11-20T02:00:00Z")
    publish_rows(rows_of(an_answer(id="bbbbbbbbbbbb"), taken_at="2026-11-20T02:00:00Z"), tmp_path)
    (tmp_path / "scripts" / "old.sh").write_text("", encoding="utf-8")
    publish_rows(rows, tmp_path)

    tree = read_page(page_of(rows))
    (link,) = [a for a in elements(tree, "a") if not a.get("href").startswith("#")]
    assert [f"scripts/{file.name}" for file in (tmp_path / "scripts").iterdir()] == [link.get("href")]
    assert f"bash {link.get('href')}" in text_of(tree)


def test_every_script_is_one_that_a_shell_can_read(tmp_path):
    rows = varied_rows(30)
    publish_rows(rows, tmp_path)
    scripts = sorted((tmp_path / "scripts").iterdir())

    assert len(scripts) > 5
    for script in scripts:
        subprocess.run(["bash", "-n", script], check=True, timeout=60)
