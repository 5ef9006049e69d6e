"""What is wrong with executors on other machines is one line, before a cluster is asked.

Where nothing is wrong, tests/dags/test_run_elsewhere.py goes on.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketmq_capacity.provider.executor_code import packed
from rocketmq_capacity.settings.deployment import sample_inventory
from tests.fixtures.environment import ROOT
from tests.plan import program
from tests.plan.standalone import Master, running_master
from tests.stack.service import Services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the driver's machine."""
    return tmp_path_factory.mktemp("driver")


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory, driver: Path) -> Iterator[Master]:
    """A worker that sees neither that folder nor the package."""
    folder = tmp_path_factory.mktemp("services") / "services"
    with Services(folder) as services, running_master(services, 1, [driver, ROOT / "include"]) as master:
        yield master


def snapshot(lake: Path, master: Master, conf: Path, *, ships_code: bool) -> "subprocess.CompletedProcess[str]":
    settings = {"spark__driver__host": "127.0.0.1", "spark__driver__bindAddress": "127.0.0.1"}
    environment = program.with_defaults(conf, spark__master=master.url, spark__executor__memory="1g", **settings)
    code = conf / "code.zip"
    code.write_bytes(packed())
    shipped = ["--py-files", str(code)] if ships_code else []
    app = [str(ROOT / "spark_apps" / "snapshot.py"), f"--lake={lake}", "--run-id=r1", "--check-executors"]
    return subprocess.run(
        [str(Path(sys.executable).parent / "spark-submit"), *shipped, *app, f"--inventory={sample_inventory()}"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # spark-submit writes both of the app to its own output
        text=True,
        timeout=500,
        check=False,
    )


def assert_refused(done: "subprocess.CompletedProcess[str]", lake: Path, reason: str) -> None:
    assert done.returncode == 3, done.stdout
    assert "Traceback" not in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "Spark's executors: " in line]
    assert " ERROR snapshot: " in line
    assert reason in line
    assert list(lake.rglob("*")) == []


def test_a_lake_that_executors_do_not_see_is_told(driver: Path, workers: Master, tmp_path: Path) -> None:
    done = snapshot(driver / "lake", workers, tmp_path / "conf", ships_code=True)
    assert_refused(done, driver / "lake", "does not see what the driver wrote to")


def test_a_package_that_executors_lack_is_named(driver: Path, workers: Master, tmp_path: Path) -> None:
    done = snapshot(tmp_path / "lake", workers, tmp_path / "conf", ships_code=False)
    assert_refused(done, tmp_path / "lake", "No module named 'rocketmq_capacity'")
