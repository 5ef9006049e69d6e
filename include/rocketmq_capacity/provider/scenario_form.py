"""The what-if's form: a scenario as YAML, or one change field by field."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import yaml
from airflow.sdk import Param
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.provider.form_formats import LONGEST_ARGUMENT, LONGEST_TEXT, SCENARIO, register_formats
from rocketmq_capacity.settings.yaml_file import mapping_of_text
from rocketmq_capacity.simulation.scenario import WHAT, Change, scenario_of_text

AS_YAML: Final = "The changes, as a scenario file"
_NOT_BOUNDS: Final = ("type", "title", "description", "enum", "minItems")
"""Members of a field's schema that the form replaces; an empty list is a field that was left empty."""
AS_FIELDS: Final = "One change, field by field"
LONGEST_NAME: Final = 255
MOST_FIELDS: Final = 100
"""The most fields of a run's configuration, with those that Airflow reads itself."""
MOST_CLIENT_IDS: Final = 1_000
"""The most ids in a list of the form. YAML takes as many as its length allows, and ``count`` any number."""
DEEPEST: Final = 8
"""Levels of a field's value; a list of ids has two."""
CHANGES: Final[dict[str, type[Any]]] = {
    get_args(model.model_fields["change"].annotation)[0]: model for model in get_args(Change)
}
"""The model of each change, by its name."""


def scenario_params() -> dict[str, Param]:
    """The fields. Each may stay empty, but YAML or fields must be used. With both, the YAML's changes come first."""
    register_formats()
    return {
        "scenario": Param(
            None,
            type=["null", "string"],
            format="multiline",  # what the form shows; the next line has the text's format
            allOf=[{"format": SCENARIO}],
            maxLength=LONGEST_TEXT,
            title="Scenario (YAML)",
            description="A name and a list of changes, made in their order.",
            description_md="A name and a list of changes, made in their order:\n\n```yaml\n"
            "name: lose broker-b with one consumer more\nchanges:\n"
            "  - {change: add_clients, consumer_group: g_pay, count: 1}\n"
            "  - {change: lose_broker, broker_name: broker-b}\n```",
            section=AS_YAML,
        ),
        "change": Param(
            None,
            type=["null", "string"],
            enum=[*CHANGES, None],
            values_display={name: name.replace("_", " ").capitalize() for name in CHANGES},
            title="Change",
            description="What changes. Fill in the fields that it needs, and leave the others empty.",
            section=AS_FIELDS,
        ),
        **_fields(),
    }


def scenario_text(params: Mapping[str, Any]) -> str:
    """The scenario that the form describes, as the YAML of a scenario file.

    Errors: BadInput if the form describes none, or a change with fields too many or too few; it says which.
    """
    scenario = mapping_of_text(params.get("scenario") or "", "scenario", WHAT)
    field_changes = [_field_change(params)] if params.get("change") else []
    if not scenario and not field_changes:
        raise BadInput("the form", "", "has no scenario and no change; expected one of them")
    changes = [*scenario.get("changes", []), *field_changes]
    name = scenario.get("name") or " ".join(str(value) for value in field_changes[0].values())[:LONGEST_NAME]
    text = yaml.safe_dump({"name": name, "changes": changes}, sort_keys=False, allow_unicode=True)
    scenario_of_text(text, "the form's scenario")
    if len(text.encode()) > LONGEST_ARGUMENT:
        problem = f"is too long; expected at most {LONGEST_ARGUMENT:,} bytes with the fields' change"
        raise BadInput("the form's scenario", "", problem)
    return text


def contradiction(conf: Mapping[str, Any]) -> str:
    """Why valid fields together describe no scenario; empty if they do.

    A field's schema sees only that field. Airflow refuses what a schema refuses, and names the field. But what is much
    too large is refused here: a schema would check all of it, and its error would show all of it.

    Args:
        conf: the input of the form or the API, without the fields that were not touched.
    """
    if reason := excess(conf):
        return reason
    params = ParamsDict(scenario_params())
    try:
        params.update({name: conf[name] for name in conf.keys() & params.keys()})
        scenario_text(params.validate())
    except ParamValidationError:
        return ""
    except BadInput as error:
        return str(error)
    return ""


def excess(conf: Mapping[str, Any]) -> str:
    """Which field is too large, or that there are too many fields; empty if all is well."""
    if len(conf) > MOST_FIELDS:
        return f"the form: has {len(conf):,} fields; expected at most {MOST_FIELDS}"
    for name, value in conf.items():
        field = f"Invalid input for param {cut(name, LONGEST_NAME)}"
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            return f"{field}: is too long; expected at most {LONGEST_TEXT:,} characters"
        if isinstance(value, list | dict) and len(value) > MOST_CLIENT_IDS:
            return f"{field}: has {len(value):,} entries; expected at most {MOST_CLIENT_IDS:,}"
        if not _is_shallow(value, DEEPEST):
            return f"{field}: is nested too deeply; expected at most {DEEPEST} levels"
    return ""


def _is_shallow(value: Any, levels: int) -> bool:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inner)


def _field_change(params: Mapping[str, Any]) -> dict[str, Any]:
    """The change that the fields describe: every field with a value, so that a superfluous one is an error as well."""
    every_field = {name for model in CHANGES.values() for name in model.model_fields}
    return {"change": params["change"]} | {
        name: params[name] for name in sorted(every_field - {"change"}) if params.get(name) not in (None, [], "")
    }


def _fields() -> dict[str, Param]:
    """Every key of every change, as its models describe it, with the changes that take it."""
    told: dict[str, dict[str, Any]] = {}
    changes: dict[str, list[str]] = {}
    for change, model in CHANGES.items():
        for name, schema in model.model_json_schema()["properties"].items():
            if name != "change":
                told[name] = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
                changes.setdefault(name, []).append(change.replace("_", " "))
    return {name: _field(name, schema, changes[name]) for name, schema in told.items()}


def _field(name: str, schema: Mapping[str, Any], changes: Sequence[str]) -> Param:
    """A field that may stay empty."""
    bounds = {key: value for key, value in schema.items() if key not in _NOT_BOUNDS}
    if schema["type"] == "string" and "enum" not in schema:
        bounds["maxLength"] = LONGEST_NAME
    if "items" in bounds:
        bounds["items"] = {**bounds["items"], "maxLength": LONGEST_NAME}
    if "enum" in schema:
        bounds["enum"] = [*schema["enum"], None]
    meaning = schema.get("description")
    return Param(
        None,
        type=["null", schema["type"]],
        title=schema.get("title", name),
        description=f"Of {', '.join(changes)}{f': {meaning}' if meaning else ''}.",
        section=AS_FIELDS,
        **bounds,
    )
