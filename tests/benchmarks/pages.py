"""The pages in Airflow over a thousand reports and a fleet's plan: seconds of each, warm, and the server's memory."""

import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import psutil

from rocketmq_capacity.report.summary_file import read_summary
from rocketmq_capacity.store.lake import Lake
from tests.plugins.api_server import ANSWERS_WITHIN_S, ApiServer, running_api_server
from tests.plugins.stored_reports import CLUSTER, LAST, copied, put_days, run_id_of

REPORTS: Final = 1_000
"""Two of them are of the fleet."""
ASKED: Final = 7
"""Times that a warm page is asked for; the median counts."""
DAG_ID: Final = "rocketmq_capacity_plan"


@dataclass(frozen=True, slots=True)
class PagesTiming:
    """What a running API server takes.

    Attributes:
        cold: seconds of each page, the first time.
        warm: seconds of each page, asked for again.
        grown_bytes: of the server's memory, from the first page to the last.
    """

    cold: dict[str, float]
    warm: dict[str, float]
    grown_bytes: int


def time_pages(fleet: Path) -> PagesTiming:
    """The pages; ``fleet`` is the folder that the command made of a fleet."""
    with tempfile.TemporaryDirectory() as home:
        lake, airflow = Path(home) / "lake", Path(home) / "airflow"
        airflow.mkdir()
        addresses = _addresses(lake, fleet)
        places = {"RMQC_LAKE": str(lake), "RMQC_WHAT_IFS": str(Path(home) / "what_ifs")}
        with running_api_server(airflow, places) as server:
            token = server.token("admin")
            _seconds(server, token, "style.css")
            before = _bytes_of(server)
            cold = {name: _seconds(server, token, address) for name, address in addresses.items()}
            warm = {
                name: statistics.median(_seconds(server, token, address) for _ in range(ASKED))
                for name, address in addresses.items()
            }
            return PagesTiming(cold, warm, _bytes_of(server) - before)


def _addresses(lake: Path, fleet: Path) -> dict[str, str]:
    """Puts the reports into the lake; gives the addresses of the pages below the plugin's own, by name."""
    (small,) = put_days(lake, 1)
    for number in range(1, REPORTS - 2):
        copied(small, number)
    cluster = read_summary(fleet / "summary.json").cluster_name
    before, after = (run_id_of(LAST + timedelta(hours=hours)) for hours in (1, 2))
    for run_id in (before, after):
        run = Lake(lake).run(cluster, run_id)
        shutil.copytree(fleet, run.report, ignore=shutil.ignore_patterns("tables"))
        run.begin("publish")
        run.commit("publish", [])
    report = f"reports/plans/{cluster}/{after}/"
    return {
        "list": "",
        "search": f"?cluster={CLUSTER}&text=2025&sheet=3",
        "report": report,
        "report.html": f"{report}report.html",
        "comparison": f"difference?cluster={cluster}&before=plans/{before}&after=plans/{after}",
        "trend": f"trends/{CLUSTER}?last=365",
        "tab of a run": f"dag-runs/{DAG_ID}/scheduled__{(LAST + timedelta(hours=2)).isoformat()}",
    }


def _bytes_of(server: ApiServer) -> int:
    """The memory of the server's processes."""
    first = psutil.Process(server.pid)
    return sum(process.memory_info().rss for process in (first, *first.children(recursive=True)))


def _seconds(server: ApiServer, token: str, address: str) -> float:
    # The forms to accept risks are for a browser on the same machine, which says that its page is Airflow's own.
    headers = {"Authorization": f"Bearer {token}", "Sec-Fetch-Site": "same-origin"}
    begun = time.perf_counter()
    with urlopen(
        Request(f"{server.url}/rocketmq-capacity/{address}".replace("+", "%2B"), headers=headers),
        timeout=ANSWERS_WITHIN_S,
    ) as answer:
        answer.read()
    return time.perf_counter() - begun
