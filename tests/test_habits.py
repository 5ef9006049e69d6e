"""Habits of the code that no linter knows."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[1] / "include/rocketmq_capacity"


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
