"""The runbook: what was approved and nothing else, and what is pasted from it into a real shell."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.settings.policy import Policy
from tests.recommendation.test_hostile_names import NAMES
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

FREEZE = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-22T00:00:00Z", "why": "the sale"}
DEFAULTS = Policy()
UPDATE = commands.update_topic("10.0.9.1:9876", "10.0.1.1:10911", "pay", (6, 6), 6, "false")
ROUTE = commands.topic_route("10.0.9.1:9876", "pay")
LONG_AGO = {"taken_at": "2020-01-01T00:00:00Z"}
FAR_AHEAD = {"taken_at": "2099-01-01T00:00:00Z"}


def a_task(**changes: Any) -> dict[str, Any]:
    told = {
        "id": "aaaaaaaaaaaa",
        "rules": ["HOT_QUEUE"],
        "commands": [UPDATE],
        "check_command": ROUTE,
        "check_shows": "#ReadQueue is 6.",
        "way_back": "Set 4 again.",
    }
    return a_recommendation(**(told | changes))


HOT: Final = a_finding("HOT_QUEUE", consumer_group=None, topic="pay")


def files(
    *recommendations: dict[str, Any],
    cluster: Any = FAR_AHEAD,
    policy: Policy = DEFAULTS,
    findings: Sequence[dict[str, Any]] = (HOT,),
    **answer: Any,
) -> Any:
    """runbook.json and runbook.md; ``answer`` changes an approval of everything."""
    rows = {
        "cluster": [a_cluster(**cluster)],
        "group_status": [a_group()],
        "finding": findings,
        "recommendation": recommendations,
    }
    ids = [one["id"] for one in recommendations]
    approval = {"status": "APPROVED", "by": "li", "at": cluster["taken_at"], "why": "tonight", "recommendations": ids}
    plan = plan_of(rows, policy=policy, approval=None if answer.get("missing") else approval | answer)
    handed = handed_over(plan, policy, Observed())
    return json.loads(handed["runbook.json"] or b""), (handed["runbook.md"] or b"").decode()


def blocks(markdown: str) -> list[str]:
    """What a person can paste."""
    return [body for _, body in re.findall(r"(?ms)^(`{3,})sh\n(.*?)\n\1$", markdown)]


def called(pasted: str, folder: Path) -> list[list[str]]:
    """The words of each call of mqadmin that a shell makes of a text."""
    tool, record = folder / "mqadmin", folder / "record"
    tool.write_text(
        '#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word" >> "$RECORD"; done\nprintf "\\1\\0" >> "$RECORD"\n'
    )
    tool.chmod(0o755)
    record.write_bytes(b"")
    here = {"PATH": f"{folder}:/usr/bin:/bin", "RECORD": str(record), "LC_ALL": "C.UTF-8"}
    subprocess.run(["bash", "-c", pasted], env=here, cwd=folder, timeout=60, check=False)
    calls = record.read_bytes().decode().split("\1\0")[:-1]
    return [call.split("\0")[:-1] for call in calls]


def test_it_has_the_approved_recommendation_with_all_that_a_person_needs(tmp_path: Path) -> None:
    runbook, markdown = files(a_task())

    (task,) = runbook["tasks"]
    assert runbook["status"] == "APPROVED"
    assert (runbook["approval"]["by"], runbook["valid_until"]) == ("li", "2099-01-02T00:00:00Z")
    assert (task["recommendation"], task["way_back"]) == ("aaaaaaaaaaaa", "Set 4 again.")
    change, check = blocks(markdown)
    assert called(change, tmp_path) == [UPDATE.split()[1:]]
    assert check == ROUTE
    assert "by li" in markdown
    assert "2099" in markdown


def test_a_change_that_is_pasted_too_late_does_nothing(tmp_path: Path) -> None:
    _, markdown = files(a_task(), cluster=LONG_AGO)

    change, check = blocks(markdown)
    assert called(change, tmp_path) == []
    assert called(check, tmp_path) == [ROUTE.split()[1:]]


def test_without_an_approval_it_says_so_and_how_it_is_done() -> None:
    runbook, markdown = files(a_task(), missing=True)

    assert (runbook["status"], runbook["approval"], runbook["tasks"]) == ("NOTHING_APPROVED", None, [])
    assert "answer the question" in markdown
    assert not blocks(markdown)


def test_what_was_rejected_has_no_task() -> None:
    runbook, markdown = files(
        a_task(),
        a_task(id="bbbbbbbbbbbb", topic="other"),
        approved=["aaaaaaaaaaaa"],
        rejected=["bbbbbbbbbbbb"],
        reasons={},
    )

    assert [task["recommendation"] for task in runbook["tasks"]] == ["aaaaaaaaaaaa"]
    assert "bbbbbbbbbbbb" not in markdown


def test_the_worst_comes_first_as_on_the_page() -> None:
    unread = a_finding("READ_LESS_THAN_WRITE", consumer_group=None, topic="zoo", severity="CRITICAL")
    urgent = a_task(id="bbbbbbbbbbbb", action="RAISE_READ_QUEUES", topic="zoo", rules=["READ_LESS_THAN_WRITE"])
    runbook, markdown = files(a_task(), urgent, findings=[HOT, unread])

    assert [task["recommendation"] for task in runbook["tasks"]] == ["bbbbbbbbbbbb", "aaaaaaaaaaaa"]
    assert markdown.index("bbbbbbbbbbbb") < markdown.index("aaaaaaaaaaaa")


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        ("TOO_OLD", {"at": "2099-01-02T00:00:00Z"}),
        ("FROZEN", {"cluster": {"taken_at": "2026-11-20T02:00:00Z"}, "policy": Policy(freeze=(FREEZE,))}),
    ],
)
def test_it_refuses_a_snapshot_that_is_too_old_and_a_freeze(status: str, changes: dict[str, Any]) -> None:
    runbook, markdown = files(a_task(), **changes)

    assert (runbook["status"], runbook["tasks"], blocks(markdown)) == (status, [], [])


def test_each_step_has_its_gate_and_its_check() -> None:
    steps = [
        {"title": "Fewer writes", "expect": "Nothing new.", "commands": [UPDATE], "blocks": ["a producer sends"]},
        {"title": "Wait", "expect": "It drains.", "checks": [{"command": ROUTE, "shows": "lag 0"}]},
    ]
    runbook, markdown = files(a_task(commands=[], steps=json.dumps(steps)))

    (task,) = runbook["tasks"]
    assert [step["title"] for step in task["steps"]] == ["Fewer writes", "Wait"]
    assert "Stop here if this is so: a producer sends" in markdown
    assert len(blocks(markdown)) == 3


def test_what_a_person_must_decide_or_fill_in_cannot_be_pasted() -> None:
    unfinished = commands.update_topic("10.0.9.1:9876", "<address of broker-c>", "pay", (6, 6), 6, "false")
    for changes in ({"commands": [unfinished]}, {"is_manual": True}, {"commands": ["rm -rf /"]}):
        runbook, markdown = files(a_task(**changes))
        assert [order["paste"] for order in runbook["tasks"][0]["steps"][0]["orders"]] == [None]
        assert blocks(markdown) == [ROUTE]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_name_is_the_shell_gets_it_as_it_is_or_not_at_all(name: str, tmp_path: Path) -> None:
    update = commands.update_topic("10.0.9.1:9876", "10.0.1.1:10911", name, (6, 6), 6, "false")
    runbook, markdown = files(
        a_task(topic=name, commands=[update], reason=f"Because of {name}.", check_command=None, check_shows=None)
    )

    assert all(character.isprintable() or character == "\n" for character in markdown)
    assert not re.search(r"(?<!\\)[<>]", re.sub(r"(?ms)^(`{3,})sh\n.*?\n\1$", "", markdown))
    for pasted in blocks(markdown):
        ((*_, topic_option, topic),) = [call[:7] for call in called(pasted, tmp_path)]
        assert name in (topic, topic_option.removeprefix("-t"), topic.removeprefix("-t"))
    assert sorted(path.name for path in tmp_path.iterdir()) in ([], ["mqadmin", "record"])
    assert runbook["tasks"][0]["topic"] == name


TAKEN = re.compile(r"[%|a-zA-Z0-9_-]+")
"""Names that RocketMQ takes (TopicValidator, rocketmq-all-5.3.3)."""
PIECES = st.sampled_from([
    *"'\"\\$`!#&;|<>(){}[]*?~=%- \t\n\r\x1b\u202e\u200b\ufeff\u2028\x85",
    "$'",
    "<<EOF",
    "a1",
    "东",
])


@given(st.lists(st.one_of(st.text(min_size=1), st.lists(PIECES, min_size=1).map("".join)), min_size=8, unique=True))
@settings(max_examples=15)
def test_of_any_names_at_all_each_pasted_line_is_one_call_with_that_name(names: list[str]) -> None:
    updates = (commands.update_topic("10.0.9.1:9876", "10.0.1.1:10911", name, (6, 6), 6, "false") for name in names)
    tasks = [
        a_task(id=f"{index:012x}", topic=name, commands=[update], check_command=None, check_shows=None)
        for index, (name, update) in enumerate(zip(names, updates, strict=True))
    ]
    _, markdown = files(*tasks)
    pasted = blocks(markdown)
    script = "\n".join(pasted)
    assert len(script.splitlines()) == len(pasted)
    subprocess.run(["bash", "-n", "-c", script], timeout=60, check=True)

    with TemporaryDirectory() as folder:
        topics = [call[5].removeprefix("-t") if call[5] != "-t" else call[6] for call in called(script, Path(folder))]
        assert len(topics) == len(pasted)
        assert set(topics) <= set(names)
        assert {name for name in names if TAKEN.fullmatch(name)} <= set(topics)
        assert sorted(path.name for path in Path(folder).iterdir()) == ["mqadmin", "record"]
