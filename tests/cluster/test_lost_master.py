"""Masters with a slave that are killed under load, on a real cluster: who reads, and after how long, is as predicted.

Clients ask for routes every 2 s and lock their queues every 2 s, so that nobody has to wait. The times are those of
``python -m tests.cluster.lost_master``, which has RocketMQ's own intervals; here a loaded machine may be late.
"""

from typing import Final

import pytest

from rocketmq_capacity.assessment.master_loss import Use
from tests.cluster.lost_master import HELD, READ, TOPICS, WAITING, Measured, Setting, measured
from tests.cluster.transition_runs import QUICK
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

MESSAGES: Final = {"t_any": 300, "t_order": 200, "t_refused": 150}
LOCKED_S: Final = 6
LATE_S: Final = 60.0
"""By how much a loaded machine may be late."""


@pytest.fixture(scope="module")
def found() -> Measured:
    """The masters are lost, stay away until the locks of clients that consume in order have ended, and come back."""
    return started_or_skipped(lambda: measured(Setting(QUICK, "KILL", MESSAGES, (LOCKED_S, 2))))


def test_a_group_that_pulls_in_any_order_reads_from_the_slave_within_the_predicted_seconds(found: Measured) -> None:
    # 2 s until the next route, 3 s for the request, 3 s until the next pull.
    within_s = found.losses[READ].served_s("PULL", "KILL")
    assert within_s == 2 + 3 + 3

    beyond_s = found.beyond_held_s("t_any")
    assert beyond_s is not None
    assert beyond_s <= within_s + LATE_S
    assert found.lost + beyond_s < found.started


def test_a_group_whose_slave_refuses_reads_what_it_holds_until_the_master_is_back(found: Measured) -> None:
    assert found.losses[TOPICS["t_refused"]].is_served("PULL") is False
    assert found.consumed("t_refused", found.lost, found.started) <= HELD
    assert found.consumed("t_refused", found.started, float("inf")) > 0


def test_a_group_that_consumes_in_order_stops_when_its_locks_end(found: Measured) -> None:
    assert found.losses[READ].is_served("PULL_IN_ORDER") is False
    meanwhile = [at - found.lost for at in found.read["t_order"] if found.lost <= at < found.started]

    assert max(meanwhile) <= LOCKED_S + LATE_S
    assert found.consumed("t_order", found.started, float("inf")) > 0


@pytest.mark.parametrize(("topic", "use"), WAITING.items())
def test_groups_that_had_to_wait_read_again_when_the_master_is_back(found: Measured, topic: str, use: Use) -> None:
    assert found.back_s(topic) <= found.losses[TOPICS[topic]].back_s(use) + LATE_S


def test_no_message_is_lost(found: Measured) -> None:
    assert {topic: len(read) for topic, read in found.read.items()} == MESSAGES
