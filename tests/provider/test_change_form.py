"""The fields of a what-if's changes as a page shows them, and what they tell."""

from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.change_form import CHANGES, change_forms, change_of_fields, in_words
from rocketmq_capacity.provider.latest_names import names_of
from rocketmq_capacity.provider.scenario_form import changes_problem, scenario_of_changes
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.simulation.known_names import ClusterNames
from rocketmq_capacity.simulation.scenario import scenario_of_text

pytestmark = pytest.mark.airflow

PLACES = DeploymentPlaces.of(Path("/nowhere"), {})
"""Those of a deployment without clusters: it plans the sample."""
EVERY_CHANGE: list[dict[str, Any]] = [
    {"change": "add_clients", "consumer_group": "g", "client_ids": ["10.0.0.1@1", "10.0.0.2@1"]},
    {"change": "remove_clients", "consumer_group": "g", "count": 2},
    {"change": "set_queues", "topic": "t", "read_queue_nums": 6, "write_queue_nums": 6},
    {"change": "add_broker", "broker_name": "c", "topics_like": "a", "broker_addr": "10.0.1.3:10911"},
    {"change": "lose_broker", "broker_name": "b"},
    {"change": "lose_master", "broker_name": "b"},
    {"change": "slow_broker", "broker_name": "b", "latency_ms": 800, "for_s": 60},
    {"change": "read_only_broker", "broker_name": "b"},
    {"change": "lose_room", "room": "hz"},
    {"change": "lose_nameserver", "nameserver": "10.0.9.2:9876", "loss": "CUT_OFF"},
    {"change": "rolling_restart", "consumer_group": "g", "batch": 2, "pause_s": 30, "ending": "KILL"},
    {"change": "subscribe", "consumer_group": "g", "topic": "t", "expression": "TagA", "consume_rt_ms": 5.0},
    {"change": "unsubscribe", "consumer_group": "g", "topic": "t"},
    {"change": "scale_traffic", "factor": 2.5},
    {"change": "set_strategy", "consumer_group": "g", "strategy": "CONSISTENT_HASH"},
    {
        "change": "set_request_mode",
        "consumer_group": "g",
        "topic": "t",
        "message_request_mode": "POP",
        "pop_share_queue_num": 8,
    },
]


def told_of(change: dict[str, Any]) -> dict[str, str]:
    """The change as a person fills it in."""
    lines = {name: "\n".join(value) if isinstance(value, list) else str(value) for name, value in change.items()}
    return {name: text for name, text in lines.items() if name != "change"}


@pytest.mark.parametrize("change", EVERY_CHANGE, ids=lambda change: change["change"])
def test_every_change_can_be_told_by_its_fields(change: dict[str, Any]) -> None:
    told = change_of_fields(change["change"], told_of(change))

    assert told == change
    scenario = scenario_of_text(scenario_of_changes([told]), "test")
    assert scenario.changes_as_written() == [change]
    assert scenario.name == in_words(change)


def test_no_change_and_no_key_of_one_is_missing_from_the_form() -> None:
    assert {change["change"] for change in EVERY_CHANGE} == set(CHANGES) == set(change_forms())
    for name, form in change_forms().items():
        assert {field.name for field in form.fields} | {"change"} == set(CHANGES[name].model_fields)


def test_every_change_and_every_field_has_words_of_its_own() -> None:
    for form in change_forms().values():
        assert len(form.meaning) > 30
        assert "`" not in form.meaning
        assert not [field.title for field in form.fields if "_" in field.title]


def test_each_name_that_the_cluster_has_is_chosen_from_a_list_of_its_kind() -> None:
    listed = {(form.name, one.name): one.names for form in change_forms().values() for one in form.fields if one.names}

    assert (
        set(listed.values())
        == {"brokers", "groups", "nameservers", "rooms", "topics"}
        <= set(ClusterNames.__struct_fields__)
    )
    assert listed["add_broker", "topics_like"] == "brokers"
    assert ("add_broker", "broker_name") not in listed, "a new one"
    kinds = {"broker_name": "brokers", "topic": "topics", "consumer_group": "groups"}
    for change, model in CHANGES.items():
        for field in kinds.keys() & model.model_fields:
            assert (change, field) == ("add_broker", "broker_name") or listed[change, field] == kinds[field]


def test_the_lists_have_every_business_name_of_the_latest_snapshot() -> None:
    names = names_of({}, PLACES)

    assert len(names.groups) == 22
    assert list(names.brokers) == ["broker-a", "broker-b", "room1@broker-c"]
    assert names_of({"cluster": "another"}, PLACES) == ClusterNames()


def test_what_is_empty_or_as_usual_is_left_out() -> None:
    told = {"consumer_group": " g ", "topic": "t", "expression": "*", "expression_type": "TAG", "consume_rt_ms": " "}

    assert change_of_fields("subscribe", told) == {"change": "subscribe", "consumer_group": "g", "topic": "t"}


@pytest.mark.parametrize(
    ("change", "told", "reason"),
    [
        ("drop_topic", {}, "change: is 'drop_topic'; expected one of add_broker, "),
        ("lose_broker", {"room": "hz"}, "lose_broker.room: is not a field of this change"),
        ("set_queues", {"read_queue_nums": "eight"}, "Read queues: is 'eight'; expected a whole number"),
        ("set_queues", {"read_queue_nums": "8.5"}, "Read queues: is '8.5'; expected a whole number"),
        ("scale_traffic", {"factor": "twice"}, "Times as many messages: is 'twice'; expected a number"),
    ],
)
def test_what_is_no_change_is_refused_with_its_field(change: str, told: dict[str, str], reason: str) -> None:
    with pytest.raises(BadInput, match="the form") as refused:
        change_of_fields(change, told)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([{"change": "lose_broker", "broker_name": "broker-b"}], ""),
        ([{"change": "lose_broker", "broker_name": "brokr-b"}], "the nearest broker is 'broker-b'"),
        ([{"change": "lose_broker"}], "Change 1, Broker: is missing"),
        ([{"change": "add_clients", "consumer_group": "notifier"}], "Change 1: expected either client_ids or count"),
        ([{"change": "lose_broker", "broker_name": "broker-b"}] * 2, "Change 2, Broker: is 'broker-b'"),
        ([{"change": "scale_traffic", "factor": float("inf")}], "Change 1, Times as many messages: "),
        ([{"change": "lose_broker", "broker_name": "x" * 60_000}], "the changes are too long"),
    ],
)
def test_changes_that_the_cluster_cannot_have_are_refused_with_their_place(
    changes: list[dict[str, Any]], reason: str
) -> None:
    problem = changes_problem(changes, {}, PLACES)

    assert reason in problem
    assert (problem == "") == (reason == "")


def test_a_change_is_said_in_one_line() -> None:
    assert in_words(EVERY_CHANGE[0]) == "Add clients: g, Client ids 10.0.0.1@1 10.0.0.2@1"
    assert in_words(EVERY_CHANGE[2]) == "Set queues: t, Read queues 6, Write queues 6"
    assert in_words({"change": "lose_broker", "broker_name": "b"}) == "Lose broker: b"
