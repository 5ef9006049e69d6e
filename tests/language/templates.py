"""Templates: what an expression of the code gives as text, with placeholders for what is not known there.

``f"{counted(idle, 'client')} wait"`` is ``{n_clients} wait``. Words that only follow a number are an alternative,
``{owns|own}``, which a translation leaves out; other conditions give one template for each branch.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Final

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
CONNECTORS: Final = frozenset(
    "and or of to at by is are on in for the it with from as more ms mib".split()  # noqa: SIM905  # read as words
)
"""A text that has no other words may be anything."""
MOST_VARIANTS: Final = 32
SENTENCE_END: Final = re.compile(r"(?<=[.?!]) +(?=\S)|(?<=\}) +(?=[A-Z][a-z]+[ ,])")
"""A place may hold whole sentences, before which and after which a new one begins."""
PLACE: Final = re.compile(r"\{[^{}|]*\}")
PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}")


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


def is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.IfExp):
        return is_text(node.body) or is_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def phrase_of(function: ast.FunctionDef) -> ast.expr | None:
    """The text that a function gives which does nothing else."""
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    only = body[0] if len(body) == 1 else None
    return only.value if isinstance(only, ast.Return) and only.value is not None and is_text(only.value) else None


def texts_assigned(function: ast.FunctionDef) -> dict[str, ast.expr]:
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
                    if value is not None and isinstance(name, ast.Name) and is_text(value):
                        values[one.id] = value
    return {name: value for name, value in values.items() if times[name] == 1}


def variants_of(node: ast.expr, assigned: Mapping[str, ast.expr], depth: int = 0) -> list[str]:
    """The texts that an expression gives, with placeholders for what is not known here."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else [f"{{{node.value!r}}}"]
    if isinstance(node, ast.JoinedStr):
        parts = [variants_of(part, assigned, depth) for part in node.values]
        return _joined(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_text(node):
        return _joined([variants_of(node.left, assigned, depth), variants_of(node.right, assigned, depth)])
    if isinstance(node, ast.FormattedValue):
        return variants_of(node.value, assigned, depth)
    if isinstance(node, ast.IfExp) and is_text(node):
        both = [*variants_of(node.body, assigned, depth), *variants_of(node.orelse, assigned, depth)]
        if len(both) == 2 and _is_inflection(*both):
            return [f"{{{both[0]}|{both[1]}}}"]
        return list(dict.fromkeys(both))
    name = node.func if isinstance(node, ast.Call) else node
    if isinstance(name, ast.Name) and name.id in assigned and depth < 3:
        return variants_of(assigned[name.id], assigned, depth + 1)
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
    if isinstance(node, ast.Call) and last_name(node.func) == "counted" and len(node.args) > 1:
        noun = node.args[1]
        if isinstance(noun, ast.Constant):
            return re.sub(r"[^A-Za-z]+", "_", f"n_{noun.value!s}s")
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        inner = _placeholder(node.args[0])
        return inner if inner != "value" else (last_name(node.func) or "value")
    return last_name(node) or "value"


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return ""
