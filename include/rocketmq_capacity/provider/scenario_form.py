"""The what-if's form: a scenario as YAML, or one change field by field."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from airflow.sdk import Param
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.provider.form_formats import LONGEST_ARGUMENT, LONGEST_TEXT, SCENARIO, register_formats
from rocketmq_capacity.provider.latest_names import Names, in_words, name_problem
from rocketmq_capacity.settings.deployment import Places
from rocketmq_capacity.settings.yaml_file import mapping_of_text
from rocketmq_capacity.simulation.change import changes
from rocketmq_capacity.simulation.scenario import WHAT, scenario_of_text

WHAT_CHANGES: Final = "What changes: as YAML, or one change by its fields"
_NOT_BOUNDS: Final = ("type", "title", "description", "enum", "minItems", "default")
"""Members of a field's schema that the form replaces; an empty list is a field that was left empty."""
SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Fields of the change: consumer group and clients": ("consumer_group", "client_ids"),
    "Fields of the change: number of clients, their end, room": ("count", "ending", "room"),
    "Fields of the change: strategy and request mode": ("strategy", "message_request_mode", "pop_share_queue_num"),
    "Fields of the change: queues": ("topic", "read_queue_nums", "write_queue_nums"),
    "Fields of the change: brokers": ("broker_name", "broker_addr", "topics_like"),
    "Fields of the change: slow broker, traffic": ("latency_ms", "for_s", "factor"),
    "Fields of the change: rolling restart": ("batch", "pause_s"),
    "Fields of the change: name server": ("nameserver", "loss"),
    "Fields of the change: subscription": ("expression", "expression_type", "consume_rt_ms"),
}
"""The fields of a change, few in each section: Airflow shows one section at a time."""
OTHERS: Final = "Fields of the change: others"
"""The section of a field that no other section names."""
NOTHING_KNOWN: Final = Names()
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Names that YAML takes as they are, but for words such as ``true``."""
LONGEST_NAME: Final = 255
MOST_FIELDS: Final = 100
"""The most fields of a run's configuration, with those that Airflow reads itself."""
MOST_CLIENT_IDS: Final = 1_000
"""The most ids in a list of the form. YAML takes as many as its length allows, and ``count`` any number."""
DEEPEST: Final = 8
"""Levels of a field's value; a list of ids has two."""
CHANGES: Final = {model.change_name(): model for model in changes()}
"""The model of each change, by its name."""


def examples(names: Names) -> str:
    """A scenario file with a change of each kind, of names that the cluster has where some are known."""
    known = {
        "broker": (names.brokers, "broker-a"),
        "topic": (names.topics, "pay"),
        "group": (names.groups, "g_pay"),
        "client": (names.client_ids, "10.0.0.1@1#1"),
        "room": (names.rooms, "north"),
        "nameserver": (names.nameservers, "10.0.9.2:9876"),
    }
    first = {kind: _in_yaml(there[0] if there else usual) for kind, (there, usual) in known.items()}
    lines = (f"  - {{change: {name}, {model.EXAMPLE.format(**first)}}}\n" for name, model in CHANGES.items())
    return f"name: what is tried\nchanges:\n{''.join(lines)}"


def as_comment(text: str) -> str:
    """A text of which YAML reads nothing: the form shows it in the field, where a person makes it count."""
    return "".join(f"# {line}\n" for line in text.splitlines())


def _choice(change: str, model: type[Any]) -> str:
    """``Lose broker. A broker, with its slaves, …``: the change and the first sentence of its docstring."""
    sentence = " ".join((model.__doc__ or "").split()).partition(". ")[0].rstrip(".").replace("``", "")
    return f"{change.replace('_', ' ').capitalize()}. {sentence}"


