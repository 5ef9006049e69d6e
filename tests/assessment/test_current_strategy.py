"""What each group runs today and how that is known: reported, observed, policy, default, in this order."""

import pytest

from tests.assessment.cases import OWN_STRATEGY, Part, member, members, owned, pops
from tests.assessment.judge import Judgement, named
from tests.simulation.clusters import queues, reads

PART = Part()
FIVE = queues("broker-a", 5)


def _owning(name: str, *own: tuple[int, ...] | None, strategy: str | None = None) -> None:
    """A group of five queues whose clients report to own these; None: the client does not say."""
    clients = [
        member(f"c0{n}", allocate_strategy=strategy, owned_queues=None if q is None else owned(*_at(name, *q)))
        for n, q in enumerate(own, start=1)
    ]
    PART.case(name, clients, FIVE)


def _at(topic: str, *queue_ids: int) -> list[tuple[str, str, int]]:
    return [(topic, "broker-a", i) for i in queue_ids]


CIRCLE = ((0, 2, 4), (1, 3))
_owning("all_report_circle", (0, 1, 2), (3, 4), strategy="AVG_BY_CIRCLE")
_owning("owns_by_avg", (0, 1, 2), (3, 4))
_owning("owns_by_circle", *CIRCLE)
_owning("one_does_not_say", CIRCLE[0], None)
_owning("owns_by_no_strategy", (0, 3, 4), (1, 2))
_owning("owns_too_little", (0, 2), (1, 3))
_owning("policy_and_observed", (0, 1, 2), (3, 4))
_owning("policy_says_circle", None, None)
_owning("nothing_known", None, None)
PART.case("some_report", [member("c01", allocate_strategy="CONSISTENT_HASH"), member("c02")], FIVE)
PART.case(
    "two_reported",
    [
        member("c01", allocate_strategy="AVG"),
        member("c02", allocate_strategy="AVG_BY_CIRCLE"),
    ],
    FIVE,
)
PART.case(
    "mixed_with_policy",
    [
        member("c01", allocate_strategy="AVG"),
        member("c02", allocate_strategy="AVG_BY_CIRCLE"),
        member("c03"),
    ],
    FIVE,
)
PART.case("own_class", members(2, allocate_strategy=OWN_STRATEGY), FIVE)
PART.case("nearby", members(2, allocate_strategy="MACHINE_ROOM_NEARBY"), FIVE)
PART.case("nobody_there", [], FIVE)
PART.case("broadcasts_strategy", members(2, allocate_strategy="AVG"), FIVE, message_model="BROADCASTING")
PART.case("model_unknown", members(2), FIVE, message_model=None)
PART.topic("as_many_queues_as_clients", queues("broker-a", 2))
PART.group(
    "several_fit",
    [
        member("c01", owned_queues=owned(*_at("as_many_queues_as_clients", 0))),
        member("c02", owned_queues=owned(*_at("as_many_queues_as_clients", 1))),
    ],
    "as_many_queues_as_clients",
)
PART.topic("retried_beside", FIVE)
PART.group(
    "owns_retries_too",
    [
        member("c01", owned_queues=owned(*_at("retried_beside", *CIRCLE[0]), *_at("%RETRY%owns_retries_too", 0))),
        member("c02", owned_queues=owned(*_at("retried_beside", *CIRCLE[1]))),
    ],
    "retried_beside",
    subscriptions=(reads("retried_beside"), reads("%RETRY%owns_retries_too")),
)
PART.topic("popped_whole", FIVE)
PART.group(
    "observed_to_pop",
    members(3, owned_queues=owned(("popped_whole", "broker-a", -1))),
    "popped_whole",
    subscriptions=(pops("popped_whole"),),
)


@pytest.mark.parametrize(
    ("group", "strategy", "source"),
    [
        ("all_report_circle", "AVG_BY_CIRCLE", "reported"),
        ("some_report", "CONSISTENT_HASH", "reported"),
        ("two_reported", "MIXED", "reported"),
        ("mixed_with_policy", "MIXED", "reported"),
        ("own_class", OWN_STRATEGY, "reported"),
        ("nearby", "MACHINE_ROOM_NEARBY", "reported"),
        ("owns_by_avg", "AVG", "observed"),
        ("owns_by_circle", "AVG_BY_CIRCLE", "observed"),
        ("one_does_not_say", "AVG_BY_CIRCLE", "observed"),
        ("owns_retries_too", "AVG_BY_CIRCLE", "observed"),
        ("policy_and_observed", "AVG", "observed"),
        ("observed_to_pop", "POP", "observed"),
        ("policy_says_circle", "AVG_BY_CIRCLE", "policy"),
        ("owns_by_no_strategy", "AVG", "default"),
        ("owns_too_little", "AVG", "default"),
        ("nothing_known", "AVG", "default"),
        ("model_unknown", "AVG", "default"),
        ("nobody_there", "AVG", "default"),
    ],
)
def test_what_a_group_runs_and_how_that_is_known(judged: Judgement, group: str, strategy: str, source: str) -> None:
    found = judged.group(group)

    assert (found["current_strategy"], found["current_strategy_source"]) == (strategy, source)


def test_of_strategies_that_fit_alike_the_policys_first_is_named(judged: Judgement) -> None:
    # One queue for each of two clients is what AVG gives, and AVG_BY_CIRCLE as well.
    assert judged.group("several_fit")["current_strategy"] == "AVG"


def test_broadcasting_groups_run_no_strategy(judged: Judgement) -> None:
    found = judged.group("broadcasts_strategy")

    assert (found["current_strategy"], found["current_strategy_source"]) == (None, None)


def test_in_a_group_that_mixes_a_silent_client_runs_what_the_policy_says(judged: Judgement) -> None:
    # AVG gives c01 queues 0 and 1, the circle gives c02 queues 1 and 4; c03 would have 4 under AVG, 2 by the circle.
    found = judged.finding("ORPHAN_QUEUE", "mixed_with_policy")

    assert found["queues"] == named("mixed_with_policy", "broker-a", 3)


def test_who_owns_what_today_is_judged_by_what_runs_today(judged: Judgement) -> None:
    assert judged.found("ORPHAN_QUEUE", "owns_by_circle") is None
    assert judged.load("owns_by_circle", "AVG_BY_CIRCLE")["idle_clients"] == []
