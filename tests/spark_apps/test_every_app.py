"""What the Spark apps refuse, and how: in one line, before Spark starts, with nothing written."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput, CapacityError, DatasetMissing
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.store.lake import Lake
from tests.fixtures.environment import ROOT
from tests.fixtures.ports import free_port

APPS = sorted(file.stem for file in (ROOT / "spark_apps").glob("*.py"))
ASKS = ("snapshot", "sample")
LATER = [app for app in APPS if app not in ASKS]
SAMPLE = sample_inventory()
SOURCE: dict[str, list[str]] = {app: [] for app in LATER} | {
    "snapshot": [f"--inventory={SAMPLE}"],
    "sample": ["--nameserver=127.0.0.1:9"],
    "simulate": ["--before=r1", "--scenario={name: nothing, changes: []}"],
}


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """No app gets as far as Spark here."""

    def start_session(name: str, *_settings: object) -> None:
        raise AssertionError(f"{name} started Spark")

    monkeypatch.setattr("rocketmq_capacity.spark.session.start_session", start_session)


def run(app: str, *arguments: str) -> None:
    """The app's ``main`` with these arguments."""
    runpy.run_path(str(ROOT / "spark_apps" / f"{app}.py"))["main"](arguments)


def store_sample(lake: Path, run_id: str) -> None:
    """The sample as the snapshot of a run."""
    run = Lake(lake).run("shop", run_id)
    run.folder.mkdir(parents=True)
    run.inventory.write_bytes(SAMPLE.read_bytes())


def refused(app: str, *arguments: str) -> CapacityError:
    """What the app said no with."""
    with pytest.raises(CapacityError) as caught:
        run(app, *arguments)
    return caught.value


