"""Where the JVM ends before the plan: the program ends too, with one line and nothing written."""

import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import msgspec
import psutil
import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import FORMAT
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store.lake import Lake, Run
from tests.cli.program import contents
from tests.plan import program
from tests.plan.program import ENDS_WITHIN_S, LOOK_EVERY_S, Ended

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SAMPLE: Final = sample_inventory()
HEAP: Final = "SPARK_DRIVER_MEMORY"
USUAL_COLLECTOR: Final = {"SPARK_SUBMIT_OPTS": ""}
"""Not that of the other tests, which counts the heap otherwise and would hide the deployment's own."""
GONE: Final = "rocketmq-capacity: Spark's JVM has ended before the plan was finished"
IN_THE_MIDDLE: Final = ".out.*/.lake.*/*/*/steps/allocate.json"
"""The manifest of the second of four steps, relative to the folder of ``out``."""


def assert_one_line(ended: Ended, beginning: str) -> None:
    """It ended in time with status 1, and one line that begins so."""
    assert ended.status == 1, ended
    (line,) = ended.lines()
    assert line.startswith(beginning)
    assert ended.after_s < ENDS_WITHIN_S


def test_a_jvm_without_memory_ends_the_plan(tmp_path: Path) -> None:
    """Classes alone need more than this deployment allows them, which shows soon and at every size of cluster."""
    too_little = program.with_defaults(
        tmp_path / "conf", spark__driver__extraJavaOptions="-XX:MaxMetaspaceSize=90m", spark__driver__memory="600m"
    )
    too_little |= USUAL_COLLECTOR
    before = contents(tmp_path)

    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path, too_little) as planning:
        ended = planning.ended(since=time.monotonic())

    assert_one_line(ended, GONE)
    assert "java.lang.OutOfMemoryError: Metaspace; its heap was 600 MiB; " in ended.lines()[0]
    assert HEAP in ended.lines()[0]
    assert contents(tmp_path) == before


def test_a_heap_that_runs_full_in_the_middle_ends_the_plan(tmp_path: Path) -> None:
    """The JVM passes units on whole, so one of 200 MB needs more than a heap of 500 MiB.

    What the client says of itself is in no unit before `assess`.
    """
    client = {"client_id": "10.0.0.1@1#1", "subscriptions": [{"topic": "pay", "expression": "a" * 200_000_000}]}
    inventory = {
        "format": FORMAT,
        "cluster_name": "C1",
        "taken_at": "2026-11-20T02:00:00Z",
        "brokers": [],
        "topics": [{"topic": "pay", "queues": [{"broker_name": "broker-a", "read_queue_nums": 4, "perm": 6}]}],
        "consumer_groups": [{"consumer_group": "g_pay", "clients": [client]}],
    }
    (tmp_path / "inventory.json").write_bytes(msgspec.json.encode(inventory))
    words = program.planning(tmp_path / "inventory.json", tmp_path / "out")

    with program.started(words, tmp_path, {HEAP: "500m", **USUAL_COLLECTOR}) as planning:
        ended = planning.ended(since=time.monotonic())

    assert "INFO allocate: done" in ended.said
    assert "INFO assess: done" not in ended.said
    assert_one_line(ended, f"{GONE}: java.lang.OutOfMemoryError: Java heap space; its heap was ")
    assert [file.name for file in tmp_path.iterdir()] == ["inventory.json"]


def test_a_heap_that_spark_refuses_gives_one_line(tmp_path: Path) -> None:
    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path, {HEAP: "300m"}) as planning:
        ended = planning.ended(since=time.monotonic())

    assert_one_line(ended, "rocketmq-capacity: Spark could not start: ")
    assert "at least 471859200" in ended.lines()[0]
    assert contents(tmp_path) == {}


