"""The fields of each change of a what-if, as a page shows them, and the change that a filled-in form tells.

All of it comes from the models of the changes, so a new change needs no line here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.simulation.change import NAMES, ScenarioChange, changes

CHANGES: Final = {model.change_name(): model for model in changes()}
"""The model of each change, by its name."""
KINDS: Final = {"array": "lines", "integer": "integer", "number": "number", "string": "text"}
"""What a person fills in, by the type in the JSON schema; a field with an ``enum`` is a ``choice``."""
EXPECTED: Final = {"integer": "a whole number", "number": "a number"}
LONGEST_NAME: Final = 255
_PLACE: Final = re.compile(r"the form's scenario: changes\[(?P<number>\d+)\](\.(?P<field>\w+))?[^:]*: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field of a change.

    Attributes:
        name: its name in a scenario file.
        title: its name on the page.
        meaning: more about it; empty if the title says all.
        kind: ``text``, ``integer``, ``number``, ``choice`` or ``lines``, which is a list with one entry a line.
        is_required: it may not stay empty.
        usual: its value if it stays empty; None if there is none.
        choices: the values of a choice.
        least: the least number.
        most: the greatest number.
        names: the kind of names that it takes: a member of ``known_names.ClusterNames``, or empty.
    """

    name: str
    title: str
    meaning: str
    kind: str
    is_required: bool
    usual: Any
    choices: Sequence[str]
    least: float | None
    most: float | None
    names: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeForm:
    """One change: its name in a scenario file, its name on the page, what it is, and its fields."""

    name: str
    title: str
    meaning: str
    fields: Sequence[FormField]


@cache
def change_forms() -> Mapping[str, ChangeForm]:
    """The form of each change, by its name."""
    return {name: _form(name, model) for name, model in CHANGES.items()}


def change_of_fields(change: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The change that the fields tell, as a scenario file has it, without what is empty or as usual.

    Errors: BadInput for an unknown change, an unknown field, and a text where a number is expected.
    """
    form = change_forms().get(change)
    if form is None:
        raise BadInput("the form", "change", f"is {shown(change)}; expected one of {', '.join(CHANGES)}")
    fields = {field.name: field for field in form.fields}
    if unknown := [name for name in texts if name not in fields]:
        raise BadInput("the form", f"{change}.{unknown[0][:LONGEST_NAME]}", "is not a field of this change")
    values = {name: _value(field, texts.get(name, "").strip()) for name, field in fields.items()}
    return {"change": change} | {
        name: value for name, value in values.items() if value not in (None, [], fields[name].usual)
    }


def in_words(change: Mapping[str, Any]) -> str:
    """A change as one line: ``Lose broker: broker-b``, ``Set queues: pay, Read queues 8, Write queues 8``."""
    form = change_forms()[change["change"]]
    stated = [(field, change[field.name]) for field in form.fields if change.get(field.name) is not None]
    parts = [_said(value) if field.names else f"{field.title} {_said(value)}" for field, value in stated]
    return f"{form.title}: {', '.join(parts)}"


def problem_in_words(problem: str, changes: Sequence[Mapping[str, Any]]) -> str:
    """A refusal of a scenario with the place as the page names it: ``Change 2, Broker: is 'b', which is not there``."""
    match = _PLACE.match(problem)
    if match is None:
        return problem
    number = int(match["number"])
    fields = change_forms()[changes[number]["change"]].fields
    title = next((f", {field.title}" for field in fields if field.name == match["field"]), "")
    return f"Change {number + 1}{title}: {problem[match.end() :]}"


def _said(value: Any) -> str:
    return " ".join(value) if isinstance(value, list | tuple) else str(value)


def _form(name: str, model: type[ScenarioChange]) -> ChangeForm:
    schema = model.model_json_schema()
    required = schema.get("required", ())
    sentence = " ".join((model.__doc__ or "").split()).replace("``", "")
    fields = [
        _field(field, one, is_required=field in required)
        for field, one in schema["properties"].items()
        if field != "change"
    ]
    return ChangeForm(name=name, title=name.replace("_", " ").capitalize(), meaning=sentence, fields=fields)


def _field(name: str, schema: Mapping[str, Any], *, is_required: bool) -> FormField:
    inner: Mapping[str, Any] = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), {})
    whole = {**inner, **schema}
    meaning = whole.get("description", "")
    return FormField(
        name=name,
        title=inner.get("title", whole["title"]),
        meaning=meaning[:1].upper() + meaning[1:],
        kind="choice" if "enum" in whole else KINDS[whole["type"]],
        is_required=is_required,
        usual=whole.get("default"),
        choices=whole.get("enum", ()),
        least=whole.get("minimum"),
        most=whole.get("maximum"),
        names=whole.get(NAMES, ""),
    )


def _value(field: FormField, text: str) -> Any:
    if not text:
        return None
    if field.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind not in EXPECTED:
        return text
    try:
        return int(text) if field.kind == "integer" or text.isdecimal() else float(text)
    except ValueError:
        problem = f"is {shown(text)}; expected {EXPECTED[field.kind]}"
        raise BadInput("the form", field.title, problem) from None
