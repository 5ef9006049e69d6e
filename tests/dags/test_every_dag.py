"""What holds for each Dag file."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import ParamValidationError
from airflow.utils.types import DagRunType

from rocketmq_capacity.provider.refused import NO_RETRY, Refused
from tests.fixtures.airflow_commands import errors_of
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.sdk import Context

pytestmark = pytest.mark.airflow

FILES = sorted((ROOT / "dags").glob("*.py"))
# What makes a parse slow or heavy; tasks get it in their own process.
KEPT_OUT = {"numpy", "pandas", "pyarrow", "pyspark"}
LISTS_RULES = "rocketmq_capacity_accept"
"""Its form lists the rules, whose records are beside their functions, which compute with numpy."""


def test_all_files_parse_without_an_error(dag_bag: "DagBag") -> None:
    assert dag_bag.import_errors == {}


def test_a_file_holds_the_dag_of_its_name(dag_bag: "DagBag") -> None:
    assert {dag.dag_id: Path(dag.fileloc) for dag in dag_bag.dags.values()} == {file.stem: file for file in FILES}


def test_a_dag_shows_its_docstring(dag_bag: "DagBag") -> None:
    for dag in dag_bag.dags.values():
        assert dag.doc_md
        assert dag.doc_md.startswith(dag.description or "no description")
        assert "|---|---|" in dag.doc_md


def test_every_task_is_tried_again_where_airflow_itself_was_away(dag_bag: "DagBag") -> None:
    for dag in dag_bag.dags.values():
        assert all((task.retries or 0) >= 1 for task in dag.tasks), dag.dag_id


def test_every_task_refuses_fields_that_its_dag_does_not_know(
    dag_bag: "DagBag", caplog: pytest.LogCaptureFixture
) -> None:
    for dag in dag_bag.dags.values():
        run = SimpleNamespace(conf={"no_field_of_any_dag": 1})
        for task in dag.tasks:
            assert isinstance(task, BaseOperator), task
            assert task._pre_execute_hook is not None, task
            caplog.clear()
            with pytest.raises(Refused):
                task._pre_execute_hook(cast("Context", {"dag": dag, "dag_run": run}))
            (line,) = caplog.messages
            assert "no_field_of_any_dag: is not a known field" in line
            assert task.retry_policy is NO_RETRY


def test_no_dag_can_be_run_for_days_that_are_over(dag_bag: "DagBag") -> None:
    for dag in dag_bag.dags.values():
        assert dag.allowed_run_types is not None, dag
        assert {DagRunType(run_type).value for run_type in dag.allowed_run_types} == {
            "scheduled",
            "manual",
            "operator_triggered",
            "asset_triggered",
            "asset_materialization",
        }, dag


@pytest.mark.slow
def test_airflow_refuses_a_backfill(airflow_database: None) -> None:
    dags = ("rocketmq_capacity_plan", "rocketmq_capacity_retention")
    days = ("--from-date", "2026-11-01", "--to-date", "2026-11-02")
    asked = [("backfill", "create", "--dag-id", dag_id, *days) for dag_id in dags]
    known, *refused = errors_of(("dags", "reserialize"), *asked)

    assert known == ""
    for dag_id, error in zip(dags, refused, strict=True):
        assert f"Dag with dag_id: '{dag_id}' does not allow backfill runs" in error


@dataclass(frozen=True)
class Parsed:
    """A file that was parsed by a process that had imported Airflow and done nothing else.

    Attributes:
        ratio: seconds of the processor for the file, by those that importing Airflow took in the same process.
        modules: the packages that were imported in the end.
    """

    ratio: float
    modules: frozenset[str]


@pytest.fixture(scope="module")
def parsed() -> dict[str, Parsed]:
    """Every file by its name: Airflow is imported once, and each file is parsed in a copy of that process.

    As Airflow's Dag processor does, it keeps the collector from going through what is Airflow's own (``gc.freeze``).
    """
    code = """
import gc, os, runpy, sys, time
import airflow.sdk, airflow.providers.apache.spark.operators.spark_submit, airflow.providers.standard.operators.hitl
imported = time.process_time()
gc.freeze()
for file in sys.argv[1:]:
    sys.stdout.flush()
    if not os.fork():
        began = time.process_time()
        runpy.run_path(file)
        took = time.process_time() - began
        print("parsed", file, took / imported, *{module.split(".")[0] for module in sys.modules}, flush=True)
        os._exit(0)
    os.wait()
"""
    words = [sys.executable, "-c", code, *map(str, FILES)]
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    told = [line.split()[1:] for line in answer.stdout.splitlines() if line.startswith("parsed ")]
    return {Path(file).stem: Parsed(float(ratio), frozenset(modules)) for file, ratio, *modules in told}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_parsing_a_file_imports_nothing_heavy(file: Path, parsed: dict[str, Parsed]) -> None:
    assert parsed[file.stem].modules & KEPT_OUT == ({"numpy"} if file.stem == LISTS_RULES else set())
    assert "airflow" in parsed[file.stem].modules


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_parsed_in_a_part_of_the_time_that_airflow_takes_to_be_imported(
    file: Path, parsed: dict[str, Parsed]
) -> None:
    # Which is 1.5 s where nothing else runs. Seconds of the processor, and both on the same machine at the same time.
    assert parsed[file.stem].ratio < (1 / 2 if file.stem == LISTS_RULES else 1 / 3)


LEADS_ELSEWHERE: dict[str, list[Any]] = {
    "clusters": [["10.66.0.1:9876"], ["spark_default"], ["../shop"]],
    "cluster": ["10.66.0.1:9876", "spark_default"],
    "inventory": ["../monday.json", "/etc/passwd", "http://10.66.0.1/monday.json", "a/b.json", "\\\\host\\x.json"],
    "policy_changes": [
        "proxies: [10.66.0.1:8080]",
        "current_strategies: {g: {class: com.acme.Own, jar: /tmp/own.jar}}",
        "snapshot: {sample_interval_s: 86400, sample_count: 2}",
        "snapshot: {limit_s: 86400}",
    ],
    "scenario": [
        "{name: n, changes: [{change: add_broker, broker_name: b, jar: /tmp/own.jar}]}",
        "{name: n, proxies: [10.66.0.1:8080], changes: []}",
    ],
}
"""For the fields that take a name or a text: addresses, files and code that they refuse."""


@pytest.mark.parametrize("dag_id", ["rocketmq_capacity_plan", "rocketmq_what_if"])
def test_no_field_of_a_run_names_an_address_a_file_or_code(dag_bag: "DagBag", dag_id: str) -> None:
    params = dag_bag.dags[dag_id].params
    for name, values in LEADS_ELSEWHERE.items():
        if name not in params:
            continue
        for value in values:
            with pytest.raises(ParamValidationError):
                params.get_param(name).resolve(value)
