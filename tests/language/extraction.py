"""The texts that a page may show: those of the templates, and those that the code makes.

A text of the code becomes a template: ``f"{counted(idle, 'client')} wait"`` is ``{n_clients} wait``. Words that only
follow a number are an alternative, ``{owns|own}``, which a translation leaves out; other conditions give one template
for each branch. Several sentences in one text are several templates.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from itertools import product
from pathlib import Path
from typing import Final

from rocketmq_capacity.catalogue.evidence import EvidenceField, figures_of
from rocketmq_capacity.catalogue.rule import rules, units_of
from rocketmq_capacity.provider.change_form import change_forms
from rocketmq_capacity.provider.form_text import paragraphs
from rocketmq_capacity.report.figures import PER_CENT, UNITS, label
from rocketmq_capacity.simulation.change import changes
from tests.fixtures.environment import ROOT

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
TOLD: Final = frozenset({"tell", "tells", "phase", "map_units"})
"""Calls that tell of the progress: their texts, and the names of phases."""
TELLING: Final = frozenset({"in_a_few_words"})
WITHOUT_PAGE: Final = frozenset({
    "report/accepting.py",
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
NOT_SHOWN: Final = frozenset({
    "Meta",
    "means",
    "Field",
    "BadInput",
    "compile",
    "ValueError",
    "add_argument",
    "ArgumentParser",
    "TypeVar",
    "cast",
    "FastAPI",
})
"""Calls whose texts no page shows."""
SHOWN_ERRORS: Final = frozenset({"NotCompared", "OwnProcessFailed"})
"""Errors of which a page tells."""
NO_TEXT_OF_A_PAGE: Final = re.compile(r"^/|^no page for|__accept-")
"""Addresses, lines of the log, and the name of a run."""
NOT_SHOWN_MEMBERS: Final = frozenset({
    "details",
    "description",
    "offered",
    "severities",
    "help",
    "thresholds",
    "looks",
    "needs",
    "shown_by",
})
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
OF_THE_DOCUMENTS: Final = frozenset({"USUAL", "LOOKS", "FACTS", "SKEW"})
"""Constants whose texts only the documents have."""
INFLECTIONS: Final = (
    {"is", "are"},
    {"has", "have"},
    {"was", "were"},
    {"does", "do"},
    {"it", "they"},
    {"it", "them"},
    {"its", "their"},
    {"it is", "they are"},
    {"this", "these"},
)
TITLE: Final = re.compile(r"[A-Z][a-z]{2,}(-[a-z]{2,})?")
"""A text of one word that is a title, in the report's own rooms."""
NO_SENTENCE: Final = re.compile(
    r"<\w+[ >]|</|\$|\w_\{|\}_\w|~/|%$|^[a-z]+_[a-z_]+: |^(room|topic|nameserver): |; expected"
    r"|expected at most|^is \{|^[a-z]+-\{\w+\}$|^var\(|@restarted|^[\w/]*#?\{\w+\}\w*$|queueId=$"
    r"|^bold |^report\.html|^[a-z_]+\[|already$|^apache/|^\w+ of the \w+$"
)
"""Mark-up, ids, examples of a scenario file and errors."""
CONNECTORS: Final = frozenset(
    "and or of to at by is are on in for the it with from as more ms mib".split()  # noqa: SIM905
)
"""A text that has no other words may be anything."""
MOST_VARIANTS: Final = 32
SENTENCE_END: Final = re.compile(r"(?<=[.?!]) +(?=\S)|(?<=\}) +(?=[A-Z][a-z]+[ ,])")
"""A place may hold whole sentences, before which and after which a new one begins."""
PLACE: Final = re.compile(r"\{[^{}|]*\}")
PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}")