def test_a_deployments_own_settings_start_a_jvm_whose_death_ends_the_plan(tmp_path: Path) -> None:
    own = program.with_defaults(
        tmp_path / "conf",
        spark__driver__memory="700m",
        spark__driver__extraJavaOptions="-Dshop.name=orders -XX:+UseSerialGC",
    )
    own |= {HEAP: "650m", **USUAL_COLLECTOR}
    before = contents(tmp_path)

    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path, own) as planning:
        planning.wait_until(lambda: bool(list(tmp_path.glob(IN_THE_MIDDLE))))
        jvm, below = planning.wait_for_jvm(), planning.processes()
        words = jvm.cmdline()
        jvm.send_signal(signal.SIGKILL)
        ended = planning.ended(since=time.monotonic())
        _gone, left = psutil.wait_procs(below, ENDS_WITHIN_S)

    assert_one_line(ended, f"{GONE}: it was killed by SIGKILL; ")
    assert left == []
    assert contents(tmp_path) == before
    assert [word for word in words if word.startswith("-Xmx")] == ["-Xmx700m"]
    assert {"-Dshop.name=orders", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"} <= set(words)


def test_a_jvm_that_is_killed_while_it_starts_ends_the_plan(tmp_path: Path) -> None:
    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path) as planning:
        planning.wait_for_jvm().send_signal(signal.SIGKILL)
        ended = planning.ended(since=time.monotonic())

    assert_one_line(ended, "rocketmq-capacity: Spark's JVM ended before it was ready: it said nothing, ")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("first", [0, 1], ids=["the daemon too", "workers"])
def test_a_python_process_that_is_killed_ends_the_plan(first: int, tmp_path: Path) -> None:
    """The daemon, which forks the workers, is the first of Spark's Python processes."""
    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path) as planning:
        # One that has no task yet is only replaced.
        while planning.is_running():
            for process in planning.workers()[first:]:
                with suppress(psutil.NoSuchProcess):  # it has just ended
                    process.kill()
            time.sleep(LOOK_EVERY_S)
        ended = planning.ended(since=time.monotonic())

    assert_one_line(ended, "rocketmq-capacity: a Python worker of Spark's has ended before the plan was finished, ")
    assert contents(tmp_path) == {}


def test_a_java_that_refuses_to_start_is_quoted(tmp_path: Path) -> None:
    env = {"SPARK_SUBMIT_OPTS": "-Xms64g"}
    with program.started(program.planning(SAMPLE, tmp_path / "out"), tmp_path, env) as planning:
        ended = planning.ended(since=time.monotonic())

    assert_one_line(ended, "rocketmq-capacity: Spark's JVM ended before it was ready: ")
    assert "Initial heap size set to a larger value than the maximum heap size" in ended.lines()[0]


ASKED: Final = """
import sys
from rocketmq_capacity.errors import SparkGone
from rocketmq_capacity.spark.session import session_if_asked

try:
    with session_if_asked("asked") as session:
        spark = session()
        print("ready", flush=True)
        sys.stdin.read()
        spark.range(1).count()
except SparkGone as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_status)
"""


def test_a_session_that_is_asked_for_late_ends_with_its_jvm_in_one_line_too(tmp_path: Path) -> None:
    with program.started([sys.executable, "-c", ASKED], tmp_path) as asking:
        asking.wait_for_line("ready")
        asking.wait_for_jvm().send_signal(signal.SIGKILL)
        ended = asking.ended(since=time.monotonic())

    assert_one_line(ended, "Spark's JVM has ended before the plan was finished: it was killed by SIGKILL; ")


@pytest.fixture
def taken(tmp_path: Path) -> Run:
    """A run whose snapshot is stored."""
    inventory = read_inventory(SAMPLE)
    run = Lake(tmp_path / "lake").run(inventory.cluster_name, "r1")

    def no_session() -> NoReturn:
        raise AssertionError("the snapshot needs no Spark")

    snapshot(Planning(no_session, run, Policy()), inventory, [])
    return run


def test_an_apps_driver_ends_with_its_jvm(taken: Run, tmp_path: Path) -> None:
    words = program.app("allocate", tmp_path / "lake", "r1")

    with program.started(words, tmp_path) as app:
        app.wait_until(lambda: bool(app.workers()))
        below = app.processes()
        app.wait_for_jvm().send_signal(signal.SIGKILL)
        ended = app.ended(since=time.monotonic())
        _gone, left = psutil.wait_procs(below, ENDS_WITHIN_S)

    assert ended.status == -signal.SIGKILL
    assert left == []
    assert [file.name for file in taken.folder.glob("steps/*")] == ["snapshot.json"]
