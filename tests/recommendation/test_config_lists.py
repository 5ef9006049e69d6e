"""Fixed lists for CONFIG: near FLOOR where no strategy is, complete, and with few moves."""

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rocketmq_capacity.model.owners import NOBODY
from rocketmq_capacity.recommendation.config_lists import even_division
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, TopicQueues
from tests.assessment.cases import member, members, pops
from tests.oracle.java_oracle import Case, JavaOracle, Queue
from tests.recommendation.answers import Answers, answer
from tests.recommendation.cases import BROKERS, Cases
from tests.simulation.clusters import cluster, queues, reads

BLOCKS: Final = ("AVG", "AVG_BY_CIRCLE", "CONFIG", "POP")
"""Strategies without chance."""
EIGHT: Final = (queues("broker-a", 4), queues("broker-b", 4))
UNEVEN: Final[Mapping[tuple[str, int], float | None]] = {
    **{("broker-a", i): rate for i, rate in enumerate((40.0, 10.0, 40.0, 10.0))},
    **{("broker-b", i): 5.0 for i in range(4)},
}
"""AVG gives the first of two clients 100 of 120 messages a second, AVG_BY_CIRCLE 90."""
LESS_UNEVEN: Final[Mapping[tuple[str, int], float | None]] = {
    **{("broker-a", i): rate for i, rate in enumerate((30.0, 20.0, 30.0, 20.0))},
    **{("broker-b", i): rate for i, rate in enumerate((3.75, 6.25, 3.75, 6.25))},
}
"""AVG gives the first of two clients 100 of 120 messages a second, AVG_BY_CIRCLE 67.5, and lists 62.5."""


def policy(**thresholds: Mapping[str, Any]) -> Policy:
    return Policy.model_validate({"strategies": BLOCKS, "thresholds": thresholds})


def asked(clients: list[Client], *layout: TopicQueues, rates: Mapping[Any, Any] = UNEVEN, **facts: Any) -> Inventory:
    part = Cases()
    part.case("pay", clients, *(layout or EIGHT), rates=dict(rates), **facts)
    return cluster(part.topics, part.groups, BROKERS)


def across(retry_queues: int | None = 2) -> Inventory:
    """A group of three topics with four queues each: of three clients the first gets two of each, six in all."""
    part = Cases()
    names = [part.topic(f"t{i}", queues("broker-a", 4), rates={}) for i in range(3)]
    if retry_queues is not None:
        names.append(part.topic("%RETRY%pay", queues("broker-a", retry_queues), rates={}))
    part.group("pay", members(3), *names)
    return cluster(part.topics, part.groups, BROKERS)


CAPPED: Final = {"EXPAND_QUEUES": {"max_queues_per_broker": 4}}
"""No topic may have more queues, which would be an answer to the skew as well."""


def lists_of(answered: Answers) -> dict[str, Any] | None:
    told = [row["config_assignment"] for row in answered.all(consumer_group="pay")]
    found = [one for one in told if one is not None]
    assert len(found) < 2
    return json.loads(found[0]) if found else None


def test_heavy_queues_are_parted_with_few_moves() -> None:
    """65 messages a second for one client and 55 for the other: a queue of 40 against one of 5, and four for each."""
    answered = answer(asked(members(2)), policy())
    row, found = answered.one("CHANGE_STRATEGY", "pay"), lists_of(answered)

    assert (row["after"]["strategy"], row["after"]["traffic"]["peak"]) == ("AVG_BY_CIRCLE", 1.5)
    assert found is not None
    assert found["before"]["traffic"]["peak"] == pytest.approx(5 / 3, abs=1e-4)
    assert found["after"]["traffic"]["peak"] == pytest.approx(65 / 60, abs=1e-4)
    assert found["after"]["count"]["peak"] == 1.0
    assert found["moved_queues"] == 2
    assert (found["after"]["idle"], found["after"]["orphan_queues"], found["after"]["doubly_owned_queues"]) == (0, 0, 0)
    assert "Make all lists anew whenever clients or queues change." in found["note"]


