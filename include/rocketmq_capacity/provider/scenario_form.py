"""The field of the what-if's Dag: a scenario as YAML. The page :mod:`.change_form` writes one from filled-in fields."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from airflow.sdk import Param
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.provider.change_form import CHANGES, LONGEST_NAME, in_words, problem_in_words
from rocketmq_capacity.provider.form_formats import LONGEST_ARGUMENT, LONGEST_TEXT, SCENARIO, register_formats
from rocketmq_capacity.provider.latest_names import name_problem
from rocketmq_capacity.provider.report_asset import REPORTS
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.settings.yaml_file import mapping_of_text
from rocketmq_capacity.simulation.known_names import ClusterNames
from rocketmq_capacity.simulation.scenario import WHAT, scenario_of_text

PAGE: Final = "/what-if"
"""The path of the form below the plugin's pages."""
NOTHING_KNOWN: Final = ClusterNames()
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Names that YAML takes as they are, but for words such as ``true``."""
MOST_FIELDS: Final = 100
"""The most fields of a run's configuration, with those that Airflow reads itself."""
MOST_ENTRIES: Final = 1_000
"""The most entries of a list or an object in a field."""
DEEPEST: Final = 8
"""Levels of a field's value."""


def examples(names: ClusterNames) -> str:
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


def _in_yaml(name: str) -> str:
    """A name as YAML takes it: in quotes where it would be anything but a text; a JSON text is one in YAML, too."""
    is_plain = _PLAIN.fullmatch(name) and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def scenario_params(names: ClusterNames = NOTHING_KNOWN) -> dict[str, Param]:
    """The field. ``names`` are those of the cluster that its examples have."""
    register_formats()
    return {
        "scenario": Param(
            as_comment(examples(names)),
            type=["null", "string"],
            format="multiline",  # what the form shows; what the text has to be, the next line says
            allOf=[{"format": SCENARIO}],
            maxLength=LONGEST_TEXT,
            title="Scenario (YAML)",
            # Airflow's page resolves the address against its own base, URL prefix included.
            description_md=f"**[Choose changes from lists instead]({REPORTS[1:]}{PAGE})**: that page writes the "
            "scenario and starts the run.\n\nAs YAML: a name and a list of changes, made in order. Delete the # before "
            "the lines that you need.",
            section="What changes",
        )
    }


def scenario_of_changes(changes: Sequence[Mapping[str, Any]], name: str = "") -> str:
    """The scenario with these changes, as the YAML of a scenario file; without a name it has that of its changes."""
    named = name or cut("; ".join(in_words(change) for change in changes), LONGEST_NAME)
    # A change that is there twice is written twice: YAML would write the same object as an alias.
    return yaml.safe_dump(
        {"name": named, "changes": [dict(one) for one in changes]}, sort_keys=False, allow_unicode=True
    )


def scenario_text(params: Mapping[str, Any]) -> str:
    """The scenario of the form, as the YAML of a scenario file without comments.

    Errors: BadInput if the form has none, or one that is wrong.
    """
    scenario = mapping_of_text(params.get("scenario") or "", "scenario", WHAT)
    if not scenario:
        raise BadInput("the form", "scenario", "is missing; expected a name and a list of changes")
    text = yaml.safe_dump(scenario, sort_keys=False, allow_unicode=True)
    scenario_of_text(text, "the form's scenario")
    if len(text.encode()) > LONGEST_ARGUMENT:
        raise BadInput("the form's scenario", "", f"is too long; expected at most {LONGEST_ARGUMENT:,} bytes")
    return text


def changes_problem(changes: Sequence[Mapping[str, Any]], start: Mapping[str, Any], places: DeploymentPlaces) -> str:
    """Why these changes cannot be tried on the cluster that the fields ``start`` name; empty if they can."""
    text = scenario_of_changes(changes)
    try:
        if len(text) > LONGEST_TEXT:
            raise BadInput("the form", "", f"the changes are too long; expected at most {LONGEST_TEXT:,} characters")
        problem = name_problem(start, scenario_text({"scenario": text}), places)
    except BadInput as error:
        problem = str(error)
    return problem_in_words(problem, changes)


def scenario_problem(conf: Mapping[str, Any], places: DeploymentPlaces | None = None) -> str:
    """Why the fields of a run have no scenario that can be tried; empty if they have.

    Airflow refuses what a schema refuses, and names the field. But what is much too large is refused here: a schema
    would check all of it, and its error would show all of it.

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
        if isinstance(value, list | dict) and len(value) > MOST_ENTRIES:
            return f"{field}: has {len(value):,} entries; expected at most {MOST_ENTRIES:,}"
        if not _is_shallow(value, DEEPEST):
            return f"{field}: is nested too deeply; expected at most {DEEPEST} levels"
    return ""


def _is_shallow(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    inner = value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inner)
