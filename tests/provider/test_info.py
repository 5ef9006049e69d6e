"""What Airflow's provider discovery is told."""

import subprocess
import sys
from importlib.metadata import distribution, entry_points

import pytest


def test_the_entry_point_names_the_distribution_that_holds_it() -> None:
    providers = entry_points(group="apache_airflow_provider")
    (found,) = (point for point in providers if point.value.startswith("rocketmq_capacity."))

    assert found.load()()["package-name"] == distribution("rocketmq-capacity").metadata["Name"]


def test_asking_for_the_info_imports_nothing_of_airflow() -> None:
    code = "import sys, rocketmq_capacity.provider.info; sys.exit('airflow' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.airflow
def test_airflow_lists_the_provider() -> None:
    from airflow.providers_manager import ProvidersManager

    assert "rocketmq-capacity" in ProvidersManager().providers
