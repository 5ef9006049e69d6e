"""Airflow's four processes on PostgreSQL, and its public API as a person's program would use it."""

import json
import os
import secrets
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx

from tests.fixtures.ports import free_port
from tests.stack.postgres import Postgres
from tests.stack.service import Services
from tests.stack.spark import Spark, with_secret
from tests.waiting import until

COMMANDS: Final = {
    "api-server": ("api-server",),
    # Their log servers would listen on every address; on one machine the logs are read from the disk.
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
}
DRIVERS: Final = "scheduler"
"""The one that starts Spark's drivers, and alone knows Spark's secret."""
HEALTH: Final = ("metadatabase", "scheduler", "dag_processor", "triggerer")
ROLES: Final = {"admin": "admin", "viewer": "viewer"}
MIGRATED_WITHIN_S: Final = 300.0
WELL_WITHIN_S: Final = 600.0
ACCEPTED_WITHIN_S: Final = 180.0
LOOK_EVERY_S: Final = 1.0
ASK_EVERY_S: Final = 4.0
"""Tasks take seconds, and an answer about them takes the API server a tenth of one."""

Found = TypeVar("Found")


class Api:
    """The public API in one person's name."""

    def __init__(self, url: str, user: str, password: str) -> None:
        """Log in."""
        self._client = httpx.Client(base_url=url, timeout=120, trust_env=False)
        token = self._client.post("/auth/token", json={"username": user, "password": password}).raise_for_status()
        self._client.headers["Authorization"] = f"Bearer {token.json()['access_token']}"

    def ask(self, method: str, path: str, body: object = None, **query: str | int | bool) -> httpx.Response:
        """One request under ``/api/v2``, whatever the answer."""
        return self._client.request(method, f"/api/v2{path}", json=body, params=query)

    def get(self, path: str, **query: str | int | bool) -> Any:
        """The JSON of an answer to GET; errors: HTTPStatusError."""
        return self.ask("GET", path, **query).raise_for_status().json()

    def send(self, method: str, path: str, body: object, **query: str | int | bool) -> Any:
        """A change that has to be accepted; errors: HTTPStatusError."""
        return self.ask(method, path, body, **query).raise_for_status().json()

    def set_state(self, path: str, body: object, **query: str | int | bool) -> None:
        """Set what the scheduler sets too; errors: AssertionError where that is never accepted.

        Both lock a run and its tasks, in different orders: PostgreSQL then ends one of the two, and the API tells of
        it as 500, as it did 5 times in 40 with Airflow 3.3.2. Whoever clicked clicks again.
        """

        def is_accepted() -> bool:
            told = self.ask("PATCH", path, body, **query)
            return told.status_code != httpx.codes.INTERNAL_SERVER_ERROR and told.raise_for_status().is_success

        until(is_accepted, ACCEPTED_WITHIN_S, f"PATCH {path} to be accepted")

    def trigger(self, dag_id: str, conf: Mapping[str, Any]) -> "DagRun":
        """Start a run of a Dag with what a person would fill into its form."""
        run = self.send("POST", f"/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": dict(conf)})
        return DagRun(self, dag_id, run["dag_run_id"])

    def runs(self, dag_id: str) -> list["DagRun"]:
        """All runs of a Dag, oldest first."""
        told = self.get(f"/dags/{dag_id}/dagRuns", limit=100, order_by="run_after")["dag_runs"]
        return [DagRun(self, dag_id, run["dag_run_id"]) for run in told]

    def switch_on(self, dag_id: str) -> None:
        """Let the scheduler start runs of a Dag."""
        self.send("PATCH", f"/dags/{dag_id}", {"is_paused": False}, update_mask="is_paused")


