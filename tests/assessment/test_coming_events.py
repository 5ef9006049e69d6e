"""Clients that a known event needs: as many as if its messages came today."""

import random
from collections.abc import Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.snapshot.inventory import Inventory, PastRate
from rocketmq_capacity.tables.assess.events import EventNeed
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import AT, after, broker, cluster, queues

SALE: Final[Mapping[str, Any]] = {"name": "sale", "from": "2099-11-27", "to": "2099-11-28", "factor": 3.0}


def policy(*events: Mapping[str, Any]) -> Policy:
    return Policy.model_validate({"events": list(events)})


def a_fleet(rate: float, *, clients: int = 4, rt_ms: float | None = 10.0) -> Inventory:
    """A group of clients with ten threads that reads pay and ship, twelve queues each, at this rate a queue."""
    topics = [
        a_topic(name, queues("broker-a", 12), rates={("broker-a", i): rate for i in range(12)})
        for name in ("pay", "ship")
    ]
    status = () if rt_ms is None else (*takes("pay", rt_ms), *takes("ship", rt_ms))
    every = members(clients, consume_threads=10, consume_batch_size=1, status=status)
    return cluster(topics, [a_group("g", every, topics)], [broker("broker-a")])


def needs(plan: PlainPlan) -> list[EventNeed]:
    return [one for assessed in plan.assessments for one in assessed.events]


@pytest.mark.parametrize("topic", [None, "pay"])
@pytest.mark.parametrize("seed", range(6))
def test_an_event_needs_what_a_plan_of_its_messages_says(topic: str | None, seed: int) -> None:
    chance = random.Random(seed)
    fleet = a_fleet(chance.uniform(1, 40), clients=chance.randint(1, 12))
    factor = round(chance.uniform(1, 8), 2)
    event = {**SALE, "factor": factor, **({} if topic is None else {"topics": f"^{topic}$"})}

    (row,) = needs(plain_plan(fleet, policy(event)))
    grown = {"change": "scale_traffic", "factor": factor, **({} if topic is None else {"topic": topic})}
    (then,) = (one.status for one in plain_plan(after(fleet, grown)).assessments)

    assert row.busy_ratio == pytest.approx(then.utilisation)
    assert row.needed_clients == then.needed_clients_target
    assert row.status == ("TOO_FEW" if then.provision_status == "UNDER_PROVISIONED" else "ENOUGH")


def test_a_sale_that_the_group_bears_and_one_that_it_does_not() -> None:
    # 24 queues of 50 messages a second take 12 of 40 threads: 0.3. Twice that is 0.6, three times 0.9.
    bears, not_so = needs(plain_plan(a_fleet(50.0), policy({**SALE, "name": "a", "factor": 2.0}, SALE)))

    assert (bears.event, bears.status) == ("a", "ENOUGH")
    assert bears.busy_ratio == pytest.approx(0.6)
    assert (not_so.status, not_so.clients) == ("TOO_FEW", 4)
    assert not_so.busy_ratio == pytest.approx(0.9)
    # 36 threads' work: with six clients, four queues each, 36 of 60 threads are busy; with five, one has five queues.
    assert not_so.needed_clients == 6


def test_what_is_unknown_today_is_undecided_then() -> None:
    (row,) = needs(plain_plan(a_fleet(50.0, rt_ms=None), policy(SALE)))

    assert (row.status, row.busy_ratio, row.needed_clients) == ("UNDECIDED", None, None)


@pytest.mark.parametrize(
    "event",
    [
        {**SALE, "topics": "^other$"},
        {**SALE, "from": "2020-01-01", "to": "2020-01-02"},
        {**SALE, "from": "2020-01-01", "to": AT},
    ],
    ids=["of other topics", "over for long", "just over"],
)
def test_an_event_that_brings_nothing_has_no_row(event: Mapping[str, Any]) -> None:
    assert needs(plain_plan(a_fleet(50.0), policy(event))) == []


@pytest.mark.parametrize(
    ("rate", "status", "upper"), [(10.0, "ENOUGH", 0.18), (50.0, "UNDECIDED", 0.9), (120.0, "TOO_FEW", 2.16)]
)
def test_a_peak_within_an_event_that_is_under_way_may_have_its_messages_already(
    rate: float, status: str, upper: float
) -> None:
    (row,) = needs(plain_plan(a_fleet(rate), policy({**SALE, "from": "2026-11-20T01:00:00Z"})))

    assert row.status == status
    assert row.busy_ratio == pytest.approx(upper / 3)
    assert row.busy_upper == pytest.approx(upper)
    assert row.needed_clients is None


def test_an_event_that_is_under_way_brings_more_than_a_peak_before_it() -> None:
    fleet = a_fleet(50.0)
    at_noon = PastRate(at="2026-11-19T12:00:00Z", put_msgs_per_s=1_200.0)
    fleet = replace(fleet, topics=tuple(replace(one, rates=(at_noon,)) for one in fleet.topics))
    (row,) = needs(plain_plan(fleet, policy({**SALE, "from": "2026-11-20T01:00:00Z"})))

    # Twice the messages of now came at noon, and three times as many come.
    assert row.status == "TOO_FEW"
    assert row.busy_ratio == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ("{name: a, from: 2026-11-28, to: 2026-11-27, factor: 2.0}", "ends before it begins"),
        ("{name: a, from: soon, to: 2026-11-27, factor: 2.0}", "expected a time such as"),
        ("{name: a, from: 2026-11-27, to: 2026-11-28, factor: 0}", "greater than 0"),
        ("{name: a, from: 2026-11-27, to: 2026-11-28, factor: .nan}", "finite"),
        ("{name: a, from: 2026-11-27, to: 2026-11-28}", "factor"),
        ("{name: a, from: 2026-11-27, to: 2026-11-28, factor: 2, topics: '('}", "not a regular expression"),
        ("{name: a, from: 2026-11-27, to: 2026-11-28, factor: 2, factr: 3}", "factor"),
    ],
)
def test_an_event_that_cannot_be_meant_is_refused_with_its_place(event: str, says: str, tmp_path: Any) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"events: [{event}]\n", encoding="utf-8")

    with pytest.raises(BadInput, match=r"events\[0\]") as caught:
        read_policy(file)
    assert says in str(caught.value)


def test_two_events_have_two_names() -> None:
    with pytest.raises(ValueError, match="names an event twice"):
        policy(SALE, SALE)
