import math
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario, apply
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.simulation.clusters import after, broker, client, cluster, group, ids_of, pay_cluster, queues, topic

BROKERS = ("broker-a", "broker-b", "hz@broker-c")
TOPICS = ("pay", "ship")
POLICY = Policy.model_validate({"rooms": {"brokers": [{"pattern": "^(?P<room>hz)@"}]}})
RATES = st.floats(min_value=0, max_value=1e6)


@st.composite
def inventories(draw: st.DrawFn, *, known: bool) -> Inventory:
    """Clusters of three brokers, two topics and a group of each; where ``known``, every queue and rate is."""
    perms = st.sampled_from((6, 6, 6, 4, 2, 0) if known else (6, 6, 4, 2, 0, None))
    counts = st.integers(0, 5) if known else st.none() | st.integers(0, 5)
    rates = RATES if known else st.none() | RATES
    topics = []
    for name in TOPICS:
        has = draw(st.lists(st.sampled_from(BROKERS), unique=True, min_size=1))
        layout = [queues(b, draw(counts), draw(st.integers(0, 5)), draw(perms)) for b in has]
        ids = [(q.broker_name, i) for q in layout for i in range(max(q.read_queue_nums or 0, q.write_queue_nums or 0))]
        measured = {queue: draw(rates) for queue in ids if known or draw(st.booleans())}
        topics.append(topic(name, *layout, rates=measured))
    groups = []
    for t in topics:
        members = draw(st.lists(st.sampled_from(("c1", "c2", "c3")), max_size=4))
        groups.append(group(f"g_{t.topic}", [client(c) for c in members], [t]))
    masters = [broker(name, draw(st.sampled_from((0, 0, 0, 1)))) for name in BROKERS]
    return cluster(topics, groups, masters)


def changes_of_queues() -> st.SearchStrategy[dict[str, Any]]:
    brokers, topics, counts = st.sampled_from(BROKERS), st.sampled_from(TOPICS), st.integers(0, 8)
    return st.one_of(
        st.fixed_dictionaries(
            {"change": st.just("set_queues"), "topic": topics, "read_queue_nums": counts, "write_queue_nums": counts},
            optional={"broker_name": brokers},
        ),
        st.fixed_dictionaries({"change": st.just("lose_broker"), "broker_name": brokers}),
        st.fixed_dictionaries({
            "change": st.sampled_from(("read_only_broker", "lose_master")),
            "broker_name": brokers,
        }),
        st.fixed_dictionaries({
            "change": st.just("add_broker"),
            "broker_name": st.sampled_from(("new-1", "new-2")),
            "topics_like": brokers,
        }),
        st.just({"change": "lose_room", "room": "hz"}),
    )


def changes_of_groups() -> st.SearchStrategy[dict[str, Any]]:
    groups = st.sampled_from(("g_pay", "g_ship"))
    members: dict[str, st.SearchStrategy[Any]] = {
        "change": st.sampled_from(("add_clients", "remove_clients")),
        "consumer_group": groups,
    }
    ids = st.lists(st.sampled_from(("c1", "c2", "c9")), min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries(members | {"client_ids": ids}),
        st.fixed_dictionaries(members | {"count": st.integers(0, 3)}),
        st.fixed_dictionaries({"change": st.just("scale_traffic"), "factor": st.floats(0, 100)}),
        st.fixed_dictionaries({
            "change": st.just("set_strategy"),
            "consumer_group": groups,
            "strategy": st.sampled_from(("AVG", "AVG_BY_CIRCLE")),
        }),
        st.fixed_dictionaries({
            "change": st.just("set_request_mode"),
            "consumer_group": groups,
            "topic": st.sampled_from(TOPICS),
            "message_request_mode": st.sampled_from(("PULL", "POP")),
        }),
    )


def all_that_fit(inventory: Inventory, changes: list[dict[str, Any]]) -> list[Inventory]:
    """The inventory after each change that fits it, one upon the other; the first is the given one."""
    steps = [inventory]
    for change in changes:
        try:
            steps.append(after(steps[-1], change, policy=POLICY))
        except BadInput:
            continue
    return steps


def traffic_of(inventory: Inventory) -> dict[str, float]:
    """Messages a second by topic; NaN where a rate is unknown."""
    return {
        t.topic: math.fsum(math.nan if o.put_msgs_per_s is None else o.put_msgs_per_s for o in t.offsets or ())
        for t in inventory.topics
    }


def writable_topics(inventory: Inventory) -> set[str]:
    """The topics with a queue that producers would find, told anew from the definition."""
    masters = {b.broker_name for b in inventory.brokers if b.broker_id == 0}
    return {
        t.topic
        for t in inventory.topics
        for q in t.queues or ()
        if q.broker_name in masters and (q.perm or 0) & 2 and q.write_queue_nums
    }


