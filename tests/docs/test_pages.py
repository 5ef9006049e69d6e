"""The documentation against the code: links, blocks, commands, names and defaults; prose is not tested."""

import importlib.util
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import pytest
import yaml

from rocketmq_capacity.cli import arguments
from rocketmq_capacity.client.options import ConnectionOptions, options_of
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.glossary import GLOSSARY
from rocketmq_capacity.report.schema import schema_of
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.simulation.scenario import read_scenario
from rocketmq_capacity.snapshot import inventory as parts_of_an_inventory
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.spark.jvm import HEAP_PER_INVENTORY, LEAST_HEAP_MIB
from rocketmq_capacity.tables import DATASETS
from rocketmq_capacity.vocabulary import ProvisionStatus
from tests.docs.pages import DOCS, PAGES, ROOT, Block, anchors, blocks, commands, links

PACKAGE: Final = ROOT / "include/rocketmq_capacity"
REPORT: Final = (DOCS / "how-to/read-a-report.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("words", commands("rocketmq-capacity"), ids=" ".join)
def test_every_command_line_is_one_that_the_product_takes(words: list[str]) -> None:
    assert arguments(words).command == words[0]


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


def test_every_provision_status_is_explained() -> None:
    for status in get_args(ProvisionStatus):
        assert f"\n| {status} |" in REPORT


def test_the_architecture_names_every_room_and_every_module_beside_them() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("[a-z]*.py")}
    for name in sorted(rooms | modules):
        assert f"`{name}`" in page, name


def test_the_architecture_names_every_dataset() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    for dataset in DATASETS:
        assert f"`{dataset.dataset_name()}`" in page, dataset


def test_the_architecture_shows_the_layers_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (one["layers"] for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    assert "\n".join(layers) in [block.body.strip() for block in blocks("text")]


def test_the_changelog_tells_each_version_in_under_a_hundred_lines() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *versions = re.split(r"(?m)^## ", text)
    assert versions
    for version in versions:
        assert len(version.splitlines()) < 100, version.splitlines()[0]


def test_the_heap_in_the_documents_is_the_one_that_is_chosen() -> None:
    text = " ".join(" ".join(page.read_text(encoding="utf-8") for page in PAGES).split())
    told = re.findall(r"(\d+) GiB, and (\d+) bytes? for each byte", text)
    assert set(told) == {(str(LEAST_HEAP_MIB // 1024), str(HEAP_PER_INVENTORY))}


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
    # What RocketMQ or the inventory names, and what stands in words.
    known = {"format", "strategy", "broker_addr", "request", "error", "queue_id"}
    for name, part in schema_of(Plan)["$defs"].items():
        assert set(part["properties"]) - known <= named, name


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
