"""include/policy.yaml against the model that it describes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from pydantic import BaseModel

from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.settings.thresholds import Thresholds

FILE: Final = Path(__file__).parents[2] / "include/policy.yaml"
EXAMPLES: Final = {
    "rooms",
    "machine_rooms",
    "config_assignments",
    "current_strategies",
    "client_heap_mib",
    "groups",
    "placement",
    "brokers",
    "producers",
    "accepted",
    "freeze",
    "events",
    "autoscalers",
}
"""The keys that an example shows."""


def text() -> str:
    return FILE.read_text(encoding="utf-8")


def with_examples() -> str:
    """The file with every example in force."""
    return re.sub(r"(?m)^#\| ", "", text())


def leaves(model: type[BaseModel], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every field that is no section itself."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from leaves(inner, (*before, name))
        else:
            yield (*before, name)


def at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def test_the_policy_file_gives_every_default_of_the_model() -> None:
    assert read_policy(FILE) == Policy()
    for path in leaves(Policy):
        if path[0] not in EXAMPLES:
            assert at(yaml.safe_load(text()), path) is not None, path


@pytest.mark.parametrize("path", list(leaves(Policy)), ids=".".join)
def test_the_policy_file_names_every_key(path: tuple[str, ...]) -> None:
    assert at(yaml.safe_load(with_examples()), path) is not None


def test_the_examples_of_the_policy_file_are_read_by_the_product(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(with_examples(), encoding="utf-8")
    shown = read_policy(file)
    assert {name for name in Policy.model_fields if getattr(shown, name) != getattr(Policy(), name)} == EXAMPLES
    assert shown.rooms is not None
    assert shown.rooms.of_broker("room1@broker-c") == "room1"
    assert shown.rooms.of_broker("broker-x") == "hz"
    assert shown.rooms.of_client("10.1.2.3@1#1", "10.1.2.3:40001") == "hz"
    assert shown.rooms.of_client("hz-web-7@1#1", "192.168.0.1:40001") == "hz"
    assert shown.current_strategies.of_group("g_orders") == "AVG_BY_CIRCLE"


@pytest.mark.parametrize("path", list(leaves(Thresholds)), ids=".".join)
def test_every_threshold_has_its_unit_its_reason_and_its_source(path: tuple[str, ...]) -> None:
    section, key = path
    lines = text().split(f"\n  {section}:\n")[1].splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(f"    {key}:"))
    comment: list[str] = []
    while place > 0 and lines[place - 1].lstrip().startswith("#"):
        place -= 1
        comment.insert(0, lines[place].strip(" #"))
    labels = [line.partition(":")[0] for line in comment if re.match(r"(Unit|Reason|Source): \S", line)]
    assert labels == ["Unit", "Reason", "Source"]
