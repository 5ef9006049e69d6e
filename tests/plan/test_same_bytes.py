"""The same inputs give the same bytes, however Spark divides the work; on several machines in tests/dags too."""

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from rocketmq_capacity.store.whole_folder import MARKER
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.plan_here import PlanHere
from tests.plan import program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

DIVISIONS: Final[dict[str, dict[str, object]]] = {
    "one partition, one row in a batch": {
        "spark.sql.shuffle.partitions": 1,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 1,
    },
    "seven partitions, seven rows in a batch": {
        "spark.sql.shuffle.partitions": 7,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": 7,
    },
    "files in small parts": {
        "spark.sql.files.maxPartitionBytes": 20_000,
        "spark.sql.files.openCostInBytes": 1_000,
        "spark.sql.autoBroadcastJoinThreshold": -1,
    },
}


@pytest.fixture(scope="module")
def cluster() -> dict[str, Any]:
    """A small cluster with all that may be wrong."""
    return generated(40, 11)


@pytest.fixture(scope="module")
def files(cluster: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The cluster and its policy as files."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "inventory.json").write_bytes(msgspec.json.encode(cluster))
    (folder / "policy.yaml").write_text(policy_for_generated())
    return folder / "inventory.json", folder / "policy.yaml"


@pytest.fixture(scope="module")
def usual(cluster: dict[str, Any], plan_here: PlanHere) -> dict[str, bytes]:
    """What a plan on two cores gives."""
    return given(plan_here(cluster, policy_for_generated()))


def given(out: Path) -> dict[str, bytes]:
    """All that people and programs read, without the tables: their rows have no order."""
    return {file.name: file.read_bytes() for file in out.iterdir() if file.is_file() and file.name != MARKER}


def assert_same(got: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Assert that the files are the same; the assertion gives names, not bytes."""
    assert got.keys() == expected.keys()
    assert [name for name in expected if got[name] != expected[name]] == []


@pytest.mark.parametrize("division", DIVISIONS)
def test_neither_partitions_nor_batches_change_a_byte(
    division: str, cluster: dict[str, Any], usual: dict[str, bytes], plan_here: PlanHere
) -> None:
    assert_same(given(plan_here(cluster, policy_for_generated(), DIVISIONS[division])), usual)


def test_one_core_gives_the_bytes_of_two(files: tuple[Path, Path], usual: dict[str, bytes], tmp_path: Path) -> None:
    inventory, policy = files
    env = program.with_defaults(tmp_path / "conf", spark__master="local[1]")

    assert_same(given(program.plan(inventory, tmp_path / "out", "--policy", policy, env=env)), usual)
