"""runbook.md and runbook.json: one runbook, for people and for programs."""

from collections.abc import Iterator

from rocketmq_capacity.handover.markdown import check_of, fenced, text_of
from rocketmq_capacity.handover.runbook import Runbook, RunbookStep, Task
from rocketmq_capacity.language.current import phrase, words
from rocketmq_capacity.plan_file.steps import StepCheck


def markdown_of(runbook: Runbook) -> bytes:
    """The bytes of runbook.md, in the language of now."""
    return "".join(f"{line}\n" for line in _lines(runbook)).encode()


def _lines(runbook: Runbook) -> Iterator[str]:
    yield phrase("# Runbook of {cluster}", cluster=text_of(runbook.cluster_name))
    yield ""
    taken_at, fingerprint = text_of(runbook.taken_at), text_of(runbook.fingerprint)
    yield phrase("- Snapshot: {taken_at}, fingerprint {fingerprint}", taken_at=taken_at, fingerprint=fingerprint)
    yield phrase("- Do not act after: {moment}", moment=text_of(runbook.valid_until or words("unknown")))
    if runbook.approval is None:
        yield phrase("- Approval: none")
    else:
        approval = runbook.approval
        by = text_of(approval.by) if approval.by else phrase("nobody")
        yield phrase("- Approval: by {by} at {at}", by=by, at=text_of(approval.at))
        yield phrase("- Reason: {why}", why=text_of(approval.why) if approval.why else phrase("none was given"))
        yield phrase("- Digest: {digest}", digest=text_of(approval.digest or words("none")))
    yield ""
    yield f"**{runbook.status}.** {text_of(runbook.why)}"
    if runbook.status == "NOTHING_APPROVED":
        yield ""
        yield phrase(
            "Open the plan in Airflow and answer the question of its run, with a reason; the run then writes this file "
            "again. The command line asks nobody."
        )
    for number, task in enumerate(runbook.tasks, 1):
        yield ""
        yield from _task(number, task)


def _task(number: int, task: Task) -> Iterator[str]:
    place = ", ".join(name for name in (task.consumer_group, task.topic) if name is not None)
    yield f"## {number}. {text_of(task.action)} {text_of(place)}".rstrip()
    yield ""
    yield text_of(task.reason)
    yield ""
    yield phrase("- Recommendation: {id}", id=text_of(task.recommendation))
    yield phrase("- Who: {who}", who=text_of(task.who) if task.who else phrase("the policy names no owner"))
    for place_of_step, step in enumerate(task.steps, 1):
        yield ""
        yield from _step(f"{number}.{place_of_step}", step)
    if task.checks:
        yield ""
        yield phrase("### At the end")
        yield from _checks(task.checks)
    yield from _way_back(task.way_back)


def _step(number: str, step: RunbookStep) -> Iterator[str]:
    yield f"### {number} {text_of(step.title)}"
    yield ""
    yield phrase("Expect: {expect}", expect=text_of(step.expect))
    for block in step.blocks:
        yield ""
        yield phrase("Stop here if this is so: {block}", block=text_of(block))
    for order in step.orders:
        yield ""
        if order.paste is not None:
            yield from fenced(order.paste)
        elif order.kind == "NOTE":
            yield phrase("Note: {note}", note=text_of(order.command))
        else:
            yield phrase("By hand: {command}", command=text_of(order.command))
    if not step.orders:
        yield ""
        yield phrase("No command does it.")
    yield from _checks(step.checks)
    yield from _way_back(step.way_back)


def _checks(checks: tuple[StepCheck, ...]) -> Iterator[str]:
    for check in checks:
        yield ""
        yield from check_of(check)


def _way_back(way_back: str | None) -> Iterator[str]:
    if way_back is not None:
        yield ""
        yield phrase("The way back: {way_back}", way_back=text_of(way_back))
