"""Groups of six that are restarted two at a time under load, on a real cluster: what was predicted happens.

Clients rebalance every 2 s, so that nobody has to wait. The times are those of
``python -m tests.cluster.rolling_restart``, which has RocketMQ's own intervals; here a loaded machine may be late.
"""

from typing import Final

import pytest

from tests.cluster.rolling_restart import Outcome, measured
from tests.cluster.transition_runs import QUICK
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

LATE_S: Final = 60.0
"""By how much a loaded machine may be late."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """A group that consumes in any order, and one that consumes in order."""
    return started_or_skipped(lambda: measured(QUICK, pause_s=1.0))


def test_each_step_moves_as_many_queues_as_predicted(outcomes: list[Outcome]) -> None:
    # AVG gives each of six clients two of the queues 0 to 11, and each of four three of them.
    for one in outcomes:
        predicted = [(step.moved_at_stop, step.moved_at_start) for step in one.predicted.steps]
        assert one.group.moved == predicted == [(9, 9), (6, 6), (9, 9)], one.line


def test_no_queue_is_unread_for_longer_and_no_more_messages_come_twice_than_predicted(outcomes: list[Outcome]) -> None:
    for one in outcomes:
        assert one.unread_s <= (one.asked.unread_longest_worst_s or 0.0) + LATE_S, one.line
        assert one.messages_twice <= (one.asked.messages_twice_worst or 0.0), one.line


def test_no_message_is_lost(outcomes: list[Outcome]) -> None:
    assert [one.lost for one in outcomes] == [0, 0], [one.line for one in outcomes]
