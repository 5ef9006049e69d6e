"""Which code opens connections: the client, `doctor`, and notices. No scenario, plan or page leads to another."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT

PACKAGE: Final = ROOT / "include/rocketmq_capacity"
PLACES: Final = (PACKAGE, ROOT / "spark_apps", ROOT / "dags", ROOT / "plugins")
CONNECTS: Final = ("socket", "http.client", "urllib.request", "requests", "httpx", "aiohttp", "smtplib", "ftplib")
"""Modules that open connections by themselves."""
OPENS: Final = ("create_connection", "open_connection", "create_datagram_endpoint", "sock_connect")
"""What opens one by asyncio or a socket."""
TO_CLUSTERS: Final = {"client/connection.py", "doctor.py"}
TO_CHANNELS: Final = {"provider/webhook.py"}
"""What tells owners. Its addresses are those of Airflow's connections, which the deployment's administrators set."""
SPEAKS: Final = "rocketmq_capacity.client"


def imported(tree: ast.AST) -> set[str]:
    """The modules that a file imports, with what it takes from them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@cache
def trees() -> dict[str, ast.AST]:
    """Each file of ours, parsed. Not when this file is imported, which each of the tests' processes does."""
    return {
        str(file.relative_to(PACKAGE if file.is_relative_to(PACKAGE) else ROOT)): ast.parse(file.read_text("utf-8"))
        for place in PLACES
        for file in place.rglob("*.py")
    }


def test_only_the_client_the_doctor_and_notices_open_connections() -> None:
    assert {name for name, tree in trees().items() if imported(tree) & {*CONNECTS}} == TO_CLUSTERS | TO_CHANNELS
    attributes = {
        name
        for name, tree in trees().items()
        if any(isinstance(node, ast.Attribute) and node.attr in OPENS for node in ast.walk(tree))
    }
    assert attributes == TO_CLUSTERS


def test_only_who_takes_or_checks_a_snapshot_uses_the_client() -> None:
    users = {name for name, tree in trees().items() if any(one.startswith(SPEAKS) for one in imported(tree))}
    assert {Path(name).parts[0] for name in users} == {"client", "doctor.py", "provider", "snapshot", "steps"}
