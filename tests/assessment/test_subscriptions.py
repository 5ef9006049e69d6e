"""SUBSCRIPTION_MISMATCH."""

from rocketmq_capacity.snapshot.inventory import Client, InventorySubscription
from tests.assessment.cases import Part, ago, member, members
from tests.assessment.judge import Judgement
from tests.simulation.clusters import reads

PART = Part()


def _subscribing(name: str, *minority: str, started_at: str | None = None) -> list[Client]:
    return [
        *members(3, subscriptions=(reads(name),)),
        member("c99", subscriptions=tuple(reads(name, expression) for expression in minority), started_at=started_at),
    ]


def _subscribing_to_tags(name: str, *expressions: str) -> list[Client]:
    return [member(f"c{n:02}", subscriptions=(reads(name, each),)) for n, each in enumerate(expressions)]


def _canary(name: str, old: float | None, new: float) -> list[Client]:
    """Two clients of these seconds, and one of those with another filter."""
    started_at = None if old is None else ago(old)
    return [
        *members(2, subscriptions=(reads(name),), started_at=started_at),
        member("c99", subscriptions=(reads(name, "TagA"),), started_at=ago(new)),
    ]


PART.case("filters_differ", _subscribing("filters_differ", "TagA"))
PART.case("filters_agree", _subscribing("filters_agree", "*"))
PART.case("differs_at_120_s", _subscribing("differs_at_120_s", "TagA", started_at=ago(120)))
PART.case("differs_at_121_s", _subscribing("differs_at_121_s", "TagA", started_at=ago(121)))
PART.case(
    "expression_types_differ",
    [
        member("a", subscriptions=(reads("expression_types_differ"),)),
        member("b", subscriptions=(reads("expression_types_differ"),)),
        member(
            "c",
            subscriptions=(
                InventorySubscription(topic="expression_types_differ", expression_type="SQL92", expression="*"),
            ),
        ),
    ],
)
PART.case(
    "retry_differs",
    [
        member("a", subscriptions=(reads("retry_differs"),)),
        member("b", subscriptions=(reads("retry_differs"), reads("%RETRY%retry_differs"))),
    ],
)
PART.case("one_of_two_lacks", [member("a", subscriptions=(reads("one_of_two_lacks"),)), member("b", subscriptions=())])
PART.case(
    "excluded_differs",
    [
        member("a", subscriptions=(reads("excluded_differs"),)),
        member("b", subscriptions=(reads("excluded_differs"), reads("bench_x"))),
    ],
)
PART.case("inherits_the_same", [member("a", subscriptions=(reads("inherits_the_same"),)), member("b")])
PART.case(
    "inherits_another",
    [
        member("a", subscriptions=(reads("inherits_another", "TagA"),)),
        member("b"),
        member("c"),
    ],
)
PART.case(
    "two_ways_each",
    [
        member("a", subscriptions=(reads("two_ways_each", "TagA"),)),
        member("b", subscriptions=(reads("two_ways_each", "TagB"),)),
    ],
)


PART.case("retry_topic_only", [*members(2), member("c99", subscriptions=(reads("%RETRY%retry_topic_only"),))])
PART.case("tags_in_another_order", _subscribing_to_tags("tags_in_another_order", "TagA || TagB", "TagB||TagA"))
PART.case("canary", _canary("canary", old=3600, new=600))
PART.case("not_a_canary", _canary("not_a_canary", old=600, new=3600))
PART.case("age_unknown", _canary("age_unknown", old=None, new=600))


