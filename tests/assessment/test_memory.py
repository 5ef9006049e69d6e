"""CLIENT_MEMORY: caches that grow beyond the heap.

Eight queues and four clients, so that each owns two, and three at the most once one is lost. Messages of 100 KiB on
average: a queue's cache of at most 1,000 messages is 97.7 MiB.
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import Part, a_group, a_topic, members, pops
from tests.assessment.judge import Judgement, Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import broker, cluster, queues

KIB, MIB = 2**10, 2**20
PART = Part()
SET_UP = {"pull_threshold_for_queue": 1_000, "pull_threshold_size_for_queue_mib": 100}


PART.case("caches_too_much", members(4, **SET_UP), queues("broker-a", 8))


def test_of_many_groups_the_one_whose_heap_is_named_is_judged(judged: Judgement) -> None:
    assert judged.finding("CLIENT_MEMORY")["consumer_group"] == "caches_too_much"


def _cluster(clients: int = 4, message_bytes: str | None = str(100 * KIB), **facts: Any) -> Any:
    every = members(clients, **{**SET_UP, **facts.pop("client", {})})
    topic = a_topic("pay", queues("broker-a", 8))
    runtime = None if message_bytes is None else {"putMessageAverageSize": message_bytes}
    brokers = (msgspec.structs.replace(broker("broker-a"), runtime=runtime),)
    return cluster([topic], [a_group("g_pay", every, [topic], **facts)], brokers)


def _policy(heap_mib: int | None, **bounds: Any) -> Policy:
    heap = {} if heap_mib is None else {"client_heap_mib": {"g_pay": heap_mib, "default": 1}}
    return Policy.model_validate({**heap, "thresholds": {"CLIENT_MEMORY": bounds}})


def _found(heap_mib: int | None, policy: dict[str, Any] | None = None, **facts: Any) -> Row | None:
    return judge(_cluster(**facts), _policy(heap_mib, **policy or {})).found("CLIENT_MEMORY", "g_pay")


def test_caches_above_half_of_the_heap_are_found() -> None:
    # Two queues of 97.7 MiB are more than half of 390 MiB.
    found = _found(390)

    assert found is not None
    assert (found["severity"], found["subjects"]) == ("WARNING", ["c01", "c02", "c03", "c04"])
    assert found["message"] == "c01 may cache 195.3 MiB of messages; its heap has 390 MiB."
    evidence = found["evidence"]
    assert (evidence["queues"], evidence["cache_bytes"], evidence["average_message_bytes"]) == (2, 204_800_000, 102_400)
    # Three queues of half of 390 MiB: 665.6 messages each, or 1,996.8 for all.
    assert evidence["with_lost_cache_bytes"] == 307_200_000
    assert evidence["needed_pull_threshold_for_queue"] == 665
    assert evidence["needed_pull_threshold_for_topic"] == 1_996
    assert evidence["needed_cache_bytes"] == 665 * 3 * 102_400


def test_what_fits_now_may_not_fit_once_a_client_is_lost() -> None:
    found = _found(400)

    assert found is not None
    assert (found["severity"], found["subjects"]) == ("WARNING", ["c01"])
    assert found["message"] == "With 1 client lost, c01 may cache 293.0 MiB of messages; its heap has 400 MiB."
    assert _found(400, {"lost_clients": 0}) is None


def test_caches_that_fit_are_left_alone() -> None:
    # Three queues of 97.65625 MiB are 292.96875.
    assert _found(586) is None
    assert _found(585) is not None


def test_more_than_all_of_the_heap_hurts_at_the_next_peak_and_not_now() -> None:
    found = _found(195)
    assert found is not None
    assert found["severity"] == "WARNING"


def test_the_smaller_of_both_thresholds_bounds_a_cache() -> None:
    # 10 MiB a queue, however large a message is.
    small = {"pull_threshold_size_for_queue_mib": 10}
    assert _found(60, client=small) is None
    found = _found(59, client=small)
    assert found is not None
    assert found["evidence"]["with_lost_cache_bytes"] == 30 * MIB


def test_a_threshold_for_all_queues_is_divided_by_those_that_a_client_owns() -> None:
    # 1,000 for each of two queues; with three it is 666 each, and no more in all.
    divided = {"pull_threshold_for_queue": 1_000, "pull_threshold_for_topic": 2_000}
    assert _found(391, client=divided) is None
    found = _found(390, client=divided)
    assert found is not None
    assert found["evidence"]["with_lost_cache_bytes"] == 2_000 * 102_400


@pytest.mark.parametrize(
    "facts",
    [
        {"client": {"pull_threshold_for_queue": None}},
        {"client": {"pull_threshold_size_for_queue_mib": None}},
        {"message_bytes": None},
        # A broker that has stored nothing yet.
        {"message_bytes": "0.0"},
        {"message_bytes": "NaN"},
        {"clients": 0},
        {"client": {"allocate_strategy": "com.acme.OwnStrategy"}},
    ],
)
def test_there_is_no_verdict_where_a_fact_is_missing(facts: dict[str, Any]) -> None:
    assert _found(1, **facts) is None


def test_there_is_no_verdict_without_a_heap_and_other_groups_have_the_default() -> None:
    assert _found(None) is None
    policy = Policy.model_validate({"client_heap_mib": {"g_other": 10_000, "default": 390}})
    assert judge(_cluster(), policy).found("CLIENT_MEMORY", "g_pay") is not None


def test_popped_queues_have_no_cache() -> None:
    assert _found(1, subscriptions=(pops("pay"),)) is None


def test_a_broadcasting_client_caches_every_queue_and_takes_nothing_over() -> None:
    found = _found(1_562, message_model="BROADCASTING")

    assert found is not None
    assert (found["evidence"]["queues"], found["evidence"]["with_lost_cache_bytes"]) == (8, None)
    assert _found(1_563, message_model="BROADCASTING") is None


def test_a_group_that_cannot_lose_a_client_has_todays_caches_alone() -> None:
    found = _found(1_562, clients=1)
    assert found is not None
    assert found["evidence"]["with_lost_cache_bytes"] is None


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(clients=st.integers(1, 9), heap_mib=st.integers(1, 2_000), kib=st.integers(1, 4_000), mib=st.integers(1, 1_024))
def test_the_threshold_that_is_named_fits_and_what_fits_is_not_found(
    clients: int, heap_mib: int, kib: int, mib: int
) -> None:
    size = {"pull_threshold_size_for_queue_mib": mib}
    found = _found(heap_mib, clients=clients, message_bytes=str(kib * KIB), client=size)
    each = None if found is None else found["evidence"]["needed_pull_threshold_for_queue"]
    if each is not None:
        lower = {**size, "pull_threshold_for_queue": each}
        assert _found(heap_mib, clients=clients, message_bytes=str(kib * KIB), client=lower) is None
        one_more = {**size, "pull_threshold_for_queue": each + 1}
        assert _found(heap_mib, clients=clients, message_bytes=str(kib * KIB), client=one_more) is not None


def test_the_recommendation_has_the_thresholds_and_no_command() -> None:
    plan = plain_plan(_cluster(), _policy(390))
    (advice,) = [one for one in plan.recommendations if "CLIENT_MEMORY" in one.rules]

    assert (advice.action, advice.is_manual, advice.commands) == ("LOWER_PULL_THRESHOLDS", True, ())
    assert "pullThresholdForQueue of every client to at most 665 messages" in advice.reason
    assert "pullThresholdForTopic to at most 1996" in advice.reason
    assert msgspec.json.decode(advice.after) == {"pull_threshold_for_queue": 665, "cache_bytes": 204_288_000}


def test_where_not_one_message_fits_the_heap_is_too_small() -> None:
    plan = plain_plan(_cluster(message_bytes=str(4 * MIB)), _policy(2))
    (advice,) = [one for one in plan.recommendations if "CLIENT_MEMORY" in one.rules]
    assert advice.reason.startswith("Not even one message")
