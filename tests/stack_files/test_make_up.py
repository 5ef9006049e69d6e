"""make up and make down for real, and the containers' start-up scripts against the Airflow that they started.

The Dag is a small one of the same name, so that what is tested is the start and the end, not the plan.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from tests.fixtures.environment import ROOT
from tests.fixtures.ports import free_port

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.timeout(900)]

FOUR: Final = ("api-server", "scheduler", "dag-processor", "triggerer")
DAG: Final = '''
"""Stands for the daily Dag: publishes where it is allowed to."""

from pathlib import Path

import pendulum
from airflow.sdk import DAG, Asset, task

REPORT = Asset("rocketmq_capacity_report")

with DAG("rocketmq_capacity_plan", schedule="DAILY", start_date=pendulum.datetime(2026, 1, 1), catchup=False):

    @task(outlets=[REPORT])
    def publish(*, outlet_events):
        if not Path(__file__).with_name("allowed").exists():
            raise ValueError("not yet")
        found = {"CRITICAL": 1, "WARNING": 2, "INFO": 3}
        outlet_events[REPORT].extra = {"cluster_name": "shop", "findings": found, "recommendations": 4}

    publish()
'''
AT_ONCE: Final = '''
"""Has a run to make as soon as it is known, as every daily Dag that has been switched on."""

import pendulum
from airflow.sdk import DAG, task

with DAG(
    "begins_at_once",
    schedule="DAILY",
    start_date=pendulum.datetime(2026, 1, 1),
    catchup=False,
    is_paused_upon_creation=False,
):

    @task
    def first():
        pass

    first()
'''
SLOW: Final = '''
"""Makes the API server as slow to start as on a busy machine; Airflow loads it as a plugin."""

import sys
import time

if "api-server" in sys.argv:
    time.sleep(30)
'''


@dataclass(frozen=True, slots=True)
class Installation:
    """An Airflow of its own under a temporary folder, run by the project's own commands."""

    home: Path
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """A command in the project's environment, but with this installation's folders."""
        theirs = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "RMQC_"))}
        ours = {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.home}/airflow.db",
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.home / "dags"),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(self.home / "plugins"),
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "true",
            "AIRFLOW_PORT": str(self.port),
            # In the image the scripts stand beside it.
            "PYTHONPATH": str(ROOT / ".make"),
            **settings,
        }
        words = [".make/env.sh", "env", *(f"{name}={value}" for name, value in ours.items()), *command]
        return subprocess.run(words, cwd=ROOT, env=theirs, capture_output=True, text=True, timeout=400, check=False)

    def up(self, **settings: str) -> subprocess.CompletedProcess[str]:
        return self.run("python", ".make/up.py", **settings)

    def down(self) -> subprocess.CompletedProcess[str]:
        return self.run("python", ".make/down.py")

    def processes(self) -> list[psutil.Process]:
        """Whatever has this home in its environment, whoever started it."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("AIRFLOW_HOME") == str(self.home):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def password(self) -> str:
        return str(json.loads((self.home / "login.json").read_text())["admin"])


def called(address: str, headers: Mapping[str, str] | None = None, body: object = None) -> Any:
    """The API's answer."""
    import httpx

    with httpx.Client(trust_env=False, timeout=300) as client:
        return client.request("POST" if body is not None else "GET", address, headers=headers, json=body)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation as the containers' set-up makes it; ended at the end, whatever became of it."""
    home = tmp_path_factory.mktemp("airflow-of-make-up")
    (home / "dags").mkdir()
    (home / "plugins").mkdir()
    # Far from now, so that no second run of the day is due while the tests run.
    daily = f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"
    (home / "dags" / "rocketmq_capacity_plan.py").write_text(DAG.replace("DAILY", daily))
    (home / "dags" / "begins_at_once.py").write_text(AT_ONCE.replace("DAILY", daily))
    (home / "plugins" / "slow_api_server.py").write_text(SLOW)
    installation = Installation(home, free_port())
    set_up = installation.run("sh", ".make/compose/init.sh")
    assert set_up.returncode == 0, set_up.stderr
    yield installation
    installation.down()
    for process in installation.processes():
        process.kill()


