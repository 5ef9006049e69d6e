"""When an uneven load warns: where the busiest client is, or may be, more than half busy, or where lag grows."""

from typing import Any

import pytest

from tests.assessment.cases import Part, takes
from tests.assessment.judge import Judgement

PART = Part()
END = 100_000
"""The broker's offset of every queue at the snapshot."""


def _uneven(name: str, rt_ms: float | None, **facts: Any) -> None:
    """Four clients of one thread; c01 gets 70 messages a second on 7 queues, the others 30 each."""
    client = {"consume_threads": 1, "consume_batch_size": 1, "status": takes(name, rt_ms)}
    PART.owning(name, [7, 3, 3, 3], client=client, **facts)


def _growing(name: str, now: int) -> dict[str, Any]:
    """Nine earlier samples of each queue; the lag of queue 0 grows by tenths to what it is, the others have none."""
    samples = {(name, "broker-a", i): [(END - 200 * n, END - 200 * n) for n in range(9, 0, -1)] for i in range(16)}
    samples[name, "broker-a", 0] = [(END - 200 * n, END - 200 * n - now * (10 - n) // 10) for n in range(9, 0, -1)]
    return {"lag": 0, "lags": {(name, "broker-a", 0): now}, "samples": samples}


_uneven("busy_50_4", 7.2)
_uneven("busy_49_7", 7.1)
_uneven("busy_5_04", 0.72)
_uneven("busy_4_97", 0.71)
_uneven("busy_unknown", None)
_uneven("busy_4_97_lag_grows", 0.71, **_growing("busy_4_97_lag_grows", 1_000))
_uneven("busy_4_97_little_lag_grows", 0.71, **_growing("busy_4_97_little_lag_grows", 900))
_uneven("busy_49_7_lag_grows", 7.1, **_growing("busy_49_7_lag_grows", 1_000))


@pytest.mark.parametrize("rule", ["ALLOCATION_SKEW", "TRAFFIC_SKEW"])
@pytest.mark.parametrize(
    ("group", "severity", "busy"),
    [
        ("busy_50_4", "WARNING", 0.504),
        ("busy_49_7", "INFO", 0.497),
        ("busy_5_04", "INFO", 0.0504),
        ("busy_unknown", "WARNING", None),
        ("busy_4_97_lag_grows", "WARNING", 0.0497),
        ("busy_49_7_lag_grows", "WARNING", 0.497),
    ],
)
def test_a_skew_warns_where_its_busiest_client_has_little_time_left(
    judged: Judgement, rule: str, group: str, severity: str, busy: float | None
) -> None:
    found = judged.finding(rule, group)

    assert (found["severity"], found["evidence"]["peak_utilisation_ratio"]) == (severity, busy)


@pytest.mark.parametrize("group", ["busy_4_97", "busy_4_97_little_lag_grows"])
def test_clients_that_are_hardly_busy_may_be_as_uneven_as_they_are(judged: Judgement, group: str) -> None:
    assert not {"ALLOCATION_SKEW", "TRAFFIC_SKEW", "LAG_SKEW"} & judged.rules(group)


def test_a_skew_of_lag_warns_by_the_same_measure(judged: Judgement) -> None:
    assert judged.finding("LAG_SKEW", "busy_4_97_lag_grows")["severity"] == "WARNING"
