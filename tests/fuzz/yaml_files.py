"""Policies, changes of a policy, scenarios and connection files."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from rocketmq_capacity.client.options import read_connection
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy, PolicyChanges, read_policy
from rocketmq_capacity.simulation.scenario import apply, read_scenario
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.cli.small_cluster import CLUSTER
from tests.fixtures.environment import ROOT
from tests.fixtures.hostile_yaml import GROWING
from tests.fuzz.scratch import scratch_file
from tests.fuzz.target import Target, check_line

POLICY: Final = Policy()
SHORT: Final = 2_000


def read_policies(data: bytes) -> None:
    """A policy file is read or refused in one line; so are the same bytes as the changes of a run."""
    for read in (_policy_of_file, _policy_of_changes):
        try:
            policy = read(data)
        except BadInput as error:
            check_line(error)
        else:
            policy.model_dump_json()


def read_scenarios(data: bytes) -> None:
    """A scenario is read or refused in one line, and so is its use; what it makes can be stored."""
    try:
        scenario = read_scenario(scratch_file(data))
        changed = apply(_cluster(), scenario, POLICY, "scenario")
    except BadInput as error:
        check_line(error)
        return
    msgspec.json.encode(scenario.changes_as_written())
    assert parse_inventory(b"".join(render_inventory(changed)), source="changed") == changed


def read_connections(data: bytes) -> None:
    """A connection file is read or refused in one line."""
    try:
        read_connection(scratch_file(data))
    except BadInput as error:
        check_line(error)


def policy_seeds() -> Iterator[bytes]:
    """The defaults without their comments, piece by piece, and small files that grow."""
    text = (ROOT / "include/policy.yaml").read_text("utf-8")
    lines = [line.partition("  #")[0] for line in text.splitlines() if line.strip() and not line.startswith("#")]
    piece: list[str] = []
    for line in lines:
        if piece and not line.startswith(" ") and len("\n".join(piece)) > SHORT:
            yield "\n".join(piece).encode()
            piece = []
        piece.append(line)
    yield "\n".join(piece).encode()
    yield from _growing()


def scenario_seeds() -> Iterator[bytes]:
    """Small files that grow; the corpus has a scenario with every change."""
    yield from _growing()


def _growing() -> Iterator[bytes]:
    yield from (text.encode() for text, _ in GROWING.values() if len(text) < SHORT)


def _policy_of_file(data: bytes) -> Policy:
    return read_policy(scratch_file(data))


def _policy_of_changes(data: bytes) -> Policy:
    return read_policy(None, PolicyChanges(text=data.decode(errors="replace")))


@cache
def _cluster() -> Inventory:
    return parse_inventory(msgspec.json.encode(CLUSTER), source="small cluster")


TARGETS: Final = (
    Target("policies", read_policies, policy_seeds, share=0.3),
    Target("scenarios", read_scenarios, scenario_seeds, share=0.4),
    Target("connections", read_connections, share=0.4),
)
