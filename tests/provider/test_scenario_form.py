"""The what-if's form."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.form import policy_params
from rocketmq_capacity.provider.form_formats import LONGEST_ARGUMENT
from rocketmq_capacity.provider.latest_names import Names, name_problem, names_at_hand
from rocketmq_capacity.provider.scenario_form import (
    CHANGES,
    SECTIONS,
    contradiction,
    examples,
    scenario_params,
    scenario_text,
)
from rocketmq_capacity.settings.deployment import Places
from rocketmq_capacity.simulation.scenario import scenario_of_text
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.writing import write_whole
from tests.fixtures.hostile_yaml import GROWING

pytestmark = pytest.mark.airflow

PLACES = Places.of(Path("/nowhere"), {})
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


def filled(**values: Any) -> dict[str, Any]:
    """The form as Airflow hands it over: validated, every field present."""
    params = ParamsDict(scenario_params())
    params.update(values)
    return dict(params.validate())


def changes_of(text: str) -> list[dict[str, Any]]:
    return scenario_of_text(text, "test").changes_as_written()


@pytest.mark.parametrize("change", EVERY_CHANGE, ids=lambda change: change["change"])
def test_every_change_can_be_said_field_by_field(change: dict[str, Any]) -> None:
    assert changes_of(scenario_text(filled(**change))) == [change]


def test_no_change_and_no_key_of_one_is_missing_from_the_form() -> None:
    keys = {name for model in CHANGES.values() for name in model.model_fields}

    assert {change["change"] for change in EVERY_CHANGE} == set(CHANGES)
    assert keys | {"scenario"} == set(scenario_params())


def test_every_change_says_what_it_does_where_it_is_chosen() -> None:
    told = scenario_params()["change"].schema["values_display"]

    assert told.keys() == CHANGES.keys()
    assert told["lose_master"] == (
        "Lose master. A master that the name server has removed; the slaves of its broker stay"
    )
    assert told["read_only_broker"].startswith(
        "Read only broker. A broker whose brokerPermission is 4: consumers still"
    )
    assert all(len(text) > len(name) + 30 and "`" not in text for name, text in told.items())


def test_every_change_can_be_said_in_yaml() -> None:
    text = yaml.safe_dump({"name": "all of them", "changes": EVERY_CHANGE})

    assert changes_of(scenario_text(filled(scenario=text))) == EVERY_CHANGE


def test_the_fields_change_comes_after_those_of_the_yaml() -> None:
    told = scenario_text(
        filled(scenario="name: both\nchanges: [{change: lose_broker, broker_name: b}]", **EVERY_CHANGE[1])
    )

    assert [change["change"] for change in changes_of(told)] == ["lose_broker", "remove_clients"]
    assert scenario_of_text(told, "test").name == "both"


def test_a_change_of_the_fields_alone_is_named_by_what_it_says() -> None:
    assert scenario_of_text(scenario_text(filled(**EVERY_CHANGE[1])), "test").name == "remove_clients g 2"


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({}, "has no scenario and no change"),
        ({"consumer_group": "g"}, "has no scenario and no change"),
        ({"change": "set_queues", "topic": "t"}, r"changes\[0\]\.read_queue_nums: is missing"),
        ({"change": "lose_broker", "broker_name": "b", "room": "hz"}, r"changes\[0\]\.room: is not a known key"),
        ({"change": "add_clients", "consumer_group": "g"}, "expected either client_ids or count"),
    ],
)
def test_fields_that_make_no_change_together_are_refused_with_the_reason(form: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        scenario_text(filled(**form))
    assert re.search(reason, contradiction(form))


@pytest.mark.parametrize(
    "conf",
    [
        EVERY_CHANGE[0],
        {"scenario": yaml.safe_dump({"name": "x", "changes": EVERY_CHANGE}), "change": None},
        {**EVERY_CHANGE[0], "cluster": "another Param's", "unknown": 1},
        {"change": "drop_topic"},
        {"change": "remove_clients", "consumer_group": "g", "count": "2"},
        {"change": "lose_broker", "broker_name": ["b"]},
        {"scenario": "name: ["},
    ],
    ids=str,
)
def test_a_scenario_and_what_a_schema_refuses_are_no_contradiction(conf: dict[str, Any]) -> None:
    assert contradiction(conf) == ""


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("scenario", "changes: []", "name: is missing"),
        ("scenario", "name: x\nchanges: [{change: loose_broker}]", "the nearest known change is 'lose_broker'"),
        ("scenario", "name: [", "is not YAML"),
        ("change", "drop_topic", "is not one of"),
        ("count", -1, "less than the minimum"),
        ("count", "2", "is not of type"),
        ("factor", -0.5, "less than the minimum"),
        ("strategy", "POP", "is not one of"),
        ("topic", "x" * 256, "is too long"),
        ("topic", "", "should be non-empty"),
        ("client_ids", [""], "should be non-empty"),
    ],
)
def test_the_form_refuses_a_bad_value_with_its_reason(field: str, value: Any, reason: str) -> None:
    with pytest.raises(ParamValidationError, match=reason):
        filled(**{field: value})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# \ud800", r"has half a character (\uD800 to \uDFFF); expected whole characters"),
        ('name: x\nchanges: []\n"\\ud800": 1', r"line 3: has half a character (\uD800 to \uDFFF)"),
        ("name: x\nchanges: !!bool maybe", "line 2: is not YAML ('maybe' is not a valid bool)"),
    ],
)
@pytest.mark.parametrize("params", [scenario_params, policy_params], ids=["scenario", "policy"])
def test_a_text_that_cannot_be_read_is_refused_with_its_line(params: Any, text: str, said: str) -> None:
    (field,) = {"scenario", "policy_changes"} & params().keys()
    form = ParamsDict(params())

    with pytest.raises(ParamValidationError, match=re.escape(said)):
        form.update({field: text})


def test_half_a_character_in_a_field_is_refused_by_the_task_as_well() -> None:
    with pytest.raises(BadInput, match="has half a character"):
        scenario_text(filled(change="lose_broker", broker_name="\ud800"))


@pytest.mark.parametrize(("text", "said"), GROWING.values(), ids=GROWING)
def test_a_text_that_grows_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ParamValidationError, match=re.escape(f"scenario: {said}")):
        filled(scenario=text)


@pytest.mark.parametrize(
    "text", ["# " + "x" * 60_000, "# " + "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 40_000], ids=["characters", "bytes"]
)
@pytest.mark.parametrize("params", [scenario_params, policy_params], ids=["scenario", "policy"])
def test_a_text_that_is_too_long_for_a_programs_argument_is_refused(params: Any, text: str) -> None:
    (field,) = {"scenario", "policy_changes"} & params().keys()
    form = ParamsDict(params())

    with pytest.raises(ParamValidationError, match="expected at most 60,000 characters and 120,000 bytes"):
        form.update({field: text})


def test_a_scenario_that_grows_too_long_by_the_fields_is_refused() -> None:
    lines = [f"- {{change: lose_broker, broker_name: '{'b' * 600}-{n:03}'}}" for n in range(90)]
    scenario = "\n".join(["name: x", "changes:", *lines])
    ids = [f"{n:03}{'x' * 200}" for n in range(400)]
    form = {"change": "add_clients", "consumer_group": "g", "client_ids": ids}

    assert len(scenario_text(filled(scenario=scenario)).encode()) < LONGEST_ARGUMENT
    assert contradiction(form) == ""
    assert "expected at most 120,000 bytes" in contradiction({"scenario": scenario, **form})


def test_the_example_has_a_change_of_each_kind_and_can_be_run() -> None:
    names = names_at_hand(PLACES)

    for known in (Names(), names, Names(brokers=["a: b", "b"], topics=["1"], groups=["true"], client_ids=["x'\"@1"])):
        said = changes_of(examples(known))
        assert [change["change"] for change in said] == list(CHANGES)
    *others, _ = yaml.safe_load(examples(names))["changes"]
    without_room = [change for change in others if change["change"] != "lose_room"]
    for change in without_room:
        assert name_problem({}, yaml.safe_dump({"name": "x", "changes": [change]}), PLACES) == ""
    shown = str(scenario_params(names)["scenario"].value)
    assert [line.removeprefix("# ") for line in shown.splitlines()] == examples(names).splitlines()
    assert changes_of(scenario_text(filled(**EVERY_CHANGE[4]))) == [EVERY_CHANGE[4]]  # beside what the field shows


def test_the_fields_offer_names_of_the_latest_snapshot_and_say_what_takes_them() -> None:
    params = scenario_params(names_at_hand(PLACES))

    assert "In the latest snapshot: broker-a, broker-b" in str(params["topics_like"].description)
    assert "In the latest snapshot: 127.0.0.1:17613." in str(params["nameserver"].description)
    assert params["topics_like"].schema["title"] == "Topics like broker (add broker)"
    assert set(params) - {name for fields in SECTIONS.values() for name in fields} == {"scenario", "change"}
    assert all(len(str(param.description)) < 500 for param in params.values())


def test_the_fields_offer_the_rooms_of_the_policy_and_the_nearest_one_for_a_typo(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("rooms:\n  brokers: [{pattern: '^(?P<room>[^@]+)@'}, {broker_name: broker-a, room: hangzhou}]\n")
    places = replace(PLACES, policy=policy)

    names = names_at_hand(places)

    assert names.rooms == ["hangzhou", "room1"]
    assert "In the latest snapshot: hangzhou, room1." in str(scenario_params(names)["room"].description)
    assert "lose_room, room: hangzhou" in examples(names)
    typo = "name: x\nchanges: [{change: lose_room, room: hangzhuo}]"
    assert "the nearest room is 'hangzhou'" in name_problem({}, typo, places)


def test_a_live_clusters_names_are_those_of_its_latest_stored_snapshot(tmp_path: Path) -> None:
    places = replace(PLACES, lake=str(tmp_path), clusters=("shop", "other"))
    lost = "name: x\nchanges: [{change: lose_broker, broker_name: brokr-b}]"
    older = json.loads(PLACES.sample.read_bytes()) | {"brokers": [{"broker_name": "brokr-b"}]}
    for key, inventory in (
        ("20261120T020000Z-manual--shop", older),
        ("20261121T020000Z-manual--shop", json.loads(PLACES.sample.read_bytes())),
        ("20261122T020000Z-manual--shop--before", older),
        ("20261122T020000Z-manual--another_shop", older),
    ):
        run = Lake(tmp_path).run("C1", key)
        write_whole(run.inventory, json.dumps(inventory).encode())
        run.commit("snapshot", [])

    assert "the nearest broker is 'broker-b'" in name_problem({"cluster": "shop"}, lost, places)
    assert "the nearest broker is 'broker-b'" in name_problem({}, lost, places)
    assert name_problem({"cluster": "other"}, lost, places) == ""
    assert name_problem({"cluster": ["shop"]}, lost, places) == ""
    assert name_problem({"inventory": "../../sample/inventory.json"}, lost, places) == ""


def test_names_that_an_earlier_change_brings_are_there() -> None:
    added = "{change: add_broker, broker_name: new, topics_like: broker-a}"

    assert name_problem({}, f"name: x\nchanges: [{added}, {{change: lose_broker, broker_name: new}}]", PLACES) == ""
    assert "changes[1].broker_name" in name_problem(
        {}, f"name: x\nchanges: [{added}, {{change: lose_broker, broker_name: neww}}]", PLACES
    )


def test_a_cluster_whose_snapshot_cannot_be_read_refuses_nothing(tmp_path: Path) -> None:
    for content in (b"", b"[", b'{"format": 1}'):
        (tmp_path / "own.json").write_bytes(content)
        places = replace(PLACES, inventories=tmp_path)
        lost = "name: x\nchanges: [{change: lose_broker, broker_name: b}]"
        assert name_problem({"inventory": "own.json"}, lost, places) == ""
