"""A real API server of Airflow as a process on loopback, behind a URL prefix, with a login for each role."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.fixtures.airflow_commands import errors_of
from tests.fixtures.environment import ROOT
from tests.fixtures.ports import free_port

PREFIX: Final = "/tools/airflow"
PASSWORDS: Final = {"admin": "admin-of-the-test", "viewer": "viewer-of-the-test"}
STARTS_WITHIN_S: Final = 300
ANSWERS_WITHIN_S: Final = 300
"""One request: the machine may do much else meanwhile."""


@dataclass(frozen=True, slots=True)
class ApiServer:
    """Where it answers."""

    url: str
    """Airflow's own address, the prefix included and without a slash at the end."""
    port: int
    pid: int
    lake: str
    environment: dict[str, str]
    """Of its process; another one with it has the same database."""

    def token(self, user: str) -> str:
        """A token of the user, got as a client of the API gets one."""
        login = {"username": user, "password": PASSWORDS[user]}
        return str(self.call("POST", "/auth/token", login)["access_token"])

    def call(self, method: str, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
        """One request of the public API."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = Request(self.url + path, json.dumps(body).encode(), headers, method=method)
        with urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:
            read: dict[str, Any] = json.load(answer)
        return read

    def ask(self, path: str) -> dict[str, Any]:
        """What the public API answers to an admin."""
        request = Request(self.url + path, headers={"Authorization": f"Bearer {self.token('admin')}"})
        with urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:
            read: dict[str, Any] = json.load(answer)
        return read


@contextmanager
def running_api_server(home: Path, places: dict[str, str]) -> Iterator[ApiServer]:
    """The server over a database of its own that knows every Dag of this checkout; killed at the end.

    Args:
        home: an empty folder for its AIRFLOW_HOME.
        places: settings of the deployment, such as ``RMQC_LAKE``.
    """
    port = free_port()
    (home / "passwords.json").write_text(json.dumps(PASSWORDS))
    url = f"http://127.0.0.1:{port}{PREFIX}"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "AIRFLOW__CORE__UNIT_TEST_MODE"},
        **places,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,viewer:viewer",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
    }
    assert errors_of(("db", "migrate"), ("dags", "reserialize"), environment=environment) == ["", ""]
    with (home / "api-server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "airflow", "api-server"],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=ROOT,
            start_new_session=True,
        )
    try:
        _wait(process, f"{url}/api/v2/monitor/health", home / "api-server.log")
        yield ApiServer(url, port, process.pid, places["RMQC_LAKE"], environment)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # it has nothing to save, and would take seconds to end by itself
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end:
        try:
            with urlopen(url, timeout=ANSWERS_WITHIN_S):
                return
        except (URLError, OSError):
            if process.poll() is not None:
                break
            time.sleep(0.3)
    raise AssertionError(f"the API server does not answer:\n{log.read_text(errors='replace')[-3000:]}")
