"""The browser of the machine, headless and without a network of its own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

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
