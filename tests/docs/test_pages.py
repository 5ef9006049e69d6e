"""The documentation against the code: links, blocks, commands, names."""

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import typer
import yaml
from typer.core import TyperGroup

from rocketmq_capacity.cli import app
from rocketmq_capacity.client.options import ConnectionOptions, options_of
from rocketmq_capacity.config import read_policy
from rocketmq_capacity.report.approval import KEYS as APPROVAL_KEYS
from rocketmq_capacity.report.glossary import GLOSSARY
from rocketmq_capacity.report.plan import plan_document
from rocketmq_capacity.report.wording import ACTIONS, RULES, STATUS_WORDS
from rocketmq_capacity.simulation.scenario import read_scenario
from rocketmq_capacity.snapshot import inventory as parts_of_an_inventory
from rocketmq_capacity.snapshot.inventory import read_inventory
from tests.docs.pages import DOCS, PAGES, ROOT, Block, anchors, blocks, commands, links
from tests.report.varied_cluster import a_scenario, varied_rows

PACKAGE: Final = ROOT / "include/rocketmq_capacity"
REPORT: Final = (DOCS / "how-to/read-a-report.md").read_text(encoding="utf-8")
RESERVED: Final = re.compile(r"(?ms)^### (?:Names|Actions) that are reserved\n(.*?)(?=^#|\Z)")


def said_in(room: str) -> set[str]:
    """Every text constant in the code of a room."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (PACKAGE / room).glob("*.py")]
    constants = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


FOUND_RULES: Final = sorted(said_in("assessment") & set(RULES))
NAMED_ACTIONS: Final = sorted(said_in("recommendation") & set(ACTIONS))


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(file), target


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_every_yaml_block_is_a_policy_a_scenario_or_a_connection(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "block.yaml"
    file.write_text(block.body, encoding="utf-8")
    if re.search(r"(?m)^changes:", block.body):
        assert read_scenario(file).changes
    elif re.search(r"(?m)^tls:", block.body):
        assert options_of(yaml.safe_load(block.body), str(block.page)).tls
    else:
        assert read_policy(file) != read_policy(None)


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_every_json_block_is_an_inventory_or_a_spark_connection(block: Block, tmp_path: Path) -> None:
    document = json.loads(block.body)
    if "format" in document:
        file = tmp_path / "inventory.json"
        file.write_text(block.body, encoding="utf-8")
        assert read_inventory(file).topics
    else:
        assert document["conn_type"] == "spark"


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_every_python_block_is_python(block: Block) -> None:
    compile(block.body, str(block), "exec")


def test_every_block_is_in_a_language_that_a_test_reads() -> None:
    languages = {block.language for block in blocks("", "text", "mermaid", "yaml", "json", "python", "shell", "sh")}
    fences = re.findall(r"(?m)^ *```(\w+)$", "\n".join(page.read_text(encoding="utf-8") for page in PAGES))
    assert set(fences) <= languages


@pytest.mark.parametrize("arguments", commands("rocketmq-capacity"), ids=" ".join)
def test_every_command_line_is_one_that_the_product_takes(arguments: list[str]) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    group.commands[arguments[0]].make_context(arguments[0], arguments[1:])


def test_every_module_that_a_command_runs_exists() -> None:
    modules = [arguments[1] for arguments in commands("python") if arguments[0] == "-m"]
    assert modules
    for module in modules:
        assert importlib.util.find_spec(module), module


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"(?m)(?:`|^)make ([a-z-]+)\b", text))
    assert named
    assert named <= targets


@pytest.mark.parametrize("rule", FOUND_RULES)
def test_every_rule_that_can_find_something_has_an_entry(rule: str) -> None:
    assert f"\n### {rule}\n" in REPORT


@pytest.mark.parametrize("action", NAMED_ACTIONS)
def test_every_action_that_can_be_recommended_has_an_entry(action: str) -> None:
    assert f"\n### {action}\n" in REPORT


def test_the_names_that_nothing_uses_yet_are_told_as_reserved() -> None:
    assert FOUND_RULES
    assert NAMED_ACTIONS
    reserved = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", " ".join(RESERVED.findall(REPORT))))
    assert reserved == (set(RULES) | set(ACTIONS)) - set(FOUND_RULES) - set(NAMED_ACTIONS)


def test_no_entry_tells_of_a_rule_or_an_action_that_does_not_exist() -> None:
    entries = set(re.findall(r"(?m)^### ([A-Z_]+)$", REPORT))
    assert entries == {*FOUND_RULES, *NAMED_ACTIONS}


def test_every_provision_status_is_explained() -> None:
    for status in STATUS_WORDS:
        assert f"\n| {status} |" in REPORT


def test_every_section_of_the_report_is_explained() -> None:
    templates = PACKAGE / "report/templates"
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(templates.glob("*.j2")))
    headings = re.findall(r'<h2 id="[^"]*">(?:\{\{[^}]*\}\} )?([A-Z][A-Za-z -]+?)(?:[: ]*[<{])', text)
    assert len(headings) >= 5
    for heading in headings:
        assert f"**{heading}.**" in REPORT, heading


def test_the_architecture_names_every_room_and_every_module_beside_them() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("[a-z]*.py")}
    for name in sorted(rooms | modules):
        assert f"`{name}`" in page, name


def test_every_key_of_a_connection_file_is_explained() -> None:
    page = (DOCS / "how-to/connect-with-tls-and-access-keys.md").read_text(encoding="utf-8")
    keys = re.findall(r"`(\w+)`", " ".join(re.findall(r"(?m)^\| (`[^|]*) \|[^|]*\|[^|]*\|$", page)))
    assert keys == list(ConnectionOptions.model_fields)


def test_the_glossary_has_every_term_of_the_page() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8").lower()
    for term in GLOSSARY:
        for name in term.name.lower().split(", "):
            assert re.search(rf"(?m)^\|[^|]*\b{re.escape(name)}\b", page), name


def test_the_formats_page_names_every_member_of_a_plan() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8").partition("## Plan file")[2]
    named = set(re.findall(r"`(\w+)`", page))
    plan = plan_document(varied_rows(), scenario=a_scenario(), approval=None)

    assert set(plan) - {"format"} <= named
    for part in ("groups", "findings", "recommendations"):
        assert set(plan[part][0]) <= named, part
    assert set(plan["groups"][0]["strategies"][0]) - {"strategy"} <= named
    assert set(plan["scenario"]) | set(plan["scenario"]["groups"][0]) - {"strategy"} <= named
    assert set(APPROVAL_KEYS) <= named


def test_the_formats_page_shows_every_member_of_an_inventory() -> None:
    (example,) = (json.loads(block.body) for block in blocks("json") if block.page.name == "formats.md")
    found = vars(parts_of_an_inventory).values()
    parts = [part for part in found if isinstance(part, type) and issubclass(part, msgspec.Struct)]
    shown = {key for mapping in mappings(example) for key in mapping}

    for part in parts:
        assert {field.encode_name for field in msgspec.structs.fields(part)} <= shown, part.__name__


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object in a value."""
    if isinstance(value, dict):
        yield value
    for held in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from mappings(held)
