"""Where a run's snapshot comes from."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.definitions.param import ParamsDict
from airflow.sdk.exceptions import AirflowFailException, ParamValidationError

from rocketmq_capacity.lake import Lake
from rocketmq_capacity.provider.places import Places
from rocketmq_capacity.provider.run_key import run_key
from rocketmq_capacity.provider.source import source_argument, source_params

pytestmark = pytest.mark.airflow


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "data" / "inventories").mkdir(parents=True)
    return Places.of(tmp_path, {})


RUN = SimpleNamespace(run_id="manual__1", run_after=datetime(2026, 11, 20, 2, tzinfo=UTC))


def filled(**values: Any) -> dict[str, Any]:
    """The form as Airflow hands it over: validated, every field present."""
    params = ParamsDict(source_params())
    params.update(values)
    return dict(params.validate())


def test_an_empty_form_plans_the_recorded_sample(places: Places) -> None:
    assert source_argument(filled(), RUN, places) == f"--inventory={places.sample}"


def test_an_empty_form_plans_the_deployments_cluster_where_it_names_one(tmp_path: Path) -> None:
    places = Places.of(tmp_path, {"RMQC_NAMESERVER": "10.0.9.1:9876"})

    assert source_argument(filled(), RUN, places) == "--nameserver=10.0.9.1:9876"


def test_a_named_inventory_comes_from_the_configured_folder(tmp_path: Path) -> None:
    places = Places.of(tmp_path, {"RMQC_INVENTORIES": str(tmp_path), "RMQC_NAMESERVER": "10.0.9.1:9876"})
    (tmp_path / "monday.json").touch()

    assert source_argument(filled(inventory="monday.json"), RUN, places) == f"--inventory={tmp_path / 'monday.json'}"


def test_name_servers_are_handed_over_in_one_argument(places: Places) -> None:
    servers = "10.0.9.1:9876;[::1]:9876;mq-1.example.org:9876"

    assert source_argument(filled(nameserver=servers), RUN, places) == f"--nameserver={servers}"


def test_both_fields_at_once_are_refused_without_a_retry(places: Places) -> None:
    with pytest.raises(AirflowFailException, match="not both"):
        source_argument(filled(nameserver="10.0.9.1:9876", inventory="monday.json"), RUN, places)


def test_an_inventory_that_is_not_there_is_refused_without_a_retry(places: Places) -> None:
    with pytest.raises(AirflowFailException, match=r"no file monday\.json in the inventory folder"):
        source_argument(filled(inventory="monday.json"), RUN, places)


def test_a_cleared_run_needs_the_file_no_more_that_its_snapshot_was_made_of(places: Places) -> None:
    run = Lake(places.lake).run("C1", run_key(RUN))
    run.folder.mkdir(parents=True)
    run.inventory.touch()

    assert source_argument(filled(inventory="monday.json"), RUN, places).endswith("/monday.json")


@pytest.mark.parametrize(
    "name",
    ["../monday.json", "a/b.json", "/etc/passwd", ".hidden.json", "-o.json", "monday.yaml", "monday.json\n", "", 7, []],
)
def test_no_inventory_outside_of_the_folder_can_be_named(name: object) -> None:
    with pytest.raises(ParamValidationError):
        filled(inventory=name)


@pytest.mark.parametrize(
    "servers",
    [
        "localhost",
        "a:1;",
        ";a:1",
        "a:1 --conf=x",
        "a:1\n",
        "a:123456",
        "-h:1",
        "a;b:1",
        "a:1;" * 16 + "b:1",
        "http://a:1",
        9876,
    ],
)
def test_only_lists_of_hosts_and_ports_are_name_servers(servers: object) -> None:
    with pytest.raises(ParamValidationError):
        filled(nameserver=servers)
