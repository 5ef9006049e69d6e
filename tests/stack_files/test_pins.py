"""The files of `make lock`: every package with its version and hashes, and no word of where it came from."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.environment import ROOT
from tests.stack_files.test_set_up import PACKAGE, here, write_wheel

FILES: Final = ("requirements.txt", "requirements-dev.txt", "requirements-build.txt")


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_hashes_and_no_file_says_where_it_came_from(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert "/" not in text
    pins = text.replace("\\\n", "").splitlines()
    assert pins
    for pin in pins:
        assert re.fullmatch(r"[\w.-]+==[\w.!+-]+ (; [^;#@]+ )?( *--hash=sha256:[0-9a-f]{64})+", pin), pin


def test_each_file_of_pins_is_made_by_make_lock() -> None:
    (rule,) = re.findall(r"(?m)^lock:(?:.*\n)((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"))
    assert "--generate-hashes" in rule
    assert {f"{name}.txt" for name in re.findall(r"requirements[a-z-]*(?= |;)", rule)} == {*FILES}
    assert {file.name for file in ROOT.glob("requirements*.txt")} == {*FILES}


def test_what_builds_the_package_is_pinned_as_the_package_names_it() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    listed = (ROOT / "requirements-build.in").read_text("utf-8").splitlines()
    assert named == [line for line in listed if not line.startswith(("#", "-c"))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the set-up's own script, an environment of its own, and a folder of packages."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".make").mkdir()
    for script in ("setup.sh", "uv.py"):
        shutil.copy(ROOT / ".make" / script, folder / ".make")
    subprocess.run([sys.executable, "-m", "venv", str(folder / ".venv")], check=True, timeout=300)
    shutil.copy(Path(sys.executable).with_name("uv"), folder / ".venv" / "bin")
    write_wheel(folder / "wheels", "3.0")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("hashes", ["none", "another", "its own"])
def test_the_set_up_installs_what_has_the_hash_that_is_pinned(hashes: str, project: Path, tmp_path: Path) -> None:
    (wheel,) = (project / "wheels").glob("*.whl")
    digest = {"another": "0" * 64, "its own": hashlib.sha256(wheel.read_bytes()).hexdigest()}.get(hashes)
    pin = f"{PACKAGE}==3.0" + (f" \\\n    --hash=sha256:{digest}" if digest else "")
    (project / "requirements-dev.txt").write_text(f"{pin}\n", "utf-8")
    settings = {"PIP_NO_INDEX": "true", "PIP_FIND_LINKS": str(project / "wheels"), "UV_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [str(project / ".make/setup.sh"), "dev"],
        env=here(settings),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (run.returncode == 0) == (hashes == "its own"), run.stdout + run.stderr
    assert hashes == "its own" or "hash" in run.stderr.lower()
