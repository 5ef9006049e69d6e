"""The last step: writes the files of a plan, all of them or none."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.capacity_file import capacity_of_plan
from rocketmq_capacity.report.files import CAPACITY, FINDINGS, PLAN, RECOMMENDATIONS, REPORT, SUMMARY
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.plan import render_plan
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.report.scripts import FOLDER as SCRIPTS
from rocketmq_capacity.report.scripts import scripts_of
from rocketmq_capacity.report.summary_file import PlanSummary, summary_of_plan
from rocketmq_capacity.report.tables import BY_OWNER, findings_by_owner, findings_csv, recommendations_csv
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.writing import sync, write_together
from rocketmq_capacity.vocabulary import ENGLISH, Language

NOTHING: Final[Mapping[str, bytes | None]] = {}


def publish(
    plan: Plan,
    beside: PageRows,
    folder: Path,
    handed_over: Mapping[str, bytes | None] = NOTHING,
    language: Language = ENGLISH,
) -> PlanSummary:
    """Write report.html, plan.json, the scripts and the other files into the folder, which is created if it is missing.

    All files are first written under temporary names. Then each is renamed, plan.json last. So readers find the old or
    the new file, plan.json comes only after the others, and if a file cannot be written, all old files stay.

    Args:
        plan: what is published.
        beside: rows that the page shows and the plan does not hold.
        folder: where the files go.
        handed_over: what other tools get, by name; a file without bytes is deleted.
        language: of the page; the other files are in English.

    Errors: ``OSError`` if a file cannot be written.
    """
    summary = summary_of_plan(plan)
    with ThreadPoolExecutor(max_workers=1) as meanwhile:
        # Most of the page's time goes to its charts, which are drawn outside of Python.
        page = meanwhile.submit(render_report, plan, beside, language)
        contents: dict[str, bytes | Iterable[bytes]] = {
            REPORT: _bytes_of(page),
            **dict(scripts_of(plan)),
            FINDINGS: findings_csv(plan),
            RECOMMENDATIONS: recommendations_csv(plan),
            **findings_by_owner(plan),
            CAPACITY: json_file(capacity_of_plan(plan)),
            **{name: content for name, content in handed_over.items() if content is not None},
            SUMMARY: json_file(summary),
            PLAN: render_plan(plan),
        }
        write_together(folder, contents)
    for name, content in handed_over.items():
        if content is None:
            (folder / name).unlink(missing_ok=True)
    for inside in (folder / BY_OWNER, folder / SCRIPTS):
        left = [file for file in inside.glob("*") if file.relative_to(folder).as_posix() not in contents]
        for file in left:  # of an owner or a cause that is no more
            file.unlink()
        if left:
            sync(inside, deep=False)
    return summary


def _bytes_of(page: Future[str]) -> Iterator[bytes]:
    """The page, which is waited for when it is written."""
    yield page.result().encode("utf-8")
