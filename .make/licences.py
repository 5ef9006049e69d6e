"""Writes include/docs/licences.md: every package that is installed, its version, and the licence that it states.

Packages are the pins that apply to the image (CPython 3.11 on Linux); licences are what pip-licenses reads in the
packages themselves.
"""

import json
import subprocess
import sys
from typing import Final

from packaging.utils import canonicalize_name
from pins import HOME, RUNS, TESTS, in_image

PAGE: Final = HOME / "include/docs/licences.md"
HEAD: Final = """# Licences

Written by `make docs` from the pins and from what each package states of itself. The project itself is under the
Apache License 2.0. PySpark brings the jars of Spark; their licences are in its folder `pyspark/licenses`.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page, from the pins and from what is installed here."""
    stated = stated_licences()
    runs = in_image(RUNS)
    tests = {name: version for name, version in in_image(TESTS).items() if name not in runs}
    return "\n".join([
        HEAD,
        "## What runs",
        "",
        *table(runs, stated),
        "",
        "## What only the tests and checks use",
        "",
        *table(tests, stated),
        "",
    ])


def table(pinned: dict[str, str], stated: dict[str, str]) -> list[str]:
    """The lines of a table with one package a row."""
    rows = [f"| {name} | {version} | {stated.get(name, 'not stated')} |" for name, version in pinned.items()]
    return ["| package | version | licence |", "|---|---|---|", *rows]


def stated_licences() -> dict[str, str]:
    """The licence of every installed package that states one."""
    command = [sys.executable, "-m", "piplicenses", "--from=mixed", "--with-system", "--format=json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return {
        canonicalize_name(row["Name"]): row["License"]
        for row in json.loads(listed.stdout)
        if row["License"] != "UNKNOWN"
    }


if __name__ == "__main__":
    main()
