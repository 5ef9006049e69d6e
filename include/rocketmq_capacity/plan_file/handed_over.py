"""Names of the files beside plan.json that are made for other tools. A what-if has none of them."""

from typing import Final

METRICS: Final = "metrics.prom"
RUNBOOK: Final = "runbook.md"
RUNBOOK_JSON: Final = "runbook.json"
AUTOSCALERS: Final = "autoscalers.yaml"
DESIRED_STATE: Final = "desired_state.yaml"
DIFFERENCES: Final = "desired_state_differences.json"
TICKETS: Final = "tickets.json"
HANDED_OVER: Final = {
    METRICS: "application/openmetrics-text; version=1.0.0; charset=utf-8",
    RUNBOOK: "text/markdown; charset=utf-8",
    RUNBOOK_JSON: "application/json",
    AUTOSCALERS: "application/yaml",
    DESIRED_STATE: "application/yaml",
    DIFFERENCES: "application/json",
    TICKETS: "application/json",
}
"""By name, what a web server says that the file is."""
