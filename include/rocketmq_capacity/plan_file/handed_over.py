"""Names of the files beside plan.json that are made for other tools. A what-if has none of them."""

from typing import Final

METRICS: Final = "metrics.prom"
HANDED_OVER: Final = {METRICS: "application/openmetrics-text; version=1.0.0; charset=utf-8"}
"""By name, what a web server says that the file is."""
