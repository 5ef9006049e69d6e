"""The asset that a finished plan updates, and what its event says."""

import re
from pathlib import Path
from typing import Any, Final, Protocol, cast
from urllib.parse import quote, unquote, urlsplit

from airflow.sdk import Asset, AssetAlias, BaseOperator, BaseOperatorLink, Context
from airflow.sdk.configuration import conf

from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.report.files import SUMMARY
from rocketmq_capacity.report.summary_file import read_summary
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.run_lookup import existing_run, stored_run

REPORT: Final = Asset("rocketmq_capacity_report", group="rocketmq_capacity")
ASK_AGAIN: Final = AssetAlias("rocketmq_capacity_ask_again", group="rocketmq_capacity")
"""Emits the same asset only if a plan is to be asked about again."""
REPORTS: Final = "/rocketmq-capacity"
"""The path of the plugin's pages below Airflow's own address."""
ADDRESS: Final = re.compile(rf"{REPORTS}/reports/plans/[^/\s]+/(?P<run_id>[^/\s]+)/")
"""Of a plan's page."""


class OfARun(Protocol):
    """A task of a run, as the link to the run's report needs it."""

    run_key: str


def report_facts(plan: Path) -> dict[str, Any]:
    """The event's facts: where report and plan are, and how much was found; only JSON values.

    Errors: FileNotFoundError if no plan was published.
    """
    summary = read_summary(plan.with_name(SUMMARY))
    return {
        "run_id": plan.parents[1].name,
        "cluster_name": summary.cluster_name,
        "taken_at": summary.taken_at,
        "fingerprint": summary.fingerprint,
        "report": str(plan.with_name("report.html")),
        "plan": str(plan),
        "completeness": summary.completeness,
        "findings": dict(summary.findings),
        "recommendations": summary.recommendations,
        "trial": summary.trial,
    }


@one_line_errors()
def add_report_facts(context: Context, _result: object = None, *, lake: str) -> None:
    """Give the facts of this run's plan to the asset event that the task is about to emit."""
    run = existing_run(lake_of(lake), cast("OfARun", context["ti"].task).run_key)
    context["outlet_events"][REPORT].extra = report_facts(run.report / "plan.json")


def ask_again(context: Context, run: Run) -> None:
    """Emit the asset for a plan as it is now, so that a new run of the approval's Dag asks about it."""
    context["outlet_events"][ASK_AGAIN].add(REPORT, extra=report_facts(run.report / "plan.json"))


def report_address(shelf: str, run: Run) -> str:
    """The path of the report's page in a browser that has Airflow open, with Airflow's own prefix."""
    prefix = urlsplit(airflow_address()).path
    return f"{prefix}{REPORTS}/reports/{shelf}/{quote(run.folder.parent.name)}/{quote(run.folder.name)}/"


def run_of_address(text: str) -> str | None:
    """The id of the run whose plan's page is the first that the text links to; None if it links to none."""
    match = ADDRESS.search(text)
    return None if match is None else unquote(match["run_id"])


def airflow_address() -> str:
    """Airflow's address in people's browsers, from its ``base_url``; empty if that names none."""
    return str(conf.get("api", "base_url", fallback="") or "").rstrip("/")


class ReportLink(BaseOperatorLink):
    """The button of a finished publish task that opens its report in the Airflow UI.

    Args:
        lake: the address of the run's lake.
        shelf: ``plans`` or ``what-ifs``, as on the reports' pages.
    """

    name = "Report"

    def __init__(self, lake: str, shelf: str) -> None:
        self.lake, self.shelf = lake, shelf

    def get_link(self, operator: BaseOperator, *, ti_key: object) -> str:  # noqa: ARG002  # Airflow passes it by its name
        """The address of the report, asked in the worker when the task is done. Empty if there is no report."""
        run_key: object = cast("OfARun", operator).run_key
        # A task whose templates could not be rendered has no key yet.
        run = stored_run(lake_of(self.lake), run_key) if isinstance(run_key, str) else None
        if run is None:
            return ""
        return report_address(self.shelf, run)
