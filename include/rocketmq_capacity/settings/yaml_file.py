"""YAML read into a frozen model; errors speak of the file: its name, the place in it, the nearest known key."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from rocketmq_capacity.errors import BadInput

Model = TypeVar("Model", bound=BaseModel)


def read_yaml(path: Path, model: type[Model], what: str) -> Model:
    """Read a YAML file into a model, with errors that name the file and the place in it."""
    return validated(mapping_of_file(path, what), model, str(path))


def mapping_of_file(path: Path, what: str) -> dict[Any, Any]:
    """The mapping that a YAML file holds, empty for an empty file; errors: BadInput naming the file and the line."""
    source = str(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(source, "", f"cannot be read ({error.strerror}); expected {what}") from None
    except UnicodeDecodeError as error:
        raise BadInput(source, f"byte {error.start}", "is not UTF-8; expected UTF-8 text") from None
    return mapping_of_text(text, source, what)


def mapping_of_text(text: str, source: str, what: str) -> dict[Any, Any]:
    """The mapping that a YAML text holds; ``source`` is what errors call it."""
    try:
        document = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506  (a SafeLoader that refuses repeated keys)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        raise BadInput(source, place, f"is not YAML ({getattr(error, 'problem', error)}); expected {what}") from None
    except RecursionError:
        raise BadInput(source, "", f"is nested too deeply; expected {what}") from None
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise BadInput(source, "", f"is a {type(document).__name__}; expected {what}, a mapping of keys")
    return document


def validated(document: Mapping[Any, Any], model: type[Model], source: str) -> Model:
    """The model that a mapping is; errors: BadInput naming the source, the place in it and what was expected."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _bad_input(source, error, model) from None


class _UniqueKeyLoader(yaml.SafeLoader):
    """A SafeLoader that refuses a key that stands twice: the first would be lost without a word."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, TypeError, ValueError):  # of a value that is not what its form says
            kind = node.tag.rpartition(":")[2]
            problem = f"{node.value!r:.100} is no {kind}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict | set):
                raise yaml.MarkedYAMLError(problem="a key is not a plain value", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} stands twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _bad_input(source: str, error: ValidationError, model: type[BaseModel]) -> BadInput:
    """The first thing that is wrong, in the words of the file; an unknown key goes before what its mapping lacks."""
    errors = error.errors(include_url=False)
    siblings = [e for e in errors if e["loc"][:-1] == errors[0]["loc"][:-1]]
    first = next((e for e in siblings if e["type"] == "extra_forbidden"), errors[0])
    place = _place(_written(model, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = [key for found in _models_at(model, first["loc"][:-1]) for key in found.model_fields]
        return BadInput(source, place, f"is not a known key{nearest('key', first['loc'][-1], known)}")
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(first["ctx"]["discriminator"]).strip("'")
        members = _models_at(model, first["loc"])
        tags = [name for member in members for name in get_args(member.model_fields[tag].annotation)]
        if first["type"] == "union_tag_not_found":
            return BadInput(source, f"{place}.{tag}", f"is missing; expected one of {', '.join(tags)}")
        it = first["input"][tag]
        return BadInput(source, f"{place}.{tag}", f"{it!r:.200} is not a known {tag}{nearest(tag, it, tags)}")
    if first["type"] == "missing":
        return BadInput(source, place, "is missing; expected a value")
    problem = _WORDS_OF_YAML.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return BadInput(source, place, f"{problem}; it is {first['input']!r}"[:400])


_WORDS_OF_YAML: Final = {
    "tuple_type": "expected a list",
    "dict_type": "expected a mapping of keys",
    "model_type": "expected a mapping of keys",
    "model_attributes_type": "expected a mapping of keys",
}
"""What pydantic says in Python's words."""


def nearest(what: str, name: object, known: list[str]) -> str:
    """The end of a sentence about an unknown name: which known one is most like it."""
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.0)
    return f"; the nearest known {what} is {near[0]!r}" if near else ""


def _place(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def _written(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place as the file shows it: pydantic puts the tag of a union's member between, which is no key."""
    return tuple(p for i, p in enumerate(loc) if isinstance(p, int) or len(_models_at(model, loc[:i])) == 1)


def _models_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """The model that stands at a place; several where a union's tag has not been told yet."""
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
    """The models that an annotation such as ``tuple[BrokerRoom, ...] | None`` is about."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
