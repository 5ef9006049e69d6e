"""Nobody on the network can reach what a plan starts."""

import os
import subprocess
import time
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.spark.jvm import ADDRESS, LOOPBACK, environment
from tests.cli.program import TIME_LIMIT_S, command
from tests.plan.program import LOOK_EVERY_S

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def listening(process: psutil.Process) -> set[str]:
    """The addresses on which a process and all that it started listen."""
    found = set()
    for one in (process, *process.children(recursive=True)):
        try:
            found |= {at.laddr.ip for at in one.net_connections("tcp") if at.status == psutil.CONN_LISTEN}
        except psutil.NoSuchProcess:
            continue
    return found


def test_a_plan_listens_on_loopback_alone(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name != ADDRESS}
    words = command("plan", "--inventory", sample_inventory(), "--out", tmp_path / "out", "--quiet")
    seen: set[str] = set()
    with subprocess.Popen(words, env=bare, stdout=subprocess.DEVNULL) as planning:
        process = psutil.Process(planning.pid)
        while planning.poll() is None:
            seen |= listening(process)
            time.sleep(LOOK_EVERY_S)
        assert planning.wait(TIME_LIMIT_S) == 0
    assert seen
    assert all((ip_address(ip.removeprefix("::ffff:"))).is_loopback for ip in seen), seen


def test_a_deployment_that_names_its_own_spark_keeps_its_address() -> None:
    assert environment(0, {})[ADDRESS] == LOOPBACK
    for name in (ADDRESS, "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        assert ADDRESS not in environment(0, {name: "set"})
