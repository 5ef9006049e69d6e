"""What the changes do to each group, as datasets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec import structs

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.simulation.compare import scenario_effects
from rocketmq_capacity.simulation.copied import copied_by_slaves
from rocketmq_capacity.simulation.outcome import is_touched, key_of, outcome
from rocketmq_capacity.simulation.sides import Sides
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import change_of
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset

OF_GROUPS: Final = (
    tables.ScenarioEffect,
    tables.ScenarioGroup,
    tables.UndecidedFinding,
    tables.Transition,
    tables.GroupTransition,
)
"""The datasets that the comparison of groups writes."""
OF_A_GROUP: Final = ("facts", "observations", "sampled")
"""The columns of ``group_unit`` that say what a group is like; those of the cluster as it is end in ``_before``."""


def compare_groups(sides: Sides, units: Sequence[Mapping[str, Any]]) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """What the changes do to some groups."""
    facts = msgspec.json.Decoder(GroupFacts)
    strategies = Strategies(sides.policy)
    names = [unit["consumer_group"] for unit in units]
    findings_before = sides.before.rows_by(tables.Finding, "consumer_group", names)
    findings_after = sides.after.rows_by(tables.Finding, "consumer_group", names)
    effects: list[tables.ScenarioEffect] = []
    outcomes: list[tables.ScenarioGroup] = []
    in_doubt: list[tables.UndecidedFinding] = []
    transitions: list[tables.Transition] = []
    totals: list[tables.GroupTransition] = []
    timing = Timing.of(sides.before.cluster, sides.policy, sides.scenario.failed_polls)
    copied = copied_by_slaves(sides)
    for unit in units:
        name, after = unit["consumer_group"], facts.decode(unit["facts"])
        before = None if unit["facts_before"] is None else facts.decode(unit["facts_before"])
        effects += scenario_effects(before, after, strategies)
        if before is None or _is_same(unit, findings_before.get(name), findings_after.get(name)):
            continue
        group_before = AssessedGroup(
            before.observed(unit["observations_before"], unit["sampled_before"]),
            sides.before.cluster,
            sides.policy,
            strategies,
        )
        group_after = AssessedGroup(
            after.observed(unit["observations"], unit["sampled"]), sides.after.cluster, sides.policy, strategies
        )
        row, findings = outcome(
            group_before,
            group_after,
            findings_before.get(name, ()),
            findings_after.get(name, ()),
            sides.hot_topics,
            sides.scenario.lost_rooms,
            sides.scenario.lost_masters,
            copied,
        )
        passing = change_of(group_before, group_after, timing, sides.scenario.ending)
        moved = [] if passing is None else list(passing.rows())
        if passing is not None and moved:
            transitions += moved
            whole = structs.asdict(passing.totals())
            totals.append(tables.GroupTransition(consumer_group=name, **whole))
        if is_touched(row):
            outcomes.append(row)
        in_doubt += findings.undecided
    yield tables.ScenarioEffect, table_of(tables.ScenarioEffect, effects)
    yield tables.ScenarioGroup, table_of(tables.ScenarioGroup, outcomes)
    yield tables.UndecidedFinding, table_of(tables.UndecidedFinding, in_doubt)
    yield tables.Transition, table_of(tables.Transition, transitions)
    yield tables.GroupTransition, table_of(tables.GroupTransition, totals)


def _is_same(
    unit: Mapping[str, Any],
    findings_before: Sequence[tables.Finding] | None,
    findings_after: Sequence[tables.Finding] | None,
) -> bool:
    """Whether the changes leave a group as it was."""
    is_same = all(unit[name] == unit[f"{name}_before"] for name in OF_A_GROUP)
    return is_same and {key_of(one) for one in findings_before or ()} == {key_of(one) for one in findings_after or ()}
