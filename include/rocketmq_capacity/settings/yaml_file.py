"""YAML read into a frozen model. Errors name the file, the place in it and the nearest known key.

There are limits for bytes, depth and the digits of a number. Anchors and aliases are refused: an alias repeats its
whole anchor, so a few lines can expand to more than any memory holds.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from rocketmq_capacity.errors import HALF_A_CHARACTER, BadInput, cut, is_writable, most_like, shown
from rocketmq_capacity.settings.input_file import content_of

Model = TypeVar("Model", bound=BaseModel)

LARGEST: Final = 16 << 20
"""Bytes of a file: an assignment of 100,000 queues to clients has about 10 MiB."""
DEEPEST: Final = 32
"""Levels of a document. The deepest key of a policy is on the sixth."""
LONGEST_NUMBER: Final = 100
"""Characters of a number."""
OTHER_BASE: Final = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""What YAML 1.1 reads as a number of base 8 or 60, and nobody means so: 24:00 would be 1,440."""
LONGEST_NAME: Final = 100
"""Characters of a key that an error shows, and that are compared with known keys."""


def read_yaml(path: Path, model: type[Model], what: str) -> Model:
    """Read a YAML file into a model, with errors that name the file and the place in it."""
    return validated(mapping_of_file(path, what), model, str(path))


def mapping_of_file(path: Path, what: str) -> dict[Any, Any]:
    """The mapping in a YAML file, empty for an empty file. Errors: BadInput naming the file and the line."""
    source = str(path)
    try:
        text = content_of(path, what, LARGEST).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(source, f"byte {error.start}", "is not UTF-8; expected UTF-8 text") from None
    return mapping_of_text(text, source, what)


def mapping_of_text(text: str, source: str, what: str) -> dict[Any, Any]:
    """The mapping in a YAML text; errors call the text ``source``."""
    try:
        document = yaml.load(text, Loader=_PlainLoader)  # noqa: S506  # a SafeLoader that refuses more
    except _Refused as error:
        raise BadInput(source, f"line {error.line}", error.problem) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        raise BadInput(source, place, f"is not YAML ({getattr(error, 'problem', error)}); expected {what}") from None
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise BadInput(source, "", f"is a {type(document).__name__}; expected {what}, a mapping of keys")
    return document


def validated(document: Mapping[Any, Any], model: type[Model], source: str, context: object = None) -> Model:
    """The model of a mapping; its validators share ``context``.

    Errors: BadInput naming the source, the place in it and what was expected.
    """
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        raise _bad_input(source, error, model) from None


class _Refused(yaml.YAMLError):
    """YAML of a kind that is refused. The error quotes nothing of the file, because the file may have secrets."""

    def __init__(self, mark: yaml.Mark, problem: str) -> None:
        self.line, self.problem = mark.line + 1, problem
        super().__init__(problem)


class _PlainLoader(yaml.SafeLoader):
    """A SafeLoader that refuses what grows while it is read, and a key that is given twice (one would be lost)."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # its stubs lack types
        if event.anchor is not None:
            problem = "has an anchor or an alias (&, *); expected every value in full, in quotes if it begins so"
            raise _Refused(event.start_mark, problem)
        if event.tag != "!" and event.tag not in self.yaml_constructors:
            problem = f"the tag {cut(event.tag, LONGEST_NAME)} is not known"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        if self._depth == DEEPEST:
            raise _Refused(event.start_mark, f"is nested too deeply; expected at most {DEEPEST} levels")
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: yaml.Mark) -> list[str]:
        try:
            chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
        except (OverflowError, ValueError):  # raised by chr() for \Uffffffff
            problem = "found an escape of a character that does not exist"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark()) from None
        return chunks

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        kind = node.tag.rpartition(":")[2]
        try:
            if kind in {"int", "float"} and _is_no_decimal(node):
                raise ValueError
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # it is not what its form says
            problem = f"{shown(node.value if isinstance(node, yaml.ScalarNode) else '...')} is not a valid {kind}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        text = super().construct_scalar(node)
        if not is_writable(text):
            # JSON, which is YAML, writes a character beyond U+FFFF as two escapes.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if not is_writable(text):
            raise _Refused(node.start_mark, HALF_A_CHARACTER)
        return text

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        # A tag such as !!map may be in front of a text; that is refused last.
        for key_node, _ in node.value if node.id == "mapping" else ():
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict | set):
                raise yaml.MarkedYAMLError(problem="a key is not a plain value", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {shown(key)} is given twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _is_no_decimal(node: yaml.Node) -> bool:
    """Whether a number is too long, or written in another base without its tag."""
    is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
    return len(node.value) > LONGEST_NUMBER or (is_plain and OTHER_BASE.fullmatch(node.value) is not None)


def _bad_input(source: str, error: ValidationError, model: type[BaseModel]) -> BadInput:
    """The first error, in terms of the file. An unknown key comes before the keys that its mapping lacks."""
    errors = error.errors(include_url=False)
    siblings = [e for e in errors if e["loc"][:-1] == errors[0]["loc"][:-1]]
    first = next((e for e in siblings if e["type"] == "extra_forbidden"), errors[0])
    place = _place(_written(model, first["loc"]))
    if first["type"] == "extra_forbidden":
        fields = [one for found in _models_at(model, first["loc"][:-1]) for one in found.model_fields.items()]
        known = [field.alias or key for key, field in fields]
        return BadInput(source, place, f"is not a known key{nearest('key', first['loc'][-1], known)}")
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(first["ctx"]["discriminator"]).strip("'")
        members = _models_at(model, first["loc"])
        tags = [name for member in members for name in get_args(member.model_fields[tag].annotation)]
        if first["type"] == "union_tag_not_found":
            return BadInput(source, f"{place}.{tag}", f"is missing; expected one of {', '.join(tags)}")
        it = first["input"][tag]
        return BadInput(source, f"{place}.{tag}", f"{shown(it)} is not a known {tag}{nearest(tag, it, tags)}")
    if first["type"] == "missing":
        return BadInput(source, place, "is missing; expected a value")
    problem = _WORDS_OF_YAML.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return BadInput(source, place, f"{problem}; it is {shown(first['input'])}")


_WORDS_OF_YAML: Final = {
    "tuple_type": "expected a list",
    "too_short": "expected at least one item",
    "dict_type": "expected a mapping of keys",
    "model_type": "expected a mapping of keys",
    "model_attributes_type": "expected a mapping of keys",
}
"""Kinds of pydantic's errors -> our words, because pydantic's are about Python's types."""


def nearest(what: str, name: object, known: list[str]) -> str:
    """The end of a sentence about an unknown name: the most similar known name."""
    near = most_like(_name(name), known)
    return "" if near is None else f"; the nearest known {what} is {near!r}"


def _name(key: object) -> str:
    return cut(key, LONGEST_NAME) if isinstance(key, str) else shown(key)


def _place(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{cut(part, LONGEST_NAME)}" for part in loc).lstrip(".")


def _written(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place in the file. Pydantic adds the tag of a union's member, which is not a key; it is left out."""
    return tuple(p for i, p in enumerate(loc) if isinstance(p, int) or len(_models_at(model, loc[:i])) == 1)


def _models_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """The model at a place; several if the tag of a union is unknown."""
    models = [model]
    for part in loc:
        if isinstance(part, int):
            continue
        if len(models) > 1:
            models = [m for m in models if any(part in get_args(f.annotation) for f in m.model_fields.values())]
        elif part in models[0].model_fields:
            models = _models_in(models[0].model_fields[part].annotation) or models
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation such as ``tuple[BrokerRoom, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
