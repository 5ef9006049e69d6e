"""What a scenario adds to the plan file, from the rows that the simulation gives."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocketmq_capacity.report.plan import finding_objects, skew
from rocketmq_capacity.report.rows import Row


def scenario_object(
    name: str,
    changes: Sequence[Mapping[str, Any]],
    effects: Sequence[Row],
    findings_added: Sequence[Row],
    findings_cleared: Sequence[Row],
) -> dict[str, Any]:
    """The plan file's ``scenario``.

    Args:
        name: the scenario file's name.
        changes: its changes in their order, as objects.
        effects: rows of the dataset scenario_effect.
        findings_added: rows of the dataset finding that only the changed cluster has.
        findings_cleared: rows of the dataset finding that only the cluster as it is has.

    Source: include/docs/formats.md, "Plan file".
    """
    return {
        "name": name,
        "changes": [dict(change) for change in changes],
        "groups": [_group(row) for row in effects],
        "findings_added": finding_objects(findings_added),
        "findings_cleared": finding_objects(findings_cleared),
    }


def _group(row: Row) -> dict[str, Any]:
    return {
        "consumer_group": row["consumer_group"],
        "strategy": row["strategy"],
        "moved_queues": row["moved_queues"],
        "moved_ratio": row["moved_ratio"],
        "before": _side(row, "before"),
        "after": _side(row, "after"),
    }


def _side(row: Row, side: str) -> dict[str, Any]:
    return {
        "idle": row[f"{side}_idle"],
        "count": skew(row[f"{side}_count"]),
        "traffic": skew(row[f"{side}_traffic"]),
    }
