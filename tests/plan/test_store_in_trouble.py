"""A store that loses, refuses or never answers what a step writes, and a driver that is killed meanwhile.

The step ends with one line that names the place, nothing half-written is read, and its next try gives the bytes of a
plan without trouble. The steps compute without a JVM here, as in tests/kills.
"""

import os
import signal
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.store import place
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import place_of
from tests.fixtures.s3 import BUCKET, S3
from tests.fixtures.troubled_s3 import Trouble, TroubledS3, troubled
from tests.kills.states import STEPS, assert_nothing_half_written, files_of, readable
from tests.kills.steps import do
from tests.kills.without_spark import Session

pytestmark = pytest.mark.slow

TIME_LIMIT_S: Final = 120.0
SESSION: Final[Any] = Session()
A_TABLE: Final = "/tables/"
REPORT: Final = "/report/"
KILLED: Final = "a killed driver"
TRIES: Final = (
    ("snapshot", KILLED, A_TABLE, 9, ""),
    ("allocate", Trouble.STOPS, A_TABLE, 0, "Access Denied; expected a bucket that exists, and credentials"),
    ("assess", Trouble.LOSES, A_TABLE, 3, ".parquet is missing, although the store has accepted it"),
    ("recommend", Trouble.STALLS, A_TABLE, 2, "Read timeout on endpoint URL"),
    ("publish", KILLED, REPORT, 9, ""),
)
"""The step, its trouble, of which objects, after how many of them, and what it says."""


@pytest.fixture
def store(s3_server: S3) -> Iterator[TroubledS3]:
    with troubled(s3_server) as store:
        yield store


def test_whatever_happens_to_a_step_its_next_try_gives_the_same_bytes(
    store: TroubledS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Lake(tmp_path).run("C1", "r1")
    for step in STEPS:
        do(step, here, lambda: SESSION)
    whole, prefix = files_of(here), uuid4().hex
    for step in STEPS:
        for _, trouble, of, after, line in (one for one in TRIES if one[0] == step):
            with monkeypatch.context() as patch:
                if trouble is Trouble.STALLS:
                    patch.setattr(place, "TIME_LIMIT_S", 1)
                meet(store, prefix, step, of, after, trouble, line)
            store.has(None)
            assert_nothing_half_written(run_in(store, prefix), whole)
        do(step, run_in(store, prefix), lambda: SESSION)
        assert run_in(store, prefix).is_committed(step)
    assert readable(run_in(store, prefix)) == readable(here)


def meet(store: TroubledS3, prefix: str, step: str, of: str, after: int, trouble: Trouble | str, line: str) -> None:
    """Do a step until it ends in this way."""
    if isinstance(trouble, Trouble):
        store.has(trouble, after, of)
        with pytest.raises(StoreUnreachable) as error:
            do(step, run_in(store, prefix), lambda: SESSION)
        assert str(error.value).startswith(f"s3://{BUCKET}/{prefix}/C1/r1")
        assert line in str(error.value)
        assert "\n" not in str(error.value)
        assert error.value.exit_status == 3
    else:
        store.has(None, of=of)
        driver = get_context("forkserver").Process(target=do_elsewhere, args=(store.environment, prefix, step))
        store.written = partial(kill, driver, after)
        driver.start()
        driver.join(TIME_LIMIT_S)
        store.written = lambda _: None
        assert driver.exitcode == -signal.SIGKILL
    for lock in (store.behind.folder / BUCKET / prefix).rglob(".lock.*"):
        lock.write_text('{"until": 1}')  # as if the minute of a dead holder were over


def kill(driver: BaseProcess, after: int, writes: int) -> None:
    if writes > after:
        driver.kill()


def do_elsewhere(environment: dict[str, str], prefix: str, step: str) -> None:
    os.environ.update(environment)
    do(step, Run(place_of(f"s3://{BUCKET}/{prefix}/C1/r1")), lambda: SESSION)


def run_in(store: TroubledS3, prefix: str) -> Run:
    """The run, as a process sees it that has just begun."""
    return Run(place_of(f"s3://{BUCKET}/{prefix}/C1/r1", store.environment))
