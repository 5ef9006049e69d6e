"""SNAPSHOT_INCOMPLETE and SUSPECT_SNAPSHOT, and what an incomplete snapshot leaves undecided.

Each needs a cluster of its own, so that every cluster here serves both rules. In all of them a group with clients to
spare, ``spare``, reads a topic of which everything is known.
"""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import InventoryFailure, InventoryGroup, InventoryTopic
from tests.assessment.cases import BROKERS, a_group, a_topic, brokers_of, member, members, takes
from tests.assessment.judge import Judgement, Row, judge
from tests.simulation.clusters import broker, cluster, queues

AVG_ALONE = Policy(strategies=("AVG",))


def _spare(queues_a: int, queues_b: int) -> tuple[InventoryTopic, InventoryGroup]:
    """A topic, and a group of four that hardly has to work for it."""
    topic = a_topic("spare", *([queues("broker-a", queues_a)] + ([queues("broker-b", queues_b)] if queues_b else [])))
    clients = members(4, consume_threads=10, consume_batch_size=1, status=takes("spare", 1.0))
    return topic, a_group("spare", clients, [topic])


def _groups(count: int, idle: int, topic: InventoryTopic) -> list[InventoryGroup]:
    """Groups g01, g02, … of one client each; of the first ``idle`` half of the clients have no queue of the topic's."""
    readable = sum(q.read_queue_nums or 0 for q in topic.queues or ())
    return [a_group(f"g{i:02}", members(2 * readable if i <= idle else 1), [topic]) for i in range(1, count + 1)]


def _failure(addr: str) -> InventoryFailure:
    return InventoryFailure(broker_addr=addr, request="GET_ALL_TOPIC_CONFIG", error="timed out after 5 s")


def _found(rule: str, consumer_group: str) -> Row:
    """What the run before found."""
    return {
        "rule": rule,
        "severity": "WARNING",
        "consumer_group": consumer_group,
        "topic": None,
        "broker_name": None,
        "subjects": ["c01"],
        "evidence": {},
        "message": "Something.",
    }


@pytest.fixture(scope="module")
def torn() -> Judgement:
    """Of 20 readable queues 12 are answered for: broker-c timed out, and broker-z is in no answer at all."""
    topic, group = _spare(4, 4)
    silent = a_topic("silent", queues("broker-c", 4))
    haunted = a_topic("haunted", queues("broker-a", 4), queues("broker-z", 4))
    drained = a_group("haunted", members(2), [haunted], lag=0)
    seen = a_group(
        "silent",
        [
            member("c01", seen_on=("broker-a", "broker-c")),
            member("c02", seen_on=("broker-a",)),
        ],
        [silent, topic],
    )
    failures = [_failure("broker-c:10911"), _failure("broker-c:10911"), _failure("10.9.9.9:10911")]
    inventory = cluster([topic, silent, haunted], [group, drained, seen], (*BROKERS, broker("broker-c")), failures)
    return judge(inventory, AVG_ALONE)


@pytest.fixture(scope="module")
def at_the_bound() -> Judgement:
    """Of 20 readable queues 19 are answered for; of 20 groups 2 are newly flagged."""
    topic, group = _spare(10, 9)
    silent = a_topic("silent", queues("broker-c", 1))
    inventory = cluster(
        [topic, silent],
        [group, *_groups(19, 2, silent)],
        (*brokers_of("broker-a", "broker-b", "broker-c"),),
        [_failure("broker-c:10911")],
    )
    return judge(inventory, AVG_ALONE, earlier=[])


@pytest.fixture(scope="module")
def suspect() -> Judgement:
    """Of 20 groups 4 are flagged: one was before, one was by another rule. A broker without topics did not answer."""
    topic, group = _spare(4, 4)
    one = a_topic("one", queues("broker-a", 1), queues("broker-b", 0))
    inventory = cluster(
        [topic, one],
        [group, *_groups(19, 4, one)],
        (*BROKERS, broker("broker-c", perm=4)),
        [_failure("broker-c:10911")],
    )
    earlier = [_found("IDLE_CONSUMERS", "g01"), _found("TRAFFIC_SKEW", "g02"), _found("IDLE_CONSUMERS", "g19")]
    return judge(inventory, AVG_ALONE, earlier=earlier)


@pytest.fixture(scope="module")
def small() -> Judgement:
    """One broker, which answered; all but one of 19 groups are newly flagged."""
    topic, group = _spare(8, 0)
    inventory = cluster([topic], [group, *_groups(18, 18, topic)], brokers_of("broker-a"))
    return judge(inventory, AVG_ALONE, earlier=[])


@pytest.fixture(scope="module")
def empty() -> Judgement:
    """A cluster without a topic or a group."""
    return judge(cluster([], [], BROKERS), AVG_ALONE, earlier=[])


def test_a_snapshot_with_less_than_the_bound_is_flagged_as_critical(torn: Judgement) -> None:
    found = torn.finding("SNAPSHOT_INCOMPLETE")

    assert found["severity"] == "CRITICAL"
    assert found["subjects"] == ["10.9.9.9:10911", "broker-c", "broker-z"]
    assert found["evidence"] == {"completeness_ratio": 0.6, "failures": 3, "absent_brokers": ["broker-z"]}
    assert found["message"] == (
        "The snapshot covers 60.0 % of the queues; not answered or not known: 10.9.9.9:10911, broker-c, broker-z."
    )


