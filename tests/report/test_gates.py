"""Fewer queues in steps, begun by somebody: which gate is open, worked by hand."""

from dataclasses import replace as with_
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rocketmq_capacity.plan_file.ledger import LedgerEntry, LedgerFigure
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.gates import Going, Leftover, Spread
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.ledger import LedgerFacts, with_ledger
from rocketmq_capacity.report.plan_before import PlanBefore, plan_before
from rocketmq_capacity.vocabulary import ENGLISH, Language
from tests.report.from_rows import beside_of, plan_bytes, plan_of
from tests.report.page_reader import read_page, section, text_of
from tests.report.row_builders import a_cluster, a_group, a_recommendation
from tests.report.test_ledger import only

BEFORE, NOW = "2026-11-19T02:00:00Z", "2026-11-20T02:00:00Z"
STEPS = ("Write down", "Wait for routes", "Drained", "Read down")
BROKERS = ("broker-a", "broker-b")


def figure(name: str, broker: str) -> LedgerFigure:
    return LedgerFigure(figure=name, of=broker, before=8, predicted=4)


FEWER = LedgerEntry(
    id="shrink-1",
    action="SHRINK_QUEUES",
    topic="pay",
    state="APPROVED",
    since=BEFORE,
    at=BEFORE,
    changes=tuple(figure(name, broker) for broker in BROKERS for name in ("read_queue_nums", "write_queue_nums")),
    steps=STEPS,
)
READ = Leftover(msgs_per_s=0.0, unread={"g_pay": 0, "g_audit": 0})


def plan_after(entry: LedgerEntry, left: Leftover, *queues: tuple[int, int]) -> tuple[Plan, list[Going]]:
    """Today's plan, and which queues the snapshot was asked for; ``queues``: read and write queues of each broker."""
    asked: list[Going] = []

    def leftover(topic: str, going: Going) -> Leftover:
        assert topic == "pay"
        asked.append(going)
        return left

    rows: dict[str, Any] = {
        "cluster": [a_cluster(taken_at=NOW)],
        "group_status": [a_group()],
        "run_before": [{"taken_at": BEFORE}],
    }
    today = LedgerFacts({"pay": dict(zip(BROKERS, queues, strict=False))}, leftover=leftover)
    return with_ledger(plan_of(rows), PlanBefore((entry,)), today), asked


def gate(left: Leftover, *queues: tuple[int, int]) -> tuple[int, str, str, str]:
    entry = only(plan_after(FEWER, left, *queues)[0])
    assert entry.gate
    assert (entry.state, entry.at) == ("BEGUN", NOW)
    return entry.gate.step, entry.gate.title, entry.gate.state, entry.gate.why


def test_while_a_broker_still_has_all_write_queues_the_first_gate_is_closed() -> None:
    found = gate(READ, (8, 4), (8, 8))

    assert found == (1, "Write down", "CLOSED", "the write queues of broker-b are not down yet")


@pytest.mark.parametrize(
    ("msgs_per_s", "state", "why"),
    [
        (2.5, "CLOSED", "2.5 messages a second are still written to the queues that go"),
        (None, "UNKNOWN", "it is not known how much is written to the queues that go"),
    ],
)
def test_while_something_comes_in_or_may_the_second_gate_is_not_open(
    msgs_per_s: float | None, state: str, why: str
) -> None:
    assert gate(with_(READ, msgs_per_s=msgs_per_s), (8, 4), (8, 4)) == (2, "Wait for routes", state, why)


@pytest.mark.parametrize(
    ("left", "state", "why"),
    [
        (
            with_(READ, unread={"g_pay": 0, "g_audit": 1_200, "g_x": None}),
            "CLOSED",
            "not read yet in the queues that go: g_audit 1,200",
        ),
        (
            with_(READ, unread={"g_pay": 0, "g_x": None}),
            "UNKNOWN",
            "it is not known what these have read in the queues that go: g_x",
        ),
        (
            with_(READ, broadcasting=frozenset({"g_audit"})),
            "UNKNOWN",
            "broadcasting groups keep their offsets in their clients: g_audit",
        ),
    ],
)
def test_until_every_group_has_read_the_queues_the_third_gate_is_not_open(left: Leftover, state: str, why: str) -> None:
    assert gate(left, (8, 4), (8, 4)) == (3, "Drained", state, why)


def test_once_they_are_drained_the_last_step_is_next() -> None:
    number, title, state, why = gate(READ, (8, 4), (8, 4))

    assert (number, title, state) == (3, "Drained", "OPEN")
    assert "every group has read them to their end" in why


def test_only_the_queues_that_are_still_to_go_are_asked_for() -> None:
    assert plan_after(FEWER, READ, (8, 4), (8, 4))[1] == [{"broker-a": (4, 8), "broker-b": (4, 8)}]
    assert plan_after(FEWER, READ, (4, 4), (8, 4))[1] == [{"broker-b": (4, 8)}]


def test_all_steps_done_is_carried_out_and_none_is_gone() -> None:
    done, asked = plan_after(FEWER, READ, (4, 4), (4, 4))
    assert (only(done).state, only(done).gate, asked) == ("CARRIED_OUT", None, [])

    none, asked = plan_after(FEWER, READ, (8, 8), (8, 8))
    assert (only(none).state, only(none).gate, asked) == ("GONE", None, [])


