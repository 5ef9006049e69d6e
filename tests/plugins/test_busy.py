"""Pages and forms while too many of them are asked for at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from rocketmq_capacity.one_at_a_time import AGAIN_AFTER_S, SMALL, OneAtATime, TooManyWaiting

pytestmark = pytest.mark.airflow


def test_functions_run_one_after_another_and_one_too_many_is_refused() -> None:
    lane, running, go_on = OneAtATime("a test", 2), threading.Semaphore(0), threading.Event()
    at_once: list[int] = []

    def work() -> int:
        at_once.append(1)
        running.release()
        go_on.wait(60)
        together = sum(at_once)
        at_once.pop()
        return together

    async def ask() -> tuple[list[int], int]:
        done: list[int] = []
        refused = 0

        async def one() -> None:
            done.append(await lane.run(work))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
            await anyio.to_thread.run_sync(running.acquire)
            await anyio.wait_all_tasks_blocked()
            try:
                await lane.run(work)
            except TooManyWaiting:
                refused += 1
            go_on.set()
        return done, refused

    assert anyio.run(ask) == ([1, 1, 1], 1)


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if too many requests waited already."""
    monkeypatch.setattr(SMALL, "_most_waiting", 0)


@pytest.mark.parametrize("address", ["", "difference", "reports/plans/prod-eu-1/r1/"])
def test_a_page_that_has_no_place_says_so_with_its_status(api, crowded, address: str) -> None:
    answer = api("viewer").get(f"/rocketmq-capacity/{address}")

    assert answer.status_code == 503
    assert "Too many of these pages are asked for at once. Ask again in a few seconds." in answer.text
    assert answer.headers["Retry-After"] == str(AGAIN_AFTER_S)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_form_that_has_no_place_says_so_with_its_status(api, crowded) -> None:
    answer = api("admin").post("/api/v2/dags/rocketmq_capacity_plan/dagRuns", json={"logical_date": None, "conf": {}})

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(AGAIN_AFTER_S))
    assert "Too many forms are sent at once" in answer.json()["detail"]


def test_pages_that_are_asked_for_together_are_all_given(api, lakes) -> None:
    with ThreadPoolExecutor(8) as threads:
        statuses = set(threads.map(lambda _: api("viewer").get("/rocketmq-capacity/").status_code, range(8)))

    assert statuses == {200}
