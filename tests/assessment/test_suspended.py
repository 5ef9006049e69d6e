"""STUCK_QUEUE, and what follows from it, of a client that looks suspended; and of clients that only look a little so.

Three clients shared six queues by AVG, two each; the first has left. ``c02`` still holds its old queues 2 and 3. Its
share is 0, 1 and 2.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryOwnedQueue
from tests.assessment.cases import BROKERS, OWN_STRATEGY, a_group, a_topic, ago, member
from tests.assessment.judge import Judgement, Row, judge
from tests.assessment.test_stuck import held
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues

STANDS: Final = [(99_991, 99_990), (99_995, 99_990)]
"""Offsets of broker and group two minutes and one minute ago, where the group's is 99,990 now, too."""
MOVES: Final = [(99_900, 99_800), (99_950, 99_900)]
NOT_READ: Final[Mapping[str, Any]] = {"pulled_ago_s": 0.4, "consumed_ago_s": 500, "cached_msgs": 0}
"""What a suspended client says of a queue."""


def marked(*queue_ids: int, **told: Any) -> tuple[InventoryOwnedQueue, ...]:
    """Queues as a suspended client tells of them, but for what ``told`` says of the last one."""
    *others, last = queue_ids
    return (*(held("pay", one, **NOT_READ) for one in others), held("pay", last, **{**NOT_READ, **told}))


def suspended(owned: Iterable[InventoryOwnedQueue] = marked(2, 3), **facts: Any) -> Client:
    """The client that is suspended."""
    usual: dict[str, Any] = {"allocate_strategy": "AVG", "started_at": ago(7_200)}
    return member("c02", owned_queues=tuple(owned), **usual | facts)


def reader(*queue_ids: int, client_id: str = "c03", strategy: str = "AVG") -> Client:
    """A client that reads: its requests wait for messages."""
    owned = tuple(held("pay", one, pulled_ago_s=9, cached_msgs=0) for one in queue_ids)
    return member(client_id, owned_queues=owned, allocate_strategy=strategy, started_at=ago(7_200))


LEFT_ONE: Final = (suspended(), reader(3, 4, 5))
"""``c01`` has left: only ``c03`` has rebalanced."""
ALL_THREE: Final = (reader(0, 1, client_id="c01"), suspended(), reader(4, 5))


def a_cluster(
    clients: Collection[Client],
    samples: Mapping[int, Any] | None = None,
    lags: Mapping[int, int] | None = None,
    **facts: Any,
) -> Inventory:
    """A group whose queues stand, with 10 messages, up to queue 2; the others are read."""
    topic = a_topic("pay", queues("broker-a", 6))
    of_queue = {0: STANDS, 1: STANDS, 2: STANDS} | dict.fromkeys((3, 4, 5), MOVES) | dict(samples or {})
    told: dict[str, Any] = {
        "samples": {("pay", "broker-a", one): each for one, each in of_queue.items()},
        "lags": {("pay", "broker-a", one): lag for one, lag in (lags or {}).items()},
        "consume_type": "CONSUME_PASSIVELY",
    }
    return cluster([topic], [a_group("g", clients, [topic], **told | facts)], BROKERS)


def judged(clients: Collection[Client], policy: Policy | None = None, **facts: Any) -> Judgement:
    return judge(a_cluster(clients, **facts), policy)


def stuck(clients: Collection[Client], policy: Policy | None = None, **facts: Any) -> Row | None:
    return judged(clients, policy, **facts).found("STUCK_QUEUE")


def states(row: Row | None) -> list[tuple[int, str, str, str | None]]:
    """Queue, client, state and cause of each stuck queue."""
    told = row["evidence"]["queues"] if row else ()
    return [(one["queue_id"], one["client_id"], one["state"], one["cause"]) for one in told]


