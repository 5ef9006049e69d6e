"""What modules hold of texts that a page may show: a reader for each kind of module."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from rocketmq_capacity.provider.form_text import paragraphs
from tests.language.templates import is_text, last_name, phrase_of, sentences_of, texts_assigned, variants_of

TOLD: Final = frozenset({"tell", "tells", "phase", "map_units"})
"""Calls that tell of the progress: their texts, and the names of phases."""
TELLING: Final = frozenset({"in_a_few_words"})
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
SHOWN_ERRORS: Final = frozenset({"OwnProcessFailed"})
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
OF_THE_DOCUMENTS: Final = frozenset({"USUAL", "LOOKS", "FACTS", "SKEW"})
"""Constants whose texts only the documents have."""
TITLE: Final = re.compile(r"[A-Z][a-z]{2,}(-[a-z]{2,})?")
"""A text of one word that is a title, in the report's own rooms."""
NO_SENTENCE: Final = re.compile(
    r"<\w+[ >]|</|\$|\w_\{|\}_\w|~/|%$|^[a-z]+_[a-z_]+: |^(room|topic|nameserver): |; expected"
    r"|expected at most|^is \{|^[a-z]+-\{\w+\}$|^var\(|@restarted|^[\w/]*#?\{\w+\}\w*$|queueId=$"
    r"|^bold |^report\.html|^[a-z_]+\[|already$|^apache/|^\w+ of the \w+$"
)
"""Mark-up, ids, examples of a scenario file and errors."""


@dataclass
class Found:
    """What a page may show: texts, and nouns with their plurals; each with the places where it is made.

    ``phrases`` are said with their values where they are made, so that no sentence is compared with them.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    phrases: dict[str, list[str]] = field(default_factory=dict)
    nouns: dict[tuple[str, str], list[str]] = field(default_factory=dict)


class Reader(ast.NodeVisitor):
    """Reads one module."""

    no_text = NO_SENTENCE

    def __init__(self, name: str, found: Found) -> None:
        self.name, self.found = name, found
        self.phrases: Mapping[str, ast.expr] = {}
        self.assigned: Mapping[str, ast.expr] = {}

    def visit_Module(self, node: ast.Module) -> None:  # ast's name
        functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        self.phrases = {one.name: text for one in functions if (text := phrase_of(one)) is not None}
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.assigned
        self.assigned = {**self.phrases, **texts_assigned(node)}
        for one in [*node.args.defaults, *node.args.kw_defaults, *node.body]:
            if one is not None:
                self.visit(one)
        self.assigned = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and last_name(node.target) not in OF_THE_DOCUMENTS:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Of errors, pages show these alone."""
        if isinstance(node.exc, ast.Call) and last_name(node.exc.func) in SHOWN_ERRORS:
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
        name = last_name(node.func)
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
        if isinstance(node.op, ast.Add) and is_text(node):
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
        for text in variants_of(node, self.assigned):
            for sentence in sentences_of(text, self.no_text):
                places = self.found.texts.setdefault(sentence, [])
                if place not in places:
                    places.append(place)

    def _noun(self, node: ast.Call) -> None:
        place = f"{self.name}:{node.lineno}"
        several = node.args[2] if len(node.args) > 2 else None
        if len(node.args) > 1:
            for noun in variants_of(node.args[1], self.assigned):
                plural = several.value if isinstance(several, ast.Constant) else f"{noun}s"
                if "{" not in noun:
                    self.found.nouns.setdefault((noun, str(plural)), []).append(place)


class PhraseReader(Reader):
    """Reads the phrases of a module, and no other text."""

    def _text(self, node: ast.expr) -> None:
        """Not a phrase."""

    def _noun(self, node: ast.Call) -> None:
        """Not in a phrase."""

    def visit_keyword(self, node: ast.keyword) -> None:
        self.visit(node.value)


class DagReader(PhraseReader):
    """Reads a Dag, whose docstring Airflow shows."""

    def visit_Module(self, node: ast.Module) -> None:  # ast's name
        for paragraph in paragraphs(ast.get_docstring(node) or ""):
            self.found.phrases.setdefault(paragraph, []).append(f"{self.name}:1")
        super().visit_Module(node)


class ProgressReader(PhraseReader):
    """Reads what a module tells of the progress, and what functions give to be told."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in TELLING:
            Reader(self.name, self.found).visit(ast.Module([node], []))
        super().visit_FunctionDef(node)

    def visit_Call(self, node: ast.Call) -> None:
        super().visit_Call(node)
        if last_name(node.func) in TOLD:
            told = Reader(self.name, self.found)
            for one in node.args:
                told.visit(one)
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    self.found.texts.setdefault(one.value, []).append(f"{self.name}:{one.lineno}")


class PageReader(Reader):
    """Reads a module of the pages in Airflow, which show what they refuse, with its status as the title."""

    no_text = NO_TEXT_OF_A_PAGE

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:  # ast's name
        for one in node.body:
            self.visit(one)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if last_name(node.value) == "HTTPStatus" and HTTPStatus[node.attr] >= HTTPStatus.BAD_REQUEST:
            self.found.texts.setdefault(HTTPStatus[node.attr].phrase, []).append(f"{self.name}:{node.lineno}")
        self.generic_visit(node)
