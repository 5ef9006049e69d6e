"""The how-to for a deployment, against Airflow and the Dag."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, Block, blocks, commands
from tests.report.from_rows import publish_rows
from tests.report.sample_cluster import sample_rows

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

pytestmark = pytest.mark.airflow

HOW_TO: Final = (DOCS / "how-to/run-it-daily-on-your-airflow.md").read_text(encoding="utf-8")
CONNECTIONS: Final = [block for block in blocks("json") if "conn_type" in block.body]


@pytest.mark.parametrize("arguments", commands("airflow"), ids=" ".join)
def test_airflow_takes_every_command_line(arguments: list[str], dag_bag: "DagBag") -> None:
    from airflow.cli.cli_parser import get_parser

    parsed = get_parser().parse_args(arguments)
    dag = dag_bag.dags[parsed.dag_id] if "dag_id" in parsed else None
    for name, value in json.loads(getattr(parsed, "conf", None) or "{}").items():
        assert dag is not None
        assert dag.params.get_param(name).resolve(value) == value


@pytest.mark.parametrize("connection", CONNECTIONS, ids=str)
def test_spark_goes_where_the_connection_says(connection: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection.body)
    assert SparkSubmitHook()._connection["master"] == json.loads(connection.body)["host"]


def test_the_settings_are_those_that_the_places_read() -> None:
    source = (ROOT / "include/rocketmq_capacity/settings/deployment.py").read_text(encoding="utf-8")
    read = set(re.findall(r"\bRMQC_[A-Z_]+\b", source))
    assert set(re.findall(r"(?m)^\| `(RMQC_[A-Z_]+)` \|", HOW_TO)) == read
    for page in PAGES:
        named = set(re.findall(r"\bRMQC_[A-Z_]+\b", page.read_text(encoding="utf-8")))
        assert named <= read | {"RMQC_REQUIRE_JAVA", "RMQC_ROCKETMQ"}, page.name


def test_the_event_carries_what_the_table_says(tmp_path: Path) -> None:
    from rocketmq_capacity.provider.report_asset import report_facts

    publish_rows(sample_rows(), tmp_path)
    table = HOW_TO.partition("| key | meaning |")[2].partition("\n\n")[0]
    keys = re.findall(r"`([a-z_]+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    assert set(keys) == set(report_facts(tmp_path / "plan.json"))


def test_the_dag_that_waits_for_the_report_is_one(tmp_path: Path, airflow_database: None) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (example,) = (block for block in blocks("python") if "airflow.sdk" in block.body)
    (tmp_path / "waiting.py").write_text(example.body, encoding="utf-8")
    bag = DagBag(str(tmp_path))
    assert not bag.import_errors
    (dag,) = bag.dags.values()
    assert "rocketmq_capacity_report" in str(dag.timetable.asset_condition)
