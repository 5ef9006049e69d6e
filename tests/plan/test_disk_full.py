"""A disk that is full, as every library that writes reports it."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketmq_capacity.errors import DiskFull
from rocketmq_capacity.spark.session import explanation

FULL = Path("/dev/full")
"""A device of Linux on which no space is ever left."""


def with_python() -> None:
    FULL.write_bytes(b"x")


def with_arrow() -> None:
    with pa.OSFile(str(FULL), "wb") as file:
        pq.write_table(pa.table({"queue": list(range(100_000))}), file)


@pytest.mark.skipif(not FULL.exists(), reason="needs the device /dev/full of Linux")
@pytest.mark.parametrize("write", [with_python, with_arrow])
def test_a_full_disk_is_named_with_what_to_do(write: Callable[[], None]) -> None:
    with pytest.raises(OSError, match="No space left on device") as error:
        write()

    explained = explanation(error.value)

    assert isinstance(explained, DiskFull)
    assert str(explained).startswith("no space is left on a disk; expected more room where the plan is written")


def test_any_other_error_is_not_explained() -> None:
    assert explanation(PermissionError(13, "Permission denied")) is None
