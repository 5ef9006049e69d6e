"""The image: what goes in, who runs it, and that the compose file fits it."""

import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.environment import ROOT

TEXT: Final = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES: Final = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", TEXT)).splitlines()
IGNORED: Final = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
SOURCES: Final = [
    source
    for line in LINES
    if line.startswith("COPY")
    for source in [word for word in shlex.split(line)[1:] if not word.startswith("--")][:-1]
]


def environment() -> dict[str, str]:
    """The variables that every container of the image has."""
    (line,) = (line for line in LINES if line.startswith("ENV"))
    return dict(setting.split("=", 1) for setting in shlex.split(line)[1:])


def is_let_through(path: str) -> bool:
    """Whether the build's context has the path, or part of what is below it."""
    exceptions = [line[1:] for line in IGNORED if line.startswith("!")]
    return any(fnmatch(path, kept) or kept.startswith(f"{path}/") or path.startswith(f"{kept}/") for kept in exceptions)


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_copied_exists_and_is_let_into_the_build(source: str) -> None:
    assert list(ROOT.glob(source)), source
    assert is_let_through(source.rstrip("/"))


def test_nothing_else_is_let_into_the_build() -> None:
    assert next(line for line in IGNORED if line and not line.startswith("#")) == "*"
    assert not is_let_through(".env")
    assert not is_let_through(".git")
    assert not is_let_through("data")


def test_the_python_is_the_one_that_the_requirements_are_locked_for() -> None:
    (version,) = re.findall(r"(?m)^ARG PYTHON=python:(\d+\.\d+)\.\d+-slim", TEXT)
    assert f"--python-version {version} " in (ROOT / "Makefile").read_text(encoding="utf-8")
    supported = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert supported == f">={version}"


def test_every_stage_starts_from_the_one_base_that_is_pinned_by_its_digest() -> None:
    assert re.search(r"(?m)^ARG PYTHON=python:[\w.-]+@sha256:[0-9a-f]{64}$", TEXT)
    assert {line.split()[1] for line in LINES if line.startswith("FROM")} == {"${PYTHON}"}


def test_what_is_installed_has_the_hashes_that_are_pinned() -> None:
    installs = [line for line in LINES if "pip install" in line or "pip wheel" in line]
    assert len(installs) == 4
    for line in installs:
        # Our own package is built from the checkout by what was installed before.
        assert "--require-hashes" in line or (
            "--no-deps" in line and ("--no-build-isolation" in line or "*.whl" in line)
        )


def test_the_last_user_is_not_root() -> None:
    users = [line.split()[1] for line in LINES if line.startswith("USER")]
    assert users
    assert users[-1].split(":")[0] not in {"0", "root"}


def test_executors_have_the_python_of_the_driver() -> None:
    assert environment()["PYSPARK_PYTHON"] == "/usr/local/bin/python"


def test_every_setting_of_ours_is_one_that_the_code_reads() -> None:
    source = (ROOT / "include/rocketmq_capacity/settings/deployment.py").read_text(encoding="utf-8")
    named = {name for name in environment() if name.startswith("RMQC_")}
    assert named
    assert named <= set(re.findall(r"\bRMQC_[A-Z_]+\b", source))


def test_the_folders_that_are_written_are_made_for_the_user_and_kept_in_volumes() -> None:
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    (made,) = (line for line in LINES if "install --directory" in line)
    for name in ("RMQC_LAKE", "RMQC_WHAT_IFS", "RMQC_INVENTORIES", "AIRFLOW__LOGGING__BASE_LOG_FOLDER"):
        folder = environment()[name]
        assert re.search(rf"{folder}(?:\s|$)", made), folder
        assert f":{folder}\n" in compose, folder


def test_sparks_settings_are_where_spark_looks_for_them() -> None:
    (line,) = (line for line in LINES if "spark-defaults.conf" in line)
    target = shlex.split(line)[-1].rstrip("/")
    assert Path(environment()["PROJECT_HOME"]) / target == Path(environment()["SPARK_CONF_DIR"])
