"""Which plans a person is asked about, and what becomes of the answer."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocketmq_capacity.errors import DatasetMissing
from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.plan_file.recommendation import Approval
from rocketmq_capacity.provider.approval import Question, answer_fields, questions, record_answer, record_or_ask_again
from rocketmq_capacity.provider.question import AskOperator
from rocketmq_capacity.report.approval import answers_of, needing_approval
from rocketmq_capacity.report.refusal import OtherRecommendations, refusal_of
from rocketmq_capacity.report.selection import asked_about
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.lake import Lake, Run
from tests.plugins.stored_reports import LAST, put, rows_of

pytestmark = pytest.mark.airflow

AN_HOUR = timedelta(hours=1)
ALICE = {"id": "1", "name": "alice"}


def published(lake: Path, moment: datetime = LAST, run_id: str = "r1", **changes: Any) -> Run:
    """A published run with its snapshot's file, which is what makes a run findable."""
    rows = rows_of(moment)
    rows["cluster"][0] |= changes
    run = put(lake, run_id, rows)
    run.inventory.touch()
    return run


def asked(lake: Path, now: datetime, *run_ids: str) -> list[Question]:
    return questions(run_ids or ["r1"], Lake(lake), now)


def answered(lake: Path, now: datetime, option: str = "Approve", **changes: Any) -> Approval:
    """What is kept of an answer to the question about r1."""
    (question,) = asked(lake, LAST)
    answer = {
        "chosen_options": [option],
        "params_input": {"why": "looks right"},
        "responded_at": now.isoformat(),
        "responded_by_user": ALICE,
    }
    record_answer(answer | changes, question.run_key, question.digest, Lake(lake), now)
    return answers_of(Lake(lake).run("prod-eu-1", "r1"))[-1]


def test_a_plan_with_recommendations_that_are_no_mere_notes_is_asked_about(tmp_path: Path) -> None:
    run = published(tmp_path)
    ids = needing_approval(read_plan(run.report / "plan.json"))

    (question,) = asked(tmp_path, LAST)

    assert question.run_key == "r1"
    assert f"Approve {len(ids)} recommendations for cluster prod-eu-1?" == question.subject
    assert "/rocketmq-capacity/reports/plans/prod-eu-1/r1/" in question.body


def test_the_question_says_when_a_recorded_snapshot_was_recorded(tmp_path: Path) -> None:
    published(tmp_path, recorded_at="2026-09-01T15:27:09Z")

    (question,) = asked(tmp_path, LAST)

    assert "Snapshot of 2026-11-20T02:00:00Z, recorded on 2026-09-01T15:27:09Z." in question.body


def test_a_plan_whose_recommendations_answer_notes_alone_is_not_asked_about(tmp_path: Path) -> None:
    rows = rows_of(LAST)
    for finding in rows["finding"]:
        finding["severity"] = "INFO"
    put(tmp_path, "r1", rows).inventory.touch()

    assert asked(tmp_path, LAST) == []


@pytest.mark.parametrize(("age", "is_asked"), [(timedelta(hours=24), True), (timedelta(hours=24, seconds=1), False)])
def test_a_snapshot_older_than_a_day_is_not_asked_about(tmp_path: Path, age: timedelta, is_asked: bool) -> None:
    published(tmp_path)

    assert bool(asked(tmp_path, LAST + age)) == is_asked


def test_a_plan_is_not_asked_about_once_its_cluster_has_a_later_snapshot(tmp_path: Path) -> None:
    published(tmp_path)
    published(tmp_path, LAST + AN_HOUR, "r2", fingerprint="later")

    assert [question.run_key for question in asked(tmp_path, LAST + AN_HOUR, "r1", "r2")] == ["r2"]


def test_a_run_that_is_not_in_the_lake_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetMissing):
        asked(tmp_path, LAST, "nobody")


def test_names_of_the_cluster_are_no_markdown(tmp_path: Path) -> None:
    rows = rows_of(LAST)
    for recommendation in rows["recommendation"]:
        recommendation["consumer_group"] = "`[x](http://evil)`\n# h"
    for finding in rows["finding"]:
        finding["consumer_group"] = "`[x](http://evil)`\n# h"
    put(tmp_path, "r1", rows).inventory.touch()

    (question,) = asked(tmp_path, LAST)

    assert "`'[x](http://evil)'[U+000A]# h`" in question.body


