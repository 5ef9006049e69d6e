"""Airflow's real API app with the plugin as Airflow itself loads it, and lakes for it to read."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.plugins.api_server import ApiServer, running_api_server
from tests.plugins.stored_reports import put_days, put_what_if
from tests.plugins.users import USERS

if TYPE_CHECKING:
    from fastapi.testclient import TestClient


@pytest.fixture(scope="package")
def api(airflow_database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], "TestClient"]]:
    """Gives a client of the app for a user by name, logged in through the API; for no name one without a login."""
    from airflow.api_fastapi.app import create_app, purge_cached_app
    from fastapi.testclient import TestClient

    passwords = tmp_path_factory.mktemp("login") / "passwords.json"
    passwords.write_text(json.dumps({name: f"{name}-of-the-test" for name in USERS}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__CORE__AUTH_MANAGER", "tests.plugins.per_dag_auth_manager.PerDagAuthManager")
        patch.setenv(
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", ",".join(f"{name}:{role}" for name, role in USERS.items())
        )
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE", str(passwords))
        patch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "a-key-of-the-test-alone-" * 4)
        purge_cached_app()
        app = create_app(apps="core")

        def client(user: str = "") -> TestClient:
            made = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
            if user:
                login = {"username": user, "password": f"{user}-of-the-test"}
                token = made.post("/auth/token", json=login).json()["access_token"]
                made.headers["Authorization"] = f"Bearer {token}"
            return made

        yield client
        purge_cached_app()


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A running API server with the reports of two days."""
    plans = tmp_path_factory.mktemp("plans")
    put_days(plans, 2)
    places = {"RMQC_LAKE": str(plans), "RMQC_WHAT_IFS": str(tmp_path_factory.mktemp("what_ifs"))}
    with running_api_server(tmp_path_factory.mktemp("airflow"), places) as running:
        running.token("admin")  # the first login loads what every later one finds
        yield running


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The folders of plans and of what-ifs: four days of one cluster, one of another, one what-if."""
    plans, what_ifs = tmp_path_factory.mktemp("plans"), tmp_path_factory.mktemp("what_ifs")
    put_days(plans, 4)
    put_days(plans, 1, "shop")
    put_what_if(what_ifs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RMQC_LAKE", str(plans))
        patch.setenv("RMQC_WHAT_IFS", str(what_ifs))
        yield plans, what_ifs


@pytest.fixture
def own_lakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Empty folders that a test may spoil."""
    plans, what_ifs = tmp_path / "plans", tmp_path / "what_ifs"
    monkeypatch.setitem(os.environ, "RMQC_LAKE", str(plans))
    monkeypatch.setitem(os.environ, "RMQC_WHAT_IFS", str(what_ifs))
    return plans, what_ifs


@pytest.fixture
def inventories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The deployment's inventory folder, with the sample as monday.json."""
    folder = tmp_path / "inventories"
    folder.mkdir()
    shutil.copy(sample_inventory(), folder / "monday.json")
    monkeypatch.setenv("RMQC_INVENTORIES", str(folder))
    return folder


@pytest.fixture(scope="module")
def viewer(api: Callable[[str], "TestClient"], lakes: object) -> "TestClient":
    """A client of somebody who may only look."""
    return api("viewer")
