"""ORPHAN_QUEUE of queues that clients should have by their strategy, and have not taken.

Two clients shared three queues by AVG. Then the topic got six, and only ``c01`` knows: its share is 0, 1 and 2, and 3
to 5 are the share of ``c02``. That one still divides three queues, and holds 2.
"""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from rocketmq_capacity.snapshot.inventory import Client, Inventory
from tests.assessment.cases import a_group, a_topic, ago, member
from tests.assessment.judge import judge
from tests.assessment.test_suspended import MOVES, STANDS, a_cluster, reader
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import broker, cluster, queues

NEW: Final = dict.fromkeys((3, 4, 5), STANDS)
OLD_ROUTE: Final = (reader(0, 1, 2, client_id="c01"), reader(2, client_id="c02"))


def expanded(clients: Sequence[Client] = OLD_ROUTE, **facts: Any) -> Inventory:
    return a_cluster(clients, **{"samples": dict.fromkeys((0, 1, 2), MOVES) | NEW} | facts)


def test_queues_that_a_client_does_not_know_are_unread_and_it_is_named() -> None:
    judgement = judge(expanded())
    row, (status,) = judgement.finding("ORPHAN_QUEUE"), judgement.groups

    assert [one["queue_id"] for one in row["queues"]] == [3, 4, 5]
    assert (row["severity"], row["evidence"]["cause"], row["evidence"]["not_taken_by"]) == (
        "CRITICAL",
        "NOT_TAKEN",
        ["c02"],
    )
    assert row["evidence"]["lag"] == 30
    assert row["message"] == (
        "Nobody reads 3 of 6 queues: broker-a:3, broker-a:4, broker-a:5. By its strategy c02 should have taken them"
        " long ago."
    )
    assert status["reading_status"] == "UNREAD"


def test_neither_another_strategy_nor_more_clients_are_recommended() -> None:
    (answer,) = (one for one in plain_plan(expanded()).recommendations if one.consumer_group == "g")

    assert (answer.action, "ORPHAN_QUEUE" in answer.rules) == ("INVESTIGATE", True)
    assert "Look in the logs of c02 for why these queues are not taken." in answer.reason


def test_nobody_is_said_to_leave_queues_in_which_no_messages_have_waited_for_long() -> None:
    """A client may be about to take them: it rebalances every 20 s, and asks for queues every 30 s."""
    just_written = {one: [(99_990, 99_990), (99_990, 99_990)] for one in (3, 4, 5)}

    assert judge(expanded(samples=dict.fromkeys((0, 1, 2), MOVES) | just_written)).found("ORPHAN_QUEUE") is None


@pytest.mark.parametrize(
    "clients",
    [
        pytest.param((reader(0, 1, 2), member("c02", allocate_strategy="AVG")), id="one does not tell what it holds"),
        pytest.param((*OLD_ROUTE, reader(client_id="c01")), id="two share an id"),
        pytest.param((OLD_ROUTE[0], member("c02", owned_queues=())), id="one does not tell its strategy"),
        pytest.param(
            (OLD_ROUTE[0], member("c02", owned_queues=(), allocate_strategy="AVG", started_at=ago(20))),
            id="one has just started",
        ),
    ],
)
def test_nothing_is_said_of_clients_that_may_have_another_reason(clients: Sequence[Client]) -> None:
    row = judge(expanded(clients)).found("ORPHAN_QUEUE")

    assert row is None or row["evidence"]["cause"] != "NOT_TAKEN"


def test_a_pull_consumer_and_a_popped_topic_are_left_alone() -> None:
    assert judge(expanded(consume_type="CONSUME_ACTIVELY")).found("ORPHAN_QUEUE") is None
    assert judge(expanded(message_request_mode="POP")).found("ORPHAN_QUEUE") is None


def test_a_queue_that_cannot_be_locked_comes_of_the_lost_master() -> None:
    topic = a_topic("pay", queues("broker-a", 3), queues("broker-z", 3))
    group = a_group(
        "g",
        OLD_ROUTE,
        [topic],
        orderly=True,
        consume_type="CONSUME_PASSIVELY",
        lag=0,
        lags={("pay", "broker-z", one): 10 for one in range(3)},
        samples={("pay", "broker-z", one): STANDS for one in range(3)},
    )

    assert (
        judge(cluster([topic], [group], (broker("broker-a"), broker("broker-z", broker_id=1)))).found("ORPHAN_QUEUE")
        is None
    )
