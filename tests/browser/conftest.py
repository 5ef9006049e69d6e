"""The recorded cluster, planned once for the tests that look at its page."""

from pathlib import Path

import pytest

from tests.cli.planned import plain_sample


@pytest.fixture(scope="session")
def sample_plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command makes of the sample."""
    return plain_sample(tmp_path_factory).folder
