"""Starts Airflow on this machine and leaves it running; ends once it answers, is healthy and knows every Dag.

Nothing listens beyond loopback. The login is made once and kept; only its owner can read it.
"""

import fcntl
import json
import os
import secrets
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NoReturn

from airflow_api import AirflowApi, Unanswered
from local_airflow import COMMANDS, LocalAirflow, is_free, of_environment

USER: Final = "admin"
DEFAULT_PORT: Final = "8080"
PATIENCE_S: Final = 240.0
"""A first start takes 15 s on two idle cores."""
HEALTH: Final = ("metadatabase", "scheduler", "dag_processor", "triggerer")
# A laptop can run two Spark drivers at once (the pool allows as many); the rest is for tasks without one.
TASKS_AT_ONCE: Final = "4"


class NotStarted(Exception):
    """Why Airflow is not running; one line."""


def main() -> int:
    """Start, or say that it runs already."""
    airflow = of_environment()
    (airflow.home / "up").mkdir(parents=True, exist_ok=True)
    with (airflow.home / "up" / "lock").open("w") as lock:
        # Two at once would start eight.
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            dags = None if _runs_already(airflow) else _start(airflow, _free_port())
        except NotStarted as reason:
            print(f"make up: {reason}", file=sys.stderr)
            return 1
    _tell(airflow, dags)
    return 0


def _runs_already(airflow: LocalAirflow) -> bool:
    alive = airflow.components()
    if alive and all(alive.values()):
        return True
    if airflow.processes():
        gone = ", ".join(component for component in COMMANDS if not alive.get(component)) or "the four themselves"
        raise NotStarted(f"an earlier Airflow still runs in part (gone: {gone}): make down, then make up again")
    return False


def _free_port() -> int:
    asked = os.environ.get("AIRFLOW_PORT") or DEFAULT_PORT
    if not (asked.isascii() and asked.isdigit() and 0 < int(asked) < 65536):
        raise NotStarted(f"AIRFLOW_PORT is {asked}, but has to be a port between 1 and 65535")
    if not is_free(int(asked)):
        raise NotStarted(f"port {asked} is taken by another program; choose one: make up AIRFLOW_PORT=8081")
    return int(asked)


def _start(airflow: LocalAirflow, port: int) -> list[str]:
    address = f"http://127.0.0.1:{port}"
    is_new = not airflow.login_file.exists()
    password = _login(airflow.login_file)
    if is_new:
        print(f"the password of {USER} is {password}; it is shown this once, and kept in {airflow.login_file}")
    print(f"starting Airflow at {address} (15 s and more) …", flush=True)
    signal.signal(signal.SIGTERM, _interrupt)
    since = datetime.now(UTC)
    try:
        airflow.start(address, _environment(airflow, port))
        return _wait(airflow, AirflowApi(address), password, since)
    except BaseException:
        # Interrupted or failed: nothing half-started is left behind.
        airflow.stop()
        raise


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _login(file: Path) -> str:
    """The password of the one user; made where there is none yet."""
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as stream:
            json.dump({USER: secrets.token_urlsafe(18)}, stream)
    file.chmod(0o600)
    try:
        return str(json.loads(file.read_text())[USER])
    except (ValueError, KeyError, TypeError):
        raise NotStarted(f"{file} holds no password of {USER}: delete it, and a new one is made") from None


def _environment(airflow: LocalAirflow, port: int) -> dict[str, str]:
    """What the four need beside the settings of ``.make/env.sh``."""
    here = "127.0.0.1,localhost"
    return dict(os.environ) | {
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        # Tasks would look for it on port 8080.
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__PARALLELISM": TASKS_AT_ONCE,
        # The scheduler may be ready before the API server is. A task first reports its start to the API server; where
        # nobody answers for 4 to 15 s, Airflow's defaults let it fail before it has written a line of its log.
        "AIRFLOW__WORKERS__EXECUTION_API_RETRIES": "60",
        "AIRFLOW__WORKERS__EXECUTION_API_RETRY_WAIT_MIN": "2",
        "AIRFLOW__WORKERS__EXECUTION_API_RETRY_WAIT_MAX": "2",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(airflow.login_file),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
        "NO_PROXY": here,
        "no_proxy": here,
    }


def _wait(airflow: LocalAirflow, api: AirflowApi, password: str, since: datetime) -> list[str]:
    """Wait for health and for every Dag; gives the ids of the Dags that are paused."""
    expected = {file.stem for file in Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"]).glob("[a-z]*.py")}
    deadline = time.monotonic() + PATIENCE_S
    missing = "an answer"
    while time.monotonic() < deadline:
        for component, is_alive in airflow.components().items():
            if not is_alive:
                raise NotStarted(f"{component} ended at once:\n{_last_lines(airflow.log_file(component))}")
        try:
            missing = _unhealthy(api, since)
            if not missing:
                api.log_in(USER, password)
                known = {dag["dag_id"]: dag["is_paused"] for dag in api.get("/dags", limit=100)["dags"]}
                missing = ", ".join(sorted(expected - known.keys()))
                if not missing:
                    return sorted(dag for dag, is_paused in known.items() if is_paused and dag in expected)
                _refuse_broken_dags(api)
        except Unanswered as silence:
            missing = str(silence)
        time.sleep(0.5)
    raise NotStarted(f"not ready after {PATIENCE_S:.0f} s, still missing: {missing}; logs are in {airflow.home}/up")


def _unhealthy(api: AirflowApi, since: datetime) -> str:
    """The parts that have not reported since this start that they are healthy; empty if all have."""
    health = api.get("/monitor/health")
    return ", ".join(part for part in HEALTH if not _is_well(part, health[part], since))


def _is_well(part: str, told: dict[str, str | None], since: datetime) -> bool:
    heartbeat = told.get(f"latest_{part}_heartbeat")
    # A heartbeat of the last run still counts as healthy for half a minute.
    is_of_before = heartbeat is not None and datetime.fromisoformat(heartbeat) < since - timedelta(seconds=1)
    return told["status"] == "healthy" and not is_of_before


def _refuse_broken_dags(api: AirflowApi) -> None:
    for broken in api.get("/importErrors", limit=10)["import_errors"]:
        raise NotStarted(f"{broken['filename']} cannot be imported:\n{broken['stack_trace']}")


def _last_lines(file: Path) -> str:
    return "\n".join(file.read_text(errors="replace").splitlines()[-15:])


def _tell(airflow: LocalAirflow, paused: list[str] | None) -> None:
    address = airflow.address_file.read_text().strip()
    print(f"Airflow {'is running already' if paused is None else 'runs'} at {address}/")
    print(f"log in as {USER}; the password is in {airflow.login_file}")
    for dag in paused or []:
        print(f"{dag} is paused: what is triggered waits until it is switched on")
    print("make down stops it")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("make up: interrupted; nothing is left running")
