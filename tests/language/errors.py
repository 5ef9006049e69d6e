"""The texts of errors, of refusals and of ``doctor``, which people read beside plans."""

import ast
import re
from functools import cache
from itertools import chain
from typing import Final

from rocketmq_capacity.cli import texts_of_help
from tests.fixtures.environment import ROOT
from tests.language.extraction import PACKAGE, name_of
from tests.language.others import texts_of_others
from tests.language.readers import NOT_SHOWN, Found, Reader
from tests.language.templates import is_text, last_name, sentences_of, variants_of

TOLD_BY: Final = {
    "BadInput": 2,
    "BodyError": 0,
    "ClusterUnreachable": 0,
    "ConnectError": 0,
    "ConnectionLostError": 0,
    "ConnectionMissing": 0,
    "DatasetMissing": 0,
    "DiskFull": 0,
    "ExecutorsUnfit": 0,
    "HTTPException": 1,
    "JavaMissing": 0,
    "NotSent": 0,
    "NotWritten": 0,
    "PeerGivenUpError": 0,
    "RemoteProtocolError": 0,
    "RequestTimeoutError": 0,
    "RunBusy": 0,
    "SparkGone": 0,
    "StoreUnreachable": 0,
    "TableDamaged": 0,
    "ValueError": 0,
    "check_known": 3,
    "refusal": 1,
    "refuse": 0,
}
"""Which argument of an error is its text."""
WHOLE: Final = (
    "client/errors.py",
    "client/options.py",
    "client/rights.py",
    "doctor.py",
    "protocol/errors.py",
    "provider/deployment_check.py",
    "provider/known_fields.py",
    "provider/request_check.py",
    "provider/source.py",
    "report/refusal.py",
    "settings/yaml_file.py",
)
"""Modules all of whose texts are of this kind."""
AMONG_OTHERS: Final = ("provider/scenario_form.py", "snapshot/inventory_values.py")
"""Modules whose texts are of this kind if they are about what is expected."""
OTHERS: Final = (
    "broker",
    "change",
    "client",
    "clusters",
    "consumer group",
    "deployment",
    "field",
    "found",
    "key",
    "loaded",
    "memory",
    "missing",
    "packages",
    "part",
    "reached",
    "room",
    "rule",
    "strategy",
    "topic",
    "wrong",
    "a connection file",
    "a policy file",
    "a scenario file",
    "a number",
    "a whole number",
    "expected a cron expression of five fields in UTC, such as '0 6-22 * * *'",
    "if it is right, start the Dag by hand with 'Delete any number'",
    "; it is {first}",
    "Change {number}",
    "Change {number}, {title}",
    "; the nearest known number, id, action, rule or severity is {near}",
)
"""Texts of one word, and constants that errors have in them."""
NO_TEXT: Final = re.compile(
    r"^\^|^airflow (pools|connections) |^version \"|^- \{|^name: |^\{\w+\}\.py$|^pyspark \{"
    r"|^\{place\}( is (a )?\{| has |\.)"
)
"""Commands, patterns, what is the same in any language, and errors of a body so general that others look like them."""


@cache
def texts_beside_plans() -> dict[str, list[str]]:
    """Each with the places where it is made."""
    found = Found()
    for file in sorted(chain(*(folder.rglob("*.py") for folder in (PACKAGE, ROOT / "plugins", ROOT / "dags")))):
        name, tree = name_of(file), ast.parse(file.read_text("utf-8"))
        _ErrorReader(name, found).visit(tree)
        if name in WHOLE:
            _WholeReader(name, found).visit(tree)
        if name in AMONG_OTHERS:
            _ExpectedReader(name, found).visit(tree)
    for text in OTHERS:
        found.texts.setdefault(text, ["errors"])
    for text in texts_of_help():
        found.texts.setdefault(text, []).append("cli.py")
    for text, source in texts_of_others():
        found.texts.setdefault(text, []).append(source)
    return found.texts


class _ErrorReader(Reader):
    """Reads what errors are told to say."""

    def visit_Raise(self, node: ast.Raise) -> None:
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Name) and is_text(node.value):
            # Of several texts of one name, an error says the last one.
            self.assigned = {**self.assigned, node.targets[0].id: node.value}

    def visit_Call(self, node: ast.Call) -> None:
        place = TOLD_BY.get(last_name(node.func), len(node.args))
        for argument in node.args[place : place + 1]:
            for text in variants_of(argument, self.assigned):
                for sentence in sentences_of(text, NO_TEXT):
                    self.found.texts.setdefault(sentence, []).append(f"{self.name}:{node.lineno}")
        for inner in ast.iter_child_nodes(node):
            self.visit(inner)

    def visit_keyword(self, node: ast.keyword) -> None:
        self.visit(node.value)

    def _text(self, node: ast.expr) -> None:
        """Only of errors."""


class _WholeReader(Reader):
    """Reads every text."""

    no_text = NO_TEXT

    def visit_Raise(self, node: ast.Raise) -> None:
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if last_name(node.func) not in NOT_SHOWN - TOLD_BY.keys() and last_name(node.func) != "phrase":
            self.generic_visit(node)


class _ExpectedReader(_WholeReader):
    """Reads what is expected."""

    no_text = re.compile(r"^(?!.*; expected)|^- \{")