@pytest.mark.parametrize("app", APPS)
def test_an_app_without_its_arguments_shows_how_it_is_used(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(app)

    assert ended.value.code == 2
    assert "--lake" in capsys.readouterr().err


@pytest.mark.parametrize("app", LATER)
def test_a_run_without_a_snapshot_is_refused_with_what_to_do(app: str, tmp_path: Path) -> None:
    error = refused(app, f"--lake={tmp_path}", "--run-id=r1", *SOURCE[app])

    assert isinstance(error, DatasetMissing)
    assert str(error) == f"{tmp_path}: no snapshot of a run r1 is stored; run the step snapshot first"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("app", APPS)
def test_a_bad_policy_is_refused_with_the_place(app: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("strategis: [AVG]\n")

    error = refused(app, f"--lake={tmp_path}", "--run-id=r1", f"--policy={policy}", *SOURCE[app])

    assert isinstance(error, BadInput)
    assert str(error).startswith(f"{policy}: strategis")
    assert list(tmp_path.iterdir()) == [policy]


@pytest.mark.parametrize("app", [*LATER, "snapshot"])  # a sample goes to its day, whatever the run is called
def test_a_run_id_that_leaves_the_lake_is_refused(app: str, tmp_path: Path) -> None:
    if app == "simulate":
        store_sample(tmp_path / "lake", "r1")
    there_before = sorted(tmp_path.rglob("*"))

    error = refused(app, f"--lake={tmp_path / 'lake'}", "--run-id=../r1", *SOURCE[app])

    assert isinstance(error, BadInput)
    assert str(error).startswith("--run-id: is '../r1'")
    assert sorted(tmp_path.rglob("*")) == there_before


@pytest.mark.parametrize("sources", [[], ["--nameserver=127.0.0.1:9", "--inventory=x.json"]])
def test_a_snapshot_is_of_a_cluster_or_of_a_file_and_not_of_both(sources: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run("snapshot", f"--lake={tmp_path}", "--run-id=r1", *sources)

    assert ended.value.code == 2


def test_another_clusters_history_is_refused_with_the_file(tmp_path: Path) -> None:
    other = tmp_path / "history" / "other.json"
    other.parent.mkdir()
    name = json.loads(SAMPLE.read_bytes())["cluster_name"]
    other.write_text(SAMPLE.read_text().replace(f'"cluster_name": "{name}"', '"cluster_name": "another"', 1))

    lake, history = f"--lake={tmp_path / 'lake'}", f"--history={other.parent}"
    error = refused("snapshot", lake, "--run-id=r1", history, f"--inventory={SAMPLE}")

    assert isinstance(error, BadInput)
    assert str(error).startswith(f"{other}: $.cluster_name: is 'another'")
    assert not (tmp_path / "lake").exists()


def as_program(app: str, *arguments: str) -> tuple[int, str]:
    """The exit status and what the app says on standard error, where no Java could be started."""
    command = [sys.executable, str(ROOT / "spark_apps" / f"{app}.py"), *arguments]
    environment = {**os.environ, "JAVA_HOME": "/nowhere"}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert answer.stdout == ""
    return answer.returncode, answer.stderr


def test_a_malformed_inventory_ends_the_program_with_status_2_and_one_line(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.json"
    inventory.write_text(SAMPLE.read_text().replace('"broker_perm": 6', '"broker_perm": 9', 1))

    status, said = as_program("snapshot", f"--lake={tmp_path}", "--run-id=r1", f"--inventory={inventory}")

    assert status == 2
    assert re.match(rf"\S+Z ERROR snapshot: {re.escape(str(inventory))}: \$\.brokers\[0\]\.broker_perm", said)
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == [inventory]


def test_a_name_server_that_does_not_answer_ends_the_program_with_status_3_and_its_address(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"

    status, said = as_program("snapshot", f"--lake={tmp_path}", "--run-id=r1", f"--nameserver={address}")

    assert status == 3
    assert address in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scenario", "place"),
    [
        ("{name: x}", "--scenario: changes"),
        ("{name: x, changes: [{change: lose_brocker}]}", "--scenario: changes[0].change"),
        ("{name: x, changes: [{change: lose_broker, broker_name: nobody}]}", "--scenario: changes[0].broker_name"),
    ],
)
def test_a_scenario_that_does_not_fit_is_refused_with_the_place(scenario: str, place: str, tmp_path: Path) -> None:
    store_sample(tmp_path, "r0")

    error = refused("simulate", f"--lake={tmp_path}", "--run-id=r1", "--before=r0", f"--scenario={scenario}")

    assert isinstance(error, BadInput)
    assert str(error).startswith(place)
    assert [file.name for file in tmp_path.glob("shop/*")] == ["r0"]


@pytest.mark.parametrize("changes", ["threshold: {}", "strategies: [AVERAGE]", "- 1", "a: ["])
@pytest.mark.parametrize("app", APPS)
def test_policy_changes_that_are_none_are_refused(app: str, changes: str, tmp_path: Path) -> None:
    error = refused(app, f"--lake={tmp_path}", "--run-id=r1", f"--policy-changes={changes}", *SOURCE[app])

    assert isinstance(error, BadInput)
    assert str(error).startswith("policy changes: ")
    assert list(tmp_path.iterdir()) == []


def test_a_dated_inventory_has_the_moment_of_its_run_at_every_try(tmp_path: Path) -> None:
    key = "20270301T000000Z-manual__1--sample"
    arguments = [f"--run-id={key}", f"--inventory={SAMPLE}", "--dated"]
    for lake in ("first", "second"):
        run("snapshot", f"--lake={tmp_path / lake}", *arguments)
    first, second = (Lake(tmp_path / lake).run("shop", key) for lake in ("first", "second"))
    stored = first.inventory.read_bytes()

    told = json.loads(stored)
    assert (told["taken_at"], told["recorded_at"]) == (
        "2027-03-01T00:00:00Z",
        json.loads(SAMPLE.read_bytes())["taken_at"],
    )
    assert second.inventory.read_bytes() == stored
    run("snapshot", f"--lake={tmp_path / 'first'}", *arguments)
    assert first.inventory.read_bytes() == stored


def test_an_inventory_keeps_its_date_unless_the_app_gets_another(tmp_path: Path) -> None:
    run("snapshot", f"--lake={tmp_path}", "--run-id=r1", f"--inventory={SAMPLE}")

    assert Lake(tmp_path).run("shop", "r1").inventory.read_bytes() == SAMPLE.read_bytes()


def test_nothing_is_dated_by_a_run_without_a_moment(tmp_path: Path) -> None:
    error = refused("snapshot", f"--lake={tmp_path}", "--run-id=r1", f"--inventory={SAMPLE}", "--dated")

    assert str(error) == "--run-id: is 'r1'; expected a key that begins with a moment, to date the inventory"
