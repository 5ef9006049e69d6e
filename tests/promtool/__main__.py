"""``python -m tests.promtool``: metrics, alert rules and dashboard, checked by what reads them.

promtool reads metrics.prom, the alert rules and every query. Grafana's schema reads the dashboard. Then a real
Prometheus scrapes the metrics of a served plan with the deployment's token, and runs every query and rule on them. All
three are built once. The tests read the same files with prometheus-client's parsers instead.

It also reads metrics.prom as node_exporter's textfile collector does: ``promtool check metrics`` uses the same parser
(expfmt.TextParser of prometheus/common).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.settings.policy import Metrics
from tests.handover.filling_disk import a_filling_broker
from tests.handover.monitoring import ALERTS, FOLDER, queries
from tests.promtool.programs import GRAFANA_SCHEMA, PROMTOOL, build
from tests.promtool.scraped import REFUSED, SCRAPED, Prometheus, scraping
from tests.report.from_rows import plan_of
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

FALLING_SCORE: Final = Path(__file__).with_name("falling_score.yaml")
LIMIT_S: Final = 120


def main() -> None:
    """Build what is not there, and check all. Errors: CalledProcessError or AssertionError with what is wrong."""
    build()
    for rows in (sample_rows(), varied_rows(30)):
        content = metrics_of(replace(plan_of(rows), brokers=(a_filling_broker(),)), Metrics())
        run(PROMTOOL, "check", "metrics", fed=content)
    run(PROMTOOL, "check", "rules", str(ALERTS))
    run(PROMTOOL, "test", "rules", str(FALLING_SCORE))
    for title, query in queries():
        tell(f"{title}: {query}")
        run(PROMTOOL, "promql", "format", query, "--experimental")
    run(GRAFANA_SCHEMA, fed=(FOLDER / "grafana-dashboard.json").read_bytes())
    tell("grafana-dashboard.json: as Grafana's schema has it")
    with tempfile.TemporaryDirectory() as folder, scraping(Path(folder)) as prometheus:
        look(prometheus)


def look(prometheus: Prometheus) -> None:
    """What Prometheus has got with the token, what every query gives, and whether every rule can be evaluated."""
    targets = prometheus.targets()
    assert targets[SCRAPED]["health"] == "up", targets[SCRAPED]["lastError"]
    assert "403" in targets[REFUSED]["lastError"], targets[REFUSED]["lastError"]
    alerts = {rule["name"] for rule in prometheus.rules()}
    for title, query in queries():
        found = len(prometheus.query(query))
        tell(f"{found:>6,} series: {title}")
        assert found or title in alerts, f"{title} shows nothing of the sample"
    for rule in prometheus.rules():
        assert rule["health"] == "ok", rule["lastError"]
        tell(f"{rule['state']:>8}: {rule['name']}")


def run(*words: str | Path, fed: bytes = b"") -> None:
    """Run a program; what it says goes to the terminal."""
    subprocess.run(words, input=fed, check=True, timeout=LIMIT_S)


def tell(line: str) -> None:
    """Write a line at once, between those of the programs."""
    sys.stdout.write(f"{line}{os.linesep}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