def test_who_neither_reads_nor_rebalances_is_suspended_and_named_with_what_it_has_not_taken() -> None:
    row = stuck(LEFT_ONE)

    assert states(row) == [
        (0, "c02", "NOT_TAKEN", "SUSPENDED"),
        (1, "c02", "NOT_TAKEN", "SUSPENDED"),
        (2, "c02", "NOT_READ", "SUSPENDED"),
    ]
    assert row is not None
    assert row["severity"] == "WARNING"
    assert row["evidence"]["suspended_client_ids"] == ["c02"]
    assert (row["evidence"]["lag"], row["evidence"]["since_s"]) == (30, 120)
    assert row["message"] == (
        "3 queues with 30 messages of lag are stuck at c02 for 120 s: 1 NOT_READ, 2 NOT_TAKEN. c02 looks suspended: it"
        " asks for none of the messages that wait in 1 of its 2 queues, its cache is empty, and it does not rebalance."
    )


def test_who_holds_its_share_may_be_refused_as_well() -> None:
    row = stuck(ALL_THREE, samples={0: MOVES, 1: MOVES, 3: STANDS})

    assert states(row) == [
        (2, "c02", "NOT_READ", "SUSPENDED_OR_REFUSED"),
        (3, "c02", "NOT_READ", "SUSPENDED_OR_REFUSED"),
    ]
    assert row is not None
    assert "c02 looks suspended, or all its requests are refused: it asks for none" in row["message"]


@pytest.mark.parametrize(
    "facts",
    [{"allocate_strategy": None}, {"started_at": ago(30)}],
    ids=["its strategy is unknown", "it has just started"],
)
def test_a_share_that_is_not_sure_proves_nothing(facts: dict[str, Any]) -> None:
    row = stuck([suspended(**facts), reader(3, 4, 5)])

    assert states(row) == [(2, "c02", "NOT_READ", "SUSPENDED_OR_REFUSED")]


def test_in_order_a_suspended_client_keeps_the_locks_of_queues_that_others_should_have() -> None:
    row = stuck([suspended(marked(2, 3, locked=True)), reader(4, 5)], samples={3: STANDS}, orderly=True)

    assert states(row)[2:] == [(2, "c02", "NOT_READ", "SUSPENDED"), (3, "c02", "NOT_READ", "SUSPENDED")]


def test_a_queue_that_another_client_may_hold_is_not_said_to_be_nobodys() -> None:
    silent = member("c03", allocate_strategy="AVG", started_at=ago(7_200))

    assert states(stuck([suspended(), silent], samples={3: STANDS})) == [
        (2, "c02", "NOT_READ", "SUSPENDED"),
        (3, "c02", "NOT_READ", "SUSPENDED"),
    ]


@pytest.mark.parametrize(
    ("told", "is_suspended"),
    [
        ({}, True),
        ({"pulled_ago_s": 2.0}, True),
        ({"pulled_ago_s": 2.1}, False),
        ({"pulled_ago_s": 14}, False),
        ({"pulled_ago_s": None}, False),
        ({"consumed_ago_s": 60}, False),
        ({"consumed_ago_s": 61}, True),
        ({"consumed_ago_s": None}, False),
        ({"cached_msgs": 1}, False),
        ({"cached_msgs": 1_000, "consumed_ago_s": 1}, False),
        ({"cached_msgs": None}, False),
        ({"dropped": True}, False),
    ],
    ids=[
        "marks its queues every second",
        "at the bound",
        "a request fails every 3 s",
        "a request waits for messages",
        "no time of a request",
        "handled one lately",
        "has long handled none",
        "no time of a message",
        "its listener hangs",
        "its cache is full",
        "its cache is unknown",
        "it lets the queue go",
    ],
)
def test_every_queue_of_a_suspended_client_is_marked_and_empty(told: dict[str, Any], is_suspended: bool) -> None:
    row = stuck([suspended(marked(2, 3, **told)), reader(3, 4, 5)])

    assert any(state == "NOT_READ" for _, _, state, _ in states(row)) is is_suspended


