"""plan.json: the plan as one document, in the order and with the names of the contract."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from rocketmq_capacity.errors import BadInput, ContractBroken
from rocketmq_capacity.report.approval import approval_object, is_about
from rocketmq_capacity.report.order import canonical, java_order, nulls_first
from rocketmq_capacity.report.rows import Document, Row, Rows, as_mapping, by_group

FORMAT: Final = "rocketmq-capacity/plan/1"
METRICS: Final = ("peak", "floor", "excess", "gini", "cv")
"""A strategy's metrics, in the contract's order."""
METRIC_DECIMALS: Final = 4
SIGNIFICANT_DIGITS: Final = 10
"""Of other fractions: a sum over a shuffle differs in its last digits from run to run, and equal inputs must not."""


def plan_document(
    rows: Rows, *, scenario: Mapping[str, Any] | None = None, approval: Mapping[str, Any] | None = None
) -> Document:
    """The plan of one snapshot.

    Shape: rows of cluster (exactly one), failure, group_status, strategy_load, finding and recommendation -> the
    contract's object, every list in a total order. ``scenario`` is what a what-if adds, already in the contract's form,
    ``approval`` the answer to the recommendations, if there has been one.
    Errors: :class:`ContractBroken` where a JSON column holds no JSON object, or there is not exactly one cluster;
    :class:`BadInput` where the approval is none, or names a recommendation that this plan does not have.
    Source: include/docs/formats.md, "Plan file".
    """
    clusters = rows.get("cluster", ())
    if len(clusters) != 1:
        raise ContractBroken(f"cluster: expected one row, found {len(clusters)}")
    cluster = clusters[0]
    strategies = by_group(rows.get("strategy_load", ()))
    status = sorted(rows.get("group_status", ()), key=lambda row: str(row["consumer_group"]))
    document: Document = {
        "format": FORMAT,
        "cluster_name": cluster["cluster_name"],
        "taken_at": cluster["taken_at"],
        "fingerprint": cluster["fingerprint"],
        "completeness": {
            "ratio": _steady(cluster["completeness_ratio"]),
            "failures": _failures(rows.get("failure", ())),
        },
        "groups": [_group(row, strategies.get(row["consumer_group"], ())) for row in status],
        "findings": finding_objects(rows.get("finding", ())),
        "recommendations": _recommendations(rows.get("recommendation", ())),
    }
    if approval is not None:
        document["approval"] = _approval(approval, document)
    if scenario is not None:
        document["scenario"] = _scenario(scenario)
    return document


def render_plan(document: Mapping[str, Any]) -> bytes:
    """The bytes of plan.json: UTF-8, two spaces of indentation, a newline at the end; equal for equal documents."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _failures(rows: Sequence[Row]) -> list[dict[str, Any]]:
    ordered = sorted(rows, key=lambda row: nulls_first(row["broker_addr"], row["request"], row["error"]))
    return [{name: row[name] for name in ("broker_addr", "request", "error")} for row in ordered]


def _group(row: Row, loads: Sequence[Row]) -> dict[str, Any]:
    is_broadcasting = row["message_model"] == "BROADCASTING"
    ordered = sorted(loads, key=lambda load: str(load["strategy"]))
    return {
        "consumer_group": row["consumer_group"],
        "message_model": row["message_model"],
        "message_request_mode": row["message_request_mode"],
        "connections": row["connections"],
        "distinct_client_ids": row["distinct_client_ids"],
        "topics": sorted(row["topics"]),
        "max_useful_clients": row["max_useful_clients"],
        "provision_status": row["provision_status"],
        "current_strategy": row["current_strategy"],
        "current_strategy_source": row["current_strategy_source"],
        "strategies": [] if is_broadcasting else [_strategy(load) for load in ordered],
    }


def _strategy(row: Row) -> dict[str, Any]:
    return {
        "strategy": row["strategy"],
        "applicable": row["is_applicable"],
        "reason": row["reason"],
        "idle_clients": sorted(row["idle_clients"], key=java_order),
        "orphan_queues": _queues(row["orphan_queues"]),
        "doubly_owned_queues": _queues(row["doubly_owned_queues"]),
        "count": skew(row["count"]),
        "traffic": skew(row["traffic"]),
        "lag": skew(row["lag"]),
    }


