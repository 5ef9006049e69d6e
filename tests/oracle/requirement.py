"""What becomes of a test on a machine that cannot run the official Java classes."""

import os
from collections.abc import Callable
from typing import Final, TypeVar

import pytest

from tests.oracle.maven_project import OracleUnavailable

REQUIRE_JAVA: Final = "RMQC_REQUIRE_JAVA"
"""Set to 1 where the Java tests must run: a machine that lacks something then fails them."""

Started = TypeVar("Started")


def started_or_skipped(start: Callable[[], Started]) -> Started:
    """What ``start`` gives; without Java or Maven the test is skipped, or failed where the tests must run."""
    try:
        return start()
    except OracleUnavailable as lack:
        if os.environ.get(REQUIRE_JAVA) == "1":
            pytest.fail(f"{REQUIRE_JAVA}=1, and {lack}", pytrace=False)
        pytest.skip(str(lack))