@pytest.mark.parametrize(
    ("facts", "is_suspended"),
    [
        ({"lags": {2: 0}}, False),
        ({"samples": {2: MOVES}}, False),
        ({"samples": {2: STANDS[1:]}}, False),
        ({"samples": {2: ()}}, False),
        ({"samples": {2: [(99_990, 99_990), (99_995, 99_990)]}}, False),
        ({"message_model": "BROADCASTING"}, False),
        ({"consume_type": "CONSUME_ACTIVELY"}, False),
        ({"consume_type": None}, True),
    ],
    ids=[
        "no messages wait",
        "messages are read",
        "they wait for no longer than the bound",
        "nobody knows for how long",
        "they wait for no longer than the bound, after a time without",
        "broadcasting",
        "it pulls by itself",
        "who pulls is unknown",
    ],
)
def test_messages_have_to_wait_for_longer_than_a_request_and_a_commit_take(
    facts: dict[str, Any], is_suspended: bool
) -> None:
    assert bool(states(stuck(LEFT_ONE, **facts))) is is_suspended


def test_how_long_messages_wait_is_the_policys() -> None:
    for bound_s, is_suspended in ((119.0, True), (120.0, False)):
        policy = Policy.model_validate({"thresholds": {"STUCK_QUEUE": {"no_progress_s": bound_s}}})
        assert bool(states(stuck(LEFT_ONE, policy))) is is_suspended


def test_who_reads_one_of_its_queues_is_not_suspended_whatever_happens_to_the_others() -> None:
    assert stuck([suspended(marked(2, 3)), reader(4, 5)], samples={3: MOVES}) is None


def test_of_a_queue_that_two_clients_hold_nobody_knows_who_reads_it() -> None:
    assert states(stuck([suspended(), reader(2, 3, 4, 5)])) == []


def test_two_consumers_of_one_id_answer_as_one_and_prove_nothing() -> None:
    row = stuck([suspended(), suspended(), reader(3, 4, 5)])

    assert not [one for one in states(row) if one[2] in ("NOT_READ", "NOT_TAKEN")]


def test_who_has_lost_its_lock_does_not_read_for_want_of_it() -> None:
    row = stuck([suspended(marked(2, 3, locked=False, locked_ago_s=None)), reader(4, 5)], orderly=True)

    assert {state for _, _, state, _ in states(row)} == {"NOT_LOCKED"}


def test_orphans_of_owners_as_reported_come_of_the_client_that_takes_no_queues() -> None:
    own = [suspended(allocate_strategy=OWN_STRATEGY), reader(3, 4, 5, strategy=OWN_STRATEGY)]
    row = judged(own).finding("ORPHAN_QUEUE", "g")

    assert [one["queue_id"] for one in row["queues"]] == [0, 1]
    assert row["evidence"]["cause"] == "STUCK_QUEUE"
    well = judged([reader(2, client_id="c02", strategy=OWN_STRATEGY), reader(3, 4, 5, strategy=OWN_STRATEGY)])
    assert well.finding("ORPHAN_QUEUE", "g")["evidence"]["cause"] == f"strategy {OWN_STRATEGY}"


@pytest.mark.parametrize(("other", "named"), [(MOVES, ["c02"]), (STANDS, None)], ids=["its own", "another's too"])
def test_lag_names_the_suspended_client_if_all_queues_that_do_not_catch_up_are_its_own(
    other: list[tuple[int, int]], named: list[str] | None
) -> None:
    ten = {one: [each[0]] * 8 + list(each) for one, each in ((0, STANDS), (1, STANDS), (2, STANDS), (5, other))}
    row = judged(LEFT_ONE, samples=ten).finding("LAG_STATE", "g")

    assert row["evidence"].get("suspended_client_ids") == named


@pytest.mark.parametrize("strategy", ["AVG", OWN_STRATEGY], ids=["lag", "lag and orphans"])
def test_what_to_look_at_is_said_once_for_all_that_comes_of_it(strategy: str) -> None:
    ten = {one: [STANDS[0]] * 8 + STANDS for one in (0, 1, 2)}
    made = a_cluster([suspended(allocate_strategy=strategy), reader(3, 4, 5, strategy=strategy)], samples=ten)
    plan = plain_plan(made, Policy())
    (advice,) = (one for one in plan.recommendations if "STUCK_QUEUE" in one.rules)

    assert {"LAG_STATE", "STUCK_QUEUE"} <= set(advice.rules)
    assert ("ORPHAN_QUEUE" in advice.rules) is (strategy == OWN_STRATEGY)
    assert advice.action == "INVESTIGATE"
    assert advice.reason.count("suspend()") == 1
    assert "listener" not in advice.reason
