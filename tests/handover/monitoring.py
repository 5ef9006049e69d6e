"""The dashboard and the alert rules, and the queries in them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parents[2] / "include/monitoring"
ALERTS: Final = FOLDER / "alerts.yaml"
DASHBOARD: Final = json.loads((FOLDER / "grafana-dashboard.json").read_bytes())


def rules() -> list[dict[str, Any]]:
    """Every alert rule."""
    (group,) = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def queries() -> Iterator[tuple[str, str]]:
    """Each query with the title of its panel or alert; a choice of the dashboard stands for everything."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$cluster", ".*").replace("$consumer_group", ".*")
