"""Rows of the datasets as dicts, to be changed before they are typed; maps are pairs, JSON columns are texts."""

import json
from collections.abc import Sequence
from typing import Any

from tests.report.whole_evidence import whole

Row = dict[str, Any]


def a_cluster(**changes: Any) -> Row:
    return {
        "cluster_name": "C1",
        "taken_at": "2026-11-20T02:00:00Z",
        "fingerprint": "9f2c4a1be0d75533c6a8",
        "nameservers": ["10.0.9.1:9876"],
        "completeness_ratio": 1.0,
    } | changes


def a_failure(**changes: Any) -> Row:
    return {
        "broker_addr": "10.0.1.2:10911",
        "broker_name": "broker-b",
        "request": "GET_ALL_TOPIC_CONFIG",
        "error": "timed out after 5 s",
    } | changes


def a_group(consumer_group: str = "g_pay", **changes: Any) -> Row:
    return {
        "consumer_group": consumer_group,
        "message_model": "CLUSTERING",
        "message_request_mode": "PULL",
        "connections": 12,
        "distinct_client_ids": 12,
        "topics": ["pay"],
        "max_useful_clients": 8,
        "provision_status": "UNDECIDED",
        "provision_reason": "no client reports its response time",
        "current_strategy": "AVG",
        "current_strategy_source": "reported",
        "utilisation": None,
    } | changes


def metrics(loads: Sequence[float], floor: float | None) -> list[tuple[str, float]] | None:
    """Skew of a load as the map column holds it; null where it is not defined. ``floor``: None under POP."""
    n, total = len(loads), sum(loads)
    if n < 2 or total <= 0:
        return None
    mean = total / n
    ascending = sorted(loads)
    peak = max(loads) / mean
    return [
        ("peak", peak),
        *([] if floor is None else [("floor", floor), ("excess", max(peak / floor, 1.0))]),
        ("gini", sum((2 * i - n - 1) * x for i, x in enumerate(ascending, 1)) / (n * total)),
        ("cv", (sum((x - mean) ** 2 for x in loads) / n) ** 0.5 / mean),
        ("max", max(loads)),
        ("min", min(loads)),
        ("mean", mean),
    ]


def a_strategy(consumer_group: str = "g_pay", strategy: str = "AVG", **changes: Any) -> Row:
    return {
        "consumer_group": consumer_group,
        "strategy": strategy,
        "is_applicable": True,
        "reason": None,
        "idle_clients": [],
        "orphan_queues": [],
        "doubly_owned_queues": [],
        "count": None,
        "traffic": None,
        "lag": None,
    } | changes


def a_load(consumer_group: str, strategy: str, client_id: str, queues: int, **changes: Any) -> Row:
    return {
        "consumer_group": consumer_group,
        "strategy": strategy,
        "client_id": client_id,
        "queues": queues,
        "msgs_per_s": None,
        "lag": None,
    } | changes


def a_finding(rule: str = "IDLE_CONSUMERS", evidence: dict[str, Any] | None = None, **changes: Any) -> Row:
    return {
        "rule": rule,
        "severity": "WARNING",
        "consumer_group": "g_pay",
        "topic": None,
        "broker_name": None,
        "subjects": [],
        "queues": [],
        "evidence": json.dumps(whole(rule, evidence or {})),
        "message": "4 of 12 consumers own no queue.",
    } | changes


def a_recommendation(
    action: str = "EXPAND_QUEUES",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    **changes: Any,
) -> Row:
    return {
        "id": f"{action.lower()}-1",
        "action": action,
        "consumer_group": None,
        "topic": "pay",
        "is_manual": False,
        "reason": "12 consumers share 8 queues.",
        "rules": ["IDLE_CONSUMERS"],
        "commands": [],
        "before": json.dumps(before or {}),
        "after": json.dumps(after or {}),
    } | changes


def a_recommended_transition(recommendation_id: str, consumer_group: str = "g_pay", **changes: Any) -> Row:
    return {
        "recommendation_id": recommendation_id,
        "consumer_group": consumer_group,
        "moved_queues": 3,
        "new_queues": 1,
        "ownerless_queues": 0,
        "unread_longest_expected_s": 25.5,
        "unread_longest_worst_s": 53.5,
        "twice_longest_worst_s": 52.5,
        "lock_wait_worst_s": 0.0,
        "messages_twice_expected": 0.1,
        "messages_twice_worst": 100.0,
        "messages_skipped_worst": 0.0,
        "most_unread_at_once": 2,
        "most_twice_at_once": 1,
        "timers": "{}",
    } | changes


def a_group_failure(
    consumer_group: str = "g_pay", failure: str = "BROKER", lost: str | None = "broker-a", **changes: Any
) -> Row:
    row: Row = {
        "consumer_group": consumer_group,
        "failure": failure,
        "lost": lost,
        "lost_queues": 4 if failure in ("BROKER", "ROOM") else 0,
        "moved": [("AVG", 3.0)],
        "moved_today": 3,
        "busy_ratio": 0.5,
        "becomes_under": False,
        "verdict": "UNCHANGED",
        "reasons": [],
        "read_again_s": 180.0,
        "busy_today": 0.4,
        "clients_today": 5,
        "clients_left": 5,
        "unread_queues": 0,
        "waiting_messages": 7,
    } | changes
    return {"busy_lower": row["busy_ratio"], "busy_upper": row["busy_ratio"]} | row


def a_producer_balance(topic: str = "pay", **changes: Any) -> Row:
    return {
        "topic": topic,
        "kind": "DISPLACED",
        "message": "Producers prefer some of its brokers.",
        "message_type": "NORMAL",
        "queues": 8,
        "msgs_per_s": 800.0,
        "peak": 1.6,
        "level": 0.001,
        "p_between_brokers": 1e-30,
        "p_within_brokers": 1.0,
        "broker_expected_ratios": {"broker-a": 0.5, "broker-b": 0.5},
        "broker_measured_ratios": {"broker-a": 0.8, "broker-b": 0.2},
        "producer_groups_elsewhere": ["only_a"],
        "displacing_producer_groups": ["old"],
    } | changes


def a_cluster_failure(failure: str = "MASTER", lost: str = "broker-a", **changes: Any) -> Row:
    return {
        "failure": failure,
        "lost": lost,
        "lost_brokers": [],
        "is_writable": False,
        "can_pull": True,
        "can_pull_in_order": False,
        "can_pop": None,
        "read_again_s": 163.0,
        "is_estimated": False,
        "why": "Its slaves stay.",
    } | changes


def a_producer_failure(broker_name: str = "broker-a", **changes: Any) -> Row:
    return {
        "broker_name": broker_name,
        "ending": "KILL",
        "sending": "SYNC",
        "retries": 2,
        "timeout_ms": 3_000,
        "producer_groups": ["p_pay"],
        "failed_tries": 1,
        "failing": "NONE",
        "noticed_by": "EXCEPTION",
        "worst_ms": 15,
        "until_s": 30.0,
    } | changes


def a_topic_failure(topic: str = "pay", failure: str = "BROKER", lost: str = "broker-a", **changes: Any) -> Row:
    return {
        "topic": topic,
        "failure": failure,
        "lost": lost,
        "msgs_per_s": 100.0,
        "readable_queues": 4,
        "writable_queues": 4,
        "was_readable": True,
        "was_writable": True,
    } | changes
