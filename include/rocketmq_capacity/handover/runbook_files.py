"""runbook.md and runbook.json: one runbook, for people and for programs."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from rocketmq_capacity.handover.runbook import Runbook, RunbookStep, Task, pastes
from rocketmq_capacity.plan_file.steps import Check
from rocketmq_capacity.plan_file.visible import visible

SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|!&~])")
"""What Markdown or HTML in it would take for more than text."""
HOW: Final = (
    "Open the plan in Airflow and answer the question of its run, with a reason; the run then writes this file again. "
    "The command line asks nobody."
)


def json_of(runbook: Runbook) -> bytes:
    """The bytes of runbook.json; equal for equal plans."""
    return msgspec.json.format(msgspec.json.encode(runbook), indent=2) + b"\n"


def markdown_of(runbook: Runbook) -> bytes:
    """The bytes of runbook.md."""
    return "".join(f"{line}\n" for line in _lines(runbook)).encode()


def _lines(runbook: Runbook) -> Iterator[str]:
    yield f"# Runbook of {_text(runbook.cluster_name)}"
    yield ""
    yield f"- Snapshot: {_text(runbook.taken_at)}, fingerprint {_text(runbook.fingerprint)}"
    yield f"- Do not act after: {_text(runbook.valid_until or 'unknown')}"
    if runbook.approval is None:
        yield "- Approval: none"
    else:
        approval = runbook.approval
        yield f"- Approval: by {_text(approval.by or 'nobody')} at {_text(approval.at)}"
        yield f"- Reason: {_text(approval.why or 'none was given')}"
        yield f"- Digest: {_text(approval.digest or 'none')}"
    yield ""
    yield f"**{runbook.status}.** {_text(runbook.why)}"
    if runbook.status == "NOTHING_APPROVED":
        yield ""
        yield HOW
    for number, task in enumerate(runbook.tasks, 1):
        yield ""
        yield from _task(number, task)


def _task(number: int, task: Task) -> Iterator[str]:
    place = ", ".join(name for name in (task.consumer_group, task.topic) if name is not None)
    yield f"## {number}. {_text(task.action)} {_text(place)}".rstrip()
    yield ""
    yield _text(task.reason)
    yield ""
    yield f"- Recommendation: {_text(task.recommendation)}"
    yield f"- Who: {_text(task.who or 'the policy names no owner')}"
    for place_of_step, step in enumerate(task.steps, 1):
        yield ""
        yield from _step(f"{number}.{place_of_step}", step)
    if task.checks:
        yield ""
        yield "### At the end"
        yield from _checks(task.checks)
    if task.way_back is not None:
        yield ""
        yield f"The way back: {_text(task.way_back)}"


def _step(number: str, step: RunbookStep) -> Iterator[str]:
    yield f"### {number} {_text(step.title)}"
    yield ""
    yield f"Expect: {_text(step.expect)}"
    for block in step.blocks:
        yield ""
        yield f"Stop here if this is so: {_text(block)}"
    for order in step.orders:
        yield ""
        if order.paste is not None:
            yield from _fenced(order.paste)
        elif order.kind == "NOTE":
            yield f"Note: {_text(order.command)}"
        else:
            yield f"By hand: {_text(order.command)}"
    if not step.orders:
        yield ""
        yield "No command does it."
    yield from _checks(step.checks)
    if step.way_back is not None:
        yield ""
        yield f"The way back: {_text(step.way_back)}"


def _checks(checks: tuple[Check, ...]) -> Iterator[str]:
    for check in checks:
        yield ""
        yield f"Check, it must show: {_text(check.shows)}"
        yield ""
        if pastes(check.command):
            yield from _fenced(check.command)
        else:
            yield f"By hand: {_text(check.command)}"


def _fenced(command: str) -> Iterator[str]:
    """A block of code; its fence is longer than any run of backticks in the command."""
    longest = max((len(run) for run in re.findall(r"`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}sh"
    yield command
    yield fence


def _text(text: str) -> str:
    """Text of the plan as Markdown shows it: every character is visible, and none is mark-up."""
    return SPECIAL.sub(r"\\\1", visible(text))
