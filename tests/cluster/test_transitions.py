"""Clients that come and go, and topics that grow and shrink, on a real cluster: what was predicted happens.

Clients ask for routes every 2 s and rebalance every 2 s, so that nobody has to wait. The times are those of
``python -m tests.cluster.transitions``, which has RocketMQ's own intervals; here a loaded machine may be late.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from tests.cluster.transition_results import Result, table
from tests.cluster.transition_runs import QUICK, Kind
from tests.cluster.transitions import staged
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

RUNS: Final[dict[Kind, tuple[int, int]]] = {
    "SHUTDOWN": (1, 1),
    "KILL": (1, 0),
    "START": (1, 1),
    "EXPAND": (1, 0),
    "SHRINK": (1, 0),
    "NAME_SERVER_CUT": (1, 0),
}
"""By kind, groups that consume in any order, and in order."""
LATE_S: Final = 60.0
"""By how much a loaded machine may be late."""


@pytest.fixture(scope="module")
def results() -> Iterator[list[Result]]:
    """All changes at once, on groups of their own; over once every queue has its new reader and all is consumed."""
    with ExitStack() as stack:
        stage = started_or_skipped(lambda: staged(stack, RUNS, QUICK))
        stage.set_up()
        stage.change_clients()
        stage.change_queues()
        stage.cut_nameserver()
        yield stage.final_results(beyond_s=2.0)


def test_every_queue_goes_from_the_owner_to_the_owner_that_was_predicted(results: list[Result]) -> None:
    assert {one.run.kind for one in results} == RUNS.keys()
    assert all(one.predicted > 0 for one in results)
    assert [(one.run.name, len(one.seen), one.stray) for one in results] == [
        (one.run.name, one.predicted, 0) for one in results
    ], table(results)


def test_no_queue_is_unread_or_read_twice_for_longer_than_predicted(results: list[Result]) -> None:
    for one in (each for result in results for each in result.seen):
        assert one.unread_s <= (one.row.unread_worst_s or 0.0) + LATE_S, table(results)
        assert one.twice_s <= one.row.twice_worst_s + LATE_S, table(results)


def test_two_never_read_a_queue_that_is_consumed_in_order(results: list[Result]) -> None:
    in_order = [each for result in results if result.run.orderly for each in result.seen]

    assert in_order
    assert {one.twice_s for one in in_order} == {0.0}, table(results)


def test_no_message_is_lost_and_no_more_come_twice_or_are_skipped_than_predicted(results: list[Result]) -> None:
    for one in (each for result in results for each in result.seen):
        row = one.row
        assert row.messages_twice_worst is not None
        assert row.messages_skipped_worst is not None
        assert one.lost == 0, table(results)
        assert one.messages_twice <= row.messages_twice_worst, table(results)
        assert one.skipped <= row.messages_skipped_worst, table(results)
