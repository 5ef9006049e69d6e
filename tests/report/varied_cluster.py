"""A made-up cluster of any size, with groups of every kind and findings of many rules; equal seeds give equal rows."""

import random
from dataclasses import dataclass, field
from typing import Any

from tests.report.row_builders import (
    a_cluster,
    a_failure,
    a_finding,
    a_group,
    a_group_failure,
    a_load,
    a_producer_balance,
    a_recommendation,
    a_recommended_transition,
    a_strategy,
    a_topic_failure,
    metrics,
)

DOMAINS = ("pay", "order", "ship", "refund", "ledger", "invoice", "stock", "price", "search", "mail", "audit", "quote")
PARTS = ("gateway", "worker", "sync", "notify", "archive", "report", "index", "risk")
BROKERS = ("broker-a", "broker-b", "room1@broker-c")
PLACE = ("rule", "consumer_group", "topic", "broker_name")
SINCE = ("2026-11-17T02:00:00Z", "2026-11-19T02:00:00Z", "2026-11-20T02:00:00Z")
Rows = dict[str, list[dict[str, Any]]]


@dataclass
class MadeGroup:
    """A group, its clients, and its topics with their queues."""

    name: str
    clients: list[str]
    queues: dict[str, int]
    rates: dict[tuple[str, int], float]
    kind: str = "PULL"
    loads: dict[str, dict[str, list[tuple[str, int]]]] = field(default_factory=dict)


def varied_rows(groups: int = 18, seed: int = 7, *, is_complete: bool = False) -> Rows:
    """Rows of every dataset that the report reads."""
    chance = random.Random(seed)
    rows: Rows = {name: [] for name in ("failure", "group_status", "strategy_load", "finding", "recommendation")}
    rows["client_load"] = []
    ratio = 1.0 if is_complete else 0.9722
    rows["cluster"] = [a_cluster(cluster_name="prod-eu-1", completeness_ratio=ratio)]
    if not is_complete:
        rows["failure"] = [a_failure(), a_failure(request="GET_CONSUMER_CONNECTION_LIST", error="connection reset")]
        rows["finding"].append(_incomplete())
    for number in range(groups):
        _add(rows, _made(number, chance), chance)
    _add_failures(rows)
    places = dict.fromkeys(tuple(finding[name] for name in PLACE) for finding in rows["finding"])
    rows["finding_since"] = [
        {**dict(zip(PLACE, place, strict=True)), "since": SINCE[number % len(SINCE)]}
        for number, place in enumerate(places)
    ]
    rows["run_before"] = [{"taken_at": SINCE[0]}]
    rows["finding_before"] = _before(rows["finding"])
    return rows