def test_a_skew_over_several_topics_has_an_even_list_beside_one_more_client() -> None:
    answered = answer(across(), policy(**CAPPED))

    assert answered.actions("pay") == ["SCALE_CONSUMERS"]
    found = lists_of(answered)
    assert found is not None
    assert (found["before"]["count"]["excess"], found["after"]["count"]["excess"]) == (1.5, 1.0)
    assert found["moved_queues"] == 2
    assert found["after"]["traffic"] is None


@pytest.mark.parametrize("retry_queues", [None, 1, 5])
def test_every_queue_of_the_group_is_on_one_list(retry_queues: int | None) -> None:
    found = lists_of(answer(across(retry_queues), policy(**CAPPED)))

    assert found is not None
    listed = [(one["topic"], one["broker_name"], one["queue_id"]) for own in found["clients"].values() for one in own]
    every = [(f"t{topic}", "broker-a", i) for topic in range(3) for i in range(4)]
    every += [("%RETRY%pay", "broker-a", i) for i in range(retry_queues or 0)]
    assert sorted(listed) == sorted(every)
    assert list(found["clients"]) == ["c01", "c02", "c03"]
    assert ("The snapshot has no queues of %RETRY%pay" in found["note"]) == (retry_queues is None)


def _others(clients: list[Client]) -> list[Client]:
    return [*clients[:-1], member(clients[-1].client_id, allocate_strategy="AVG_BY_CIRCLE")]


NO_LISTS: Final[dict[str, Callable[[], tuple[Inventory, Policy]]]] = {
    "AVG_BY_CIRCLE is near FLOOR": lambda: (
        asked(members(2), rates={one: 50.0 if one[0] == "broker-a" else 1.0 for one in UNEVEN}),
        policy(),
    ),
    "less is gained than the policy asks": lambda: (
        asked(members(2)),
        policy(CHANGE_STRATEGY={"min_improvement": 0.41}),
    ),
    "the recommended strategy is nearly as good": lambda: (
        asked(members(2), rates=LESS_UNEVEN),
        policy(CHANGE_STRATEGY={"min_improvement": 0.1}),
    ),
    "too many queues": lambda: (asked(members(2)), policy(CHANGE_STRATEGY={"max_config_queues": 7})),
    "the policy leaves CONFIG out": lambda: (asked(members(2)), Policy(strategies=("AVG", "AVG_BY_CIRCLE"))),
    "brokers divide the queues": lambda: (asked(members(2), subscriptions=(pops("pay"),)), policy()),
    "one id twice": lambda: (asked([*members(2), member("c02")]), policy()),
    "another library": lambda: (asked(members(2, language="CPP")), policy()),
    "gRPC clients": lambda: (asked(members(2, protocol="GRPC")), policy()),
    "different strategies": lambda: (asked(_others(members(3))), policy()),
    "a class that cannot be computed": lambda: (asked(members(2, allocate_strategy="com.acme.Own")), policy()),
    "a client reads other topics": lambda: (
        asked([*members(2), member("c03", subscriptions=(reads("else"),))]),
        policy(),
    ),
    "no clients": lambda: (asked([]), policy()),
}


@pytest.mark.parametrize("why", NO_LISTS)
def test_no_lists_where(why: str) -> None:
    assert lists_of(answer(*NO_LISTS[why]())) is None


def test_more_queues_than_a_person_keeps_are_named() -> None:
    answered = answer(asked(members(2)), policy(CHANGE_STRATEGY={"max_config_queues": 7}))

    assert (
        "No lists for CONFIG: 8 queues are more than max_config_queues (7)."
        in answered.one("CHANGE_STRATEGY")["reason"]
    )