@pytest.mark.slow
@given(inventories(known=True), st.lists(changes_of_queues(), max_size=4))
@settings(max_examples=300, deadline=None)
def test_traffic_stays_whole_whatever_happens_to_queues(before: Inventory, changes: list[dict[str, Any]]) -> None:
    steps = all_that_fit(before, changes)
    for one, next_one in pairwise(steps):
        for name in writable_topics(next_one):
            assert traffic_of(next_one)[name] == pytest.approx(traffic_of(one)[name], abs=1e-6)


@given(inventories(known=True), st.lists(changes_of_queues(), max_size=4))
@settings(max_examples=200, deadline=None)
def test_every_queue_that_is_known_before_is_known_after_and_no_other(
    before: Inventory, changes: list[dict[str, Any]]
) -> None:
    for step in all_that_fit(before, changes):
        for t, g in zip(step.topics, step.consumer_groups, strict=True):
            ids = {q.broker_name: max(q.read_queue_nums or 0, q.write_queue_nums or 0) for q in t.queues or ()}
            everything = {(name, i) for name, count in ids.items() for i in range(count)}
            assert {(o.broker_name, o.queue_id) for o in t.offsets or ()} == everything
            assert {(o.broker_name, o.queue_id) for o in g.offsets or ()} <= everything


@pytest.mark.slow
@given(inventories(known=False), st.lists(changes_of_queues() | changes_of_groups(), max_size=5))
@settings(max_examples=300, deadline=None)
def test_what_a_scenario_leaves_is_an_inventory_like_any_other(
    before: Inventory, changes: list[dict[str, Any]]
) -> None:
    for step in all_that_fit(before, changes):
        written = b"".join(render_inventory(step))
        assert b"".join(render_inventory(parse_inventory(written, source="changed"))) == written


@given(inventories(known=False), st.lists(changes_of_queues() | changes_of_groups(), max_size=5))
@settings(max_examples=200, deadline=None)
def test_no_change_touches_the_inventory_that_it_is_given(before: Inventory, changes: list[dict[str, Any]]) -> None:
    bytes_before = msgspec.json.encode(before)
    all_that_fit(before, changes)
    assert msgspec.json.encode(before) == bytes_before


@given(inventories(known=False))
@settings(max_examples=50, deadline=None)
def test_a_scenario_without_changes_leaves_the_same_inventory(before: Inventory) -> None:
    assert after(before) == before


@given(inventories(known=False), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_made_up_clients_that_leave_again_leave_the_members_as_they_were(before: Inventory, count: int) -> None:
    both = (
        {"change": change, "consumer_group": "g_pay", "count": count} for change in ("add_clients", "remove_clients")
    )
    assert ids_of(after(before, *both)) == ids_of(before)  # what_if_… sorts behind c1, c2 and c3


@given(inventories(known=False), st.lists(changes_of_queues() | changes_of_groups(), max_size=4))
@settings(max_examples=100, deadline=None)
def test_equal_inventories_and_scenarios_give_equal_inventories(
    before: Inventory, changes: list[dict[str, Any]]
) -> None:
    copy = parse_inventory(b"".join(render_inventory(before)), source="copy")
    steps = zip(all_that_fit(before, changes), all_that_fit(copy, changes), strict=True)
    assert all(b"".join(render_inventory(one)) == b"".join(render_inventory(other)) for one, other in steps)


def test_changes_are_made_in_their_order() -> None:
    add = {"change": "add_broker", "broker_name": "broker-c", "topics_like": "broker-a"}
    grow = {"change": "set_queues", "topic": "pay", "read_queue_nums": 6, "write_queue_nums": 6}
    assert {q.read_queue_nums for q in after(pay_cluster(), add, grow).topics[0].queues or ()} == {6}
    only_a = grow | {"broker_name": "broker-a"}
    assert [q.read_queue_nums for q in after(pay_cluster(), add, only_a).topics[0].queues or ()] == [6, 4, 4]
    assert [q.read_queue_nums for q in after(pay_cluster(), only_a, add).topics[0].queues or ()] == [6, 4, 6]


def test_a_change_that_does_not_fit_names_its_place_among_the_others_and_the_file() -> None:
    scenario = Scenario.model_validate({
        "name": "what if",
        "changes": [
            {"change": "lose_broker", "broker_name": "broker-b"},
            {"change": "lose_broker", "broker_name": "broker-b"},
        ],
    })
    with pytest.raises(BadInput) as caught:
        apply(pay_cluster(), scenario, Policy(), "folder/lose.yaml")
    assert str(caught.value) == (
        "folder/lose.yaml: changes[1].broker_name: is 'broker-b', which is not there; the nearest broker is 'broker-a'"
    )
    assert caught.value.exit_status == 2