def test_an_approval_is_kept_with_who_when_and_why(tmp_path: Path) -> None:
    run = published(tmp_path)
    plan = read_plan(run.report / "plan.json")

    kept = answered(tmp_path, LAST + AN_HOUR)

    assert kept == Approval(
        status="APPROVED",
        by="alice",
        at="2026-11-20T03:00:00Z",
        why="looks right",
        recommendations=tuple(sorted(needing_approval(plan))),
        approved=kept.approved,
        rejected=kept.rejected,
        reasons=kept.reasons,
        digest=kept.digest,
    )
    assert kept.digest == plan.recommendations_digest
    assert {*kept.reasons} == {*kept.rejected}, "only alternatives that gave way"
    assert sorted([*kept.approved, *kept.rejected]) == [*kept.recommendations]
    assert all(len(set(alternatives) & set(kept.approved)) <= 1 for alternatives in plan.alternatives)


def test_a_person_approves_some_and_rejects_some(tmp_path: Path) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + AN_HOUR, params_input={"why": "not today", "reject_these": "scale_consumers 1"})

    assert kept.status == "APPROVED"
    assert kept.approved
    assert kept.rejected
    assert kept.why == "not today"
    assert not any(one.startswith("scale") for one in kept.approved)


def test_each_recommendation_is_answered_with_a_reason_of_its_own(tmp_path: Path) -> None:
    plan = read_plan(published(tmp_path).report / "plan.json")
    first, second, *_ = (one.recommendation.id for one in asked_about(plan, needing_approval(plan)))

    lines = {"approve_only": "2: agreed with the shop", "reject_these": "1: it costs too much"}
    kept = answered(tmp_path, LAST + AN_HOUR, params_input=lines | {"why": "the change window is tonight"})

    assert kept.approved == (second,)
    assert (kept.reasons[first], kept.reasons[second]) == ("it costs too much", "agreed with the shop")
    assert {*kept.reasons} == {*kept.approved, *kept.rejected}
    assert {*kept.recommendations} > {*kept.approved, *kept.rejected}, "what is named nowhere stays open"
    assert kept.why == "the change window is tonight"


@pytest.mark.parametrize(("line", "reasons"), [("1: no money", ["no money"]), ("one: no money", [])])
def test_a_rejection_of_all_keeps_reasons_and_holds_whatever_the_words_are(
    tmp_path: Path, line: str, reasons: list[str]
) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + AN_HOUR, "Reject", params_input={"reject_these": line, "why": "later"})

    assert (kept.status, kept.approved, kept.why) == ("REJECTED", (), "later")
    assert [*kept.reasons.values()] == reasons


def test_words_that_mean_nothing_approve_nothing(tmp_path: Path) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + AN_HOUR, params_input={"why": "", "approve_only": "EXPAND_QUEUE"})

    assert (kept.status, kept.approved) == ("REJECTED", ())
    assert kept.why is not None
    assert kept.why.startswith("approved, but approve_only: 'EXPAND_QUEUE' names no recommendation of this question")


def test_the_question_lists_recommendations_by_cause_with_severity_reason_and_alternatives(tmp_path: Path) -> None:
    run = published(tmp_path)
    plan = read_plan(run.report / "plan.json")

    (question,) = asked(tmp_path, LAST)

    lines = question.body.splitlines()
    assert [line for line in lines if line.startswith("- 1: ")]
    headings = [place for place, line in enumerate(lines) if line.startswith("### ")]
    first = f"### {plan.causes[0].severity.capitalize()}: {plan.causes[0].title}".replace("_", r"\_")
    assert (lines[headings[0]], lines[headings[-1]]) == (first, "### How to answer")
    for place in headings:
        assert (lines[place - 1], lines[place + 1]) == ("", ""), "a heading has its line to itself"
        assert len(lines[place]) < 100
    assert not [line for line in lines if line.startswith("**")]
    assert "*Instead of " in question.body
    assert "**Approve** approves all" in question.body
    assert "**Reject** rejects all." in question.body


