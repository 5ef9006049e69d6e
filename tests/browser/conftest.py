"""The recorded cluster, planned once for the tests that look at its page, and the browser that they look with."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import running_browser
from tests.cli.planned import plain_sample


@pytest.fixture(scope="session")
def sample_plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command makes of the sample."""
    return plain_sample(tmp_path_factory).folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window of its own."""
    with running_browser() as running:
        yield running