def _queues(queues: Sequence[Row]) -> list[dict[str, Any]]:
    named = [{name: queue[name] for name in ("topic", "broker_name", "queue_id")} for queue in queues]
    return sorted(named, key=lambda queue: (queue["topic"], queue["broker_name"], queue["queue_id"]))


def skew(value: Any) -> dict[str, float | None] | None:
    """A load's metrics in the contract's order, rounded; null where none of them is defined."""
    held = as_mapping(value) or {}
    metrics = {name: _rounded(held.get(name)) for name in METRICS}
    return metrics if any(number is not None for number in metrics.values()) else None


def _rounded(number: float | None) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return round(number, METRIC_DECIMALS) + 0.0  # never -0.0


def finding_objects(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of the dataset finding as the plan holds them, in a total order."""
    findings = [
        {
            "rule": row["rule"],
            "severity": row["severity"],
            "consumer_group": row["consumer_group"],
            "topic": row["topic"],
            "broker_name": row["broker_name"],
            "subjects": list(row["subjects"]),
            "evidence": _object("finding.evidence", row["evidence"]),
            "message": row["message"],
        }
        for row in rows
    ]
    return _in_order(findings)


def _in_order(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    def key(finding: dict[str, Any]) -> tuple[Any, ...]:
        names = nulls_first(finding["rule"], finding["consumer_group"], finding["topic"], finding["broker_name"])
        return (*names, finding["subjects"], canonical(finding))

    return sorted(findings, key=key)


def _recommendations(rows: Sequence[Row]) -> list[dict[str, Any]]:
    recommendations = [
        {
            "id": row["id"],
            "action": row["action"],
            "consumer_group": row["consumer_group"],
            "topic": row["topic"],
            "manual": row["is_manual"],
            "reason": row["reason"],
            "rules": sorted(row["rules"]),
            "commands": list(row["commands"]),  # their order is the order in which they are to be run
            "before": _object("recommendation.before", row["before"]),
            "after": _object("recommendation.after", row["after"]),
        }
        for row in rows
    ]
    return sorted(recommendations, key=lambda r: nulls_first(r["action"], r["consumer_group"], r["topic"], r["id"]))


def _object(column: str, text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ContractBroken(f"{column}: expected a JSON object, found {text[:80]!r} ({error})") from None
    if not isinstance(value, dict):
        raise ContractBroken(f"{column}: expected a JSON object, found {text[:80]!r}")
    steady: dict[str, Any] = _steady(value)
    return steady


def _steady(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _steady(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_steady(held) for held in value]
    return value


def _approval(approval: Mapping[str, Any], document: Document) -> dict[str, Any]:
    answer = approval_object(approval)
    if not is_about(answer, document):
        raise BadInput("approval", "$.recommendations", "names what this plan does not recommend; ask again")
    return answer


def _scenario(scenario: Mapping[str, Any]) -> dict[str, Any]:
    groups = [_scenario_group(group) for group in scenario["groups"]]
    return {
        "name": scenario["name"],
        "changes": [_steady(dict(change)) for change in scenario["changes"]],
        "groups": sorted(groups, key=lambda group: (group["consumer_group"], group["strategy"])),
        "findings_added": _in_order([_steady(dict(f)) for f in scenario["findings_added"]]),
        "findings_cleared": _in_order([_steady(dict(f)) for f in scenario["findings_cleared"]]),
    }


def _scenario_group(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "consumer_group": group["consumer_group"],
        "strategy": group["strategy"],
        "moved_queues": group["moved_queues"],
        "moved_ratio": _rounded(group["moved_ratio"]),
        "before": _scenario_side(group["before"]),
        "after": _scenario_side(group["after"]),
    }


def _scenario_side(side: Mapping[str, Any]) -> dict[str, Any]:
    return {"idle": side["idle"], "count": skew(side["count"]), "traffic": skew(side["traffic"])}
