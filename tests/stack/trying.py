"""The what-if of these tests: three changes of three kinds, entered and found again with clicks."""

from dataclasses import dataclass
from typing import Final

from playwright.sync_api import FrameLocator

from tests.browser.reader import Reader
from tests.stack.airflow import DagRun
from tests.stack.pages import Ui
from tests.stack.shop import BROKERS, PAY
from tests.stack.stack import WHAT_IF, Stack
from tests.waiting import until

LOST: Final = BROKERS[1].broker_name
ENTERED: Final = {
    "Lose broker": {"Broker": LOST},
    "Add clients": {"Consumer group": PAY.group, "Number of clients": "1"},
    "Scale traffic": {"Times as many messages": "1.5"},
}
"""The fields that a person fills in, by the change."""
CHANGES: Final = [
    {"change": "lose_broker", "broker_name": LOST},
    {"change": "add_clients", "consumer_group": PAY.group, "count": 1},
    {"change": "scale_traffic", "factor": 1.5},
]
"""What they mean, as a scenario file has it."""
CALLED: Final = "a broker goes, a consumer comes, traffic grows"
STARTED_WITHIN_S: Final = 60.0


@dataclass(frozen=True)
class Trying:
    """A what-if that a person has started.

    Attributes:
        reader: still sees the page that says so.
    """

    dag_run: DagRun
    reader: Reader

    def result(self) -> FrameLocator:
        """Its report, which is there."""
        self.reader.click(self.reader.page.get_by_role("link", name="Its report, once it is there"))
        return self.reader.page.frame_locator("iframe[title='The report']")


def start_with_clicks(ui: Ui, stack: Stack) -> Trying:
    """Enter the changes one after another, and have them tried."""
    reader = Reader(ui.another("/rocketmq-capacity/"), "a what-if of three kinds, and its result")
    page = reader.page
    reader.click(page.get_by_role("link", name="Try a change"))
    for change, fields in ENTERED.items():
        reader.click(page.locator("summary", has_text=change))
        shown = page.locator("details[open]")
        for label, value in fields.items():
            shown.get_by_label(label).fill(value)
        reader.click(shown.get_by_role("button", name="Add"))
        page.get_by_role("button", name=f"Remove {change}").wait_for()
    page.get_by_label("Name of the what-if").fill(CALLED)
    reader.click(page.get_by_role("button", name="Try them"))
    page.get_by_role("heading", name="Trying").wait_for()
    (run,) = until(lambda: stack.admin.runs(WHAT_IF), STARTED_WITHIN_S, "the run of the what-if")
    return Trying(run, reader)
