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
from rocketmq_capacity.provider.change_form import CHANGES
from rocketmq_capacity.provider.form import policy_params
from rocketmq_capacity.provider.latest_names import name_problem, names_at_hand
from rocketmq_capacity.provider.scenario_form import examples, scenario_params, scenario_problem, scenario_text
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.simulation.known_names import ClusterNames
from rocketmq_capacity.simulation.scenario import scenario_of_text
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.writing import write_whole
from tests.fixtures.hostile_yaml import GROWING

pytestmark = pytest.mark.airflow

PLACES = DeploymentPlaces.of(Path("/nowhere"), {})
"""Those of a deployment without clusters: it plans the sample."""
LOST = "name: x\nchanges: [{change: lose_broker, broker_name: b}]"


def filled(**values: Any) -> dict[str, Any]:
    """The form as Airflow hands it over: validated, every field present."""
    params = ParamsDict(scenario_params())
    params.update(values)
    return dict(params.validate())


def changes_of(text: str) -> list[dict[str, Any]]:
    return scenario_of_text(text, "test").changes_as_written()


def test_a_scenario_keeps_its_name_and_its_changes() -> None:
    told = scenario_text(filled(scenario=f"# why\n{LOST}"))

    assert changes_of(told) == [{"change": "lose_broker", "broker_name": "b"}]
    assert scenario_of_text(told, "test").name == "x"


@pytest.mark.parametrize("form", [{}, {"scenario": "# only a comment"}, {"scenario": None}])
def test_a_form_without_a_scenario_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="scenario: is missing; expected a name and a list of changes"):
        scenario_text(filled(**form))
    assert "scenario: is missing" in scenario_problem(form)


@pytest.mark.parametrize(
    "conf",
    [{"scenario": LOST, "cluster": "another Param's", "unknown": 1}, {"scenario": "name: ["}, {"scenario": 1}],
    ids=str,
)
def test_a_scenario_and_what_a_schema_refuses_are_no_problem(conf: dict[str, Any]) -> None:
    assert scenario_problem(conf) == ""


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("scenario", "changes: []", "name: is missing"),
        ("scenario", "name: x\nchanges: [{change: loose_broker}]", "the nearest known change is 'lose_broker'"),
        ("scenario", "name: [", "is not YAML"),
        ("scenario", "name: x\nchanges: [{change: scale_traffic, factor: -1}]", "greater than or equal to 0"),
        ("scenario", ["name: x"], "is not of type"),
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


def test_the_example_has_a_change_of_each_kind_and_can_be_run() -> None:
    names = names_at_hand(PLACES)

    odd = ClusterNames(brokers=("a: b", "b"), topics=("1",), groups=("true",), client_ids=("x'\"@1",))
    for known in (ClusterNames(), names, odd):
        said = changes_of(examples(known))
        assert [change["change"] for change in said] == list(CHANGES)
    *others, _ = yaml.safe_load(examples(names))["changes"]
    without_room = [change for change in others if change["change"] != "lose_room"]
    for change in without_room:
        assert name_problem({}, yaml.safe_dump({"name": "x", "changes": [change]}), PLACES) == ""
    shown = str(scenario_params(names)["scenario"].value)
    assert [line.removeprefix("# ") for line in shown.splitlines()] == examples(names).splitlines()


def test_the_example_has_the_names_of_the_sample_wherever_the_lake_is() -> None:
    in_a_store = replace(PLACES, lake="s3://nowhere/plans")

    assert names_at_hand(in_a_store) == names_at_hand(PLACES)
    assert names_at_hand(replace(in_a_store, clusters=("shop",))) == ClusterNames()  # no Dag file asks a store


def test_the_rooms_of_the_policy_are_known_and_the_nearest_one_for_a_typo(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("rooms:\n  brokers: [{pattern: '^(?P<room>[^@]+)@'}, {broker_name: broker-a, room: hangzhou}]\n")
    places = replace(PLACES, policy=policy)

    names = names_at_hand(places)

    assert names.rooms == ("hangzhou", "room1")
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
