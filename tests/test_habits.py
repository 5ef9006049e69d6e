"""Habits of the code that no linter knows."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "include/rocketmq_capacity"
OF_AIRFLOW: Final = ("provider/", "one_at_a_time.py")
"""Parts that only Airflow uses. What they import comes with it."""
VAGUE: Final = {"one", "own", "each", "found", "told", "had", "has", "was", "some"}
"""What lives longer than a comprehension has the field's noun for what it is."""
COMES_WITH: Final = {"markupsafe": "jinja2", "py4j": "pyspark"}


def nested_conditionals(tree: ast.AST) -> Iterator[ast.IfExp]:
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and any(isinstance(part, ast.IfExp) for part in ast.iter_child_nodes(node)):
            yield node


def test_no_conditional_expression_is_in_another() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in nested_conditionals(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def bound(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are bound for longer than a comprehension or a lambda lasts, each with its line."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id, part.lineno
        elif isinstance(part, ast.arg):
            yield part.arg, part.lineno
        if not isinstance(part, ast.comprehension | ast.Lambda):
            yield from bound(part)


def test_a_name_says_what_it_is() -> None:
    folders = PACKAGE, ROOT / "plugins", ROOT / "dags", ROOT / "spark_apps"
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    assert len(paths) > 500
    trees = {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    assert [
        f"{path}:{line}: {name}" for path, tree in trees.items() for name, line in bound(tree) if name in VAGUE
    ] == []


def test_two_classes_never_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for folder in (PACKAGE, ROOT / "plugins", ROOT / "dags", ROOT / "spark_apps"):
        for path in sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert len(places) > 500
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def imported(path: Path) -> Iterator[str]:
    """The packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_package_names_every_package_that_it_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[^\w.-]", line)[0].lower() for line in project["dependencies"]}
    known, distributions = sys.stdlib_module_names | {PACKAGE.name}, packages_distributions()

    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        for name in () if place.startswith(OF_AIRFLOW) else set(imported(path)) - known:
            of = {one.lower().replace("_", "-") for one in distributions[COMES_WITH.get(name, name)]}
            assert of & named, f"{place} imports {name}"
