"""The cluster of the contract's sample: topic pay with 8 queues on two brokers, 12 clients in g_pay under AVG."""

from typing import Any

from tests.report.row_builders import a_cluster, a_finding, a_group, a_load, a_recommendation, a_strategy, metrics

CLIENTS = [f"10.0.0.{n}@1#1" for n in range(1, 13)]
IN_JAVA_ORDER = sorted(CLIENTS)
IDLE = IN_JAVA_ORDER[8:]
QUEUES = [{"topic": "pay", "broker_name": f"broker-{b}", "queue_id": q} for b in "ab" for q in range(4)]
FLOOR = 1 / (8 / 12)
COMMAND = "mqadmin updateTopic -n 10.0.9.1:9876 -b 10.0.1.{broker}:10911 -t pay -r 6 -w 6 -p 6 -o false"


def sample_rows() -> dict[str, list[dict[str, Any]]]:
    owned = dict.fromkeys(IN_JAVA_ORDER, 1) | dict.fromkeys(IDLE, 0)
    count = metrics(list(owned.values()), FLOOR)
    return {
        "cluster": [a_cluster()],
        "failure": [],
        "group_status": [a_group()],
        "strategy_load": [
            a_strategy(strategy="POP", count=metrics([2] * 12, None)),
            a_strategy(strategy="AVG", idle_clients=list(reversed(IDLE)), count=count),
            a_strategy(
                strategy="MACHINE_ROOM",
                is_applicable=False,
                reason="the policy names no machine_rooms",
            ),
        ],
        "client_load": [a_load("g_pay", "AVG", client, queues) for client, queues in owned.items()]
        + [a_load("g_pay", "POP", client, 2) for client in CLIENTS],
        "finding": [
            a_finding(
                subjects=IDLE,
                evidence={
                    "clients": 12,
                    "queues": 8,
                    "idle": 4,
                    "idle_ratio": 0.3333,
                    "max_useful_clients": 8,
                    "ordered": False,
                },
                message="4 of 12 consumers of g_pay own no queue: its topics have 8 readable queues.",
            )
        ],
        "recommendation": [
            a_recommendation(
                "SCALE_CONSUMERS",
                consumer_group="g_pay",
                topic=None,
                reason="8 consumers read as much as 12.",
                before={"clients": 12, "idle": 4},
                after={"clients": 8, "idle": 0},
            ),
            a_recommendation(
                commands=[COMMAND.format(broker=1), COMMAND.format(broker=2)],
                before={"queues": 8, "groups": {"g_pay": {"idle": 4, "count": dict(count or [])}}},
                after={"queues": 12, "groups": {"g_pay": {"idle": 0, "count": dict(metrics([1] * 12, 1.0) or [])}}},
            ),
        ],
    }
