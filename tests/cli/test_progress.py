"""How far ``plan`` is, on standard error and on a terminal; standard output has only the result."""

import json
import re
from collections import Counter
from typing import Final

import pytest

from tests.cli.planned import SAMPLE, Planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STEPS: Final = ("snapshot", "allocate", "assess", "recommend", "publish")
LINE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO (.*)")


@pytest.mark.parametrize(("made", "suffix"), [("plain", ""), ("what_if", " (changed)")])
def test_each_step_is_reported_with_what_it_made_and_without_lines_of_spark(
    made: str, suffix: str, plain: Planned, what_if: Planned
) -> None:
    sample = {"plain": plain, "what_if": what_if}[made]
    matched = [LINE.fullmatch(line) for line in sample.said.splitlines()]
    assert all(matched), sample.said
    lines = [line[1] for line in matched if line]
    sides = {""} | {suffix}
    began = [line.removesuffix(": begins") for line in lines if re.fullmatch(r"[a-z]+( \(\w+\))?: begins", line)]
    assert Counter(began) == Counter(
        [f"{step}{side}" for step in STEPS[:3] for side in sides]
        + [f"{step}{suffix}" for step in STEPS[3:]]
        + [f"compare{suffix}"] * bool(suffix)
    )
    outcome = dict(re.findall(r"(?m)^([a-z]+(?: \(\w+\))?): done in \d+(?:\.\d)? s: (.*)$", "\n".join(lines)))
    assert set(began) == outcome.keys() - {"plan"}
    assert all(re.search(r"peak memory [\d,]+ MiB$", told) for told in outcome.values())

    plan = json.loads((sample.folder / "plan.json").read_bytes())
    number = Counter(finding["severity"] for finding in plan["findings"])
    found = f"findings: {number['CRITICAL']} CRITICAL, {number['WARNING']} WARNING, {number['INFO']} INFO; "
    assert outcome[f"assess{suffix}"].startswith(found)
    assert outcome[f"recommend{suffix}"].startswith(f"{len(plan['recommendations'])} recommendations, ")
    inventory = json.loads(SAMPLE.read_bytes())
    held = f"{inventory['cluster_name']}, {inventory['taken_at']}: {len(inventory['consumer_groups'])} groups, "
    assert outcome["snapshot"].startswith(held)
    judged = len(plan["groups"])
    assert f"assess: groups: begins, {judged} to do" in lines
    assert any(re.fullmatch(rf"assess: groups: {judged} done in \d+(\.\d)? s", line) for line in lines)
    assert re.fullmatch(rf"plan: done in \d+(\.\d)? s, in the folder {re.escape(str(sample.folder))}", lines[-1])


def test_a_quiet_plan_says_where_the_result_is_and_no_more(again: Planned) -> None:
    assert again.said == ""


def test_a_terminal_shows_a_row_for_each_step(with_history: Planned) -> None:
    drawn = with_history.said
    assert "\x1b[3" not in drawn
    *_, plan = text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn).splitlines()
    assert plan.startswith("plan: done in ")
    rows = [line for line in text if line.startswith("* ")][-len(STEPS) - 3 :]
    named = [re.split(r"  |(?<=\))", row.removeprefix("* "))[0] for row in rows]
    assert [name for name in named if "(" not in name] == list(STEPS)
    assert [name for name in named if "(" in name] == [f"{step} (before)" for step in STEPS[:3]]
    assert all(re.search(r"peak memory [\d,]+ MiB +\d+(\.\d)? s *$", row) for row in rows)