def test_a_canary_with_another_filter_is_danger_with_what_is_at_stake(judged: Judgement) -> None:
    """Eight queues get ten messages a second each; whoever does not get a message, it is skipped for good."""
    found = judged.finding("SUBSCRIPTION_MISMATCH", "filters_differ")

    assert found["severity"] == "CRITICAL"
    assert found["topic"] == "filters_differ"
    assert found["subjects"] == ["c99"]
    assert (found["evidence"]["clients"], found["evidence"]["sets"]) == (4, 2)
    assert found["evidence"]["topics"] == [
        {
            "topic": "filters_differ",
            "filters": [
                {"filter": "TAG *", "clients": 3, "client_ids": ["c01", "c02", "c03"]},
                {"filter": "TAG TagA", "clients": 1, "client_ids": ["c99"]},
            ],
            "not_read_by": 0,
            "unread_queues": 0,
            "put_msgs_per_s": 80.0,
            "at_risk_msgs_per_s": 80.0,
        }
    ]
    assert [(s["clients"], s["subscriptions"]) for s in found["evidence"]["subscription_sets"]] == [
        (3, ["filters_differ TAG *"]),
        (1, ["filters_differ TAG TagA"]),
    ]
    assert found["message"] == (
        "Its clients filter filters_differ differently: 3 clients by TAG *, 1 client by TAG TagA. The broker filters by"
        " the latest only, and what does not pass is skipped for good (80.0 messages a second are at stake)."
    )


def test_a_client_that_lacks_a_topic_is_danger_with_the_share_that_nobody_reads(judged: Judgement) -> None:
    """Eight queues over three clients: the third one's two have no reader."""
    found = judged.finding("SUBSCRIPTION_MISMATCH", "retry_topic_only")

    assert (found["severity"], found["topic"], found["subjects"]) == ("CRITICAL", "retry_topic_only", ["c99"])
    (topic,) = found["evidence"]["topics"]
    assert (topic["not_read_by"], topic["unread_queues"], topic["at_risk_msgs_per_s"]) == (1, 2, 20.0)
    assert found["message"] == (
        "1 of 3 clients does not read retry_topic_only: nobody reads 2 queues of it (20.0 messages a second are at"
        " stake)."
    )


def test_of_two_clients_the_one_that_lacks_a_topic_differs(judged: Judgement) -> None:
    assert judged.finding("SUBSCRIPTION_MISMATCH", "one_of_two_lacks")["subjects"] == ["b"]


def test_tags_in_another_order_are_the_same_filter(judged: Judgement) -> None:
    assert judged.rules("tags_in_another_order") == set()


def test_clients_that_differ_and_were_started_last_may_be_a_deployment(judged: Judgement) -> None:
    hint = "The clients that differ were started last: a canary, or a deployment that has not ended."
    said = {
        name: (found["evidence"]["started_last"], hint in found["message"], found["severity"])
        for name in ("canary", "not_a_canary", "age_unknown")
        for found in [judged.finding("SUBSCRIPTION_MISMATCH", name)]
    }

    assert said == {
        "canary": (True, True, "CRITICAL"),
        "not_a_canary": (False, False, "CRITICAL"),
        "age_unknown": (None, False, "CRITICAL"),
    }


def test_equal_subscriptions_are_no_mismatch(judged: Judgement) -> None:
    assert judged.rules("filters_agree") == set()


def test_a_client_up_for_two_minutes_is_not_compared_yet(judged: Judgement) -> None:
    assert judged.found("SUBSCRIPTION_MISMATCH", "differs_at_120_s") is None


def test_a_client_up_for_more_than_two_minutes_is_compared(judged: Judgement) -> None:
    assert judged.finding("SUBSCRIPTION_MISMATCH", "differs_at_121_s")["subjects"] == ["c99"]


def test_the_kind_of_expression_counts(judged: Judgement) -> None:
    assert judged.finding("SUBSCRIPTION_MISMATCH", "expression_types_differ")["subjects"] == ["c"]


def test_a_retry_topic_that_only_some_have_is_normal(judged: Judgement) -> None:
    assert judged.rules("retry_differs") == set()


def test_a_topic_that_the_policy_excludes_makes_no_mismatch(judged: Judgement) -> None:
    assert judged.found("SUBSCRIPTION_MISMATCH", "excluded_differs") is None


def test_a_client_that_reported_none_has_its_groups_subscriptions(judged: Judgement) -> None:
    assert judged.rules("inherits_the_same") == set()
    assert judged.finding("SUBSCRIPTION_MISMATCH", "inherits_another")["subjects"] == ["a"]


def test_where_no_way_has_a_majority_somebody_is_named_still(judged: Judgement) -> None:
    assert judged.finding("SUBSCRIPTION_MISMATCH", "two_ways_each")["subjects"] == ["b"]
