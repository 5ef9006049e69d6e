"""A person who reads a page: clicks, and the screens that they saw."""

from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Locator, Page

SCREEN: Final = 900
"""Pixels that a person sees at once."""


@dataclass
class Reader:
    """Counts what a task took; only what is in view is read.

    Attributes:
        page: a window as high as a screen.
        task: what is to be found out or done.
        clicks: so far.
        places: where the page stood, as numbers of screens from its top.
    """

    page: Page
    task: str
    clicks: int = 0
    places: set[int] = field(default_factory=lambda: {0})

    def click(self, target: Locator) -> None:
        """Click on what can be seen, or scroll to it first."""
        self.look(target)
        target.click()
        self.clicks += 1
        self._seen()

    def look(self, target: Locator) -> Locator:
        """Scroll until it is in view."""
        target.scroll_into_view_if_needed()
        self._seen()
        return target

    def read(self, target: Locator) -> str:
        """Its text, once it is in view."""
        return str(self.look(target).inner_text())

    def told(self) -> str:
        """What the task took."""
        return f"{self.task}: {self.clicks} clicks, {len(self.places)} screens"

    def _seen(self) -> None:
        self.places.add(round(self.page.evaluate("scrollY") / SCREEN))
