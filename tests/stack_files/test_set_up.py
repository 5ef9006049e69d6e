"""The set-up installs from where pip would; its steps run in parallel and print how long each took."""

import hashlib
import os
import re
import shutil
import ssl
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.client.certificates import Authority, authority
from tests.fixtures.environment import ROOT

PACKAGE = "rmqc-tiny"
SETTINGS = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""How the names of variables begin that say where packages come from."""


def write_wheel(folder: Path, version: str) -> None:
    """A package of one module that says its version; the folder is what an index shows of the package."""
    folder.mkdir(parents=True)
    name, about = PACKAGE.replace("-", "_"), f"{PACKAGE.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "index.html").write_text(f'<!DOCTYPE html><a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def vouching(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"), "authority-of-an-index")


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory, vouching: Authority) -> Iterator[str]:
    """The address of a server with two indexes, ``old`` and ``new``, that only that authority vouches for."""
    folder = tmp_path_factory.mktemp("indexes")
    write_wheel(folder / "old" / PACKAGE, "1.0")
    write_wheel(folder / "new" / PACKAGE, "2.0")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    party = vouching.party("index")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(party.certificate, party.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def here(settings: Mapping[str, str]) -> dict[str, str]:
    """This environment with these settings, and no others, of where packages come from."""
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith(SETTINGS)}
    return {**clean, "NO_PROXY": "127.0.0.1", **settings}


def installed(target: Path, pip: dict[str, str], **settings: str) -> str:
    """The version that the set-up's uv installs where a file of pip's says this; else what it says."""
    told = target.with_suffix(".conf")
    told.write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in pip.items()))
    own = {"PIP_CONFIG_FILE": str(told), "UV_CACHE_DIR": str(target.with_suffix(".cache"))}
    run = subprocess.run(
        [sys.executable, ".make/uv.py", "install", "--quiet", "--target", str(target), PACKAGE],
        cwd=ROOT,
        env=here({**own, **settings}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    module = target / f"{PACKAGE.replace('-', '_')}.py"
    return module.read_text().split("'")[1] if module.exists() else run.stdout + run.stderr


def test_the_index_and_the_certificates_are_those_of_pip(tmp_path: Path, indexes: str, vouching: Authority) -> None:
    pip = {"index-url": f"{indexes}/old", "cert": str(vouching.certificate)}
    assert installed(tmp_path / "target", pip) == "1.0"


def test_a_server_that_nobody_vouches_for_is_refused(tmp_path: Path, indexes: str) -> None:
    assert "certificate" in installed(tmp_path / "target", {"index-url": f"{indexes}/old", "timeout": "5"})


def test_pips_environment_wins_over_its_files_and_uvs_over_both(
    tmp_path: Path, indexes: str, vouching: Authority
) -> None:
    pip = {"index-url": "https://127.0.0.1:1/", "cert": str(vouching.certificate)}
    assert installed(tmp_path / "of-pip", pip, PIP_INDEX_URL=f"{indexes}/old") == "1.0"
    both = {"PIP_INDEX_URL": f"{indexes}/old", "UV_DEFAULT_INDEX": f"{indexes}/new"}
    assert installed(tmp_path / "of-uv", pip, **both) == "2.0"


@pytest.mark.parametrize(("first", "other"), [("old", "new"), ("new", "old")])
def test_the_best_version_of_all_indexes_is_taken(
    first: str, other: str, tmp_path: Path, indexes: str, vouching: Authority
) -> None:
    pip = {"index-url": f"{indexes}/{first}", "extra-index-url": f"{indexes}/{other}"}
    assert installed(tmp_path / "target", pip, PIP_CERT=str(vouching.certificate)) == "2.0"


def test_folders_are_enough_and_one_that_is_missing_is_no_error(tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels", "3.0")
    pip = {"find-links": f"{tmp_path}/missing {tmp_path}/wheels", "no-index": "true"}
    assert installed(tmp_path / "target", pip) == "3.0"


def test_a_step_says_what_it_does_and_how_long_it_took(tmp_path: Path) -> None:
    (tmp_path / ".make").mkdir()
    shutil.copy(ROOT / ".make/setup.sh", tmp_path / ".make")
    java = subprocess.run(
        [tmp_path / ".make/setup.sh", "java"], capture_output=True, text=True, timeout=300, check=True
    )
    found, done = java.stdout.splitlines()
    assert re.fullmatch(r"set-up, java: Java (17|21) at \S+", found)
    assert re.fullmatch(r"set-up, java: done in \d+ s", done)


STEPS_THAT_WAIT = """#!/bin/sh
# Stands for the steps of the set-up: the archive and Airflow's database each wait until the other has begun.
mkdir -p .venv .cache .airflow
touch "began-$1"
case $1 in archive) other=airflow ;; airflow) other=archive ;; *) exit 0 ;; esac
for _ in $(seq 1000); do
  [ ! -e "began-$other" ] || exit 0
  sleep 0.1
done
exit 1
"""


def test_the_class_archive_is_made_beside_airflows_database(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for needed in ("requirements.txt", "requirements-build.txt", "pyproject.toml"):
        (tmp_path / needed).touch()
    (tmp_path / ".make").mkdir()
    for script, text in {"setup.sh": STEPS_THAT_WAIT, "env.sh": "#!/bin/sh\n"}.items():
        (tmp_path / ".make" / script).write_text(text)
        (tmp_path / ".make" / script).chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    made = subprocess.run(
        ["make", "run"], cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=300, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr


PLAN_THAT_WAITS = """#!/bin/sh
# Stands for the first plan: says what a plan says, and its JVM ends once somebody has read that.
out=$PWD/.cache/first-plan
mkdir -p "$out"
echo "WARNING: Using incubator modules"
echo "2026-11-26T11:06:46Z INFO snapshot: units: done in 0.2 s"
echo "2026-11-26T11:06:49Z INFO snapshot: done in 3.7 s: shop: 32 groups; peak memory 388 MiB"
echo report >"$out/report.html"
echo "Report: $out/report.html"
for _ in $(seq 1000); do
  [ ! -e read ] || break
  sleep 0.1
done
echo classes >"${SPARK_SUBMIT_OPTS##*=}"
"""


def test_the_first_report_is_told_before_the_class_archive_is_made(tmp_path: Path) -> None:
    (tmp_path / ".make").mkdir()
    (tmp_path / ".cache").mkdir()
    shutil.copy(ROOT / ".make/setup.sh", tmp_path / ".make")
    (tmp_path / ".make/env.sh").write_text(PLAN_THAT_WAITS)
    (tmp_path / ".make/env.sh").chmod(0o755)
    said = []
    with subprocess.Popen([tmp_path / ".make/setup.sh", "archive"], stdout=subprocess.PIPE, text=True) as making:
        assert making.stdout is not None
        for line in making.stdout:
            said.append(line.strip())
            if line.startswith("Report: "):
                (tmp_path / "read").touch()
    assert making.returncode == 0
    assert said[1:3] == [
        "set-up, archive: snapshot: done in 3.7 s",
        f"Report: {tmp_path}/.cache/first-plan/report.html",
    ]
    assert re.fullmatch(r"set-up, archive: done in \d+ s", said[3])
    assert (tmp_path / "read").exists()
    assert (tmp_path / ".venv/share/rocketmq-capacity/spark.jsa").read_text() == "classes\n"
