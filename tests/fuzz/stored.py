"""Files of a lake, as somebody may have damaged them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.approval import answers_of, set_aside
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.what_if import WhatIf
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.snapshot.outline import outline_of
from rocketmq_capacity.steps.inputs import stored_history
from rocketmq_capacity.store.acceptances import acceptances
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import earlier_runs
from tests.cli.small_cluster import CLUSTER
from tests.fuzz.scratch import scratch_file, scratch_folder
from tests.fuzz.target import Target, check_line

POLICY: Final = Policy()
NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
EARLIER: Final = "lake/C1/earlier"
MANIFEST: Final = b'{"step": "publish", "datasets": []}'
INVENTORY: Final = parse_inventory(msgspec.json.encode(CLUSTER), source="small cluster")


def read_stored(data: bytes) -> None:
    """A file of the lake is read, set aside, or refused in one line. The first line is the kind, the rest the file."""
    kind, _, content = data.partition(b"\n")
    read = KINDS.get(kind.decode(errors="replace")) or list(KINDS.values())[sum(kind) % len(KINDS)]
    try:
        read(content)
    except BadInput as error:
        check_line(error)


def seeds() -> Iterator[bytes]:
    """The files as the steps write them; the corpus has the others."""
    yield b"inventory\n" + msgspec.json.encode(CLUSTER)
    yield b"manifest\n" + MANIFEST
    yield b'history\n["20261120T020000Z-a--b"]'


def _manifest(content: bytes) -> None:
    scratch_file(content, f"{EARLIER}/steps/publish.json")
    run = Run(scratch_folder() / EARLIER)
    assert isinstance(run.is_committed("publish"), bool)


def _inventory(content: bytes) -> None:
    scratch_file(MANIFEST, f"{EARLIER}/steps/publish.json")
    file = scratch_file(content, f"{EARLIER}/inventory.json")
    lake = Lake(scratch_folder() / "lake")
    this = lake.run("C1", "this")
    this.history.unlink(missing_ok=True)
    this.folder.mkdir(parents=True, exist_ok=True)
    assert len(earlier_runs(lake, this, NOW, 5)) <= 1
    assert len(stored_history(lake, this, INVENTORY, POLICY, is_live=True)) <= 1
    outline_of(file)


def _history(content: bytes) -> None:
    scratch_file(content, "lake/C1/this/history.json")
    lake = Lake(scratch_folder() / "lake")
    stored_history(lake, lake.run("C1", "this"), INVENTORY, POLICY, is_live=True)


def _index(content: bytes) -> None:
    # The index of a lake is read once in a process.
    from rocketmq_capacity.report import shelf_index

    shelf_index._known.clear()
    scratch_file(content, "lake/.reports.json")
    Shelf(Lake(scratch_folder() / "lake"), "plan").reports()


def _summary(content: bytes) -> None:
    scratch_file(MANIFEST, f"{EARLIER}/steps/publish.json")
    scratch_file(content, f"{EARLIER}/report/summary.json")
    Shelf(Lake(scratch_folder() / "lake"), "plan").reports()


def _acceptance(content: bytes) -> None:
    scratch_file(content, "lake/C2/.accepted/2026-11-20T02.00.00Z-000000000000.json")
    acceptances(scratch_folder() / "lake/C2", "2026-11-21T02:00:00Z")


def _approval(content: bytes) -> None:
    scratch_file(content, f"{EARLIER}/approval.json")
    run = Run(scratch_folder() / EARLIER)
    answers_of(run)
    set_aside(run)


KINDS: Final[dict[str, Callable[[bytes], Any]]] = {
    "manifest": _manifest,
    "inventory": _inventory,
    "history": _history,
    "index": _index,
    "summary": _summary,
    "acceptance": _acceptance,
    "approval": _approval,
    "what-if": lambda content: WhatIf.read(scratch_file(content)),
    "plan": lambda content: read_plan(scratch_file(content)),
}


TARGETS: Final = (Target("stored", read_stored, seeds, share=0.5),)