def test_a_room_of_which_no_broker_answers_is_named_and_who_reads_there_is_unknown() -> None:
    topic = a_topic("t", queues("hz-a", 2), queues("bj-a", 2))
    policy = Policy.model_validate({"rooms": {"brokers": [{"pattern": "^(?P<room>[a-z]+)-"}]}})
    judged = judge(cluster([topic], [a_group("g", members(2), [topic], lag=0)], (broker("hz-a"),)), policy)
    found = judged.finding("SNAPSHOT_INCOMPLETE")

    assert found["evidence"]["silent_rooms"] == ["bj"]
    assert found["message"].endswith("not answered or not known: bj-a. No broker of room bj answers.")
    assert judged.group("g")["reading_status"] == "UNKNOWN"


def test_a_room_with_a_broker_that_answers_is_not_silent() -> None:
    topic = a_topic("t", queues("hz-a", 2), queues("hz-b", 2))
    policy = Policy.model_validate({"rooms": {"brokers": [{"pattern": "^(?P<room>[a-z]+)-"}]}})

    assert (
        "silent_rooms"
        not in judge(cluster([topic], [], (broker("hz-a"),)), policy).finding("SNAPSHOT_INCOMPLETE")["evidence"]
    )


def test_below_the_bound_no_group_is_called_too_large(torn: Judgement) -> None:
    found = torn.group("spare")

    assert found["provision_status"] == "UNDECIDED"
    assert found["provision_reason"] == "the snapshot answered for 60.0 % of the queues only"


def test_of_an_absent_broker_it_is_not_known_that_nothing_comes(torn: Judgement) -> None:
    assert torn.group("haunted")["drained_clients"] == []


def test_a_broker_that_did_not_answer_does_not_disagree(torn: Judgement) -> None:
    assert torn.found("MEMBERSHIP_DISAGREEMENT", "silent") is None


def test_without_a_run_before_nothing_is_suspect(torn: Judgement) -> None:
    assert torn.found("SUSPECT_SNAPSHOT") is None


def test_at_the_bound_the_snapshot_is_incomplete_but_good_enough(at_the_bound: Judgement) -> None:
    found = at_the_bound.finding("SNAPSHOT_INCOMPLETE")

    assert (found["severity"], found["subjects"]) == ("WARNING", ["broker-c"])
    assert found["message"] == "The snapshot covers 95.0 % of the queues; not answered or not known: broker-c."
    assert at_the_bound.group("spare")["provision_status"] == "OVER_PROVISIONED"


def test_a_tenth_of_the_groups_newly_flagged_is_not_suspect_yet(at_the_bound: Judgement) -> None:
    flagged = {row["consumer_group"] for row in at_the_bound.findings if row["severity"] != "INFO"} - {None}

    assert flagged == {"g01", "g02"}
    assert at_the_bound.found("SUSPECT_SNAPSHOT") is None


def test_more_than_a_tenth_newly_flagged_is_suspect(suspect: Judgement) -> None:
    found = suspect.finding("SUSPECT_SNAPSHOT")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["g02", "g03", "g04"]
    assert found["evidence"] == {"groups": 20, "newly_flagged": 3}
    assert found["message"] == ("3 of 20 groups are newly flagged since the run before: check the snapshot first.")


def test_a_silent_broker_without_queues_is_worth_a_note(suspect: Judgement) -> None:
    found = suspect.finding("SNAPSHOT_INCOMPLETE")

    assert (found["severity"], found["subjects"]) == ("INFO", ["broker-c"])
    assert found["evidence"]["completeness_ratio"] == 1.0


def test_a_note_for_information_flags_nobody(at_the_bound: Judgement) -> None:
    assert at_the_bound.finding("CONSUMER_CAPACITY", "spare")["severity"] == "INFO"
    assert at_the_bound.found("SUSPECT_SNAPSHOT") is None


def test_of_fewer_than_twenty_groups_one_is_soon_a_tenth(small: Judgement) -> None:
    flagged = {row["consumer_group"] for row in small.findings if row["severity"] != "INFO"} - {None}

    assert len(flagged) == 18
    assert small.found("SUSPECT_SNAPSHOT") is None


def test_a_cluster_of_one_broker_is_complete_and_covered(small: Judgement) -> None:
    assert small.found("SNAPSHOT_INCOMPLETE") is None
    assert small.found("TOPIC_COVERAGE") is None
    assert small.group("spare")["provision_status"] == "OVER_PROVISIONED"


def test_a_client_that_does_not_answer_its_broker_leaves_every_verdict_on_others() -> None:
    topic, group = _spare(8, 0)
    silent = replace(_failure("broker-a:10911"), request="GET_CONSUMER_RUNNING_INFO", of_clients=True)
    judged = judge(cluster([topic], [group], brokers_of("broker-a"), [silent]), AVG_ALONE, earlier=[])
    found = judged.finding("SNAPSHOT_INCOMPLETE")

    assert (found["severity"], found["subjects"]) == ("INFO", [])
    assert (found["evidence"]["completeness_ratio"], found["evidence"]["failures"]) == (1.0, 1)
    assert found["message"] == (
        "Some clients did not answer their broker: what they own, and how long they take, is unknown."
    )
    assert judged.group("spare")["provision_status"] == "OVER_PROVISIONED"


def test_an_empty_cluster_has_nothing_wrong_with_it(empty: Judgement) -> None:
    assert empty.findings == []
    assert empty.groups == []
