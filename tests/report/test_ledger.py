"""What became of earlier recommendations, worked by hand: done, in part, otherwise, and what cannot be told."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.plan_file.ledger import ActionRate, GroupThen, LedgerEntry, LedgerFigure
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.foretold import changed_figures, predicted_figures
from rocketmq_capacity.report.ledger import LedgerFacts, ReportedOwners, with_ledger
from rocketmq_capacity.report.plan_before import PlanBefore, plan_before
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

BEFORE, NOW = "2026-11-19T02:00:00Z", "2026-11-20T02:00:00Z"
EVEN = ReportedOwners(idle=0, orphan_queues=0, doubly_owned_queues=0, peak=1.0)


def figure(name: str, before: Any, predicted: Any, of: str | None = None) -> LedgerFigure:
    return LedgerFigure(figure=name, of=of, before=before, predicted=predicted)


SCALED = LedgerEntry(
    id="scale-1",
    action="SCALE_CONSUMERS",
    consumer_group="g_pay",
    state="OPEN",
    since="2026-11-10T02:00:00Z",
    at=BEFORE,
    changes=(figure("clients", 12, 8),),
    predictions=(figure("idle", 4, 0, "g_pay"), figure("peak", 1.5, 1.0, "g_pay")),
    groups=(GroupThen(consumer_group="g_pay", clients=8, msgs_per_s=100.0),),
)
QUEUES = LedgerEntry(
    id="expand-1",
    action="EXPAND_QUEUES",
    topic="pay",
    state="OPEN",
    since=BEFORE,
    at=BEFORE,
    changes=(
        figure("read_queue_nums", 4, 6, "broker-a"),
        figure("write_queue_nums", 4, 6, "broker-a"),
    ),
    predictions=(figure("idle", 4, 0, "g_pay"),),
    groups=(GroupThen(consumer_group="g_pay", clients=12, msgs_per_s=100.0),),
)


def judged(
    *entries: LedgerEntry,
    clients: int = 12,
    owners: ReportedOwners | None = EVEN,
    queues: tuple[int, int] = (4, 4),
    recommendations: tuple[Mapping[str, Any], ...] = (),
    rates: tuple[ActionRate, ...] = (),
    went_back: Mapping[str, int | None] | None = None,
    finding: Sequence[Mapping[str, Any]] = (),
    **group: Any,
) -> Plan:
    rows: dict[str, Any] = {
        "cluster": [a_cluster(taken_at=NOW)],
        "group_status": [a_group(distinct_client_ids=clients, **group)],
        "run_before": [{"taken_at": BEFORE}],
        "recommendation": list(recommendations),
        "finding": list(finding),
    }
    today = LedgerFacts(
        {"pay": {"broker-a": queues}},
        lambda names: {} if owners is None else dict.fromkeys(names, owners),
        lambda _names: went_back or {},
    )
    return with_ledger(plan_of(rows), PlanBefore(entries, rates), today)


def only(plan: Plan) -> LedgerEntry:
    assert plan.ledger
    (entry,) = plan.ledger.entries
    return entry


def test_fewer_clients_that_own_what_was_predicted_are_verified() -> None:
    plan = judged(SCALED, clients=8, rates=(ActionRate(action="SCALE_CONSUMERS", verified=2, failed=1),))

    assert only(plan).state == "VERIFIED"
    assert plan.ledger
    assert plan.ledger.rates == (ActionRate(action="SCALE_CONSUMERS", verified=3, failed=1),)


def test_a_prediction_that_did_not_come_has_failed_by_what_the_figures_say() -> None:
    plan = judged(SCALED, clients=8, owners=ReportedOwners(idle=2, orphan_queues=0, doubly_owned_queues=0, peak=1.0))
    entry = only(plan)

    assert (entry.state, entry.is_prediction_wrong) == ("FAILED", True)
    assert [(one.figure, one.predicted, one.came, one.is_right) for one in entry.predictions] == [
        ("idle", 0, 2, False),
        ("peak", 1.0, 1.0, True),
    ]
    assert plan.ledger
    assert plan.ledger.rates == (ActionRate(action="SCALE_CONSUMERS", failed=1),)


TWICE = replace(SCALED, predictions=(*SCALED.predictions, figure("messages_twice_worst", 0, 500.0)))
"""At worst 500 messages come twice."""


@pytest.mark.parametrize(
    ("went_back", "state", "came", "why"),
    [
        (
            {"g_pay": 501},
            "FAILED",
            501,
            "offsets went back by 501 messages, which come again; a reset of offsets looks the same",
        ),
        (
            {"g_pay": 500},
            "VERIFIED",
            None,
            "no broker counts what is delivered twice; offsets went back by 500 messages",
        ),
        ({"g_pay": 0}, "VERIFIED", None, "no broker counts what is delivered twice; no offset went back"),
        ({"g_pay": None}, "VERIFIED", None, "the offsets of g_pay are not known in both snapshots"),
        (None, "VERIFIED", None, "the offsets of g_pay are not known in both snapshots"),
    ],
)
def test_offsets_that_went_back_show_more_messages_twice_than_predicted_and_never_fewer(
    went_back: Mapping[str, int | None] | None, state: str, came: int | None, why: str
) -> None:
    entry = only(judged(TWICE, clients=8, went_back=went_back))
    twice = entry.predictions[-1]

    assert (entry.state, twice.came, twice.why) == (state, came, why)
    assert twice.is_right == (None if came is None else False)
    assert entry.is_prediction_wrong == (state == "FAILED")


def test_offsets_of_a_group_that_something_else_has_changed_are_not_judged() -> None:
    other = replace(TWICE, changes=QUEUES.changes, topic="pay", consumer_group=None)
    (twice,) = only(judged(other, clients=12, queues=(6, 6), went_back={"g_pay": 9_000})).predictions[-1:]

    assert (twice.is_right, twice.why) == (None, "g_pay has 12 client ids, and 8 when it was predicted")


def test_offsets_are_judged_only_by_the_two_snapshots_around_the_change() -> None:
    first = only(judged(TWICE, clients=8, owners=None, went_back={"g_pay": 0}))
    assert first.state == "CARRIED_OUT"
    later = only(judged(first, clients=8, went_back={"g_pay": 9_000}))

    assert (later.state, later.predictions[-1]) == ("VERIFIED", first.predictions[-1])


def test_what_clients_do_not_say_is_not_judged() -> None:
    entry = only(judged(SCALED, clients=8, owners=None))

    assert entry.state == "CARRIED_OUT"
    assert entry.why == "it is not known what the clients of g_pay own or do"


@pytest.mark.parametrize(("orphan_queues", "doubly_owned_queues"), [(2, 0), (0, 1)])
def test_clients_that_may_still_divide_their_queues_are_judged_by_the_next_plan(
    orphan_queues: int, doubly_owned_queues: int
) -> None:
    def after(entry: LedgerEntry, orphans: int = 0, doubly_owned: int = 0) -> LedgerEntry:
        owners = ReportedOwners(idle=0, orphan_queues=orphans, doubly_owned_queues=doubly_owned, peak=1.0)
        return only(judged(entry, clients=8, owners=owners))

    whole = [figure(name, 0, 0, "g_pay") for name in ("orphan_queues", "doubly_owned_queues")]
    first = after(replace(SCALED, predictions=(*SCALED.predictions, *whole)), orphan_queues, doubly_owned_queues)
    assert (first.state, {one.is_right for one in first.predictions}) == ("CARRIED_OUT", {None})
    assert first.why == "queues of g_pay have no reader, or several: its clients may not have divided them yet"

    assert after(first).state == "VERIFIED"
    later = after(first, orphan_queues, doubly_owned_queues)
    assert (later.state, later.is_prediction_wrong, later.why) == ("FAILED", True, None)


def test_what_clients_own_and_cannot_read_is_not_verified() -> None:
    first = only(judged(SCALED, clients=8, reading_status="UNREAD"))

    assert (first.state, {one.is_right for one in first.predictions}) == ("CARRIED_OUT", {None})
    assert first.why == "clients of g_pay own queues that their broker does not let them read"
    assert only(judged(first, clients=8, reading_status="UNREAD")).state == "CARRIED_OUT"
    assert only(judged(first, clients=8, reading_status="READ")).state == "VERIFIED"


def test_what_is_carried_out_and_predicts_nothing_says_so_to_its_end() -> None:
    silent = replace(SCALED, predictions=())
    first = only(judged(silent, clients=8))
    last = only(judged(replace(first, at="2026-11-05T02:00:00Z"), clients=8))

    why = "nothing was predicted that a snapshot shows"
    assert [(one.state, one.why) for one in (first, last)] == [("CARRIED_OUT", why), ("GONE", why)]


@pytest.mark.parametrize(("clients", "state"), [(12, "OPEN"), (10, "OPEN"), (13, "OPEN"), (7, "OPEN")])
def test_clients_that_come_and_go_are_no_answer(clients: int, state: str) -> None:
    recommended = a_recommendation("SCALE_CONSUMERS", id="scale-2", consumer_group="g_pay", topic=None)
    plan = judged(SCALED, clients=clients, recommendations=(recommended,))
    standing = plan.recommendations[0].standing

    assert standing
    assert (standing.state, standing.since) == (state, SCALED.since)  # another number is the same advice
    assert plan.ledger
    assert plan.ledger.entries == ()


def test_a_change_of_one_figure_of_two_is_done_in_part() -> None:
    plan = judged(QUEUES, queues=(6, 4), recommendations=(a_recommendation(id="expand-1"),))
    standing = plan.recommendations[0].standing

    assert standing
    assert (standing.state, standing.done) == ("OPEN", (1, 2))


def test_other_queues_than_recommended_are_a_failure_that_tests_no_prediction() -> None:
    plan = judged(QUEUES, queues=(5, 5))
    entry = only(plan)

    assert (entry.state, entry.is_prediction_wrong) == ("FAILED", False)
    assert plan.ledger
    assert plan.ledger.rates == (ActionRate(action="EXPAND_QUEUES", otherwise=1),)


@pytest.mark.parametrize("queues", [{"pay": {"broker-b": (4, 4)}}, {}], ids=["broker", "topic"])
def test_queues_that_are_lost_with_their_broker_or_topic_are_nothing_that_somebody_did_instead(
    queues: Mapping[str, Mapping[str, tuple[int, int]]],
) -> None:
    entry = replace(QUEUES, changes=(*QUEUES.changes, figure("read_queue_nums", 4, 4, "broker-b")))
    plan = with_ledger(judged(), PlanBefore((entry,), ()), LedgerFacts(queues))

    assert only(plan).state == "GONE"
    assert {one.came for one in only(plan).changes if one.of == "broker-a"} == {None}
    assert plan.ledger
    assert plan.ledger.rates == ()


def test_queues_that_are_not_created_yet_are_not_there() -> None:
    created = replace(QUEUES, changes=(figure("read_queue_nums", 0, 4, "broker-b"),))
    (entry,) = only(judged(created)).changes
    assert (entry.came, entry.is_right) == (0, False)


def test_two_changes_of_one_group_are_not_judged_by_what_each_alone_would_do() -> None:
    plan = judged(QUEUES, replace(SCALED, groups=(replace(SCALED.groups[0], clients=8),)), clients=8, queues=(6, 6))

    assert plan.ledger
    assert [(one.action, one.state, one.why) for one in plan.ledger.entries] == [
        ("EXPAND_QUEUES", "CARRIED_OUT", "a second change has touched g_pay"),
        ("SCALE_CONSUMERS", "CARRIED_OUT", "a second change has touched g_pay"),
    ]


def test_an_alternative_of_what_was_carried_out_is_gone() -> None:
    plan = judged(QUEUES, SCALED, queues=(6, 6))

    assert plan.ledger
    assert [(one.action, one.state) for one in plan.ledger.entries] == [
        ("EXPAND_QUEUES", "VERIFIED"),
        ("SCALE_CONSUMERS", "GONE"),
    ]


@pytest.mark.parametrize(("severity", "state", "since"), [("CRITICAL", "OPEN", BEFORE), ("WARNING", "NEW", NOW)])
def test_what_a_plan_cannot_recommend_for_want_of_facts_still_waits(
    severity: str, state: str, since: str, tmp_path: Any
) -> None:
    """Below the least completeness no change is recommended; the next plan goes on with the advice of before."""
    incomplete = a_finding("SNAPSHOT_INCOMPLETE", consumer_group=None, severity=severity)
    undecided = judged(QUEUES, finding=[incomplete])
    assert only(undecided).state == "GONE"

    file = tmp_path / "plan.json"
    file.write_bytes(plan_bytes(undecided))
    (waiting,) = plan_before(file).entries
    plan = judged(waiting, recommendations=(a_recommendation(id="expand-1"),))
    standing = plan.recommendations[0].standing
    assert standing
    assert (standing.state, standing.since) == (state, since)


def test_an_approval_holds_until_its_plan_expires() -> None:
    approved = replace(
        QUEUES, state="APPROVED", approved_by="li", approved_at=BEFORE, expires_at="2026-11-20T02:00:01+00:00"
    )
    recommended = a_recommendation(id="expand-1")

    def state(entry: LedgerEntry) -> str:
        standing = judged(entry, recommendations=(recommended,)).recommendations[0].standing
        assert standing
        return standing.state

    assert state(approved) == "APPROVED"
    assert state(replace(approved, expires_at=NOW)) == "EXPIRED"
    assert state(replace(approved, expires_at="tomorrow")) == "EXPIRED"
    assert state(replace(approved, id="expand-0")) == "OPEN"  # another number was approved


def test_a_busy_share_is_right_within_a_tenth_and_judged_at_the_same_traffic() -> None:
    busy = replace(
        SCALED, changes=(figure("clients", 8, 12),), predictions=(figure("utilisation_ratio", 0.9, 0.6, "g_pay"),)
    )
    busy = replace(busy, groups=(GroupThen(consumer_group="g_pay", clients=12, msgs_per_s=100.0),))

    def state(utilisation: float, msgs_per_s: float | None) -> str:
        bounds: dict[str, Any] = dict.fromkeys(("utilisation", "utilisation_lower", "utilisation_upper"), utilisation)
        return only(judged(busy, peak_msgs_per_s=msgs_per_s, **bounds)).state

    assert state(0.69, 105.0) == "VERIFIED"
    assert state(0.75, 95.0) == "FAILED"
    assert state(0.75, 150.0) == "CARRIED_OUT"
    assert state(0.75, None) == "CARRIED_OUT"


def test_what_no_snapshot_shows_is_verified_only_by_what_came() -> None:
    fixed = replace(SCALED, action="FIX_CLIENT_ID", changes=(), predictions=(figure("idle", 1, 0, "g_pay"),))
    fixed = replace(fixed, groups=(replace(SCALED.groups[0], clients=12),))

    assert only(judged(fixed)).state == "VERIFIED"
    assert only(judged(fixed, owners=replace_idle(3))).state == "GONE"
    # What was as predicted before tells nothing: somebody may have accepted the finding.
    as_before = only(judged(replace(fixed, predictions=(figure("idle", 0, 0, "g_pay"),))))
    assert (as_before.state, as_before.why) == ("GONE", "no snapshot shows whether it was carried out")


def replace_idle(idle: int) -> ReportedOwners:
    return ReportedOwners(idle=idle, orphan_queues=0, doubly_owned_queues=0, peak=1.0)


def test_what_was_decided_is_listed_for_two_weeks() -> None:
    old = replace(SCALED, state="VERIFIED", at="2026-11-07T02:00:00Z")

    assert only(judged(old)) == old
    gone = judged(replace(old, at="2026-11-05T02:00:00Z"))
    assert gone.ledger
    assert gone.ledger.entries == ()


@pytest.mark.parametrize("hostile", [None, 7, "queues", [1, None], [{"broker_name": 3}], {"broker-a": 4}, [[]]])
def test_figures_of_another_version_are_left_out(hostile: Any) -> None:
    assert changed_figures({"queues": hostile, "clients": []}, {"queues": hostile, "clients": {}}) == ()
    assert predicted_figures({"groups": hostile}, {"groups": hostile}, None) == ()
    assert predicted_figures({"count": hostile}, {"count": hostile, "idle": [True]}, "g_pay") == ()
