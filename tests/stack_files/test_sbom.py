"""`make sbom`: a valid list of everything that runs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pyspark
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.fixtures.environment import ROOT

pytestmark = pytest.mark.slow

MAKE: Final = "import sys; sys.path.insert(0, '.make'); import sbom; print(sbom.text(), end='')"


@pytest.fixture(scope="module")
def text() -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", MAKE], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def listed(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["components"]
    return found


def test_it_is_valid_cyclonedx(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_lists_every_pin_of_the_image_with_version_and_licence(listed: list[dict[str, Any]]) -> None:
    page = (ROOT / "include/docs/licences.md").read_text("utf-8")
    runs = page.partition("## What runs\n")[2].partition("## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in runs.splitlines() if line[:1] == "|"][2:]
    packages = {one["name"]: one for one in listed if one.get("purl", "").startswith("pkg:pypi/")}
    assert [[name, one["version"]] for name, one in sorted(packages.items())] == [row[:2] for row in rows]
    for name, version, licence in rows:
        assert packages[name]["purl"] == f"pkg:pypi/{name}@{version}"
        assert ("licenses" in packages[name]) == (licence != "not stated"), name


def test_it_lists_every_jar_of_pyspark_with_its_hash(listed: list[dict[str, Any]]) -> None:
    jars = {file.name for file in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    found = {one["bom-ref"]: one for one in listed if one["bom-ref"].endswith(".jar")}
    assert found.keys() == jars
    assert all(one["hashes"][0]["alg"] == "SHA-256" for one in found.values())
    (core,) = (one for one in found.values() if one["name"].startswith("spark-core_"))
    assert core["purl"] == f"pkg:maven/org.apache.spark/{core['name']}@{pyspark.__version__}"