def _before(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Three of four findings, some of them less bad, and what only the run before found."""
    known = [finding for number, finding in enumerate(findings) if number % 4]
    gone = [a_finding("CLIENT_MEMORY", consumer_group=f"g_gone_{number}", severity="INFO") for number in range(12)]
    return [*({**one, "severity": "INFO"} if place % 3 else one for place, one in enumerate(known)), *gone]


def _verdict_on(place: int, failure: str) -> str:
    if place % 5 == 4:
        return "UNDECIDED"
    return "WORSE" if place % 3 == 0 and failure == "BROKER" else "UNCHANGED"


def _add_failures(rows: Rows) -> None:
    """What each failure does to each group, and each broker's to each topic, some of it unknown, and uneven topics."""
    rows["group_failure"] = [
        a_group_failure(
            group["consumer_group"],
            failure,
            lost,
            becomes_under=None if place % 5 == 4 else place % 3 == 0 and failure == "BROKER",
            verdict=_verdict_on(place, failure),
            busy_ratio=None if place % 5 == 4 else 0.2 * (place % 6),
            moved_today=None if place % 5 == 4 else place,
        )
        for place, group in enumerate(rows["group_status"])
        for failure, lost in (
            *(("BROKER", broker) for broker in BROKERS),
            ("ROOM", "room1"),
            ("BUSIEST_CLIENT", "10.0.0.1@1#1"),
            ("ONE_FEWER", "10.0.0.9@1#1"),
            ("ONE_MORE", None),
        )
    ]
    topics = sorted({topic for group in rows["group_status"] for topic in group["topics"]})
    rows["topic_failure"] = [
        a_topic_failure(topic, lost=broker, readable_queues=place % 4, writable_queues=place % 4)
        for place, topic in enumerate(topics)
        for broker in BROKERS
    ]
    rows["recommended_transition"] = [
        a_recommended_transition(one["id"], "g_pay", is_of_lists=place % 2 == 1, moved_queues=place)
        for place, one in enumerate(rows["recommendation"][:9])
    ]
    rows["producer_balance"] = [a_producer_balance(topic, peak=1.5 + place) for place, topic in enumerate(topics[::3])]


def _made(number: int, chance: random.Random) -> MadeGroup:
    domain, part = DOMAINS[number % len(DOMAINS)], PARTS[(number // len(DOMAINS) + number) % len(PARTS)]
    name = f"g_{domain}_{part}" + (f"_{number}" if number >= len(DOMAINS) * len(PARTS) else "")
    count = chance.choice((1, 3, 4, 5, 6, 8, 12, 20, 32))
    clients = [f"10.{number % 200}.{n // 16}.{17 + n % 16}@{2000 + 7 * n}#{10**11 + 37 * n}" for n in range(count)]
    topics = {
        f"{domain}_{suffix}": chance.choice((4, 8, 12, 16))
        for suffix in ("events", "commands", "audit")[: 1 + number % 3]
    }
    rates = {
        (topic, queue): round(chance.lognormvariate(3, 0.8), 2)
        for topic, queues in topics.items()
        for queue in range(queues)
    }
    kind = "BROADCASTING" if number % 11 == 9 else "POP" if number % 11 == 6 else "PULL"
    return MadeGroup(name, sorted(clients), topics, rates, kind)


def _avg(group: MadeGroup) -> dict[str, list[tuple[str, int]]]:
    owned: dict[str, list[tuple[str, int]]] = {client: [] for client in group.clients}
    n = len(group.clients)
    for topic, queues in group.queues.items():
        small, extra = divmod(queues, n)
        start = 0
        for place, client in enumerate(group.clients):
            size = small + (place < extra)
            owned[client] += [(topic, queue) for queue in range(start, start + size)]
            start += size
    return owned


def _circle(group: MadeGroup) -> dict[str, list[tuple[str, int]]]:
    owned: dict[str, list[tuple[str, int]]] = {client: [] for client in group.clients}
    for topic, queues in group.queues.items():
        for queue in range(queues):
            owned[group.clients[queue % len(group.clients)]].append((topic, queue))
    return owned


def _hashed(group: MadeGroup) -> dict[str, list[tuple[str, int]]]:
    owned: dict[str, list[tuple[str, int]]] = {client: [] for client in group.clients}
    for topic, queues in group.queues.items():
        for queue in range(queues):
            owned[group.clients[random.Random(f"{topic} {queue}").randrange(len(group.clients))]].append((topic, queue))
    return owned


def _spread(group: MadeGroup) -> dict[str, list[tuple[str, int]]]:
    every = [(topic, queue) for topic, queues in group.queues.items() for queue in range(queues)]
    return {client: every[place :: len(group.clients)] for place, client in enumerate(group.clients)}


def _queue(topic: str, queue: int) -> dict[str, Any]:
    return {"topic": topic, "broker_name": BROKERS[queue % 3], "queue_id": queue // 3}


def _add(rows: Rows, group: MadeGroup, chance: random.Random) -> None:
    total = sum(group.queues.values())
    strategies = {
        "AVG": _avg(group),
        "AVG_BY_CIRCLE": _circle(group),
        "CONSISTENT_HASH": _hashed(group),
        "POP": _spread(group),
    }
    current = "POP" if group.kind == "POP" else "CONSISTENT_HASH" if chance.random() < 0.3 else "AVG"
    if group.kind != "BROADCASTING":
        for name, owned in strategies.items():
            _add_strategy(rows, group, name, owned, total)
        for name in ("MACHINE_ROOM", "CONFIG"):
            reason = "the policy names no machine_rooms" if name == "MACHINE_ROOM" else "the policy assigns no queues"
            rows["strategy_load"].append(a_strategy(group.name, name, is_applicable=False, reason=reason))
    idle = [client for client, queues in strategies[current].items() if not queues] if group.kind == "PULL" else []
    status = chance.choice((
        "RIGHT_PROVISIONED",
        "RIGHT_PROVISIONED",
        "UNDECIDED",
        "OVER_PROVISIONED",
        "UNDER_PROVISIONED",
    ))
    reasons = {
        "RIGHT_PROVISIONED": "the busiest client uses 41 % of what it can handle",
        "UNDECIDED": "3 of its clients do not report their response time",
        "OVER_PROVISIONED": "with 20 % fewer clients the busiest would use 31 %",
        "UNDER_PROVISIONED": "the busiest client gets 131 % of what it can handle",
    }
    rows["group_status"].append(
        a_group(
            group.name,
            message_model="BROADCASTING" if group.kind == "BROADCASTING" else "CLUSTERING",
            message_request_mode="POP" if group.kind == "POP" else "PULL",
            connections=len(group.clients),
            distinct_client_ids=len(group.clients),
            topics=list(group.queues),
            max_useful_clients=max(group.queues.values()) if group.kind == "PULL" else None,
            provision_status=status,
            provision_reason=reasons[status],
            current_strategy=None if group.kind == "BROADCASTING" else current,
            current_strategy_source=None
            if group.kind == "BROADCASTING"
            else chance.choice(("reported", "observed", "default")),
            utilisation=None if status == "UNDECIDED" else round(chance.random() * 1.4, 3),
        )
    )
    if group.kind == "PULL":
        _add_findings(rows, group, current, strategies[current], idle)


def _add_strategy(rows: Rows, group: MadeGroup, name: str, owned: dict[str, list[tuple[str, int]]], total: int) -> None:
    clients = len(group.clients)
    counts = [len(queues) for queues in owned.values()]
    traffic = [sum(group.rates[queue] for queue in queues) for queues in owned.values()]
    whole = sum(group.rates.values())
    floor = -(-total // clients) / (total / clients)
    traffic_floor = max(max(group.rates.values()), whole / clients) / (whole / clients)
    rows["strategy_load"].append(
        a_strategy(
            group.name,
            name,
            idle_clients=[client for client, queues in owned.items() if not queues],
            count=metrics(counts, None if name == "POP" else floor),
            traffic=metrics(traffic, None if name == "POP" else traffic_floor),
        )
    )
    for client, queues in owned.items():
        rate = sum(group.rates[queue] for queue in queues)
        rows["client_load"].append(a_load(group.name, name, client, len(queues), msgs_per_s=rate))


def _add_findings(rows: Rows, group: MadeGroup, current: str, owned: dict[str, Any], idle: list[str]) -> None:
    counts = [len(queues) for queues in owned.values()]
    peak = dict(metrics(counts, 1.0) or [])
    first = next(iter(group.queues))
    if idle:
        _idle(rows, group, idle)
    elif len(counts) > 1 and max(counts) - min(counts) >= 2:
        rows["finding"].append(
            a_finding(
                "ALLOCATION_SKEW" if len(group.queues) == 1 else "CROSS_TOPIC_SKEW",
                consumer_group=group.name,
                severity="CRITICAL" if peak["peak"] > 2.5 else "WARNING",
                subjects=[client for client, queues in owned.items() if len(queues) == max(counts)],
                message=f"Under {current} clients own {min(counts)} to {max(counts)} queues.",
                evidence={
                    "strategy": current,
                    "peak": peak["peak"],
                    "excess": peak["excess"],
                    "min_queues": min(counts),
                    "max_queues": max(counts),
                },
            )
        )
        rows["recommendation"].append(
            a_recommendation(
                "CHANGE_STRATEGY",
                id=f"change-strategy-{group.name}",
                consumer_group=group.name,
                topic=None,
                rules=["ALLOCATION_SKEW", "CROSS_TOPIC_SKEW"],
                reason=f"AVG_BY_CIRCLE gives every client of {group.name} nearly the same number of queues.",
                before={"strategy": current, "count": {"peak": round(peak["peak"], 4), "gini": round(peak["gini"], 4)}},
                after={"strategy": "AVG_BY_CIRCLE", "count": {"peak": 1.08, "gini": 0.03}},
            )
        )
    if len(group.clients) == 20:
        rows["finding"] += [
            a_finding(
                "DUPLICATE_CLIENT_ID",
                severity="CRITICAL",
                consumer_group=group.name,
                subjects=[group.clients[0]],
                message=f"Client id {group.clients[0]} is used by 2 consumers.",
                evidence={
                    "client_id": group.clients[0],
                    "consumers": [
                        {"client_addr": "10.0.3.7:51002", "language": "JAVA", "version": "V4_8_0"},
                        {"client_addr": "10.0.3.7:51014", "language": "JAVA", "version": "V4_8_0"},
                    ],
                    "orphan_queues": [_queue(first, 4), _queue(first, 5)],
                },
            ),
            a_finding(
                "ORPHAN_QUEUE",
                severity="CRITICAL",
                consumer_group=group.name,
                topic=first,
                queues=[_queue(first, 1), {"topic": first, "broker_name": "room1@broker-c", "queue_id": 1}],
                message="2 readable queues are read by no client.",
                evidence={"queues": 2, "lag": 184220, "put_msgs_per_s": 41.25, "cause": "DUPLICATE_CLIENT_ID"},
            ),
        ]
        rows["recommendation"].append(
            a_recommendation(
                "FIX_CLIENT_ID",
                id=f"fix-client-id-{group.name}",
                consumer_group=group.name,
                topic=None,
                rules=["DUPLICATE_CLIENT_ID", "ORPHAN_QUEUE"],
                reason="Clients before 4.9.0 take the process id for a name: set an instance name, or upgrade.",
                commands=[f"mqadmin consumerConnection -n 10.0.9.1:9876 -g {group.name} -b 10.0.1.1:10911"],
                before={"orphan_queues": 2, "doubly_owned_queues": 2, "distinct_client_ids": 19},
                after={"orphan_queues": 0, "doubly_owned_queues": 0, "distinct_client_ids": 20},
            )
        )
    if len(group.queues) == 3:
        rows["finding"].append(
            a_finding(
                "READ_ONLY_IDLE",
                severity="INFO",
                consumer_group=group.name,
                topic=first,
                broker_name="broker-b",
                subjects=[group.clients[-1]],
                message=f"{group.clients[-1]} owns queues of read-only brokers alone, and has read them all.",
                evidence={"broker_perm": 4, "queues": 2, "lag": 0},
            )
        )


def _idle(rows: Rows, group: MadeGroup, idle: list[str]) -> None:
    first, queues = next(iter(group.queues.items()))
    clients = len(group.clients)
    rows["finding"].append(
        a_finding(
            severity="CRITICAL" if len(idle) / clients >= 0.5 else "WARNING",
            consumer_group=group.name,
            subjects=idle,
            message=f"{len(idle)} of {clients} clients own no queue.",
            evidence={"clients": clients, "queues": queues, "idle": len(idle), "idle_ratio": len(idle) / clients},
        )
    )
    is_ordered = "order" in group.name
    wanted = -(-clients // 3)
    counts = f"-t {first} -r {wanted} -w {wanted}"
    rows["recommendation"] += [
        a_recommendation(
            id=f"expand-{first}-{group.name}",
            topic=first,
            is_manual=is_ordered,
            reason=f"With {wanted} queues on each of 3 brokers every client of {group.name} owns one."
            + (
                " The topic is ordered: more queues send a key to another queue, so old and new messages may cross."
                if is_ordered
                else ""
            ),
            commands=[]
            if is_ordered
            else [
                f"mqadmin updateTopic -n '10.0.9.1:9876;10.0.9.2:9876' -b 10.0.1.{b}:10911 {counts} -p 6 -o false"
                for b in (1, 2, 3)
            ],
            before={
                "queues": queues,
                "groups": [{"consumer_group": group.name, "idle": len(idle), "count": {"peak": 1.5, "excess": 1.0}}],
            },
            after={
                "queues": wanted * 3,
                "groups": [{"consumer_group": group.name, "idle": 0, "count": {"peak": 1.05, "excess": 1.0}}],
            },
        ),
        a_recommendation(
            "SCALE_CONSUMERS",
            id=f"scale-{group.name}",
            consumer_group=group.name,
            topic=None,
            reason=f"{clients - len(idle)} consumers of {group.name} read as much as {clients} do.",
            before={"connections": clients, "idle": len(idle)},
            after={"connections": clients - len(idle), "idle": 0},
        ),
    ]


def _incomplete() -> dict[str, Any]:
    return a_finding(
        "SNAPSHOT_INCOMPLETE",
        consumer_group=None,
        broker_name="broker-b",
        subjects=["10.0.1.2:10911"],
        message="It did not answer 2 requests: 2.8 % of the readable queues are not known.",
        evidence={"completeness_ratio": 0.9722, "requests": ["GET_ALL_TOPIC_CONFIG", "GET_CONSUMER_CONNECTION_LIST"]},
    )
