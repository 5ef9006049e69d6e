"""The texts that a page may show: those of the templates, and those that the code makes (:mod:`.readers`)."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from rocketmq_capacity.catalogue.evidence import EvidenceField, figures_of
from rocketmq_capacity.catalogue.rule import rules, units_of
from rocketmq_capacity.provider.change_form import change_forms
from rocketmq_capacity.report.figures import PER_CENT, UNITS, label
from rocketmq_capacity.simulation.change import changes
from tests.fixtures.environment import ROOT
from tests.language.readers import DagReader, Found, PageReader, PhraseReader, ProgressReader, Reader
from tests.language.templates import SENTENCE_END

PACKAGE: Final = ROOT / "include" / "rocketmq_capacity"
PAGES: Final = ROOT / "plugins" / "rocketmq_capacity_pages"
"""The pages in Airflow."""
ROOMS: Final = (
    "allocation",
    "assessment",
    "catalogue",
    "handover/markdown.py",
    "handover/runbook.py",
    "handover/runbook_files.py",
    "handover/tickets.py",
    "own_process.py",
    "plan_file/own_policy.py",
    "producers",
    "recommendation",
    "report",
    "simulation",
    "vocabulary.py",
    "wording.py",
)
PROGRESS: Final = ("progress", "steps", "snapshot/collect.py", "cli.py")
"""Where the lines about the progress are."""
WITHOUT_PAGE: Final = frozenset({
    "report/acceptance.py",
    "report/acceptable.py",
    "report/approval.py",
    "report/asked_digest.py",
    "report/freezing.py",
    "report/html.py",
    "language/amounts.py",
    "language/catalogue.py",
    "language/current.py",
    "language/sentences.py",
    "report/selection.py",
    "report/svg.py",
    "report/tables.py",
    "report/far_origins.py",
    "report/refusal.py",
    "report/rules_page.py",
    "report/schema.py",
    "report/scripts.py",
    "report/shelf.py",
    "report/shelf_index.py",
    "provider/form_text.py",
    "plugins/responses.py",
    "plugins/reading.py",
    "plugins/scraping.py",
})
"""Modules whose texts are on no page."""
NAME: Final = re.compile(r"[a-z][a-z_]+")
SHORT_WORDS: Final = (
    """
all; broadcasting; none; not stated; unknown; yes; no; changed; better; worse; gone; today; needed;
critical; warning; info; group; topic; broker; keys; lag; queues; messages; clients; same; new;
pull; pop; queue id; rollout; from snapshot; average; route missed killed; route missed silent;
consumers; id; connections; heartbeats/s; pulls/s; pops/s; rebalance waitInterval; busy; Clustering;
Broadcasting; Lite selective; the recorded sample; inventory file {name}; count; mean; message; cluster;
read; unread; twice
"""
    .replace("\n", " ")
    .strip()
    .split("; ")
)
"""Texts of one word that are no names: cells of tables, and words within other texts."""


@cache
def texts_of_code() -> Found:
    """All of them, in the order of the files."""
    found = Found()
    readers = (
        *((PACKAGE / room, Reader) for room in ROOMS),
        *((PACKAGE / room, ProgressReader) for room in PROGRESS),
        (ROOT / "spark_apps", ProgressReader),
        (PACKAGE / "provider", PhraseReader),
        (ROOT / "dags", DagReader),
        (PAGES, PageReader),
    )
    for path, reader in readers:
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            name = name_of(file)
            if name not in WITHOUT_PAGE:
                reader(name, found).visit(ast.parse(file.read_text("utf-8")))
    return found


def name_of(file: Path) -> str:
    """The place that the catalogue has for a file's texts."""
    name = file.relative_to(ROOT).as_posix().removeprefix("include/rocketmq_capacity/")
    return name.replace("rocketmq_capacity_pages/", "")


def labels() -> Iterator[str]:
    """The names of figures, as the page writes them: in evidence, and before and after what is recommended."""
    yield from SHORT_WORDS
    for change in changes():
        yield label(change.change_name())
        yield from (label(name) for name in change.model_fields)
    yield from (label(name) for name in sorted(_names_of_figures()) if label(name).islower())
    for rule in rules().values():
        for kind in rule.kinds:
            yield from _labels(figures_of(kind))


def fields_of_changes() -> Iterator[str]:
    """What the page to try a change shows of each change and its fields, and what a field holds."""
    for form in change_forms().values():
        yield form.title
        yield from SENTENCE_END.split(form.meaning)
        for one in form.fields:
            yield one.title
            yield from SENTENCE_END.split(one.meaning) if one.meaning else ()
            if not one.names:
                yield f"{one.title} {{value}}"


def counted_figures() -> Iterator[str]:
    """What figures of evidence count, in the singular."""
    for rule in rules().values():
        units = units_of(rule.name).values()
        yield from (unit for unit in units if unit and unit not in UNITS.values() and unit != PER_CENT)


def _names_of_figures() -> Iterator[str]:
    for file in sorted((PACKAGE / "recommendation").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            keys = node.keys if isinstance(node, ast.Dict) else ()
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            yield from (name for name in names if isinstance(name, str) and NAME.fullmatch(name))


def _labels(figures: Iterable[EvidenceField]) -> Iterator[str]:
    for figure in figures:
        yield label(figure.name)
        yield from _labels(figure.parts)