@dataclass(frozen=True, slots=True)
class DagRun:
    """One run of a Dag."""

    api: Api
    dag_id: str
    run_id: str

    @property
    def path(self) -> str:
        """Where the API has it."""
        return f"/dags/{self.dag_id}/dagRuns/{httpx.URL('/', params={'r': self.run_id}).query.decode()[2:]}"

    def state(self) -> str:
        """Of the run."""
        return str(self.api.get(self.path)["state"])

    def tasks(self) -> dict[tuple[str, int], str | None]:
        """The state of each task, by its id and its number in a mapped group (-1 outside of one)."""
        told = self.api.get(f"{self.path}/taskInstances", limit=100)["task_instances"]
        return {(task["task_id"], task["map_index"]): task["state"] for task in told}

    def wait_for(self, task_id: str, limit_s: float, map_index: int = -1, state: str = "success") -> None:
        """Wait until a task is in that state; errors: AssertionError with the task's log where it ended otherwise."""

        def is_there() -> bool:
            tasks = self.tasks()
            broken = [task for task, found in tasks.items() if found == "failed" and task[1] == map_index]
            assert state in ("failed", "up_for_retry") or not broken, "\n".join(self.log(*task) for task in broken)
            return tasks.get((task_id, map_index)) == state

        until(is_there, limit_s, f"{task_id} [{map_index}] of {self.run_id} to be {state}", ASK_EVERY_S)

    def log(self, task_id: str, map_index: int = -1, attempt: int = 1) -> str:
        """What a task wrote, as the API tells it."""
        path = f"{self.path}/taskInstances/{task_id}/logs/{attempt}"
        told = self.api.get(path, map_index=map_index, full_content=True)["content"]
        return "\n".join(str(line.get("event", line)) if isinstance(line, dict) else str(line) for line in told)

    def set_task(self, task_id: str, state: str, map_index: int = -1) -> None:
        """Say that a task ended so, as a person does in the UI."""
        self.api.set_state(f"{self.path}/taskInstances/{task_id}/{map_index}", {"new_state": state})

    def end(self, state: str) -> None:
        """Say that the run ended so, as a person does in the UI."""
        self.api.set_state(self.path, {"state": state}, update_mask="state")


@dataclass(frozen=True)
class Airflow:
    """A running Airflow.

    Attributes:
        url: its address, without a slash at the end.
        passwords: of each user, by name; the names are those of ROLES.
    """

    url: str
    passwords: Mapping[str, str]

    def api(self, user: str = "admin") -> Api:
        """The API in that user's name."""
        return Api(self.url, user, self.passwords[user])

    def heartbeat(self) -> str:
        """When the scheduler last said that it lives: at the end of one of its rounds."""
        answer = httpx.get(f"{self.url}/api/v2/monitor/health", timeout=60, trust_env=False).raise_for_status()
        return str(answer.json()["scheduler"]["latest_scheduler_heartbeat"])

    def is_well(self) -> bool:
        """Whether all four say that they are."""
        try:
            answer = httpx.get(f"{self.url}/api/v2/monitor/health", timeout=60, trust_env=False).raise_for_status()
        except httpx.HTTPError:  # not yet, or not yet that page
            return False
        return all(answer.json()[part]["status"] == "healthy" for part in HEALTH)


@contextmanager
def running_airflow(
    services: Services, postgres: Postgres, spark: Spark, deployment: Mapping[str, str]
) -> Iterator[Airflow]:
    """The four, well; new Dags are paused.

    Errors: StackError where one of them does not come up.
    """
    port = free_port()
    airflow = Airflow(f"http://127.0.0.1:{port}", {user: secrets.token_urlsafe(12) for user in ROLES})
    environment = _environment(services, postgres, spark, airflow) | dict(deployment)
    program = [sys.executable, "-m", "airflow"]
    services.run("airflow-db-migrate", [*program, "db", "migrate"], environment, MIGRATED_WITHIN_S)
    with services.ending() as four:
        for name, words in COMMANDS.items():
            command, of_spark = [*program, *words], {}
            if name == DRIVERS:
                command, of_spark = with_secret(command), spark.environment
            four.append(services.start(name, command, environment | of_spark))
        for service in four:
            service.wait_until(airflow.is_well, WELL_WITHIN_S)
        yield airflow


def _environment(services: Services, postgres: Postgres, spark: Spark, airflow: Airflow) -> dict[str, str]:
    home = services.folder / "airflow"
    home.mkdir()
    login = home / "login.json"
    login.touch(0o600)
    login.write_text(json.dumps(dict(airflow.passwords)))
    # Under UNIT_TEST_MODE, which the tests' own process runs in, nothing is as in a deployment.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW_", "SPARK_CONF"))}
    return kept | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": postgres.url,
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__DAGS_FOLDER": os.environ["AIRFLOW__CORE__DAGS_FOLDER"],
        "AIRFLOW__CORE__PLUGINS_FOLDER": os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"],
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "true",
        "AIRFLOW__CORE__FERNET_KEY": urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{airflow.url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{role}" for user, role in ROLES.items()),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(login),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": airflow.url.rpartition(":")[2],
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__BASE_URL": airflow.url,
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(32),
        # No Dag changes here. Read again every 30 s, they would take a quarter of a core.
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": spark.url}),
        "SPARK_SUBMIT_OPTS": spark.driver_options(),
    }