@dataclass
class Found:
    """What a page may show: texts, and nouns with their plurals; each with the places where it is made.

    ``phrases`` are said with their values where they are made, so that no sentence is compared with them.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    phrases: dict[str, list[str]] = field(default_factory=dict)
    nouns: dict[tuple[str, str], list[str]] = field(default_factory=dict)


@cache
def texts_of_code() -> Found:
    """All of them, in the order of the files."""
    found = Found()
    readers = (
        *((PACKAGE / room, _Reader) for room in ROOMS),
        *((PACKAGE / room, _ProgressReader) for room in PROGRESS),
        (ROOT / "spark_apps", _ProgressReader),
        (PACKAGE / "provider", _PhraseReader),
        (ROOT / "dags", _DagReader),
        (PAGES, _PageReader),
    )
    for path, reader in readers:
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            name = _name_of(file)
            if name not in WITHOUT_PAGE:
                reader(name, found).visit(ast.parse(file.read_text("utf-8")))
    return found


def _name_of(file: Path) -> str:
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


class _Reader(ast.NodeVisitor):
    """Reads one module."""

    no_text = NO_SENTENCE

    def __init__(self, name: str, found: Found) -> None:
        self.name, self.found = name, found
        self.phrases: Mapping[str, ast.expr] = {}
        self.assigned: Mapping[str, ast.expr] = {}

    def visit_Module(self, node: ast.Module) -> None:  # ast's name
        functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        self.phrases = {one.name: text for one in functions if (text := _phrase(one)) is not None}
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.assigned
        self.assigned = {**self.phrases, **_assigned(node)}
        for one in [*node.args.defaults, *node.args.kw_defaults, *node.body]:
            if one is not None:
                self.visit(one)
        self.assigned = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and _last_name(node.target) not in OF_THE_DOCUMENTS:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Of errors, pages show these alone."""
        if isinstance(node.exc, ast.Call) and _last_name(node.exc.func) in SHOWN_ERRORS:
            self.visit(node.exc)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_Compare(self, _: ast.Compare) -> None:
        """What a name is compared with is no text."""

    def visit_Dict(self, node: ast.Dict) -> None:
        for value in node.values:
            self.visit(value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in NOT_SHOWN_MEMBERS:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        if name in NOT_SHOWN:
            return
        if name == "phrase":
            self._phrase(node)
            return
        if name == "counted":
            self._noun(node)
        self.generic_visit(node)

    def _phrase(self, node: ast.Call) -> None:
        """The whole text, also one of several sentences: it is looked up by itself."""
        (text,) = node.args
        assert isinstance(text, ast.Constant), f"{self.name}:{node.lineno}: a phrase is written where it is used"
        self.found.phrases.setdefault(str(text.value), []).append(f"{self.name}:{node.lineno}")
        for value in node.keywords:
            self.visit(value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._text(node)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self._inside(part.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add) and _is_text(node):
            self._text(node)
            self._inside(node.left)
            self._inside(node.right)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._text(node)

    def _inside(self, node: ast.expr) -> None:
        """Reads what stands within a text: calls and their arguments, not the text's own branches."""
        if isinstance(node, ast.IfExp):
            self._inside(node.body)
            self._inside(node.orelse)
        elif isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    self._inside(part.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self._inside(node.left)
            self._inside(node.right)
        elif not isinstance(node, ast.Constant):
            self.visit(node)

    def _text(self, node: ast.expr) -> None:
        place = f"{self.name}:{node.lineno}"
        if (
            isinstance(node, ast.Constant)
            and self.name.startswith(("report/", "plugins/"))
            and TITLE.fullmatch(str(node.value))
        ):
            self.found.texts.setdefault(str(node.value), []).append(place)
        for text in _variants(node, self.assigned):
            for sentence in sentences_of(text, self.no_text):
                places = self.found.texts.setdefault(sentence, [])
                if place not in places:
                    places.append(place)

    def _noun(self, node: ast.Call) -> None:
        place = f"{self.name}:{node.lineno}"
        several = node.args[2] if len(node.args) > 2 else None
        if len(node.args) > 1:
            for noun in _variants(node.args[1], self.assigned):
                plural = several.value if isinstance(several, ast.Constant) else f"{noun}s"
                if "{" not in noun:
                    self.found.nouns.setdefault((noun, str(plural)), []).append(place)


class _PhraseReader(_Reader):
    """Reads the phrases of a module, and no other text."""

    def _text(self, node: ast.expr) -> None:
        """Not a phrase."""

    def _noun(self, node: ast.Call) -> None:
        """Not in a phrase."""

    def visit_keyword(self, node: ast.keyword) -> None:
        self.visit(node.value)


class _DagReader(_PhraseReader):
    """Reads a Dag, whose docstring Airflow shows."""

    def visit_Module(self, node: ast.Module) -> None:  # ast's name
        for paragraph in paragraphs(ast.get_docstring(node) or ""):
            self.found.phrases.setdefault(paragraph, []).append(f"{self.name}:1")
        super().visit_Module(node)


class _ProgressReader(_PhraseReader):
    """Reads what a module tells of the progress, and what functions give to be told."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in TELLING:
            _Reader(self.name, self.found).visit(ast.Module([node], []))
        super().visit_FunctionDef(node)

    def visit_Call(self, node: ast.Call) -> None:
        super().visit_Call(node)
        if _last_name(node.func) in TOLD:
            told = _Reader(self.name, self.found)
            for one in node.args:
                told.visit(one)
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    self.found.texts.setdefault(one.value, []).append(f"{self.name}:{one.lineno}")


class _PageReader(_Reader):
    """Reads a module of the pages in Airflow, which show what they refuse, with its status as the title."""

    no_text = NO_TEXT_OF_A_PAGE

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:  # ast's name
        for one in node.body:
            self.visit(one)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if _last_name(node.value) == "HTTPStatus" and HTTPStatus[node.attr] >= HTTPStatus.BAD_REQUEST:
            self.found.texts.setdefault(HTTPStatus[node.attr].phrase, []).append(f"{self.name}:{node.lineno}")
        self.generic_visit(node)


def sentences_of(text: str, no_text: re.Pattern[str]) -> Iterator[str]:
    """The sentences of a template that have words of their own."""
    for part in SENTENCE_END.split(text.strip()):
        sentence = part.strip()
        if sentence.endswith("}") and re.search(r"[.?!](\{[^{}|]*\})+$", sentence):
            sentence = re.sub(r"(\{[^{}|]*\})+$", "", sentence)
        words = re.findall(r"[A-Za-z]{2,}", PLACE.sub(" ", sentence))
        if PLACE.search(sentence) and "{n_" not in sentence and not {*map(str.lower, words)} - CONNECTORS:
            continue
        if no_text.search(sentence):
            continue
        has_words = len(words) > 1 or (words and (PLACEHOLDER.search(sentence) or " " in sentence))
        if has_words and re.search(r"[ {]", sentence) and re.search(r"[a-z]{2}", PLACEHOLDER.sub("", sentence)):
            yield sentence


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) or _is_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _phrase(function: ast.FunctionDef) -> ast.expr | None:
    """The text that a function gives which does nothing else."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    only = body[0] if len(body) == 1 else None
    return only.value if isinstance(only, ast.Return) and only.value is not None and _is_text(only.value) else None


def _assigned(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Names that the function gives exactly one value, which is a text."""
    times: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        pairs: Iterable[tuple[ast.expr, ast.expr | None]] = ()
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
            else:
                pairs = [(target, node.value)]
        elif isinstance(node, ast.AugAssign | ast.For | ast.NamedExpr):
            pairs = [(node.target, None)]
        for name, value in pairs:
            for one in ast.walk(name):
                if isinstance(one, ast.Name):
                    times[one.id] = times.get(one.id, 0) + 1
                    if value is not None and isinstance(name, ast.Name) and _is_text(value):
                        values[one.id] = value
    return {name: value for name, value in values.items() if times[name] == 1}


def _variants(node: ast.expr, assigned: Mapping[str, ast.expr], depth: int = 0) -> list[str]:
    """The texts that an expression gives, with placeholders for what is not known here."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else [f"{{{node.value!r}}}"]
    if isinstance(node, ast.JoinedStr):
        parts = [_variants(part, assigned, depth) for part in node.values]
        return _joined(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_text(node):
        return _joined([_variants(node.left, assigned, depth), _variants(node.right, assigned, depth)])
    if isinstance(node, ast.FormattedValue):
        return _variants(node.value, assigned, depth)
    if isinstance(node, ast.IfExp) and _is_text(node):
        both = [*_variants(node.body, assigned, depth), *_variants(node.orelse, assigned, depth)]
        if len(both) == 2 and _is_inflection(*both):
            return [f"{{{both[0]}|{both[1]}}}"]
        return list(dict.fromkeys(both))
    name = node.func if isinstance(node, ast.Call) else node
    if isinstance(name, ast.Name) and name.id in assigned and depth < 3:
        return _variants(assigned[name.id], assigned, depth + 1)
    return [f"{{{_placeholder(node)}}}"]


def _joined(parts: list[list[str]]) -> list[str]:
    while len(list(product(*parts))) > MOST_VARIANTS:
        widest = max(range(len(parts)), key=lambda place: len(parts[place]))
        parts = [*parts[:widest], ["{more}"], *parts[widest + 1 :]]
    return [_unique("".join(chosen)) for chosen in product(*parts)]


def _unique(text: str) -> str:
    """The same with a number behind each placeholder whose name is already taken."""
    seen: dict[str, int] = {}

    def own(found: re.Match[str]) -> str:
        name = re.sub(r"_\d+(?=\}$)", "", found[0])
        if "|" in name:
            return found[0]
        seen[name] = seen.get(name, 0) + 1
        return name if seen[name] == 1 else f"{name[:-1]}_{seen[name]}}}"

    return PLACEHOLDER.sub(own, text)


def _is_inflection(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    if "{" in first + second:
        return False
    return {first, second} in INFLECTIONS or long in (f"{short}s", f"{short}es") or {first, second} == {"y", "ies"}


def _placeholder(node: ast.expr) -> str:
    """A name for a value: the noun that it counts, or the last name in it."""
    if isinstance(node, ast.Call) and _last_name(node.func) == "counted" and len(node.args) > 1:
        noun = node.args[1]
        if isinstance(noun, ast.Constant):
            return re.sub(r"[^A-Za-z]+", "_", f"n_{noun.value!s}s")
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        inner = _placeholder(node.args[0])
        return inner if inner != "value" else (_last_name(node.func) or "value")
    return _last_name(node) or "value"


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return ""