def test_a_rejection_is_kept_too(tmp_path: Path) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + AN_HOUR, "Reject", params_input={"why": " "})

    assert (kept.status, kept.by, kept.why) == ("REJECTED", "alice", None)


def test_no_answer_in_time_is_a_rejection_by_nobody(tmp_path: Path) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + AN_HOUR, "Reject", responded_by_user=None, params_input={})

    assert (kept.status, kept.by, kept.why) == ("REJECTED", None, "nobody answered in time")


def test_an_approval_of_what_has_become_too_old_is_a_rejection_with_the_reason(tmp_path: Path) -> None:
    published(tmp_path)

    kept = answered(tmp_path, LAST + timedelta(hours=25))

    assert (kept.status, kept.by) == ("REJECTED", "alice")
    assert kept.why == "approved, but the snapshot is older than 24 hours (looks right)"


def test_a_question_ends_when_a_freeze_begins_and_what_is_approved_later_is_a_rejection(tmp_path: Path) -> None:
    begins = LAST + timedelta(hours=6)
    sale = {"from": begins.isoformat(), "to": (begins + AN_HOUR).isoformat(), "why": "the sale"}
    put(tmp_path, "r1", rows_of(LAST), policy=Policy.model_validate({"freeze": [sale]})).inventory.touch()
    (question,) = asked(tmp_path, LAST)

    assert question.until == begins
    assert "- The question ends at 2026-11-20T08:00:00Z: that rejects all." in question.body
    later = begins + timedelta(minutes=1)
    kept = answered(tmp_path, later)
    assert kept.status == "REJECTED"
    assert kept.why == "approved, but it was valid until 2026-11-20T08:00:00Z (looks right)"
    assert asked(tmp_path, later) == []
    said = refusal_of("Approve", {}, "r1", question.digest, Lake(tmp_path), later)
    assert said == "The plan cannot be approved: it was valid until 2026-11-20T08:00:00Z."


def test_an_answer_to_other_recommendations_under_the_same_numbers_is_refused_and_nothing_is_kept(
    tmp_path: Path,
) -> None:
    rows = rows_of(LAST)
    first = rows["recommendation"][0]
    rows["recommendation"] = [first | {"action": "FIX_CLIENT_ID", "reason": "two clients have one id"}]
    run = put(tmp_path, "r1", rows)
    run.inventory.touch()
    (question,) = asked(tmp_path, LAST)
    assert "- 1: `FIX_CLIENT_ID`" in question.body
    # The run is cleared, with another policy: the same snapshot, the same numbers, another recommendation.
    rows["recommendation"] = [first | {"action": "EXPAND_QUEUES", "reason": "idle clients"}]
    put(tmp_path, "r1", rows)

    said = refusal_of("Approve", {"approve_only": "1"}, "r1", question.digest, Lake(tmp_path), LAST)
    assert said is not None
    assert said.startswith("Nothing is stored. the plan: its recommendations are not those of this question any more")
    answer = {"chosen_options": ["Approve"], "responded_by_user": ALICE, "responded_at": LAST.isoformat()}
    with pytest.raises(OtherRecommendations):
        record_answer(answer, "r1", question.digest, Lake(tmp_path), LAST)

    assert answers_of(run) == ()
    (again,) = asked(tmp_path, LAST)
    assert "- 1: `EXPAND_QUEUES`" in again.body
    assert record_answer(answer, "r1", again.digest, Lake(tmp_path), LAST) == "APPROVED"


def test_an_answer_to_a_plan_of_another_snapshot_is_refused(tmp_path: Path) -> None:
    published(tmp_path)
    (question,) = asked(tmp_path, LAST)
    published(tmp_path, fingerprint="another")

    answer = {"chosen_options": ["Reject"], "responded_by_user": ALICE, "responded_at": LAST.isoformat()}
    with pytest.raises(OtherRecommendations):
        record_answer(answer, "r1", question.digest, Lake(tmp_path), LAST)


def test_two_answers_in_a_row_both_stay(tmp_path: Path) -> None:
    published(tmp_path)

    first = answered(tmp_path, LAST + AN_HOUR)
    second = answered(tmp_path, LAST + AN_HOUR * 2, "Reject")

    assert answers_of(Lake(tmp_path).run("prod-eu-1", "r1")) == (first, second)


