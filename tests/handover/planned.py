"""Plans of whole inventories with what they hand over of topics and groups, without Spark."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import BrokerRow, GroupRow, Observed, PlaceRow, ReadRow, SettingRow, TopicRow
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import Approval
from rocketmq_capacity.report.plan import plan_of
from rocketmq_capacity.report.rows import PlanRows
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.tables.dataset import Dataset
from tests.fixtures.plain_plan import plain_plan

Record = TypeVar("Record", bound=NamedTuple)
DEFAULTS = Policy()
STATE = "desired_state.yaml"
DIFFERENCES = "desired_state_differences.json"
OF_THE_MOMENT = ("taken_at:", "fingerprint:")
"""Lines that differ between two snapshots of an unchanged cluster."""


@dataclass(frozen=True)
class Handed:
    """What is handed over of a plan.

    Attributes:
        plan: the plan.
        state: the text of desired_state.yaml.
        differences: the other file, decoded.
    """

    plan: Plan
    state: str
    differences: dict[str, Any]

    def difference(self, action: str, topic: str) -> dict[str, Any]:
        """What the one recommendation of this action for this topic changes."""
        (one,) = (one for one in self.plan.recommendations if (one.action, one.topic) == (action, topic))
        (found,) = (each for each in self.differences["differences"] if each["recommendation"] == one.id)
        return dict(found)

    @property
    def left_out(self) -> dict[str, str]:
        """By id, why a recommendation has no patch."""
        return {one["recommendation"]: one["why"] for one in self.differences["left_out"]}


def planned(inventory: Inventory, policy: Policy = DEFAULTS, history: Sequence[Inventory] = ()) -> Plan:
    """The plan of an inventory; it does not compute what happens while a recommendation is carried out."""
    made = plain_plan(inventory, policy, history)
    plan = plan_of(
        PlanRows(
            cluster=[made.units.cluster.cluster],
            group_status=[one.status for one in made.assessments],
            finding=made.findings,
            recommendation=made.recommendations,
        ),
        policy,
    )
    known = (replace(one, transition_undecided=UNSET) for one in plan.recommendations)
    return replace(plan, recommendations=tuple(known))


def observed(inventory: Inventory, policy: Policy = DEFAULTS) -> Observed:
    """What the snapshot's tables have of topics and groups."""
    stored = dict(snapshot_tables(Resolved(inventory, policy)))

    def rows(dataset: type[Dataset], kind: type[Record]) -> Iterator[Record]:
        return (kind._make(row.values()) for row in stored[dataset].select(kind._fields).to_pylist())

    return Observed(
        topics=rows(tables.Topic, TopicRow),
        places=rows(tables.TopicQueue, PlaceRow),
        brokers=rows(tables.Broker, BrokerRow),
        groups=rows(tables.ConsumerGroup, GroupRow),
        settings=rows(tables.GroupSetting, SettingRow),
        reads=rows(tables.Subscription, ReadRow),
    )


def handed(inventory: Inventory, policy: Policy = DEFAULTS, history: Sequence[Inventory] = ()) -> Handed:
    """What is handed over of the plan of an inventory."""
    return handed_of(planned(inventory, policy, history), inventory, policy)


def handed_of(plan: Plan, inventory: Inventory, policy: Policy = DEFAULTS) -> Handed:
    """What is handed over of a plan of this inventory."""
    files = handed_over(plan, policy, observed(inventory, policy))
    return Handed(plan, (files[STATE] or b"").decode(), json.loads(files[DIFFERENCES] or b""))


def answered(plan: Plan, approved: tuple[str, ...], rejected: tuple[str, ...] = ()) -> Plan:
    """The plan with the answer of a person."""
    at = "2026-11-20T03:00:00Z"
    asked = (*approved, *rejected)
    answer = Approval(
        status="APPROVED", by="li", at=at, why="tonight", recommendations=asked, approved=approved, rejected=rejected
    )
    return replace(plan, approval=answer)


def applied(state: str, patch: str, folder: Path) -> str:
    """The file after Git has applied a patch to it."""
    (folder / STATE).write_text(state, "utf-8")
    git("apply", "--verbose", "-", folder=folder, given=patch)
    return (folder / STATE).read_text("utf-8")


def git(*arguments: str, folder: Path, given: str = "") -> str:
    """What Git says; it has to end with status 0."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def lasting(state: str) -> list[str]:
    """The lines of desired_state.yaml that say what the cluster has, and not of which moment."""
    return [line for line in state.splitlines() if not line.startswith(OF_THE_MOMENT)]
