"""The files for Kubernetes fit its schemas, the package and the figures that were measured."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from rocketmq_capacity.provider.lakes import address_of
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from tests.fixtures.environment import ROOT

pytestmark = pytest.mark.airflow

FOLDER: Final = ROOT / "include" / "kubernetes"
VERSION: Final = "1.33"
VALUES: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
OFFICIAL: Final = ("fab", "cncf-kubernetes", "amazon")
"""Airflow's providers that the chart's settings name: the login, the executor and the logs in the bucket."""
GIB: Final = {"Gi": 1.0, "Mi": 1 / 1024}


@pytest.mark.parametrize(
    "manifest",
    list(yaml.safe_load_all((FOLDER / "spark-on-kubernetes.yaml").read_text(encoding="utf-8"))),
    ids=lambda manifest: str(manifest["kind"]),
)
def test_a_manifest_fits_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_what_the_chart_gives_to_containers_fits_the_schema_of_kubernetes() -> None:
    for part in ("workers", "apiServer"):
        container = {"name": part, "env": VALUES["env"], "resources": VALUES[part]["resources"]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "task"}, "spec": {"containers": [container]}}
        kubernetes_validate.validate(pod, VERSION, strict=True)


def test_the_settings_are_those_of_a_deployment_and_the_lake_has_its_connection() -> None:
    told = {one["name"]: one["value"] for one in VALUES["env"]}
    places = DeploymentPlaces.of(ROOT, told)
    assert places.clusters == ("shop",)
    connections = {one["envName"].removeprefix("AIRFLOW_CONN_").lower() for one in VALUES["secret"]}
    assert {address_of(places.lake).connection, address_of(places.what_ifs).connection} <= connections
    assert set(places.clusters) <= connections
    assert json.loads(told["AIRFLOW_CONN_SPARK_DEFAULT"])["host"] == "local[*]"


def test_the_chart_finds_in_the_image_what_it_takes_from_the_official_one() -> None:
    """Source: chart/values.yaml and chart/templates/_helpers.yaml of apache/airflow."""
    image = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    for provider in OFFICIAL:
        assert f"apache-airflow-providers-{provider} " in image.replace("\n", " ")
    assert re.search(r">/entrypoint && chmod 0755 /entrypoint$", image, flags=re.MULTILINE)
    # The executor of the first image would win over that of the chart's airflow.cfg.
    assert f"ENV AIRFLOW__CORE__EXECUTOR={VALUES['executor']}\n" in image
    for part in ("scheduler", "dagProcessor", "triggerer"):
        assert VALUES[part]["logGroomerSidecar"] == {"enabled": False}


def test_the_entry_point_becomes_the_command_that_a_probe_gives_it(tmp_path: Path) -> None:
    (text,) = re.findall(r"RUN printf '(.*)' >/entrypoint", (FOLDER / "Dockerfile").read_text(encoding="utf-8"))
    file = tmp_path / "entrypoint"
    subprocess.run(["/bin/sh", "-c", f"printf '{text}' >{file} && chmod 0755 {file}"], check=True)
    probe = ["sh", "-c", f"exec {file} \\\nsh -c 'echo a b; exit 3'"]
    ended = subprocess.run(probe, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "a b\n")


def test_the_folders_are_those_of_the_image() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for name in ("dags_folder", "plugins_folder"):
        assert f"AIRFLOW__CORE__{name.upper()}={VALUES['config']['core'][name]} " in image
    # Without it, Airflow would not find the airflow.cfg that the chart mounts there.
    assert f"AIRFLOW_HOME={VALUES['airflowHome']} " in image
    assert f"AIRFLOW__LOGGING__BASE_LOG_FOLDER={VALUES['airflowHome']}/logs\n" in image


def test_a_pod_has_the_memory_that_a_fleet_was_measured_to_need() -> None:
    limit = VALUES["workers"]["resources"]["limits"]["memory"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (fleet,) = re.findall(r"^\| a generated fleet: .*\| ([0-9.]+) GB \|$", readme, flags=re.MULTILINE)
    assert float(limit[:-2]) * GIB[limit[-2:]] * 1.0737 >= 1.2 * float(fleet)
