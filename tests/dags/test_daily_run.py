"""The daily Dag run for real: Airflow's task runner, spark-submit, and the recorded inventory."""

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketmq_capacity.provider.approval import questions, record_answer
from rocketmq_capacity.report.refusal import APPROVE
from rocketmq_capacity.settings.deployment import PACKAGE, sample_inventory
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.run_lookup import existing_run
from tests.fixtures.environment import ROOT
from tests.oracle.maven_project import OracleUnavailable
from tests.oracle.own_jar import OWN, own_jars
from tests.oracle.requirement import started_or_skipped
from tests.report.test_publish import FILES, files_in

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.timeout(600)]

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, airflow_database: None) -> Iterator[Path]:
    """A deployment with a lake and an empty inventory folder of its own.

    Its policy names a strategy class of its own for one group, where Maven can build one.
    """
    home = tmp_path_factory.mktemp("deployment")
    (home / "inventories").mkdir()
    plant_code(home / "lake" / ".code", home / "loaded")
    with suppress(OracleUnavailable):  # only the test of that class needs it, and skips
        own = {"class": OWN, "jar": own_jars(home)}
        (home / "policy.yaml").write_text(json.dumps({"current_strategies": {"payment_settlement": own}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RMQC_LAKE", str(home / "lake"))
        patch.setenv("RMQC_INVENTORIES", str(home / "inventories"))
        if (home / "policy.yaml").exists():
            patch.setenv("RMQC_POLICY", str(home / "policy.yaml"))
        yield home


def plant_code(folder: Path, mark: Path) -> None:
    """What somebody who writes to the lake could leave where the package's zip once was: code that leaves a mark.

    Its comment is the one by which that zip was trusted: the digest of the installed sources, which anyone can compute.
    """
    folder.mkdir(parents=True)
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    with zipfile.ZipFile(folder / "rocketmq_capacity.zip", "w") as archive:
        for file in sorted(PACKAGE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                name, content = file.relative_to(PACKAGE.parent).as_posix(), file.read_bytes()
                digest.update(b"%s\0%s" % (name.encode(), hashlib.sha256(content).digest()))
                planted = f"open({str(mark)!r}, 'a').close()\n" if name == "rocketmq_capacity/__init__.py" else ""
                archive.writestr(name, content + planted.encode())
        archive.comment = digest.hexdigest().encode()


@pytest.fixture(scope="module")
def dag(deployment: Path) -> "DAG":
    """The Dag as this deployment parses it."""
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(str(ROOT / "dags")).dags["rocketmq_capacity_plan"]


def run_dag(dag: "DAG", day: datetime, inventory: str | None, *, left_out: str | None = None) -> "DagRun":
    """One run of the Dag that is due on that day; the same day again is the same run, cleared.

    Tasks whose id matches the pattern ``left_out`` are marked as done, and do nothing.
    """
    conf = {"inventory": inventory}
    run: DagRun = dag.test(run_after=day, logical_date=day, run_conf=conf, mark_success_pattern=left_out)
    return run


@pytest.fixture(scope="module")
def monday(dag: "DAG") -> "DagRun":
    """The first run, of the recorded sample, which is given the date of the run."""
    return run_dag(dag, MONDAY, None)


@pytest.fixture(scope="module")
def tuesday(deployment: Path, dag: "DAG", monday: "DagRun") -> "DagRun":
    """The second run, of the file ``shop.json``, which is the snapshot of the first run; cleared once it was whole.

    It is made whole with the tables of the first run, which has the same snapshot.
    """
    shop = deployment / "inventories" / "shop.json"
    shutil.copy(stored(deployment, monday).inventory, shop)
    taken = run_dag(dag, TUESDAY, shop.name, left_out=r"plan\.(?!snapshot).*")
    first, second = stored(deployment, monday), stored(deployment, taken)
    assert [file.name for file in second.folder.glob("steps/*")] == ["snapshot.json"]
    assert second.inventory.read_bytes() == first.inventory.read_bytes()
    shutil.copytree(first.folder, second.folder, ignore=shutil.ignore_patterns("report"), dirs_exist_ok=True)
    shop.write_text("what the cluster is like today")

    cleared = run_dag(dag, TUESDAY, shop.name)
    assert cleared.run_id == taken.run_id
    return cleared


def stored(deployment: Path, run: "DagRun") -> Run:
    """What the run left in the lake."""
    name = Path((run.conf or {}).get("inventory") or "sample").stem
    return existing_run(Lake(deployment / "lake"), run_key(run, name))


def plan_of(deployment: Path, run: "DagRun") -> bytes:
    """The published plan."""
    return (stored(deployment, run).report / "plan.json").read_bytes()


def test_a_run_publishes_the_plan_of_the_recorded_cluster(deployment: Path, monday: "DagRun") -> None:
    assert monday.state == "success"
    plan = json.loads(plan_of(deployment, monday))
    assert plan["format"] == "rocketmq-capacity/plan/1"
    recorded = json.loads(sample_inventory().read_bytes())
    assert plan["cluster_name"] == recorded["cluster_name"]
    assert (plan["taken_at"], plan["recorded_at"]) == ("2026-11-16T00:00:00Z", recorded["taken_at"])
    assert len({finding["rule"] for finding in plan["findings"]}) >= 8
    assert files_in(stored(deployment, monday).report) == FILES


def test_code_in_the_lake_is_never_loaded(deployment: Path, monday: "DagRun") -> None:
    assert monday.state == "success"
    assert (deployment / "lake" / ".code" / "rocketmq_capacity.zip").exists()
    assert not (deployment / "loaded").exists()


def test_the_asset_event_says_where_the_report_is_and_how_much_was_found(deployment: Path, monday: "DagRun") -> None:
    extra = event_of(monday)

    plan = json.loads(plan_of(deployment, monday))
    assert Path(extra["plan"]).read_bytes() == plan_of(deployment, monday)
    assert Path(extra["report"]).name == "report.html"
    assert Path(extra["report"]).is_file()
    assert sum(extra["findings"].values()) == len(plan["findings"]) > 0
    assert extra["recommendations"] == len(plan["recommendations"])


@pytest.mark.java
def test_a_run_asks_the_class_that_the_deployments_policy_names(
    deployment: Path, monday: "DagRun", tmp_path: Path
) -> None:
    started_or_skipped(lambda: own_jars(tmp_path))
    plan = json.loads(plan_of(deployment, monday))

    entries = {group["consumer_group"]: group["strategies"] for group in plan["groups"]}
    own = {group: one for group, strategies in entries.items() for one in strategies if one["strategy"] == OWN}
    assert [(group, one["applicable"], one["count"]["peak"]) for group, one in own.items()] == [
        ("payment_settlement", True, 1.0)
    ]


def test_a_second_run_that_was_cleared_plans_from_its_stored_snapshot_and_gives_the_same_bytes(
    deployment: Path, monday: "DagRun", tuesday: "DagRun"
) -> None:
    assert tuesday.state == "success"
    assert stored(deployment, tuesday) != stored(deployment, monday)
    assert plan_of(deployment, tuesday) == plan_of(deployment, monday)


def test_the_sample_can_be_approved_and_its_report_then_says_so(deployment: Path, monday: "DagRun") -> None:
    lake, planned = Lake(deployment / "lake"), stored(deployment, monday)
    (question,) = questions([planned.folder.name], lake, MONDAY + timedelta(hours=23))
    answer = {"chosen_options": [APPROVE], "responded_by_user": {"id": "1", "name": "alice"}, "responded_at": None}
    answered = record_answer(answer, question.run_key, question.digest, lake, MONDAY + timedelta(hours=23))
    assert answered == "APPROVED"
    publish = ROOT / "spark_apps" / "publish.py"
    subprocess.run(
        [sys.executable, str(publish), f"--lake={lake.root}", f"--run-id={planned.folder.name}"],
        check=True,
        timeout=600,
    )

    assert json.loads((planned.report / "plan.json").read_bytes())["approval"]["status"] == "APPROVED"
    page = (planned.report / "report.html").read_text(encoding="utf-8")
    assert "Approved by alice" in page
    assert "Snapshot recorded on" in page


def event_of(run: "DagRun") -> dict[str, Any]:
    """The extra of the asset event that the run emitted."""
    from airflow.models.asset import AssetEvent
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        # The last one: another test may have run the same day before, with the same id.
        of_run = select(AssetEvent).where(AssetEvent.source_run_id == run.run_id).order_by(AssetEvent.id.desc())
        return dict(session.scalars(of_run.limit(1)).one().extra)
