"""What becomes of a test on a machine that cannot run the official Java classes."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.oracle.maven_project import OracleUnavailable

Started = TypeVar("Started")


def started_or_skipped(start: Callable[[], Started]) -> Started:
    """What ``start`` gives; without Java or Maven the test is skipped (and so fails where no test may skip)."""
    try:
        return start()
    except OracleUnavailable as lack:
        pytest.skip(str(lack))
