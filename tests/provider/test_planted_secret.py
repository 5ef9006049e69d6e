"""The search for a planted secret finds it wherever it may be."""

import base64
import gzip
import json
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from tests.provider.planted_secret import ArgumentLists, holds, places_that_hold

SECRET = 's3cr3t/+"é=0123456789'


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SECRET[:-1])
    (tmp_path / "b").write_bytes(gzip.compress(b"nothing"))
    (tmp_path / "c").mkdir()
    assert places_that_hold(SECRET, tmp_path) == []


@pytest.mark.parametrize("before", ["", "x", "xx", "user:"])
def test_it_is_found_in_every_form(tmp_path: Path, before: str) -> None:
    forms = {
        "raw": SECRET,
        "url": quote(SECRET),
        "json": json.dumps({"k": before + SECRET}),
        "hex": SECRET.encode().hex(),
        "base64": base64.b64encode((before + SECRET + "tail").encode()).decode(),
        "urlsafe": base64.urlsafe_b64encode((before + SECRET).encode()).decode(),
    }
    for name, text in forms.items():
        assert holds(SECRET, f"before {text} after"), name
        (tmp_path / name).write_text(f"before {text} after", "utf-8")
    assert places_that_hold(SECRET, tmp_path) == sorted(str(tmp_path / name) for name in forms)


def test_it_is_found_in_every_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(SECRET.encode()))
    with zipfile.ZipFile(tmp_path / "code.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.py", SECRET * 9)
    pd.DataFrame({"config": [{"secretKey": SECRET}] * 9}).to_parquet(tmp_path / "part.parquet", compression="zstd")
    with closing(sqlite3.connect(tmp_path / "airflow.db")) as database, database:
        database.execute("create table xcom (value text)")
        database.execute("insert into xcom values (?)", [SECRET])
    found = places_that_hold(SECRET, tmp_path)
    assert [Path(file).name for file in found] == ["airflow.db", "code.zip", "log.gz", "part.parquet"]


def test_it_is_found_in_a_name_and_in_a_single_file(tmp_path: Path) -> None:
    secret = "plain-0123456789"
    named = tmp_path / f"run-{secret}"
    named.touch()
    (tmp_path / "one").write_text(secret)
    assert places_that_hold(secret, named) == [str(named)]
    assert places_that_hold(secret, tmp_path / "one") == [str(tmp_path / "one")]


def test_it_is_found_in_the_arguments_of_a_process() -> None:
    code = "import time; time.sleep(600)"
    with ArgumentLists("as-an-argument-0123") as watched:
        process = subprocess.Popen([sys.executable, "-c", code, "--password=as-an-argument-0123"])
        deadline = time.monotonic() + 300
        while not watched.holders and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.wait()
    (holder,) = watched.holders
    assert "--password=as-an-argument-0123" in holder