@pytest.fixture(scope="module")
def first_up(installation: Installation) -> subprocess.CompletedProcess[str]:
    """The first call of make up."""
    return installation.up()


@pytest.fixture
def running(installation: Installation, first_up: subprocess.CompletedProcess[str]) -> Installation:
    """The installation with its Airflow running."""
    assert first_up.returncode == 0, first_up.stderr
    return installation


@pytest.fixture
def as_admin(running: Installation) -> dict[str, str]:
    """The headers of whoever has logged in with the generated login."""
    answer = called(f"{running.address}/auth/token", body={"username": "admin", "password": running.password()})
    assert answer.status_code == 201
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def test_the_first_start_says_where_it_runs_and_once_what_the_login_is(
    running: Installation, first_up: subprocess.CompletedProcess[str]
) -> None:
    assert f"{running.address}/" in first_up.stdout
    assert str(running.home / "login.json") in first_up.stdout
    assert first_up.stdout.count(running.password()) == 1
    assert running.password() not in first_up.stderr
    assert running.password() not in running.up().stdout


def test_the_login_is_for_its_owner_alone(running: Installation) -> None:
    assert stat.S_IMODE((running.home / "login.json").stat().st_mode) == 0o600
    assert len(running.password()) >= 20


def test_every_part_is_well_and_the_dag_is_known(running: Installation, as_admin: dict[str, str]) -> None:
    health = called(f"{running.address}/api/v2/monitor/health").json()
    assert {part["status"] for part in health.values()} == {"healthy"}
    assert called(f"{running.address}/api/v2/dags/rocketmq_capacity_plan", as_admin).status_code == 200


def test_the_first_task_waits_for_an_api_server_that_is_slow_to_start(
    running: Installation, as_admin: dict[str, str]
) -> None:
    address = f"{running.address}/api/v2/dags/begins_at_once/dagRuns/~/taskInstances"

    def tries() -> list[tuple[str, int]]:
        found = called(address, as_admin).json()["task_instances"]
        return [(task["state"], task["try_number"]) for task in found]

    deadline = time.monotonic() + 300
    while {state for state, _ in tries()} <= {None, "scheduled", "queued", "running"} and time.monotonic() < deadline:
        time.sleep(0.5)
    assert tries() == [("success", 1)]


def test_nothing_listens_beyond_loopback(running: Installation) -> None:
    listening = [
        socket_.laddr
        for process in running.processes()
        for socket_ in process.net_connections("inet")
        if socket_.status == psutil.CONN_LISTEN
    ]
    assert ("127.0.0.1", running.port) in [tuple(address) for address in listening]
    assert {address.ip for address in listening} <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def test_the_pool_bounds_how_many_clusters_are_planned_at_once(running: Installation, as_admin: dict[str, str]) -> None:
    assert called(f"{running.address}/api/v2/pools/rocketmq_capacity", as_admin).json()["slots"] == 2


def test_a_connection_can_be_tested(running: Installation, as_admin: dict[str, str]) -> None:
    body = {"connection_id": "trial", "conn_type": "sqlite", "host": ":memory:"}
    assert called(f"{running.address}/api/v2/connections/test", as_admin, body).status_code == 200


def test_a_second_one_says_that_it_runs_already(running: Installation) -> None:
    before = {process.pid for process in running.processes()}
    second = running.up()
    assert second.returncode == 0
    assert f"running already at {running.address}/" in second.stdout
    assert set(FOUR) == json.loads((running.home / "up" / "started.json").read_text()).keys()
    assert {each["pid"] for each in json.loads((running.home / "up" / "started.json").read_text()).values()} <= before