def _in_yaml(name: str) -> str:
    """A name as YAML takes it: in quotes where it would be anything but a text; a JSON text is one in YAML, too."""
    is_plain = _PLAIN.fullmatch(name) and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def scenario_params(names: Names = NOTHING_KNOWN) -> dict[str, Param]:
    """The fields. Each may stay empty, but YAML or fields must be used. With both, the YAML's changes come first.

    ``names`` are those of the cluster that the form offers.
    """
    register_formats()
    return {
        "scenario": Param(
            as_comment(examples(names)),
            type=["null", "string"],
            format="multiline",  # what the form shows; what the text has to be, the next line says
            allOf=[{"format": SCENARIO}],
            maxLength=LONGEST_TEXT,
            title="Scenario (YAML)",
            description="A name and a list of changes, made in order. Delete the # before the lines that you need.",
            section=WHAT_CHANGES,
        ),
        "change": Param(
            None,
            type=["null", "string"],
            enum=[*CHANGES, None],
            values_display={name: _choice(name, model) for name, model in CHANGES.items()},
            title="Or one change",
            description="The sections below have its fields; their titles say which change takes them.",
            section=WHAT_CHANGES,
        ),
        **_fields(names),
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


def contradiction(conf: Mapping[str, Any], places: Places | None = None) -> str:
    """Why valid fields together describe no scenario; empty if they do.

    A field's schema sees only that field. Airflow refuses what a schema refuses, and names the field. But what is much
    too large is refused here: a schema would check all of it, and its error would show all of it.

    Args:
        conf: the input of the form or the API, without the fields that were not touched.
        places: where the latest snapshot is looked up, in which names are checked; without them none are.
    """
    if reason := excess(conf):
        return reason
    params = ParamsDict(scenario_params())
    try:
        params.update({name: conf[name] for name in conf.keys() & params.keys()})
        text = scenario_text(params.validate())
        return "" if places is None else name_problem(conf, text, places)
    except ParamValidationError:
        return ""
    except BadInput as error:
        return str(error)


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
    if isinstance(value, dict):
        value = list(value.values())
    inner = value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inner)


def _field_change(params: Mapping[str, Any]) -> dict[str, Any]:
    """The change that the fields describe: every field with a value, so that a superfluous one is an error as well."""
    every_field = {name for model in CHANGES.values() for name in model.model_fields}
    return {"change": params["change"]} | {
        name: params[name] for name in sorted(every_field - {"change"}) if params.get(name) not in (None, [], "")
    }


def _fields(names: Names) -> dict[str, Param]:
    """Every key of every change, as its models describe it, with the changes that take it and names to take."""
    told: dict[str, dict[str, Any]] = {}
    changes: dict[str, list[str]] = {}
    for change, model in CHANGES.items():
        for name, schema in model.model_json_schema()["properties"].items():
            if name != "change":
                told[name] = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
                changes.setdefault(name, []).append(change.replace("_", " "))
    offered = {
        "broker_name": names.brokers,
        "topics_like": names.brokers,
        "topic": names.topics,
        "consumer_group": names.groups,
        "client_ids": names.client_ids[:1],
        "room": names.rooms,
        "nameserver": names.nameservers,
    }
    in_sections = {name for fields in SECTIONS.values() for name in fields}
    others = [name for name in told if name not in in_sections]
    return {
        name: _field(name, told[name], changes[name], section, in_words(offered.get(name, ())))
        for section, fields in {**SECTIONS, OTHERS: others}.items()
        for name in fields
    }


def _field(name: str, schema: Mapping[str, Any], changes: Sequence[str], section: str, offered: str) -> Param:
    """A field that may stay empty; its title says which changes take it."""
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
        title=f"{schema.get('title', name)} ({', '.join(_short(changes))})",
        description=f"{f'{meaning[:1].upper()}{meaning[1:]}.' if meaning else ''}{offered}".strip() or None,
        section=section,
        **bounds,
    )


def _short(changes: Sequence[str]) -> list[str]:
    """The changes; of many what they change, each once: clients, strategy, mode."""
    return list(changes) if len(changes) <= MOST_NAMED else list(dict.fromkeys(one.split()[-1] for one in changes))


MOST_NAMED: Final = 3
"""Changes that the title of a field names in full."""
