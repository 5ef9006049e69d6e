"""Groups whose clients run libraries that compute one strategy differently."""

from typing import Any

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client
from tests.assessment.cases import Part, ids, member, owned
from tests.assessment.judge import Judgement, judge
from tests.recommendation.answers import answer
from tests.simulation.clusters import cluster, queues

PART = Part()
GO: dict[str, Any] = {"language": "GO", "version": "V4_5_2"}
NEW: dict[str, Any] = {"language": "JAVA", "version": "V5_3_3", "allocate_strategy": "CONSISTENT_HASH"}
LAYOUT = (queues("broker-a", 8), queues("broker-b", 8))


def half(one: dict[str, Any], other: dict[str, Any]) -> list[Client]:
    return [member(client_id, **(one if index % 2 else other)) for index, client_id in enumerate(ids(4))]


PART.case("go_and_java_hash", half(GO, NEW), *LAYOUT)
PART.case("go_and_java_avg", half(GO, NEW | {"allocate_strategy": "AVG"}), *LAYOUT)
PART.case("go_hash", [member(client_id, **GO) for client_id in ids(4)], *LAYOUT)


def test_go_and_java_clients_that_hash_are_distinguished(judged: Judgement) -> None:
    said, load = judged.group("go_and_java_hash"), judged.load("go_and_java_hash", "CONSISTENT_HASH")
    assert (said["current_strategy"], said["current_strategy_source"]) == ("CONSISTENT_HASH", "reported")
    assert load["dialects"] == ["GO_V2", "JAVA"]
    orphans, twice = len(load["orphan_queues"]), len(load["doubly_owned_queues"])
    assert orphans
    assert twice
    found = judged.finding("MIXED_STRATEGIES", "go_and_java_hash")
    assert (found["severity"], found["subjects"]) == ("CRITICAL", ["c01", "c03"])
    assert found["evidence"] == {
        "strategies": [{"strategy": "CONSISTENT_HASH", "clients": 4}],
        "dialects": [{"dialect": "GO_V2", "clients": 2}, {"dialect": "JAVA", "clients": 2}],
        "orphan_queues": orphans,
        "doubly_owned_queues": twice,
    }
    assert found["message"].startswith(
        "Its clients compute CONSISTENT_HASH differently: Go v2 clients and current Java clients. Now nobody reads "
    )
    assert judged.finding("ORPHAN_QUEUE", "go_and_java_hash")["evidence"]["cause"] == "MIXED_STRATEGIES"


def test_what_all_libraries_compute_alike_is_no_mixture(judged: Judgement) -> None:
    assert judged.rules("go_and_java_avg") == set()
    assert judged.load("go_and_java_avg", "AVG")["dialects"] == []


def test_go_clients_are_recognised_by_the_queues_that_they_own() -> None:
    part = Part()
    part.case("g", [member(client_id, **GO) for client_id in ids(4)], *LAYOUT)
    alike = judge(cluster(part.topics, part.groups), Policy(strategies=("AVG", "CONSISTENT_HASH")))
    mine = {
        client_id: [
            (row["topic"], row["broker_name"], row["queue_id"])
            for row in alike.allocation
            if (row["strategy"], row["client_id"]) == ("CONSISTENT_HASH", client_id)
        ]
        for client_id in ids(4)
    }
    part = Part()
    part.case("g", [member(one, owned_queues=owned(*mine[one]), **GO) for one in ids(4)], *LAYOUT)
    said = judge(cluster(part.topics, part.groups), Policy(strategies=("AVG", "CONSISTENT_HASH"))).group("g")
    assert (said["current_strategy"], said["current_strategy_source"]) == ("CONSISTENT_HASH", "observed")


def test_a_finding_says_how_go_clients_set_another_strategy() -> None:
    part = Part()
    part.case("g", half(GO, NEW), *LAYOUT)
    found = answer(cluster(part.topics, part.groups)).one("CHANGE_STRATEGY", consumer_group="g")
    assert found["after"]["strategy"] == "AVG"
    assert {"MIXED_STRATEGIES", "ORPHAN_QUEUE"} <= set(found["rules"])
    assert "(setAllocateMessageQueueStrategy; in Go consumer.WithStrategy)" in found["reason"]
