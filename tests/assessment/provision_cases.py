"""Cases of groups with enough clients, too few or too many.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second; its busy share is what it gets by
that. A case's topic has twelve queues on each of two brokers, so that four clients own six each, and three eight.
"""

from typing import Any

from tests.assessment.cases import Part, member, members, takes
from tests.simulation.clusters import queues

QUEUES = (queues("broker-a", 12), queues("broker-b", 12))


def rates_of_all(rate: float | None) -> dict[tuple[str, int], float | None]:
    """The same rate for each queue of both brokers."""
    return {(broker_name, queue_id): rate for broker_name in ("broker-a", "broker-b") for queue_id in range(12)}


def a_case(
    part: Part,
    name: str,
    clients: int,
    rate: float | None,
    *,
    timed: int | None = None,
    rt_ms: float = 10.0,
    **facts: Any,
) -> None:
    """A group whose queues receive ``rate`` each, with ``timed`` (by default all) clients that report ``rt_ms``."""
    about_client: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1}
    about_client |= facts.pop("client", {})
    timed = clients if timed is None else timed
    every = [
        member(one.client_id, **about_client, status=takes(name, rt_ms) if i < timed else None)
        for i, one in enumerate(members(clients))
    ]
    part.case(name, every, *QUEUES, rates=rates_of_all(rate), **facts)


def growing(name: str, first: int, last: int) -> dict[str, Any]:
    """The lag of one queue at two moments; the others have none at both."""
    queue = (name, "broker-a", 0)
    nothing = {(name, b, i): [(99_000, 99_000)] for b in ("broker-a", "broker-b") for i in range(12)}
    return {"lag": 0, "lags": {queue: last}, "samples": nothing | {queue: [(99_000, 99_000 - first)]}}
