"""Freezes: commands are comments while nothing may be changed."""

import csv
import io
import json
import shlex

import pytest

from rocketmq_capacity.plan_file.accepted import PlanFreeze
from rocketmq_capacity.report.scripts import scripts_of
from rocketmq_capacity.report.tables import recommendations_csv
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import read_page, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

COMMAND = "mqadmin updateTopic -n 10.0.9.1:9876 -b 10.0.1.1:10911 -t pay -r 6 -w 6 -p 6 -o false"
FROZEN = f"# frozen until 2027-01-03T00:00:00Z (year's end): {COMMAND}"
NOTE = (
    "Nothing may be changed until 2027-01-03T00:00:00Z (year's end): commands that may change the cluster are comments."
)
COMING = (
    "Nothing may be changed from 2026-12-20T00:00:00Z until 2027-01-03T00:00:00Z (year's end):"
    " do not act on this plan after it has begun."
)
FREEZE = {"from": "2026-12-20T00:00:00Z", "to": "2027-01-03T00:00:00Z", "why": "year's end"}
WITHIN = "2026-12-24T02:00:00Z"


def freezing(*freezes):
    return Policy.model_validate({"freeze": list(freezes)})


def rows(taken_at, **more):
    return {
        "cluster": [a_cluster(taken_at=taken_at)],
        "group_status": [a_group()],
        "finding": [a_finding()],
        "recommendation": [a_recommendation(commands=[COMMAND], **more)],
    }


@pytest.mark.parametrize(
    ("taken_at", "is_frozen"),
    [
        ("2026-12-19T23:59:59Z", False),
        ("2026-12-20T00:00:00Z", True),
        ("2027-01-02T23:59:59Z", True),
        ("2027-01-03T00:00:00Z", False),
    ],
)
def test_commands_are_comments_from_the_beginning_of_a_freeze_until_before_its_end(taken_at, is_frozen):
    plan = plan_of(rows(taken_at), policy=freezing(FREEZE))

    assert plan.recommendations[0].commands == (FROZEN if is_frozen else COMMAND,)
    assert (NOTE in plan.notes) is is_frozen
    assert (plan.freeze is not None) is is_frozen


@pytest.mark.parametrize(
    ("taken_at", "valid_until", "notes"),
    [
        ("2026-12-18T23:59:59Z", "2026-12-19T23:59:59Z", ()),
        ("2026-12-19T00:00:00Z", "2026-12-20T00:00:00Z", ()),
        ("2026-12-19T00:00:01Z", "2026-12-20T00:00:00Z", (COMING,)),
        ("2026-12-19T23:59:59Z", "2026-12-20T00:00:00Z", (COMING,)),
        (WITHIN, "2026-12-25T02:00:00Z", (NOTE,)),
    ],
)
def test_a_plan_is_valid_until_the_next_freeze_begins_and_says_so(taken_at, valid_until, notes):
    later = FREEZE | {"from": "2026-12-24T12:00:00Z"}

    plan = plan_of(rows(taken_at), policy=freezing(later, FREEZE))

    assert (plan.valid_until, plan.notes) == (valid_until, notes)


def test_of_several_freezes_the_one_that_ends_last_is_told():
    shorter = FREEZE | {"to": "2026-12-27", "why": "Christmas"}

    plan = plan_of(rows(WITHIN), policy=freezing(shorter, FREEZE, shorter))

    assert plan.freeze == PlanFreeze(begins=FREEZE["from"], ends=FREEZE["to"], why="year's end")


def test_every_line_of_a_command_is_a_comment_and_no_comment_becomes_a_second_one():
    lines = ["echo one\necho two", "# forbidden: echo three"]
    found = rows(WITHIN)
    found["recommendation"] = [a_recommendation(commands=lines)]

    plan = plan_of(found, policy=freezing(FREEZE))

    assert [line for command in plan.recommendations[0].commands for line in command.split("\n")] == [
        "# frozen until 2027-01-03T00:00:00Z (year's end): echo one",
        "# frozen until 2027-01-03T00:00:00Z (year's end): echo two",
        "# forbidden: echo three",
    ]


def test_the_commands_of_steps_are_comments_too_and_checks_which_only_look_stay():
    check = {"command": "mqadmin topicStatus", "shows": "nothing"}
    step = {"title": "Less", "expect": "less", "commands": [COMMAND], "checks": [check]}
    plan = plan_of(rows(WITHIN, steps=json.dumps([step])), policy=freezing(FREEZE))

    steps = plan.recommendations[0].steps
    assert steps
    (only,) = steps
    assert (only.commands, only.checks[0].command) == ((FROZEN,), "mqadmin topicStatus")


def test_the_way_to_what_a_what_if_changes_is_frozen_too():
    def of(*freezes):
        made = plan_of({"cluster": [a_cluster(taken_at=WITHIN)]}, policy=freezing(*freezes), scenario=a_scenario())
        assert made.scenario
        assert made.scenario.queue_plans
        (found,) = made.scenario.queue_plans
        return [step.commands for step in found.steps]

    less = "mqadmin updateTopic -r 4 -w 2"
    assert of() == [(less,), ()]
    assert of(FREEZE) == [(f"# frozen until 2027-01-03T00:00:00Z (year's end): {less}",), ()]


def test_a_frozen_recommendation_still_says_that_it_changes_the_cluster():
    assert plan_of(rows(WITHIN), policy=freezing(FREEZE)).recommendations[0].changes_cluster


def test_a_script_changes_nothing_in_a_freeze_and_says_so():
    changing = rows(WITHIN, consumer_group="g_pay")
    (usual,) = (b"".join(lines).decode() for _, lines in scripts_of(plan_of(changing)))
    assert "change updateTopic" in usual

    (frozen,) = (b"".join(lines).decode() for _, lines in scripts_of(plan_of(changing, policy=freezing(FREEZE))))
    assert "change updateTopic" not in frozen
    assert f"say {shlex.quote(FROZEN)}" in frozen
    assert "# Frozen until 2027-01-03T00:00:00Z (year's end): it only looks." in frozen.splitlines()


def test_the_csv_and_the_page_have_the_comments_and_the_page_says_so_on_top():
    (line,) = csv.DictReader(
        io.StringIO(recommendations_csv(plan_of(rows(WITHIN), policy=freezing(FREEZE))).decode(), newline="")
    )
    assert line["commands"] == FROZEN

    text = text_of(read_page(page_of(rows(WITHIN), policy=freezing(FREEZE))))
    assert FROZEN in text
    assert text.count("mqadmin updateTopic") == text.count(FROZEN)
    assert text.index(NOTE) < text.index("What to do", text.index("Skip to the plan") + 400)


def test_commands_that_only_look_stay():
    looks = "mqadmin consumerProgress -n 10.0.9.1:9876 -g g_pay -s true"
    found = rows(WITHIN)
    found["recommendation"] = [a_recommendation(commands=[looks, COMMAND])]

    assert plan_of(found, policy=freezing(FREEZE)).recommendations[0].commands == (looks, FROZEN)
