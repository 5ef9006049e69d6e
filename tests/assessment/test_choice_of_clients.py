"""Other numbers of clients: who stays, in which machine rooms they run, and what one more loss would do."""

from itertools import product
from math import ceil
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import a_group, a_topic, member, takes
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster, queues

ROOM: Final = {"pattern": "^(?P<room>[a-z]+)"}
POLICY: Final = Policy.model_validate({"rooms": {"brokers": [ROOM], "clients": [ROOM]}})
BOUND: Final = POLICY.thresholds.PROVISION.under_utilisation


def two_rooms(
    hz: int, sh: int, msgs_per_s: tuple[float, float], strategy: str = "MACHINE_ROOM_NEARBY-AVG"
) -> Judgement:
    """A group whose clients handle 100 messages a second each; each room has 60 queues of a topic of its own."""
    topics = [
        a_topic(f"t_{name}", queues(name, 60), rates={(name, index): rate / 60 for index in range(60)})
        for name, rate in zip(("hz", "sh"), msgs_per_s, strict=True)
    ]
    status = tuple(one for topic in topics for one in takes(topic.topic, 10.0))
    about: dict[str, Any] = {"consume_threads": 1, "consume_batch_size": 1, "status": status}
    ids = [f"{room}-{index:02}" for room, number in (("hz", hz), ("sh", sh)) for index in range(number)]
    clients = [member(one, allocate_strategy=strategy, **about) for one in ids]
    return judge(cluster(topics, [a_group("g", clients, topics, lag=0)]), POLICY)


def evidence(judged: Judgement) -> dict[str, Any]:
    told: dict[str, Any] = judged.finding("CONSUMER_CAPACITY", "g")["evidence"]
    return told


def test_as_many_stay_in_each_room_as_the_one_with_most_to_do_needs_with_one_lost() -> None:
    """Room hz has work for 1.2 clients, and room sh for 0.12. Five would do, if three of them were in hz."""
    judged = two_rooms(16, 16, (120.0, 12.0))
    told = evidence(judged)

    assert told["needed_rooms"] == [{"room": "hz", "clients": 3}, {"room": "sh", "clients": 3}]
    assert (told["needed_clients"], told["needed_busy_ratio"], told["one_lost_busy_ratio"]) == (6, 0.4, 0.6)
    assert judged.group("g")["min_replicas"] == 6


def test_the_worst_loss_of_one_client_is_told_and_not_that_of_the_last_one() -> None:
    told = evidence(two_rooms(8, 8, (60.0, 6.0)))

    assert (told["clients"], told["clients_one_lost_busy_ratio"]) == (16, 0.09)


def test_other_strategies_know_no_rooms() -> None:
    told = evidence(two_rooms(16, 16, (120.0, 12.0), "AVG"))
    assert "needed_rooms" not in told


def enough(msgs_per_s: tuple[float, float]) -> int:
    """The fewest clients of two rooms of which each client is within the bound."""
    return min(
        sum(clients)
        for clients in product(range(1, 31), repeat=2)
        if all(_share(*of_room) <= BOUND for of_room in zip(msgs_per_s, clients, strict=True))
    )


def _share(msgs_per_s: float, clients: int) -> float:
    """The share of the busiest of so many clients, which owns the most of 60 queues."""
    return round(ceil(60 / clients) * msgs_per_s / 60 / 100, 9)


@settings(max_examples=40, deadline=None)
@given(
    hz=st.integers(1, 6),
    sh=st.integers(1, 6),
    msgs_per_s=st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda each: (each[0] * 60.0, each[1] * 60.0)),
)
def test_hardly_a_choice_of_rooms_needs_fewer_clients(hz: int, sh: int, msgs_per_s: tuple[float, float]) -> None:
    judged = two_rooms(hz, sh, msgs_per_s)
    group, least = judged.group("g"), enough(msgs_per_s)

    if group["provision_status"] == "UNDER_PROVISIONED":
        told = evidence(judged)
        assert told["needed_clients"] == sum(one["clients"] for one in told["needed_rooms"])
        # Today's clients stay where they are, so a room may keep more than it needs. As queues are whole, one more may
        # be added than the best choice has.
        spare = [max(0, number - enough((rate, 0.0)) + 1) for number, rate in zip((hz, sh), msgs_per_s, strict=True)]
        assert least + sum(spare) <= told["needed_clients"] <= least + sum(spare) + 1


def test_a_number_of_clients_is_enough_whoever_leaves() -> None:
    """A deployment on its way to more threads: three clients are enough if they have 40, and not if they have 2."""
    topic = a_topic("t", queues("a", 60), rates={("a", index): 10.0 for index in range(60)})
    about: dict[str, Any] = {"consume_batch_size": 1, "status": takes("t", 10.0)}
    strong = [member(f"c{index:02}", consume_threads=40, **about) for index in range(20)]
    weak = [member(f"d{index:02}", consume_threads=2, **about) for index in range(20)]
    told = judge(cluster([topic], [a_group("g", [*strong, *weak], [topic], lag=0)]), POLICY)

    # 600 messages a second of 10 ms take six threads: twelve threads keep them within a half.
    assert evidence(told)["needed_clients"] == 6


def test_a_client_without_a_room_is_named_where_nothing_can_be_computed() -> None:
    topic = a_topic("t", queues("hz", 4))
    clients = [member(name, allocate_strategy="MACHINE_ROOM_NEARBY-AVG") for name in ("hz-1", "1-without")]
    found = judge(cluster([topic], [a_group("g", clients, [topic], lag=0)]), POLICY).group("g")
    assert "is not computed (Machine room is null for consumer id 1-without)" in found["provision_reason"]
