"""Where a run's snapshot comes from."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.source import Source, cluster_param, clusters_param, inventory_param, sources
from rocketmq_capacity.settings.deployment import DeploymentPlaces

pytestmark = pytest.mark.airflow

RUN = SimpleNamespace(run_id="manual__1", run_after=datetime(2026, 11, 20, 2, tzinfo=UTC))
TWO = {"RMQC_CLUSTERS": "shop, bank,shop"}


def filled(places: DeploymentPlaces, **values: Any) -> dict[str, Any]:
    """The daily form as Airflow hands it over: validated, every field present."""
    params = ParamsDict({"clusters": clusters_param(places), "inventory": inventory_param()})
    params.update(values)
    return dict(params.validate())


def test_an_empty_form_plans_the_recorded_sample_where_there_is_no_cluster(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, {})

    assert sources(filled(places), places) == [Source("sample", inventory=places.sample)]


def test_an_empty_form_plans_all_clusters_of_the_deployment_each_once(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, TWO)

    assert sources(filled(places), places) == [Source("shop", connection="shop"), Source("bank", connection="bank")]


def test_a_form_may_choose_some_of_them(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, TWO)

    assert sources(filled(places, clusters=["bank"]), places) == [Source("bank", connection="bank")]


def test_a_form_cannot_choose_a_cluster_that_the_deployment_does_not_name(tmp_path: Path) -> None:
    with pytest.raises(ParamValidationError, match="is not one of"):
        filled(DeploymentPlaces.of(tmp_path, TWO), clusters=["spark_default"])


def test_a_named_inventory_comes_from_the_configured_folder_instead_of_the_clusters(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, {"RMQC_INVENTORIES": str(tmp_path), **TWO})

    found = sources(filled(places, inventory="monday.json"), places)

    assert found == [Source("monday", inventory=tmp_path / "monday.json")]


def test_a_what_if_starts_from_the_first_cluster_unless_another_is_chosen(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, TWO)
    param = cluster_param(places)

    assert param.resolve() == "shop"
    assert sources({"cluster": param.resolve("bank")}, places) == [Source("bank", connection="bank")]
    with pytest.raises(ParamValidationError):
        param.resolve("spark_default")


def test_a_what_if_starts_from_the_sample_where_there_is_no_cluster(tmp_path: Path) -> None:
    places = DeploymentPlaces.of(tmp_path, {})

    assert sources({"cluster": cluster_param(places).resolve()}, places)[0].inventory == places.sample


def test_tasks_get_plain_values(tmp_path: Path) -> None:
    key = "20261120T020000Z-manual__1--{}"

    live, file = Source("shop", connection="shop"), Source("monday", inventory=tmp_path / "monday.json")

    assert live.task_arguments(RUN) == {"run_key": key.format("shop"), "connection": "shop", "inventory": None}
    told = {"run_key": key.format("monday"), "connection": None, "inventory": str(tmp_path / "monday.json")}
    assert file.task_arguments(RUN) == told


@pytest.mark.parametrize("ids", ["a b", "../x", "x,-y", "\u00e4", "a" * 101])
def test_a_cluster_whose_id_cannot_name_a_folder_is_refused(ids: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="RMQC_CLUSTERS"):
        DeploymentPlaces.of(tmp_path, {"RMQC_CLUSTERS": ids})


@pytest.mark.parametrize(
    "name",
    ["../monday.json", "a/b.json", "/etc/passwd", ".hidden.json", "-o.json", "monday.yaml", "monday.json\n", "", 7, []],
)
def test_no_inventory_outside_of_the_folder_can_be_named(name: object, tmp_path: Path) -> None:
    with pytest.raises(ParamValidationError):
        filled(DeploymentPlaces.of(tmp_path, {}), inventory=name)


@pytest.mark.parametrize("variable", ["RMQC_INVENTORIES", "RMQC_SPARK_APPS"])
def test_a_url_is_refused_where_a_folder_is_needed(variable: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{variable}: is 's3://bucket/lake'; expected a folder"):
        DeploymentPlaces.of(tmp_path, {variable: "s3://bucket/lake"})
