"""The browser of the machine, headless and without a network of its own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
QUIET: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP: Final = {"width": 1280, "height": 900}
PHONE: Final = {"width": 360, "height": 780}
PATIENCE_S: Final = 180.0
"""Of one click: the machine may do much else meanwhile."""


def program_or_skipped() -> str:
    """Chromium's program; skips, with the reason, where there is none."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"needs a browser: none of {', '.join(NAMES)} is on the PATH (Debian: apt-get install chromium)")
    return program


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Chromium; skips, with the reason, where there is none."""
    program = program_or_skipped()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield browser
        browser.close()


def new_window(browser: Browser, **options: Any) -> Any:
    """A ``BrowserContext`` with a login of its own; the options are those of ``Browser.new_context``."""
    window = browser.new_context(**options)
    window.set_default_timeout(PATIENCE_S * 1000)
    return window