class Events:
    """What a task emits."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def __getitem__(self, _alias: object) -> "Events":
        return self

    def add(self, _asset: object, extra: dict[str, Any]) -> None:
        self.told.append(extra)


def resumed(lake: Path, digest: str) -> dict[str, Any]:
    """What the task that asks gives, once a person has answered."""
    event = {
        "chosen_options": ["Approve"],
        "params_input": {"seen": digest, "approve_only": "1"},
        "responded_at": LAST,
        "responded_by_user": ALICE,
    }
    return AskOperator(task_id="ask", run_key="r1", lake=str(lake)).execute_complete({}, event, digest)


def test_an_answer_to_other_recommendations_is_not_kept_and_a_new_run_asks(tmp_path: Path) -> None:
    now, events = datetime.now(UTC), Events()
    taken_at = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    published(tmp_path, taken_at=taken_at)
    (question,) = asked(tmp_path, now)
    answer = resumed(tmp_path, question.digest)
    context: Any = {"outlet_events": events}

    assert record_or_ask_again(answer, "r1", Lake(tmp_path), context) == "APPROVED"
    run = published(tmp_path, taken_at=taken_at, fingerprint="another")
    assert record_or_ask_again(answer, "r1", Lake(tmp_path), context) == "ASKED_AGAIN"
    published(tmp_path, taken_at="2026-11-20T02:00:00Z", fingerprint="an old one")
    assert record_or_ask_again(answer, "r1", Lake(tmp_path), context) == "NOT_KEPT"

    assert len(answers_of(run)) == 1
    assert [extra["run_id"] for extra in events.told] == ["r1"]


def test_a_task_that_was_cleared_leaves_the_question_to_a_new_run(tmp_path: Path) -> None:
    published(tmp_path, taken_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    ask, events = AskOperator(task_id="ask", run_key="r1", lake=str(tmp_path)), Events()
    again: Any = {"ti": SimpleNamespace(try_number=2), "outlet_events": events}

    assert record_or_ask_again(ask.execute(again), "r1", Lake(tmp_path), again) == "ASKED_AGAIN"
    assert len(events.told) == 1


@pytest.mark.parametrize("seen", ["", None])
def test_an_answer_that_leaves_out_what_was_seen_is_to_the_question_as_it_is(tmp_path: Path, seen: str | None) -> None:
    published(tmp_path)
    (question,) = asked(tmp_path, LAST)

    assert refusal_of("Approve", {"seen": seen}, "r1", question.digest, Lake(tmp_path), LAST) is None
    said = refusal_of("Approve", {"seen": "of before"}, "r1", question.digest, Lake(tmp_path), LAST)
    assert said is not None
    assert said.startswith("The question has been asked again since")


def test_a_question_ends_when_its_snapshot_is_a_day_old(tmp_path: Path) -> None:
    published(tmp_path)

    assert [question.until for question in asked(tmp_path, LAST + AN_HOUR)] == [LAST + timedelta(hours=24)]


def test_a_moment_of_another_zone_is_kept_in_utc(tmp_path: Path) -> None:
    published(tmp_path)

    assert answered(tmp_path, LAST, responded_at="2026-11-20T10:30:00+08:00").at == "2026-11-20T02:30:00Z"


def test_an_answer_as_airflow_hands_it_over_within_a_process_is_understood(tmp_path: Path) -> None:
    published(tmp_path)

    assert answered(tmp_path, LAST, responded_at=datetime(2026, 11, 20, 5, tzinfo=UTC)).at == "2026-11-20T05:00:00Z"


def test_an_answer_may_leave_fields_out_and_has_no_others() -> None:
    ask = AskOperator(task_id="ask", run_key="r1", lake="lake")

    ask.validate_params_input({"why": "it is needed"})
    assert dict(ask.params) == {"approve_only": None, "reject_these": None, "why": "it is needed", "seen": None}
    assert [*ask.params] == [*answer_fields()]

    with pytest.raises(ValueError, match="does not match"):
        ask.validate_params_input({"wy": "it is needed"})
