"""A made-up what-if with every part that the page shows."""

import json
from typing import Any

from tests.report.from_rows import page_of
from tests.report.page_reader import Element, read_page
from tests.report.row_builders import a_finding
from tests.report.sample_cluster import sample_rows


def a_transition(consumer_group: str, **changes: Any) -> dict[str, Any]:
    """What happens in a group while a what-if's changes spread."""
    return {
        "consumer_group": consumer_group,
        "moved_queues": 6,
        "new_queues": 0,
        "ownerless_queues": 0,
        "unread_longest_expected_s": 12.5,
        "unread_longest_worst_s": 153.5,
        "twice_longest_worst_s": 23.0,
        "lock_wait_worst_s": 60.0,
        "messages_twice_expected": 100.0,
        "messages_twice_worst": None,
        "messages_skipped_worst": 0.0,
        "most_unread_at_once": 4,
        "most_twice_at_once": 2,
        "unread_switched": ["10.0.0.1@1#1"],
        "twice_switched": None,
        "timers": {"rebalance_s": 20.0, "from_snapshot": []},
    } | changes


def a_restart(**changes: Any) -> dict[str, Any]:
    """A whole rolling restart, with figures that each differ."""
    return {
        "strategy": "AVG",
        "batch": 2,
        "pause_s": 30.0,
        "ending": "SHUTDOWN",
        "client_ids": "NEW",
        "steps": 3,
        "computed_steps": 3,
        "rebalances": 6,
        "moved_queues": 66,
        "unread_longest_expected_s": 1.5,
        "unread_longest_worst_s": 321.0,
        "lock_wait_worst_s": 61.0,
        "messages_twice_expected": 12.0,
        "messages_twice_worst": 480.0,
        "settles_s": 107.0,
        "lasts_s": 240.0,
        "busy_ratio": 0.45,
    } | changes


def a_rolling_restart(**changes: Any) -> dict[str, Any]:
    """A rolling restart with its steps, other ways and advice."""
    step = {
        "step": 1,
        "client_ids": ["10.0.0.1@1#1", "10.0.0.2@1#1"],
        "moved_at_stop": 12,
        "moved_at_start": 11,
        "unread_longest_expected_s": 1.0,
        "unread_longest_worst_s": 107.0,
        "lock_wait_worst_s": 61.0,
        "messages_twice_expected": 4.0,
        "messages_twice_worst": None,
    }
    return {
        "consumer_group": "g_pay",
        "undecided": None,
        "down_s": 60.0,
        "asked": a_restart(),
        "steps": [step],
        "alternatives": [a_restart(strategy="CONSISTENT_HASH", moved_queues=32)],
        "advice": ["Pause for 107 s or more."],
        "timers": {"rebalance_waitInterval_s": 20.0},
    } | changes


def a_scenario() -> dict[str, Any]:
    """What a what-if adds to a plan, as the contract writes it."""
    before = {
        "idle": 0,
        "count": {"peak": 1.125, "floor": 1.125, "excess": 1.0, "gini": 0.1, "cv": 0.2},
        "traffic": None,
    }
    after = {"idle": 1, "count": {"peak": 1.6, "floor": 1.5, "excess": 1.0667, "gini": 0.2, "cv": 0.4}, "traffic": None}
    finding = a_finding(message="1 of 9 consumers own no queue.")
    finding["evidence"] = json.loads(finding["evidence"])
    return {
        "name": "lose broker-b",
        "changes": [
            {"change": "lose_broker", "broker_name": "broker-b"},
            {"change": "scale_traffic", "topic": None, "factor": 2.0},
        ],
        "groups": [
            {
                "consumer_group": "g_pay_gateway",
                "strategy": strategy,
                "moved_queues": moved,
                "moved_ratio": moved / 16,
                "before": before,
                "after": after,
            }
            for strategy, moved in (("CONSISTENT_HASH", 2), ("AVG", 6))
        ],
        "transitions": [a_transition("g_pay_gateway"), a_transition("g_order_worker", unread_longest_worst_s=23.0)],
        "verdict": "WORSE",
        "carried": {
            "is_carried": False,
            "bound": 0.7,
            "over_bound": ["g_was", "g_worker"],
            "newly_over_bound": ["g_worker"],
            "falling_behind": [],
            "without_clients": [],
            "unreadable_topics": ["pay"],
            "unwritable_topics": ["pay"],
            "unread_queues": 0,
            "waiting_messages": 12,
            "undecided": [],
        },
        "totals": {
            "findings_added": 1,
            "findings_cleared": 0,
            "findings_undecided": 1,
            "findings_still": 0,
            "moved_queues": 6,
            "utilisation": {"before": 0.4, "after": None},
            "lag": {"before": 12, "after": 10},
        },
        "affected_groups": [
            {
                "consumer_group": "g_pay_gateway",
                "verdict": "WORSE",
                "reasons": ["REACHABILITY"],
                "why": "pay has no readable queue any more, and producers cannot send to it",
                "utilisation": {"before": 0.4, "after": None},
                "peak_utilisation": {"before": 0.6, "after": None},
                "is_over_bound": None,
                "clients": {"before": 9, "after": 9},
                "queues": {"before": 16, "after": 12},
                "unread_queues": 0,
                "waiting_messages": 12,
                "unreadable_topics": ["pay"],
                "unwritable_topics": ["pay"],
                "lag": {"before": 12, "after": 10},
                "moved_queues": 6,
                "findings_added": 1,
                "findings_cleared": 0,
                "findings_undecided": 1,
            }
        ],
        "findings_added": [finding],
        "findings_cleared": [],
        "producers_undecided": [{"topic": "pay", "why": "too few messages are written after the change"}],
        "findings_undecided": [
            finding | {"why": "who owns which queue after the change is not known"},
            finding | {"broker_name": "broker-b", "why": "it is gone with broker-b", "gone_with": "broker broker-b"},
        ],
        "queue_plans": [
            {
                "action": "SHRINK_QUEUES",
                "topic": "pay",
                "broker_name": None,
                "manual": False,
                "reason": "Fewer queues, 2 on broker-a.",
                "smallest": 2,
                "cost_before": [a_cost(4)],
                "cost_after": [a_cost(2)],
                "steps": [a_step("Write down", ["mqadmin updateTopic -r 4 -w 2"]), a_step("Read down", [])],
            }
        ],
    }


def scenario_page(**parts: Any) -> Element:
    """The sample's page with this what-if, whose parts are as given."""
    return read_page(page_of(sample_rows(), scenario=a_scenario() | parts))


def a_cost(queues: int) -> dict[str, Any]:
    """What so many queues cost a broker."""
    files = {"files": queues, "files_bytes": queues * 6_000_000}
    return {"broker_name": "broker-a", "replicas": 2, **files, "pulls_per_s": queues / 15}


def a_step(title: str, commands: list[str]) -> dict[str, Any]:
    """A step of a change that takes several."""
    return {
        "title": title,
        "expect": f"What comes of {title}.",
        "commands": commands,
        "checks": [{"command": "mqadmin topicRoute -t pay", "shows": f"what {title} did."}],
        "blocks": [f"What blocks {title}."],
        "way_back": f"The way back from {title}.",
    }
