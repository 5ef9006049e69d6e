"""The daily Dag with executors that share no folder with Airflow, and a lake in an object store.

The workers see neither the package nor the temporary folder of the driver: code comes through Spark, tables go through
the store. An Airflow connection opens it. An executor of each app is killed meanwhile, and slow tasks start twice. The
cluster that is planned is a small one with all that may be wrong.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psutil
import pytest

from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.run_lookup import existing_run
from tests.fixtures.environment import ROOT
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.s3 import BUCKET, S3
from tests.plan import program
from tests.plan.standalone import Master, running_master
from tests.stack.service import Services

if TYPE_CHECKING:
    from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.timeout(1800)]

DUE: Final = datetime(2026, 11, 16, tzinfo=UTC)
LAKE: Final = f"s3://the_store@{BUCKET}/of-dags"
EXECUTOR: Final = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
LOOK_EVERY_S: Final = 0.2


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """The temporary folder of Airflow and the drivers."""
    (tmp_path / "driver").mkdir()
    return tmp_path / "driver"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The deployment's policy."""
    (tmp_path / "policy.yaml").write_text(policy_for_generated())
    return tmp_path / "policy.yaml"


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """What a run may name, in the folder of such files."""
    (tmp_path / "inventories").mkdir()
    file = tmp_path / "inventories" / "shop.json"
    file.write_bytes(msgspec.json.encode(generated(40, 11)))
    return file


@pytest.fixture
def workers(tmp_path: Path, driver: Path) -> Iterator[Master]:
    """A master, and two workers without the package's folders and the driver's."""
    hidden = [driver, *(ROOT / name for name in ("include", "spark_apps", "dags", "plugins"))]
    with Services(tmp_path / "services") as services, running_master(services, 2, hidden) as master:
        yield master


@pytest.fixture
def dag(
    s3_server: S3,
    airflow_database: None,
    workers: Master,
    driver: Path,
    policy: Path,
    inventory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> "DAG":
    """The daily Dag of the deployment."""
    from airflow.dag_processing.dagbag import DagBag

    settings = program.with_defaults(
        tmp_path / "conf",
        spark__driver__host="127.0.0.1",
        spark__driver__bindAddress="127.0.0.1",
        spark__executor__memory="1g",
        spark__eventLog__enabled="true",
        spark__eventLog__dir=f"file://{driver}",
        spark__eventLog__compress="false",  # what is compressed would hide a secret
        spark__speculation="true",
        spark__speculation__quantile="0.1",
        spark__speculation__multiplier="1.1",
    )
    for name in s3_server.environment:  # the tasks set them for their apps, and here in this process
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("SPARK_CONF_DIR", settings["SPARK_CONF_DIR"])
    monkeypatch.setenv("AIRFLOW_CONN_THE_STORE", s3_server.airflow_connection)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": workers.url}))
    monkeypatch.setenv("RMQC_LAKE", LAKE)
    monkeypatch.setenv("RMQC_POLICY", str(policy))
    monkeypatch.setenv("RMQC_INVENTORIES", str(inventory.parent))
    monkeypatch.setenv("TMPDIR", str(driver))
    monkeypatch.setattr("tempfile.tempdir", str(driver))
    dag: DAG = DagBag(str(ROOT / "dags")).dags["rocketmq_capacity_plan"]
    return dag


@contextmanager
def losing_executors(work: Path) -> Iterator[set[str]]:
    """Kill the first executor of each app; gives the apps."""
    lost: set[str] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(LOOK_EVERY_S):
            for process in psutil.process_iter(["cmdline", "cwd"]):
                with suppress(psutil.NoSuchProcess, ValueError):
                    words = process.info["cmdline"] or []
                    if EXECUTOR in words and Path(process.info["cwd"] or "/").is_relative_to(work):
                        app = words[words.index("--app-id") + 1]
                        if app not in lost and has_a_worker(process):
                            process.kill()
                            lost.add(app)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        is_over.set()
        thread.join()


def has_a_worker(executor: psutil.Process) -> bool:
    """Whether it has begun to compute, in Python."""
    return any("pyspark" in " ".join(child.cmdline()) for child in executor.children())


def test_a_run_gives_the_bytes_of_one_machine(
    dag: "DAG", inventory: Path, policy: Path, workers: Master, s3_server: S3, tmp_path: Path
) -> None:
    with losing_executors(workers.work) as lost:
        run = dag.test(run_after=DUE, logical_date=DUE, run_conf={"inventory": inventory.name})
    assert run.state == "success"
    assert len(lost) >= 2  # of allocate and assess at least
    assert len({file.parents[2] for file in workers.work.glob("*/app-*/*/stderr")}) == 2  # both workers computed

    stored = existing_run(lake_of(LAKE), run_key(run, inventory.stem))
    report = {file.name: file.read_bytes() for file in stored.report.iterdir() if file.is_file()}
    here = program.plan(inventory, tmp_path / "here", "--policy", policy, env={"SPARK_CONF_DIR": os.devnull})
    assert report["plan.json"] == (here / "plan.json").read_bytes()
    assert report.keys() == {file.name for file in here.iterdir() if file.is_file() and not file.name.startswith(".")}
    # Neither what a worker keeps of its executors nor what Spark's pages are made of tells the store's secret.
    logs = [file for file in workers.work.parent.rglob("*") if file.is_file()]
    events = [file for file in (tmp_path / "driver").rglob("*app-*") if file.is_file()]
    assert any(file.name == "stderr" for file in logs)
    assert len(events) >= len(lost)
    secret = s3_server.environment["AWS_SECRET_ACCESS_KEY"].encode()
    assert [file for file in (*logs, *events) if secret in file.read_bytes()] == []
    (event,) = events_of(run)
    assert event["report"] == str(stored.report / "report.html")
    assert "the_store" not in json.dumps(event)


def events_of(run: Any) -> list[dict[str, object]]:
    """What the run's asset events tell."""
    from airflow.models.asset import AssetEvent
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        query = select(AssetEvent.extra).where(AssetEvent.source_run_id == run.run_id)
        return [dict(extra) for extra in session.scalars(query)]
