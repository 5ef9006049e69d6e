"""A real Prometheus that scrapes the metrics of a served plan with the deployment's token."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from msgspec.structs import replace

from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.plan_file.handed_over import METRICS
from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.files import SUMMARY
from rocketmq_capacity.report.summary_file import summary_of_plan
from rocketmq_capacity.settings.policy import Metrics
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.lake import PUBLISH, Lake
from rocketmq_capacity.store.writing import write_together
from tests.fixtures.ports import free_port
from tests.handover.filling_disk import GROWING, a_filling_broker
from tests.handover.monitoring import ALERTS
from tests.plugins.api_server import PREFIX, ApiServer, running_api_server
from tests.plugins.stored_reports import LAST, run_id_of
from tests.promtool.programs import PROMETHEUS

SAMPLE_PLAN: Final = Path(__file__).parents[1] / "plan/sample_plan.json"
WITHIN_S: Final = 300.0
ASK_EVERY_S: Final = 0.5
TOKEN: Final = "metrics-token-of-the-test-0123456789"
SCRAPED: Final = "with_token"
REFUSED: Final = "with_another"
"""Jobs of Prometheus."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Where it answers."""

    url: str

    def ask(self, path: str, **query: str) -> Any:
        """The data of an answer of its API. Errors: URLError if it refuses or is not there."""
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(query)}", timeout=WITHIN_S) as answer:
            return json.load(answer)["data"]

    def query(self, query: str) -> list[dict[str, Any]]:
        """The series of a query, as they are now."""
        found: list[dict[str, Any]] = self.ask("query", query=query)["result"]
        return found

    def targets(self) -> dict[str, dict[str, Any]]:
        """By job, its target."""
        return {one["labels"]["job"]: one for one in self.ask("targets")["activeTargets"]}

    def rules(self) -> list[dict[str, Any]]:
        """Every alert rule, with its state and its error."""
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]


@contextmanager
def scraping(home: Path) -> Iterator[Prometheus]:
    """A Prometheus that has scraped the sample's plan, with disks that fill and traffic that grows, and tried rules.

    Args:
        home: an empty folder.
    """
    for name in ("airflow", "plans", "what_ifs", "data"):
        (home / name).mkdir()
    # The sample is one snapshot, which has no trend.
    plan = read_plan(SAMPLE_PLAN)
    brokers = a_filling_broker("broker-a"), a_filling_broker("broker-b")
    growing = replace(GROWING, latest_days=4.0)
    groups = tuple(replace(one, traffic_forecast=growing) for one in plan.groups)
    plan = replace(plan, brokers=brokers, groups=groups)
    run = Lake(home / "plans").run(plan.cluster_name, run_id_of(LAST))
    files = {METRICS: metrics_of(plan, Metrics()), SUMMARY: json_file(summary_of_plan(plan))}
    write_together(run.report, files)
    run.begin(PUBLISH)
    run.commit(PUBLISH, [])
    (home / "token").write_text(f"{TOKEN}\n")
    (home / "another").write_text(TOKEN[::-1])
    places = {
        "RMQC_LAKE": str(home / "plans"),
        "RMQC_WHAT_IFS": str(home / "what_ifs"),
        "RMQC_METRICS_TOKEN_FILE": str(home / "token"),
    }
    with (
        running_api_server(home / "airflow", places) as server,
        _running(home, server, plan.cluster_name) as prometheus,
    ):
        _wait_for(lambda: {one["health"] for one in prometheus.targets().values()} == {"up", "down"})
        _wait_for(lambda: all(_is_seen(rule, prometheus) for rule in prometheus.rules()))
        yield prometheus


@contextmanager
def _running(home: Path, server: ApiServer, cluster: str) -> Iterator[Prometheus]:
    def job(name: str, token: str) -> dict[str, Any]:
        return {
            "job_name": name,
            "metrics_path": f"{PREFIX}/rocketmq-capacity/metrics/{cluster}",
            "authorization": {"credentials_file": str(home / token)},
            "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}],
        }

    told = {
        "global": {"scrape_interval": "5s", "evaluation_interval": "1s"},
        "rule_files": [str(ALERTS)],
        "scrape_configs": [job(SCRAPED, "token"), job(REFUSED, "another")],
    }
    (home / "prometheus.json").write_text(json.dumps(told))  # JSON is YAML, too
    address = f"127.0.0.1:{free_port()}"
    with (home / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={home / 'prometheus.json'}",
                f"--storage.tsdb.path={home / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
            cwd=home,
        )
    try:
        prometheus = Prometheus(f"http://{address}")
        _wait_for(lambda: bool(prometheus.targets()), process, home / "prometheus.log")
        yield prometheus
    finally:
        process.kill()
        process.wait()


def _is_seen(rule: dict[str, Any], prometheus: Prometheus) -> bool:
    """Whether a rule has an error, or has been evaluated on what its query gives now."""
    is_active = rule["state"] != "inactive"
    return bool(rule["health"] == "err" or is_active == bool(prometheus.query(rule["query"])))


def _wait_for(happens: Any, process: subprocess.Popen[bytes] | None = None, log: Path | None = None) -> None:
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end and (process is None or process.poll() is None):
        try:
            if happens():
                return
        except URLError:
            pass
        time.sleep(ASK_EVERY_S)
    raise AssertionError("Prometheus has not done it" if log is None else log.read_text(errors="replace")[-3000:])
