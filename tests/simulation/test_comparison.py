"""What a what-if found, from the rows of its two runs: in order, rounded, each finding with its id."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.plan_file.before_after import BeforeAfterRatio
from rocketmq_capacity.plan_file.group import PlanSkew
from rocketmq_capacity.plan_file.scenario import ScenarioResult, ScenarioSide
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.comparison import comparison
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables import Cluster, Finding, ScenarioEffect, ScenarioGroup, UndecidedFinding
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset

METRICS = {"peak": 1.23456, "floor": 1.0, "excess": 1.23456, "gini": 0.1, "cv": 0.2, "mean": 2.0}
CLUSTER = Cluster(
    cluster_name="C1", taken_at="2026-11-20T02:00:00Z", fingerprint="f", nameservers=(), completeness_ratio=1.0
)


def side(folder: Path, rows: Sequence[Dataset]) -> RunSide:
    """A run with these rows, and no others."""
    by_dataset = defaultdict(list)
    for row in rows:
        by_dataset[type(row)].append(row)
    run = Run(folder)
    for dataset, own in by_dataset.items():
        run.new_tables(dataset.dataset_name())
        add_file(run, dataset, table_of(dataset, own))
    return RunSide(run, ClusterFacts(cluster=CLUSTER))


def compared(folder: Path, before: Sequence[Dataset], after: Sequence[Dataset]) -> ScenarioResult:
    scenario = Scenario.model_validate({"name": "half", "changes": [{"change": "scale_traffic", "factor": 0.1 + 0.2}]})
    sides = Sides.of(side(folder / "before", before), side(folder / "after", after), Policy(), scenario)
    return comparison(sides, None)


def test_a_rolling_restart_of_a_group_that_is_left_out_says_so(tmp_path: Path) -> None:
    change = {"change": "rolling_restart", "consumer_group": "bench", "batch": 1, "pause_s": 30.0}
    scenario = Scenario.model_validate({"name": "restart", "changes": [change]})
    sides = Sides.of(side(tmp_path / "before", []), side(tmp_path / "after", []), Policy(), scenario)

    (found,) = comparison(sides, None).rolling_restarts or ()
    assert (found.consumer_group, found.asked) == ("bench", None)
    assert found.undecided == "the policy excludes the group, or it is one of RocketMQ's own"


def finding(rule: str, *, group: str | None = "g_pay", evidence: str = "{}") -> Finding:
    return Finding(rule=rule, severity="WARNING", consumer_group=group, evidence=evidence, message="Wrong.")


def group(name: str, **more: Any) -> ScenarioGroup:
    numbers = ("clients", "queues")
    counts: dict[str, Any] = {f"{side}_{number}": 4 for side in ("before", "after") for number in numbers}
    counts |= {f"findings_{kind}": 0 for kind in ("added", "cleared", "undecided")}
    return ScenarioGroup(consumer_group=name, verdict="WORSE", reasons=(), why="", **counts | more)


def effect(strategy: str, **more: Any) -> ScenarioEffect:
    return ScenarioEffect(consumer_group="g_pay", strategy=strategy, **more)


def test_groups_are_in_order_and_their_metrics_rounded(tmp_path: Path) -> None:
    effects = [effect("POP"), effect("AVG", after_idle=1, after_count=METRICS, moved_queues=6, moved_ratio=0.123456)]
    groups = [group("g_ship", before_utilisation=0.123456), group("g_pay", before_utilisation=0.5, moved_queues=3)]

    found = compared(tmp_path, [], [*effects, *groups])

    first, second = found.groups
    assert (first.strategy, first.moved_queues, first.moved_ratio) == ("AVG", 6, 0.1235)
    skew = PlanSkew(peak=1.2346, floor=1.0, excess=1.2346, gini=0.1, cv=0.2)
    assert first.after == ScenarioSide(idle=1, count=skew, traffic=None)
    assert second.after == ScenarioSide(idle=None, count=None, traffic=None)
    assert [one.consumer_group for one in found.affected_groups] == ["g_pay", "g_ship"]
    assert found.affected_groups[1].utilisation == BeforeAfterRatio(before=0.1235, after=None)
    assert found.totals is not None
    assert (found.totals.moved_queues, found.totals.utilisation) == (3, BeforeAfterRatio(before=0.5, after=None))
    assert found.changes == ({"change": "scale_traffic", "factor": 0.3},)


def test_findings_are_added_cleared_undecided_or_there_on_both_sides(tmp_path: Path) -> None:
    stays, mended, forgotten = (finding(rule) for rule in ("IDLE_CONSUMERS", "LAG_STATE", "ORPHAN_QUEUE"))
    new = finding("HOT_QUEUE", evidence='{"a": 0.30000000000000004}')
    doubt = UndecidedFinding(
        rule="ORPHAN_QUEUE", severity="WARNING", consumer_group="g_pay", evidence="{}", message="Wrong.", why="unknown"
    )

    found = compared(tmp_path, [stays, mended, forgotten], [stays, new, doubt])

    (added,) = found.findings_added
    assert (added.rule, added.evidence, added.message, added.cause) == ("HOT_QUEUE", {"a": 0.3}, "Wrong.", None)
    assert [one.rule for one in found.findings_cleared] == ["LAG_STATE"]
    assert [(one.rule, one.why) for one in found.findings_undecided] == [("ORPHAN_QUEUE", "unknown")]
    assert len({one.id for one in (*found.findings_added, *found.findings_cleared, *found.findings_undecided)}) == 3
    assert found.totals is not None
    assert (found.totals.findings_still, found.totals.findings_cleared, found.totals.findings_undecided) == (1, 1, 1)


def test_a_new_finding_names_what_the_changes_take_away(tmp_path: Path) -> None:
    left = structs.replace(group("g_pay"), after_clients=0)

    found = compared(tmp_path, [], [finding("ORPHAN_QUEUE"), left])

    (added,) = found.findings_added
    assert added.message == f"Wrong. The reason: {added.cause}."
    assert added.cause == "no client of the group is left"
