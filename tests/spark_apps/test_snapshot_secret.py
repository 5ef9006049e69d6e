"""The snapshot app is given a secret in a file, and leaves it nowhere."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import stored_run
from tests.cluster.guarded import GuardedCluster
from tests.fixtures.environment import ROOT
from tests.provider.planted_secret import ArgumentLists, holds, places_that_hold

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

TIME_LIMIT_S = 600.0
Submit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def submit(guarded_cluster: GuardedCluster, tmp_path: Path) -> Submit:
    """Runs the app as the Dag does, everything that it leaves under ``tmp_path``: lake, tmp, and Spark's event log.

    The event log has the environment that Spark's own pages show: both are made of the same event.
    """
    for folder in ("tmp", "events", "lake"):
        (tmp_path / folder).mkdir()
    (tmp_path / "policy.yaml").write_text("snapshot: {sample_count: 1}", "utf-8")
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (tmp_path / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={tmp_path / 'tmp'}",
    }
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]

    def run(connection: Path) -> subprocess.CompletedProcess[str]:
        # Spark's own log settings, which say more than the project's.
        environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "SPARK_SUBMIT_OPTS": ""}
        return subprocess.run(
            [
                *("spark-submit", "--verbose", "--master", "local[2]", *confs, str(ROOT / "spark_apps/snapshot.py")),
                *(f"--lake={tmp_path / 'lake'}", "--run-id=r1", f"--policy={tmp_path / 'policy.yaml'}"),
                *(f"--nameserver={guarded_cluster.nameserver}", f"--connection={connection}"),
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )

    return run


@pytest.fixture
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the connection file, apart from everything that the app leaves."""
    return tmp_path_factory.mktemp("keys")


def test_a_secret_that_opens_the_cluster_is_found_nowhere_afterwards(
    guarded_cluster: GuardedCluster, submit: Submit, tmp_path: Path, keys: Path
) -> None:
    secret = guarded_cluster.secret_key
    file = guarded_cluster.connection_file(keys, security_token="another-secret-0123456789")
    with ArgumentLists(secret) as key, ArgumentLists("another-secret-0123456789") as token:
        done = submit(file)
    assert done.returncode == 0, done.stderr

    # It has been where it could have leaked: the app read the cluster, and spark-submit told its arguments.
    # The app starts no Spark session, whose UI and event log would tell more.
    run = stored_run(Lake(tmp_path / "lake"), "r1")
    assert run is not None
    assert b'"failures":[]' in run.inventory.read_bytes().replace(b" ", b"").replace(b"\n", b"")
    assert list(run.folder.rglob("*.parquet"))
    assert str(file) in done.stdout + done.stderr
    assert not [event for event in (tmp_path / "events").rglob("*") if event.is_file()]
    assert {"snapshot.py", "org.apache.spark.deploy.SparkSubmit"} <= key.programs

    for planted in (secret, "another-secret-0123456789"):
        assert not holds(planted, done.stdout)
        assert not holds(planted, done.stderr)
        assert places_that_hold(planted, tmp_path) == []
        assert places_that_hold(planted, keys) == [str(file)]
    assert key.holders == set()
    assert token.holders == set()


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"secret_key": "wrong-0123456789"}, 3, "snapshot: access to the brokers was refused: "),
        ({"secret_key": 123456789012}, 2, "secret_key: is not a text; expected text, in quotes"),
    ],
)
def test_a_secret_that_opens_nothing_is_not_in_the_reason_either(
    guarded_cluster: GuardedCluster, submit: Submit, tmp_path: Path, keys: Path, changed: Any, status: int, words: str
) -> None:
    done = submit(guarded_cluster.connection_file(keys, **changed))
    assert done.returncode == status, done.stderr
    assert words in done.stdout  # spark-submit sends everything that Python says there
    planted = str(changed["secret_key"])
    assert not holds(planted, done.stdout + done.stderr)
    assert places_that_hold(planted, tmp_path) == []
    assert list((tmp_path / "lake").iterdir()) == []