@pytest.mark.java
def test_the_official_class_gives_what_was_promised(java_oracle: JavaOracle) -> None:
    """The lists, handed to AllocateMessageQueueByConfig, give each queue to one client and each client four."""
    found = lists_of(answer(across(), policy(**CAPPED)))
    assert found is not None
    lists = {
        client_id: [(one["topic"], one["broker_name"], one["queue_id"]) for one in own]
        for client_id, own in found["clients"].items()
    }
    sizes = {"t0": 4, "t1": 4, "t2": 4, "%RETRY%pay": 2}
    cases = [
        Case("CONFIG", [("broker-a", i) for i in range(size)], list(lists), "pay", topic, config=lists)
        for topic, size in sizes.items()
    ]

    given_to: dict[Queue, str] = {}
    for topic, allocation in zip(sizes, java_oracle.allocate(cases), strict=True):
        for client_id, queue in allocation.rows():
            if queue.topic == topic:
                assert queue not in given_to
                given_to[queue] = client_id

    assert len(given_to) == sum(sizes.values())
    business = [client_id for queue, client_id in given_to.items() if queue.topic != "%RETRY%pay"]
    assert sorted(business.count(client_id) for client_id in lists) == [4, 4, 4]


def test_lists_in_the_policy_are_planned_as_they_were_promised() -> None:
    """Pasted into config_assignments, with clients that run CONFIG, they leave no skew."""
    inventory = across()
    found = lists_of(answer(inventory, policy(**CAPPED)))
    assert found is not None
    told = Policy.model_validate({"strategies": BLOCKS, "config_assignments": {"pay": found["clients"]}})
    (group,) = inventory.consumer_groups
    changed = replace(group, clients=tuple(members(3, allocate_strategy="CONFIG")))

    planned = answer(replace(inventory, consumer_groups=(changed,)), told)

    assert planned.actions("pay") == []
    assert planned.judged.load("pay", "CONFIG")["count"]["excess"] == 1.0


@given(st.lists(st.integers(-1, 2), min_size=3, max_size=6))
def test_equal_queues_move_as_little_as_any_even_division_does(owners: list[int]) -> None:
    """Compared with every division of up to six queues over three clients."""
    owner, even = np.array(owners), -(-len(owners) // 3)

    divided = even_division(owner, np.ones(len(owners)), 3, even)

    assert divided is not None
    counts = np.bincount(divided, minlength=3)
    assert counts.max() <= even
    assert counts.min() > 0
    least = min(
        sum(was != now for was, now in zip(owners, one, strict=True))
        for one in itertools.product(range(3), repeat=len(owners))
        if min(map(one.count, range(3))) > 0 and max(map(one.count, range(3))) <= even
    )
    assert np.count_nonzero(divided != owner) == least


@given(
    st.lists(
        st.tuples(st.integers(NOBODY, 2), st.sampled_from((0.0, 1.0, 3.0, 10.0, 40.0))), min_size=3, max_size=7
    ).filter(lambda queues: any(weight > 0 for _, weight in queues))
)
def test_unequal_queues_come_near_the_best_division(of_queues: list[tuple[int, float]]) -> None:
    """At most a third above the busiest client of the best of all divisions, as whoever places the heaviest first."""
    owner, weights = np.array([one for one, _ in of_queues]), np.array([one for _, one in of_queues])

    divided = even_division(owner, weights, 3, len(of_queues))

    assert divided is not None
    assert (divided != NOBODY).all()
    best = min(
        max(sum(weights[i] for i, to in enumerate(one) if to == client) for client in range(3))
        for one in itertools.product(range(3), repeat=len(of_queues))
    )
    assert np.bincount(divided, weights, 3).max() <= best * 1.5 + 1e-9


@given(st.integers(1, 4), st.integers(1, 40))
def test_an_even_division_moves_nothing(clients: int, each: int) -> None:
    owner = np.repeat(np.arange(clients), each)

    divided = even_division(owner, np.full(len(owner), 10.0), clients, each)

    assert divided is not None
    assert (divided == owner).all()