def test_while_a_broker_of_the_topic_is_lost_the_change_goes_on_and_its_first_gate_is_unknown() -> None:
    found = gate(READ, (8, 4))
    assert found == (1, "Write down", "UNKNOWN", "it is not known how many write queues the topic has on broker-b")

    lost = replace(only(plan_after(FEWER, READ, (8, 4))[0]), at="2026-11-05T02:00:00Z")
    assert only(plan_after(lost, READ, (8, 4))[0]).state == "GONE"  # after two weeks nobody waits for the broker
    assert only(plan_after(lost, READ, (8, 4), (8, 4))[0]).state == "BEGUN"


def test_another_number_of_read_queues_is_a_failure() -> None:
    assert only(plan_after(FEWER, READ, (6, 4), (8, 4))[0]).state == "FAILED"


def test_a_change_without_steps_has_no_gates() -> None:
    assert only(plan_after(replace(FEWER, steps=()), READ, (8, 4), (8, 4))[0]).state == "GONE"


def test_it_goes_on_from_plan_to_plan_until_it_is_done(tmp_path: Any) -> None:
    first, _ = plan_after(FEWER, with_(READ, msgs_per_s=1.0), (8, 4), (8, 4))
    file = tmp_path / "plan.json"
    file.write_bytes(plan_bytes(first))
    (stored,) = plan_before(file).entries

    second, _ = plan_after(stored, READ, (8, 4), (8, 4))
    assert stored.gate
    assert (stored.gate.step, stored.approved_by, only(second).at) == (2, None, NOW)
    assert only(second).gate != stored.gate
    assert only(plan_after(stored, READ, (4, 4), (4, 4))[0]).state == "CARRIED_OUT"


def test_the_titles_of_steps_are_taken_from_the_plan_before(tmp_path: Any) -> None:
    steps = [{"title": title, "expect": "…"} for title in STEPS]
    row = a_recommendation("SHRINK_QUEUES", id="shrink-1", topic="pay", steps=msgspec.json.encode(steps).decode())
    made = plan_of({"cluster": [a_cluster()], "group_status": [a_group()], "recommendation": [row]})
    file = tmp_path / "plan.json"
    file.write_bytes(plan_bytes(made))

    (entry,) = plan_before(file).entries
    assert entry.steps == STEPS


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (ENGLISH, "Step 3 is done: go on with step 4. Drained; nothing is written to the queues that go"),
        ("zh-CN", "继续第 4 步"),
    ],
)
def test_the_page_says_which_step_is_next(language: Language, said: str) -> None:
    made, _ = plan_after(FEWER, READ, (8, 4), (8, 4))

    assert said in text_of(section(read_page(render_report(made, beside_of({}), language)), "ledger"))


ADDED = LedgerEntry(
    id="add-1",
    action="ADD_BROKER",
    state="APPROVED",
    since=BEFORE,
    at=BEFORE,
    changes=(LedgerFigure(figure="brokers", before=2, predicted=4),),
    steps=("Start the broker", "Spread the topics", "See that disks empty"),
)
FOUR = ("a", "b", "c", "d")


def after_adding(spread: Spread | None, entry: LedgerEntry = ADDED) -> LedgerEntry:
    rows: dict[str, Any] = {
        "cluster": [a_cluster(taken_at=NOW)],
        "group_status": [a_group()],
        "run_before": [{"taken_at": BEFORE}],
    }
    return only(with_ledger(plan_of(rows), PlanBefore((entry,)), LedgerFacts(spread=spread)))


@pytest.mark.parametrize(
    ("spread", "step", "state", "why"),
    [
        (Spread(brokers=("a", "b", "c")), 1, "CLOSED", "3 of 4 brokers take messages"),
        (
            Spread(brokers=FOUR, empty=("d",), uneven=("pay",)),
            1,
            "OPEN",
            "4 brokers take messages, and no business topic has a queue on d",
        ),
        (
            Spread(brokers=FOUR, uneven=("pay",), unknown=("ship",)),
            2,
            "UNKNOWN",
            "it is not known how many queues these topics have on each broker: ship",
        ),
        (
            Spread(brokers=FOUR, uneven=("pay",)),
            2,
            "UNKNOWN",
            "more queues on some brokers than on others have: pay; a snapshot does not see whether that is meant",
        ),
        (
            Spread(brokers=FOUR, uneven=("pay",), untaken=lambda: {"g_pay": 2, "g_audit": 1_200}),
            2,
            "CLOSED",
            "queues that no client has taken: g_audit 1,200, g_pay 2",
        ),
        (
            Spread(brokers=(*FOUR, "e")),
            2,
            "OPEN",
            "every business topic has as many queues on each of 5 brokers, and groups whose clients say what they own"
            " have taken all of them",
        ),
    ],
)
def test_a_new_broker_is_begun_until_topics_lie_on_it(spread: Spread, step: int, state: str, why: str) -> None:
    entry = after_adding(spread)
    assert entry.state == "BEGUN"
    assert entry.gate
    assert (entry.gate.step, entry.gate.state, entry.gate.why) == (step, state, why)


def test_without_another_broker_or_with_fewer_none_is_added_and_unknown_ones_say_nothing() -> None:
    for spread in (None, Spread(brokers=("a", "b")), Spread(brokers=("a",))):
        assert (after_adding(spread).state, after_adding(spread).gate) == ("GONE", None)


def test_a_gate_that_stays_unknown_is_shown_for_two_weeks() -> None:
    begun = replace(ADDED, state="BEGUN", at="2026-11-01T02:00:00Z")
    spread = Spread(brokers=FOUR, uneven=("pay",))
    carried_out = after_adding(spread, begun)
    assert (carried_out.state, carried_out.gate) == ("CARRIED_OUT", None)
    assert after_adding(spread, carried_out).state == "CARRIED_OUT"
