"""A cluster as small as one can be that has a part of every kind, as the contract shows it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

CLUSTER: Final[dict[str, Any]] = {
    "format": "rocketmq-capacity/inventory/1",
    "cluster_name": "C1",
    "taken_at": "2026-11-20T02:00:00Z",
    "recorded_at": "2026-11-20T02:00:00Z",
    "nameservers": ["10.0.9.1:9876"],
    "brokers": [
        {
            "broker_name": "broker-a",
            "broker_id": 0,
            "broker_addr": "10.0.1.1:10911",
            "broker_perm": 6,
            "version": "V5_3_3",
            "config": {"fileReservedTime": "72"},
            "runtime": {"commitLogDiskRatio": "0.41"},
            "drifted_topics": [
                {
                    "topic": "pay",
                    "read_queue_nums": 2,
                    "write_queue_nums": 2,
                    "master_read_queue_nums": 4,
                    "master_write_queue_nums": 4,
                },
            ],
            "is_copying": True,
            "missing_groups": ["g_pay"],
            "master_changed_at": "2026-11-20T01:30:00Z",
            "disks": [{"at": "2026-11-19T02:00:00Z", "used_ratio": 0.4}],
        },
    ],
    "missing_brokers": [
        {
            "broker_name": "broker-b",
            "broker_addr": "10.0.1.3:10911",
            "seen_at": "2026-11-19T02:00:00Z",
            "topics": [{"topic": "pay", "put_msgs_per_s": 100.0}],
            "readers": [{"consumer_group": "g_pay", "topic": "pay", "unread_msgs": 12}],
        },
    ],
    "proxies": [{"proxy_addr": "10.0.8.1:8080", "mode": "CLUSTER", "version": "V5_3_3"}],
    "topics": [
        {
            "topic": "pay",
            "message_type": "NORMAL",
            "order": False,
            "queues": [{"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4, "perm": 6}],
            "offsets": [
                {
                    "broker_name": "broker-a",
                    "queue_id": 0,
                    "min_offset": 0,
                    "max_offset": 5000,
                    "put_msgs_per_s": 100.0,
                },
            ],
            "rates": [{"at": "2026-11-19T02:00:00Z", "put_msgs_per_s": 380.0, "mean_msgs_per_s": 150.5}],
            "hourly": {
                "first_at": "2026-11-19T02:00:00Z",
                "mean_msgs_per_s": [160.2, 155.0],
                "most_msgs_per_s": [391.0, 380.5],
            },
        },
    ],
    "consumer_groups": [
        {
            "consumer_group": "g_pay",
            "past_members": [
                {"first_at": "2026-11-19T23:55:00Z", "last_at": "2026-11-20T01:30:00Z", "client_ids": ["10.0.0.1@1#1"]}
            ],
            "hourly": {"first_at": "2026-11-19T02:00:00Z", "most_lag": [12, 90], "clients": [2, 1]},
            "message_model": "CLUSTERING",
            "consume_type": "CONSUME_PASSIVELY",
            "consume_from_where": "CONSUME_FROM_LAST_OFFSET",
            "message_request_mode": "PULL",
            "pop_share_queue_num": -1,
            "orderly": False,
            "settings": [
                {
                    "broker_names": ["broker-a"],
                    "consume_enable": True,
                    "consume_broadcast_enable": True,
                    "consume_message_orderly": False,
                    "retry_queue_nums": 1,
                    "retry_max_times": 16,
                }
            ],
            "subscriptions": [
                {
                    "topic": "pay",
                    "expression_type": "TAG",
                    "expression": "*",
                    "message_request_mode": "PULL",
                    "pop_share_queue_num": -1,
                },
            ],
            "pass_ratios": [{"topic": "pay", "pass_ratio": 1.0}],
            "clients": [
                {
                    "client_id": "10.0.0.1@1#1",
                    "client_addr": "10.0.0.1:40001",
                    "protocol": "REMOTING",
                    "language": "JAVA",
                    "version": "V5_3_3",
                    "seen_on": ["broker-a"],
                    "started_at": "2026-11-19T20:00:00Z",
                    "allocate_strategy": "AVG",
                    "consume_threads": 20,
                    "consume_batch_size": 1,
                    "pull_batch_size": 32,
                    "pull_interval_ms": 0,
                    "pull_threshold_for_queue": 1000,
                    "pull_threshold_size_for_queue_mib": 100,
                    "pull_threshold_for_topic": 8000,
                    "pull_threshold_size_for_topic_mib": 800,
                    "subscriptions": [
                        {
                            "topic": "pay",
                            "expression_type": "TAG",
                            "expression": "*",
                            "message_request_mode": "PULL",
                            "pop_share_queue_num": -1,
                        },
                    ],
                    "answered_at": "2026-11-20T02:00:04Z",
                    "owned_queues": [
                        {
                            "topic": "pay",
                            "broker_name": "broker-a",
                            "queue_id": 0,
                            "dropped": False,
                            "locked": True,
                            "cached_msgs": 3,
                            "last_locked_at": "2026-11-20T01:59:50Z",
                            "last_pulled_at": "2026-11-20T02:00:01Z",
                            "last_consumed_at": "2026-11-20T02:00:03Z",
                        },
                    ],
                    "status": [
                        {
                            "topic": "pay",
                            "consume_rt_ms": 12.5,
                            "consume_ok_msgs_per_s": 40.0,
                            "consume_failed_msgs_per_s": 0.0,
                        },
                    ],
                },
            ],
            "offsets": [
                {
                    "topic": "pay",
                    "broker_name": "broker-a",
                    "queue_id": 0,
                    "broker_offset": 5000,
                    "consumer_offset": 4990,
                    "last_timestamp": "2026-11-20T01:59:58Z",
                    "samples": [{"at": "2026-11-20T01:59:50Z", "broker_offset": 4950, "consumer_offset": 4940}],
                },
            ],
        },
    ],
    "producers": [
        {
            "producer_group": "p_pay",
            "client_id": "10.0.0.2@1#1",
            "client_addr": "10.0.0.2:40001",
            "language": "JAVA",
            "version": "V5_3_3",
            "seen_on": ["broker-a"],
        },
    ],
    "nameserver_views": [
        {
            "nameserver_addr": "10.0.9.1:9876",
            "brokers": [{"broker_name": "broker-a", "broker_id": 0, "broker_addr": "10.0.1.1:10911"}],
            "routes": [
                {
                    "topic": "pay",
                    "queues": [{"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4, "perm": 6}],
                }
            ],
        }
    ],
    "failures": [
        {
            "broker_addr": "10.0.1.2:10911",
            "request": "GET_ALL_TOPIC_CONFIG",
            "error": "timed out after 5 s",
            "of_clients": False,
        },
    ],
}

LEFT_OUT: Final = object()
"""In place of a value: the member is not there at all."""


def cluster_with(path: str, value: Any) -> dict[str, Any]:
    """The cluster with another value at a place such as ``topics[0].queues[0].perm``."""
    cluster = copy.deepcopy(CLUSTER)
    *way, last = steps_of(path)
    part: Any = cluster
    for step in way:
        part = part[step]
    if value is LEFT_OUT:
        del part[last]
    elif isinstance(last, int) and last == len(part):
        part.append(value)
    else:
        part[last] = value
    return cluster


def places(part: Any, way: str = "") -> Iterator[tuple[str, Any]]:
    """Every place below the part, such as ``topics[0].queues[0].perm``, with its value."""
    members = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, value in members:
        step = f"[{name}]" if isinstance(name, int) else f".{name}" if way else name
        yield f"{way}{step}", value
        yield from places(value, f"{way}{step}")


def steps_of(path: str) -> list[str | int]:
    """``topics[0].perm`` as topics, 0, perm."""
    return [int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")]


def written(folder: Path, cluster: Any = CLUSTER, name: str = "inventory.json") -> Path:
    """The cluster as an inventory file in the folder."""
    file = folder / name
    file.write_text(json.dumps(cluster), encoding="utf-8")
    return file
