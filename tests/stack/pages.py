"""Airflow's UI and our pages in it, as a person walks through them in a real Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import FrameLocator, Page, ViewportSize

from tests.browser.chromium import new_window, running_browser
from tests.stack.airflow import Airflow, DagRun

WINDOW: Final[ViewportSize] = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class Ui:
    """A window that somebody has logged in with.

    Attributes:
        pictures: where screenshots go.
    """

    airflow: Airflow
    page: Page
    pictures: Path

    def open(self, path: str) -> Page:
        """Go to an address below Airflow's own."""
        self.page.goto(self.airflow.url + path)
        return self.page

    def another(self, path: str) -> Page:
        """A page beside this one, of the same person, at an address below Airflow's own."""
        page: Page = self.page.context.new_page()
        page.goto(self.airflow.url + path)
        return page

    def rest(self) -> None:
        """Go to an empty page: Airflow's own draw themselves again all the time, which would slow a run down."""
        self.page.goto("about:blank")

    def open_form(self, dag_id: str) -> Page:
        """The trigger form of a Dag, its sections folded."""
        page = self.open(f"/dags/{dag_id}")
        page.get_by_role("button", name="Trigger").first.click()
        return page

    def unfold(self, section: str) -> None:
        """Show a section of the form, which folds the one that was shown."""
        self.page.get_by_role("dialog").get_by_role("button", name=section).click()

    def choose(self, field: str, value: str) -> None:
        """Choose one more of a field's values."""
        choice = self.page.locator(f"#element_{field} input").first
        choice.fill(value)
        choice.press("Enter")

    def choose_no_more(self, field: str) -> None:
        """Take the last of a field's chosen values away again."""
        self.page.locator(f"#element_{field} input").first.press("Backspace")

    def open_task(self, run: DagRun, task_id: str, map_index: int) -> Page:
        """What Airflow tells of a task of a mapped group, where its links stand."""
        return self.open(f"/dags/{run.dag_id}/runs/{run.run_id}/tasks/{task_id}/mapped/{map_index}/details")

    def open_question(self, run: DagRun, task_id: str, map_index: int) -> Page:
        """The form in which Airflow asks a person."""
        place = f"tasks/{task_id}/mapped/{map_index}/required_actions"
        return self.open(f"/dags/{run.dag_id}/runs/{run.run_id}/{place}")

    @property
    def reports(self) -> FrameLocator:
        """Our pages inside of Airflow's."""
        return self.page.frame_locator("iframe[title='Capacity']")

    def picture(self, name: str) -> Path:
        """What the window shows now."""
        file = self.pictures / f"{name}.png"
        self.page.screenshot(path=file)
        return file


@contextmanager
def logged_in(airflow: Airflow, user: str, pictures: Path) -> Iterator[Ui]:
    """A window in which the user has logged in through Airflow's own form."""
    with running_browser() as browser:
        context = new_window(browser, viewport=WINDOW, reduced_motion="reduce", locale="en-GB", timezone_id="UTC")
        page = context.new_page()
        page.goto(airflow.url)
        page.get_by_label("Username").fill(user)
        page.get_by_label("Password").fill(airflow.passwords[user])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Capacity", exact=True).wait_for()
        yield Ui(airflow, page, pictures)
        context.close()
