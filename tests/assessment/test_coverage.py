"""TOPIC_COVERAGE: brokers without business topics, and topics on a single broker or not where the policy has them."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventoryTopic
from tests.assessment.judge import Judgement, Row, judge
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues, topic

A, B, C, D = (f"broker-{letter}" for letter in "abcd")
READ_ONLY: Final = 4


def on(name: str, *brokers: str, rate: float | None = 10.0, each: int = 4) -> InventoryTopic:
    """A topic on some brokers; ``rate`` are the messages a second of each of its queues."""
    return topic(
        name,
        *(queues(one, each) for one in brokers),
        rates={(one, number): rate for one in brokers for number in range(each)},
    )


def fleet(topics: Iterable[InventoryTopic], brokers: Iterable[str | InventoryBroker]) -> Inventory:
    return cluster(topics, (), [broker(one) if isinstance(one, str) else one for one in brokers])


def found(inventory: Inventory, **policy: Any) -> list[Row]:
    """What TOPIC_COVERAGE says."""
    judged: Judgement = judge(inventory, Policy.model_validate(policy))
    return [one for one in judged.findings if one["rule"] == "TOPIC_COVERAGE"]


def pairs(number: int, *brokers: str) -> list[InventoryTopic]:
    """Topics on the same brokers."""
    return [on(f"on_{'_'.join(brokers)}_{index:02}", *brokers) for index in range(number)]


def test_a_broker_without_topics_is_one_note_with_the_topics_that_would_level_it() -> None:
    topics = [on("busy", A, B, rate=20.0), on("calm", A, B, rate=5.0), on("silent", A, B, rate=0.0)]

    (note,) = found(fleet(topics, [A, B, C]))

    assert (note["severity"], note["broker_name"], note["topic"], note["subjects"]) == ("INFO", C, None, [C])
    # 8 queues of 20 and 8 of 5 messages a second are 200; a third of each topic's goes to the third broker.
    assert note["evidence"] == {
        "topics": 0,
        "median_topics": 3,
        "msgs_per_s": 0.0,
        "traffic_share": 0.0,
        "brokers": [
            {"broker_name": A, "topics": 3, "msgs_per_s": 100.0, "traffic_share": 0.5},
            {"broker_name": B, "topics": 3, "msgs_per_s": 100.0, "traffic_share": 0.5},
            {"broker_name": C, "topics": 0, "msgs_per_s": 0.0, "traffic_share": 0.0},
        ],
        "proposed": [
            {"topic": "busy", "msgs_per_s": 160.0, "added_msgs_per_s": 53.3333},
            {"topic": "calm", "msgs_per_s": 40.0, "added_msgs_per_s": 13.3333},
        ],
    }
    assert note["message"] == (
        "It has no business topic; half of the other brokers have 3 or more. These would level it by their traffic:"
        " busy, calm."
    )


def test_a_broker_with_a_tenth_of_what_its_peers_have_is_enough_and_below_it_is_not() -> None:
    below = found(fleet([*pairs(20, A, B), on("there", A, B, C)], [A, B, C]))
    enough = found(fleet([*pairs(18, A, B), on("there", A, B, C), on("too", A, B, C)], [A, B, C]))

    # Of 21 topics of its peers it has 1, and 40 of 880 messages a second; of 20 it has 2.
    assert [one["broker_name"] for one in below] == [C]
    assert below[0]["message"].startswith("It has only 1 business topic; half of the other brokers have 21 or more.")
    assert enough == []
    assert found(fleet([*pairs(20, A, B), on("there", A, B, C)], [A, B, C]), thresholds=_ratio(0.04)) == []


def _ratio(ratio: float) -> dict[str, Any]:
    return {"TOPIC_COVERAGE": {"peers_ratio": ratio}}


def test_a_broker_with_few_topics_and_its_share_of_the_messages_is_meant_to_be_so() -> None:
    assert found(fleet([*pairs(30, A, B), on("heavy", A, B, C, rate=300.0)], [A, B, C])) == []


def test_no_more_than_a_handful_of_topics_is_proposed_however_many_brokers_lack_them() -> None:
    notes = found(fleet(pairs(40, A, B), [A, B, C, D]))

    assert [one["broker_name"] for one in notes] == [C, D]
    proposed = [[one["topic"] for one in note["evidence"]["proposed"]] for note in notes]
    assert proposed == [[f"on_{A}_{B}_{index:02}" for index in range(5)]] * 2
    assert len(found(fleet(pairs(40, A, B), [A, B, C]), thresholds={"TOPIC_COVERAGE": {"max_topics": 3}})) == 1


def test_topics_whose_order_would_change_are_not_proposed() -> None:
    ordered = [
        on("plain", A, B),
        *(
            type(one)(topic=one.topic, queues=one.queues, offsets=one.offsets, order=order, message_type=kind)
            for one, order, kind in (
                (on("flagged", A, B), True, "NORMAL"),
                (on("fifo", A, B), False, "FIFO"),
                (on("lite", A, B), False, "LITE"),
                (on("levels", A, B), False, "PRIORITY"),
            )
        ),
    ]
    (note,) = found(fleet(ordered, [A, B, C]))
    assert [one["topic"] for one in note["evidence"]["proposed"]] == ["plain"]


def test_a_broker_gets_topics_of_its_own_machine_room() -> None:
    rooms = {"brokers": [{"pattern": "^(?P<room>[a-z]+)@"}]}
    topics = [on("here", "hz@a", "hz@b", rate=1.0), on("there", "sh@a", "sh@b")]
    (note,) = found(fleet(topics, ["hz@a", "hz@b", "hz@c", "sh@a", "sh@b"]), rooms=rooms)
    assert [one["topic"] for one in note["evidence"]["proposed"]] == ["here"]


def test_brokers_that_take_no_messages_and_standbys_lack_nothing() -> None:
    others = (broker("read-only", broker_perm=READ_ONLY), broker("slave-alone", broker_id=1), broker(A, broker_id=1))
    assert found(fleet(pairs(4, A, B), [A, B, *others])) == []
    kept = [{"topics": "^$", "brokers": ["standby"]}]
    assert found(fleet(pairs(4, A, B), [A, B, "standby"]), placement=kept) == []


def test_topics_that_share_a_subset_of_the_brokers_are_there_on_purpose() -> None:
    topics = [*pairs(3, A, B), *pairs(3, C, D), *pairs(2, A, C), on("alone_on_its_set", B, C, D)]
    assert found(fleet(topics, [A, B, C, D])) == []


def test_few_topics_that_share_brokers_of_their_own_are_there_on_purpose() -> None:
    assert found(fleet([*pairs(40, A, B), *pairs(2, C, D)], [A, B, C, D])) == []
    # One topic alone is no set that is shared.
    assert [one["broker_name"] for one in found(fleet([*pairs(40, A, B), *pairs(1, C, D)], [A, B, C, D]))] == [C, D]


def test_unequal_counts_on_weighted_brokers_are_deliberate() -> None:
    weighted = topic("weighted", queues(A, 8), queues(B, 2), queues(C, 4, 2))
    assert found(fleet([weighted], [A, B, C])) == []


def test_a_topic_on_one_broker_is_a_note_and_the_set_of_its_neighbours_is_proposed() -> None:
    topics = [*pairs(3, A, B), *pairs(2, A, C), on("alone", A), *pairs(2, C, D)]

    (note,) = found(fleet(topics, [A, B, C, D]))

    assert (note["severity"], note["topic"], note["broker_name"], note["subjects"]) == ("INFO", "alone", None, [B])
    assert note["evidence"] == {
        "brokers": 1,
        "broker_name": A,
        "missing": [B],
        "msgs_per_s": 40.0,
        "traffic_share": 40.0 / (7 * 80 + 40) and 0.0667,
    }
    assert note["message"] == "It is on broker-a alone: without this broker nobody can write or read it."


def test_without_a_set_to_learn_from_the_broker_with_the_fewest_messages_is_proposed() -> None:
    topics = [on("alone", A), on("elsewhere", B, rate=5.0), on("busy", C, D, rate=50.0)]
    assert {one["topic"]: one["subjects"] for one in found(fleet(topics, [A, B, C, D]))} == {
        "alone": [B],
        "elsewhere": [A],
    }


def test_in_a_cluster_of_one_broker_a_topic_cannot_be_on_two() -> None:
    assert found(fleet([on("alone", A)], [A])) == []
    assert found(fleet([on("alone", A)], [A, broker("read-only", broker_perm=READ_ONLY)])) == []


def test_a_topic_is_where_the_policy_places_it_or_a_note_says_where_else() -> None:
    told = [{"topics": "^pay", "brokers": [A, B]}, {"topics": "^", "brokers": [A]}]
    topics = [on("pay_as_told", A, B), on("pay_on_one", A), on("pay_elsewhere", B, C), on("other", A), *pairs(1, A)]

    notes = {one["topic"]: one for one in found(fleet(topics, [A, B, C]), placement=told)}

    # broker-c has hardly a topic, but the policy does not name it.
    assert set(notes) == {"pay_on_one", "pay_elsewhere"}
    assert {one["severity"] for one in notes.values()} == {"INFO"}
    assert notes["pay_on_one"]["evidence"] == {
        "brokers": 1,
        "placement": [A, B],
        "missing": [B],
        "further": [],
        "msgs_per_s": 40.0,
    }
    assert notes["pay_elsewhere"]["subjects"] == [A, C]
    assert notes["pay_elsewhere"]["message"] == (
        "The policy places it on broker-a, broker-b, and it is not on broker-a and is also on broker-c."
    )


@pytest.mark.parametrize(
    ("placement", "problem"),
    [
        ([{"topics": "(", "brokers": [A]}], "is not a regular expression"),
        ([{"topics": "^pay", "brokers": []}], "at least 1 item"),
        ([{"topics": "^pay", "brokers": [A, A]}], "names a broker twice"),
    ],
)
def test_a_placement_that_says_nothing_is_an_error(placement: Sequence[Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Policy.model_validate({"placement": placement})


def of_cluster(name: str, cluster_name: str) -> InventoryBroker:
    return replace(broker(name), config={"brokerClusterName": cluster_name})


def test_topics_stay_in_their_cluster_where_a_name_server_has_several() -> None:
    first, second = ([of_cluster(one, name) for one in names] for name, names in (("one", (A, B)), ("two", (C, D))))
    topics = [*pairs(20, A, B), on("of_two", C, D), on("of_one", A), on("more_of_two", C, D)]

    (note,) = found(fleet([*topics, on("alone", "broker-e")], [*first, *second, of_cluster("broker-e", "three")]))

    assert (note["topic"], note["subjects"]) == ("of_one", [B])


def test_a_new_broker_is_levelled_with_topics_of_its_cluster() -> None:
    brokers = [*(of_cluster(one, "one") for one in (A, B)), *(of_cluster(one, "two") for one in (C, D))]

    note, *_ = found(fleet([*pairs(3, A, B), on("of_two", C), on("too", C)], brokers))

    assert (note["broker_name"], note["subjects"]) == (D, [D])
    assert [one["topic"] for one in note["evidence"]["proposed"]] == ["of_two", "too"]
    assert [one["broker_name"] for one in note["evidence"]["brokers"]] == [C, D]


def test_a_topic_that_was_closed_on_a_broker_is_not_created_there() -> None:
    closed = topic("closed", queues(A, 4), queues(B, 4, perm=0), rates={(A, number): 1.0 for number in range(4)})

    assert found(fleet([*pairs(2, A, B), closed], [A, B])) == []
    (note,) = found(fleet([*pairs(2, A, B, C), closed], [A, B, C]))
    assert note["subjects"] == [C]
