"""runbook.md and runbook.json: one runbook, for people and for programs."""

from collections.abc import Iterator
from typing import Final

import msgspec

from rocketmq_capacity.handover.markdown import check_of, fenced, text_of
from rocketmq_capacity.handover.runbook import Runbook, RunbookStep, Task
from rocketmq_capacity.plan_file.steps import Check

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
    yield f"# Runbook of {text_of(runbook.cluster_name)}"
    yield ""
    yield f"- Snapshot: {text_of(runbook.taken_at)}, fingerprint {text_of(runbook.fingerprint)}"
    yield f"- Do not act after: {text_of(runbook.valid_until or 'unknown')}"
    if runbook.approval is None:
        yield "- Approval: none"
    else:
        approval = runbook.approval
        yield f"- Approval: by {text_of(approval.by or 'nobody')} at {text_of(approval.at)}"
        yield f"- Reason: {text_of(approval.why or 'none was given')}"
        yield f"- Digest: {text_of(approval.digest or 'none')}"
    yield ""
    yield f"**{runbook.status}.** {text_of(runbook.why)}"
    if runbook.status == "NOTHING_APPROVED":
        yield ""
        yield HOW
    for number, task in enumerate(runbook.tasks, 1):
        yield ""
        yield from _task(number, task)


def _task(number: int, task: Task) -> Iterator[str]:
    place = ", ".join(name for name in (task.consumer_group, task.topic) if name is not None)
    yield f"## {number}. {text_of(task.action)} {text_of(place)}".rstrip()
    yield ""
    yield text_of(task.reason)
    yield ""
    yield f"- Recommendation: {text_of(task.recommendation)}"
    yield f"- Who: {text_of(task.who or 'the policy names no owner')}"
    for place_of_step, step in enumerate(task.steps, 1):
        yield ""
        yield from _step(f"{number}.{place_of_step}", step)
    if task.checks:
        yield ""
        yield "### At the end"
        yield from _checks(task.checks)
    if task.way_back is not None:
        yield ""
        yield f"The way back: {text_of(task.way_back)}"


def _step(number: str, step: RunbookStep) -> Iterator[str]:
    yield f"### {number} {text_of(step.title)}"
    yield ""
    yield f"Expect: {text_of(step.expect)}"
    for block in step.blocks:
        yield ""
        yield f"Stop here if this is so: {text_of(block)}"
    for order in step.orders:
        yield ""
        if order.paste is not None:
            yield from fenced(order.paste)
        elif order.kind == "NOTE":
            yield f"Note: {text_of(order.command)}"
        else:
            yield f"By hand: {text_of(order.command)}"
    if not step.orders:
        yield ""
        yield "No command does it."
    yield from _checks(step.checks)
    if step.way_back is not None:
        yield ""
        yield f"The way back: {text_of(step.way_back)}"


def _checks(checks: tuple[Check, ...]) -> Iterator[str]:
    for check in checks:
        yield ""
        yield from check_of(check)