@pytest.mark.parametrize("part", FOUR)
def test_the_containers_health_check_finds_well(part: str, running: Installation) -> None:
    check = running.run("python", ".make/compose/healthy.py", part, running.address)
    assert check.returncode == 0, check.stderr


def test_the_containers_health_check_fails_for_a_silent_service(installation: Installation) -> None:
    check = installation.run("python", ".make/compose/healthy.py", "scheduler", f"http://127.0.0.1:{free_port()}")
    assert check.returncode == 1
    assert "refused" in check.stderr


def test_the_first_plan_of_the_containers_says_what_came_of_it(running: Installation, as_admin: dict[str, str]) -> None:
    def first_plan() -> subprocess.CompletedProcess[str]:
        script = ("python", ".make/compose/first_plan.py", running.address, "http://127.0.0.1:1")
        return running.run(*script, AIRFLOW_ADMIN_PASSWORD=running.password())

    def runs() -> list[str]:
        found = called(f"{running.address}/api/v2/dags/rocketmq_capacity_plan/dagRuns", as_admin).json()["dag_runs"]
        return sorted(run["run_type"] for run in found)

    # Switched on, the Dag makes its run of today, which is not allowed to publish.
    failed = first_plan()
    assert failed.returncode == 1
    assert "the run failed at publish" in failed.stderr
    assert runs() == ["scheduled"]

    # Today's run was made and has failed: one is triggered.
    (running.home / "dags" / "allowed").touch()
    made = first_plan()
    assert made.returncode == 0, made.stderr
    assert "plan of shop: findings 1 CRITICAL, 2 WARNING, 3 INFO; 4 recommendations" in made.stdout
    assert "http://127.0.0.1:1/rocketmq-capacity/dag-runs/rocketmq_capacity_plan/manual__" in made.stdout
    assert runs() == ["manual", "scheduled"]

    # A stack that is started again has its plan.
    assert first_plan().returncode == 0
    assert runs() == ["manual", "scheduled"]


def test_the_containers_set_up_keeps_a_pool_that_was_resized(running: Installation, as_admin: dict[str, str]) -> None:
    resized = running.run("airflow", "pools", "set", "rocketmq_capacity", "5", "more cores")
    assert resized.returncode == 0, resized.stderr
    assert running.run("sh", ".make/compose/init.sh").returncode == 0
    assert called(f"{running.address}/api/v2/pools/rocketmq_capacity", as_admin).json()["slots"] == 5


def test_a_taken_port_gives_one_line(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = Installation(tmp_path, port).up()
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"make up: port {port} is taken by another program; choose one: make up AIRFLOW_PORT=8081"
    ]
    assert not Installation(tmp_path, port).processes()


def test_down_ends_all_of_it_also_after_a_crash(running: Installation) -> None:
    scheduler = json.loads((running.home / "up" / "started.json").read_text())["scheduler"]["pid"]
    os.kill(scheduler, signal.SIGKILL)
    with suppress(psutil.NoSuchProcess):  # it has gone already
        psutil.wait_procs([psutil.Process(scheduler)], timeout=120)

    again = running.up()
    assert again.returncode == 1
    assert "gone: scheduler" in again.stderr
    assert "make down" in again.stderr

    ended = running.down()
    assert ended.returncode == 0, ended.stderr
    assert "Airflow is stopped" in ended.stdout
    psutil.wait_procs(running.processes(), timeout=60)  # workers of the killed scheduler may be ending
    assert running.processes() == []


def test_down_is_silent_where_nothing_runs(tmp_path: Path) -> None:
    nothing = Installation(tmp_path, free_port()).down()
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "")


def test_a_process_that_ends_at_once_is_named_and_leaves_nothing_running(tmp_path: Path) -> None:
    installation = Installation(tmp_path, free_port())
    (tmp_path / "dags").mkdir()
    # There is no database: nobody has set one up.
    failed = installation.up(AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{tmp_path}/missing/airflow.db")
    assert failed.returncode == 1
    assert "ended at once" in failed.stderr
    assert installation.processes() == []
