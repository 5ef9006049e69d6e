"""Power is lost at any moment of a step: nothing half-written is read, and the retry gives the same bytes.

Some moments of three steps are looked at here, without a JVM; ``python -m tests.power_loss`` looks at all, with Spark.
"""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.kills.without_spark import Session
from tests.power_loss.steps import lose_power, prepared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session() -> "SparkSession":
    return cast("SparkSession", Session())


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("lakes"), session)


@pytest.mark.parametrize(("step", "is_repeated"), [("snapshot", False), ("assess", False), ("publish", True)])
def test_a_step_leaves_nothing_half_written_whenever_power_is_lost(
    lakes: Path, tmp_path: Path, step: str, is_repeated: bool
) -> None:
    assert lose_power(step, lakes, tmp_path, session, is_repeated=is_repeated, moments=4, tried_again=1) > 5
