"""The commands that make secrets, run for real."""

import base64
import re
import subprocess
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.fixtures.environment import ROOT
from tests.stack_files.compose_file import EXAMPLE, SECRETS, config

GENERATORS = re.findall(r"(?m)^#   (head .*)\n([A-Z_]+)=$", EXAMPLE.read_text(encoding="utf-8"))


def new_env() -> dict[str, str]:
    """What the script prints."""
    script = ["sh", str(ROOT / ".make/compose/new_env.sh")]
    printed = subprocess.run(script, capture_output=True, text=True, check=True, timeout=300).stdout
    return dict(line.split("=", 1) for line in printed.splitlines())


def test_the_script_makes_every_secret_new_each_time() -> None:
    first, second = new_env(), new_env()
    assert first.keys() == SECRETS.keys()
    assert not set(first.values()) & set(second.values())


def test_compose_starts_with_what_the_script_makes(tmp_path: Path) -> None:
    assert config(tmp_path, new_env()).returncode == 0


def test_the_key_is_one_that_airflow_encrypts_with() -> None:
    key = Fernet(new_env()["AIRFLOW_FERNET_KEY"])
    assert key.decrypt(key.encrypt(b"a password")) == b"a password"


def test_the_token_secret_is_as_long_as_its_hash() -> None:
    assert len(new_env()["AIRFLOW_JWT_SECRET"]) >= 64


@pytest.mark.parametrize(("command", "variable"), GENERATORS, ids=[name for _, name in GENERATORS])
def test_the_examples_command_makes_the_same_as_the_script(command: str, variable: str) -> None:
    made = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=300).stdout.strip()
    by_script = new_env()[variable]
    assert len(made) == len(by_script)
    if variable == "AIRFLOW_FERNET_KEY":
        assert len(base64.urlsafe_b64decode(made)) == 32
    else:
        assert re.fullmatch(r"[0-9a-f]+", made)


def test_every_secret_has_a_command() -> None:
    assert {variable for _, variable in GENERATORS} == SECRETS.keys()
