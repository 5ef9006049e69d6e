"""The recorded cluster, planned once for the tests that look at its page, and the browser that they look with."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import DESKTOP, new_window, running_browser
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


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Opens a page in a window of its own and gives it with all that it asked for and complained of."""
    contexts = []

    def open_page(url: str, *, scheme: str = "light", **options: Any) -> Any:
        options = {"viewport": DESKTOP, "locale": "en-US", "reduced_motion": "reduce", **options}
        context = new_window(browser, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
