"""docker-compose.yml as the real ``docker compose config`` resolves it; no engine is asked."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from tests.fixtures.environment import ROOT

FILE: Final = ROOT / "docker-compose.yml"
EXAMPLE: Final = ROOT / ".env.example"
SECRETS: Final[Mapping[str, str]] = {
    "POSTGRES_PASSWORD": "the-database-secret",
    "AIRFLOW_FERNET_KEY": "the-fernet-secret",
    "AIRFLOW_JWT_SECRET": "the-token-secret",
    "SPARK_SECRET": "the-spark-secret",
    "AIRFLOW_ADMIN_PASSWORD": "the-admin-secret",
}
"""What compose refuses to start without."""

Service: TypeAlias = dict[str, Any]


def compose() -> list[str]:
    """The command; a machine of another kind than the packaged binary's may have Docker's own."""
    # The command that the package installs loses its exit status.
    package = find_spec("compose")
    if package and package.origin:
        return [str(Path(package.origin).with_name("docker-compose"))]
    if shutil.which("docker"):
        return ["docker", "compose"]
    pytest.skip("no docker compose here: its package holds a binary for Linux on x86-64 alone")


def config(folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The resolved file, or why it is refused; the settings are all of the ``.env``."""
    file = folder / ".env"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [*compose(), "--file", str(FILE), "--env-file", str(file), "config", "--format", "json"]
    return subprocess.run(command, env=bare, capture_output=True, text=True, timeout=300, check=False)


def services(folder: Path, **settings: str) -> dict[str, Service]:
    """The services by name, with the secrets above and further settings."""
    resolved = config(folder, {**SECRETS, **settings})
    assert resolved.returncode == 0, resolved.stderr
    found: dict[str, Service] = json.loads(resolved.stdout)["services"]
    return found


def variables() -> set[str]:
    """Every variable that the file reads from ``.env``."""
    return set(re.findall(r"\$\{([A-Z_]+)", FILE.read_text(encoding="utf-8")))


def is_ours(service: Service) -> bool:
    """Whether it runs Airflow or Spark."""
    return str(service["image"]).startswith("rocketmq-capacity:")


def is_one_shot(service: Service) -> bool:
    """Whether it is meant to end."""
    return bool(service["restart"] == "no")
