"""``python -m tests.promtool``: promtool over metrics.prom, the alert rules and every query of the dashboard.

Prometheus has no package that can be installed, so this builds promtool once, for .cache/promtool: minutes and 2 GB of
Go modules, too much for every run of the tests. They read the same file with prometheus-client's parsers instead.

It also reads metrics.prom as node_exporter's textfile collector does: ``promtool check metrics`` uses the same parser
(expfmt.TextParser of prometheus/common).
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.settings.policy import Metrics
from tests.handover.monitoring import ALERTS, queries
from tests.report.from_rows import plan_of
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

MODULE: Final = "github.com/prometheus/prometheus@v0.313.5"
PROMTOOL: Final = Path(__file__).parents[2] / ".cache/promtool"
BUILD_LIMIT_S: Final = 3_600
LIMIT_S: Final = 120


def main() -> None:
    """Build promtool if it is not there, and check all with it. Errors: CalledProcessError with what it says."""
    if not PROMTOOL.exists():
        build()
    for rows in (sample_rows(), varied_rows(30)):
        content = metrics_of(plan_of(rows), Metrics())
        run("check", "metrics", fed=content)
    run("check", "rules", str(ALERTS))
    for title, query in queries():
        print(f"{title}: {query}", flush=True)  # noqa: T201
        run("promql", "format", query, "--experimental")


def run(*arguments: str, fed: bytes = b"") -> None:
    """Run promtool; what it says goes to the terminal."""
    subprocess.run([PROMTOOL, *arguments], input=fed, check=True, timeout=LIMIT_S)


def build() -> None:
    """Build promtool in a copy of its module, whose ``replace`` lines hold only there."""
    go = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=mod"}
    told = subprocess.run(
        ["go", "mod", "download", "-json", MODULE],
        check=True,
        capture_output=True,
        env=go,
        timeout=BUILD_LIMIT_S,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "prometheus"
        shutil.copytree(json.loads(told.stdout)["Dir"], source, copy_function=shutil.copyfile)
        for inside in (source, *(path for path in source.rglob("*") if path.is_dir())):
            inside.chmod(0o755)
        PROMTOOL.parent.mkdir(exist_ok=True)
        subprocess.run(
            ["go", "build", "-o", str(PROMTOOL), "./cmd/promtool"],
            check=True,
            cwd=source,
            env=go,
            timeout=BUILD_LIMIT_S,
        )


if __name__ == "__main__":
    main()
