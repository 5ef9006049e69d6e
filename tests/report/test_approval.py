"""What people say to a plan: what has to be asked, which answers the plan then holds, and what the page says."""

import csv
import io
import itertools
import json
import multiprocessing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UNSET

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.report.approval import answers_of, approval_of, keep_answer, needing_approval, set_aside
from rocketmq_capacity.report.limits import ANSWERS
from rocketmq_capacity.report.summary_file import summary_of_plan
from rocketmq_capacity.report.tables import recommendations_csv
from rocketmq_capacity.store.lake import Run
from tests.report.from_rows import page_of, plan_bytes, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import by_id, elements, read_page, text_of
from tests.report.row_builders import a_finding, a_recommendation
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

BOTH = ["expand_queues-1", "scale_consumers-1"]


def an_approval(**changes):
    return {
        "status": "APPROVED",
        "by": "admin",
        "at": "2026-11-20T08:00:00Z",
        "why": "the change window is tonight",
        "recommendations": BOTH,
    } | changes


def shown(approval, rows=None):
    return read_page(page_of(rows or sample_rows(), approval=approval))


def test_what_answers_a_warning_has_to_be_approved():
    assert sorted(needing_approval(plan_of(sample_rows()))) == BOTH


def test_what_answers_notes_alone_or_nothing_has_not():
    rows = sample_rows()
    rows["finding"] = [a_finding(severity="INFO"), a_finding("HOT_QUEUE", severity="WARNING", topic="other")]

    assert needing_approval(plan_of(rows)) == []


def test_one_finding_that_is_no_note_is_enough():
    rows = sample_rows()
    rows["finding"] = [a_finding(severity="INFO"), a_finding("ORPHAN_QUEUE", severity="CRITICAL", topic="pay")]
    rows["recommendation"].append(a_recommendation("FIX_CLIENT_ID", id="x", rules=["IDLE_CONSUMERS", "ORPHAN_QUEUE"]))

    assert needing_approval(plan_of(rows)) == ["x"]


@pytest.mark.parametrize("action", ["INVESTIGATE", "CHECK_PRODUCER_KEYS"])
def test_to_look_needs_no_approval(action):
    rows = sample_rows()
    rows["recommendation"] = [a_recommendation(action, id="x", rules=["IDLE_CONSUMERS"])]

    assert needing_approval(plan_of(rows)) == []


def test_what_an_answer_left_open_is_neither_approved_nor_rejected():
    rows, (first, second) = sample_rows(), BOTH
    approval = an_approval(approved=[first], rejected=[])

    page = read_page(page_of(rows, approval=approval))
    assert "Left open: 1 recommendation." in text_of(by_id(page, "approval"))
    table = csv.DictReader(io.StringIO(recommendations_csv(plan_of(rows, approval=approval)).decode("utf-8-sig")))
    assert {one["id"]: one["answer"] for one in table} == {first: "APPROVED", second: ""}


def test_a_plan_without_an_answer_is_the_plan_as_it_always_was():
    assert "approval" not in json.loads(plan_bytes(plan_of(sample_rows())))


def test_the_answer_comes_after_the_recommendations_and_changes_nothing_else():
    plain, answered = (
        json.loads(plan_bytes(plan_of(varied_rows(4), approval=approval)))
        for approval in (None, an_approval(recommendations=[]))
    )

    assert list(answered) == [*plain, "approval"]
    assert {**answered, "approval": None} == {**plain, "approval": None}
    members = ("status", "by", "at", "why", "recommendations", "approved", "rejected", "reasons", "digest")
    assert list(answered["approval"]) == list(members)


def test_the_ids_of_an_answer_are_always_in_the_same_order():
    orders = [an_approval(recommendations=list(order)) for order in itertools.permutations(BOTH)]

    assert len({plan_bytes(plan_of(sample_rows(), approval=each)) for each in orders}) == 1


def test_an_answer_to_other_recommendations_does_not_count_and_is_kept():
    other = an_approval(recommendations=["of-yesterday"])

    plan = plan_of(sample_rows(), approval=other)

    assert plan.approval is UNSET
    assert plan.other_answers == (approval_of(other),)
    assert summary_of_plan(plan).is_waiting


DIGEST = plan_of(sample_rows()).recommendations_digest
CHANGED = {
    "id": "x",
    "action": "INVESTIGATE",
    "topic": "refund",
    "reason": "another",
    "commands": ["mqadmin updateTopic -n … -t pay -r 64"],
    "rules": ["IDLE_CONSUMERS", "ORPHAN_QUEUE"],
}


@pytest.mark.parametrize("member", CHANGED)
def test_the_digest_is_of_all_that_is_shown_of_a_recommendation(member):
    rows = sample_rows()
    rows["recommendation"][0][member] = CHANGED[member]

    assert plan_of(rows).recommendations_digest != DIGEST


def test_the_digest_is_of_the_snapshot_and_of_what_is_asked_about_alone():
    same, other = sample_rows(), sample_rows()
    same["recommendation"].append(a_recommendation("INVESTIGATE", id="a-note", rules=["HOT_QUEUE"], topic="other"))
    other["cluster"][0]["fingerprint"] = "another"

    assert plan_of(same).recommendations_digest == DIGEST
    assert plan_of(other).recommendations_digest != DIGEST
    assert plan_of(sample_rows(), scenario=a_scenario()).recommendations_digest is UNSET
    assert plan_of(sample_rows() | {"finding": []}).recommendations_digest is UNSET


def test_of_several_answers_the_last_of_a_person_to_these_recommendations_counts():
    first = an_approval(by="ann", digest=DIGEST)
    last = an_approval(by="bob", status="REJECTED", digest=DIGEST)
    to_others = an_approval(by="eve", digest="of others")
    nobody = an_approval(by=None, status="REJECTED", why="nobody answered in time", digest=DIGEST)

    plan = plan_of(sample_rows(), answers=[first, last, to_others, nobody])

    assert plan.approval == approval_of(last)
    assert plan.other_answers == tuple(map(approval_of, (first, to_others, nobody)))
    assert json.loads(plan_bytes(plan))["other_answers"][1]["digest"] == "of others"
    assert summary_of_plan(plan).other_answers == 3


def test_the_page_shows_every_answer_and_which_one_counts():
    answers = [
        an_approval(by="ann", digest=DIGEST, why="at night"),
        an_approval(by="eve", digest="of others"),
        an_approval(by="bob", digest=DIGEST),
    ]
    tree = read_page(page_of(sample_rows(), answers=answers))

    assert text_of(by_id(tree, "approval")).startswith("Approved by bob on ")
    lines = [text_of(one) for one in elements(by_id(tree, "other-answers"), "li")]
    assert lines[0].startswith("Approved by eve on 20 November 2026, 08:00:00 UTC, 2 of 2. It was to other recommend")
    assert lines[1].startswith("Approved by ann on ")
    assert lines[1].endswith("The answer above counts instead. Why: at night")


def test_a_page_whose_answers_are_all_to_other_recommendations_says_that_nobody_has_answered_these():
    tree = read_page(page_of(sample_rows(), approval=an_approval(digest="of others")))

    assert by_id(tree, "main")[0].get("id") == "other-answers"
    assert "nobody has answered these yet" in text_of(by_id(tree, "other-answers"))


def test_many_other_answers_are_counted_on_the_page_and_all_in_the_plan():
    answers = [an_approval(by=f"user {n}", digest=DIGEST) for n in range(50)]
    tree = read_page(page_of(sample_rows(), answers=answers))

    assert len(elements(by_id(tree, "other-answers"), "li")) == ANSWERS
    assert f"{49 - ANSWERS} earlier ones are in plan.json." in text_of(by_id(tree, "other-answers"))
    assert len(json.loads(plan_bytes(plan_of(sample_rows(), answers=answers)))["other_answers"]) == 49


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"status": "MAYBE"}, "$.status"),
        ({"status": None}, "$.status"),
        ({"by": 3}, "$.by"),
        ({"why": ["x"]}, "$.why"),
        ({"at": "yesterday"}, "$.at"),
        ({"at": "2026-11-20T08:00:00+01:00"}, "$.at"),
        ({"recommendations": "expand_queues-1"}, "$.recommendations"),
        ({"recommendations": [1]}, "$.recommendations"),
        ({"more": 1}, "$"),
        ({"approved": BOTH, "rejected": BOTH}, "$.approved, $.rejected"),
        ({"approved": BOTH[:1], "rejected": ["of-yesterday"]}, "$.approved, $.rejected"),
        ({"approved": BOTH, "rejected": [], "reasons": {BOTH[0]: 1}}, "$.reasons"),
        ({"approved": BOTH, "rejected": [], "reasons": {"of-yesterday": "no"}}, "$.reasons"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_place(changes, place):
    with pytest.raises(BadInput) as caught:
        approval_of(an_approval(**changes))

    assert caught.value.place == place


def test_an_answer_of_an_earlier_version_is_read_and_counts_until_recommendations_are_made_again(tmp_path):
    run = Run(tmp_path)
    assert answers_of(run) == ()
    run.approval.write_text(json.dumps(an_approval()))
    assert answers_of(run) == (approval_of(an_approval()),)

    set_aside(run)
    set_aside(run)

    (kept,) = answers_of(run)
    assert not run.approval.exists()
    assert plan_of(sample_rows(), approval=an_approval(digest=kept.digest)).approval is UNSET


def test_a_damaged_answer_is_named(tmp_path):
    run = Run(tmp_path)
    keep_answer(run, approval_of(an_approval()), MOMENT).write_text("{")

    with pytest.raises(BadInput, match=r"answers/.*: is not JSON"):
        answers_of(run)


MOMENT = datetime(2026, 11, 20, 8, tzinfo=UTC)
AT_ONCE = 4
EACH = 25


def test_answers_are_added_and_never_replaced(tmp_path):
    run = Run(tmp_path)
    yes, no = approval_of(an_approval()), approval_of(an_approval(status="REJECTED"))

    later = keep_answer(run, yes, MOMENT.replace(microsecond=1))
    before = keep_answer(run, no, MOMENT)
    again = keep_answer(run, yes, MOMENT.replace(microsecond=1))

    assert later == again != before
    assert answers_of(run) == (no, yes), "in the order in which they were given"


def answer_often(folder: Path, name: str) -> None:
    for number in range(EACH):
        keep_answer(Run(folder), approval_of(an_approval(by=f"{name} {number}")), MOMENT)
        keep_answer(Run(folder), approval_of(an_approval(by=f"all {number}")), MOMENT)


def test_processes_that_answer_at_once_lose_no_answer(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=answer_often, args=(tmp_path, f"p{n}")) for n in range(AT_ONCE)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)

    assert [writer.exitcode for writer in writers] == [0] * AT_ONCE
    names = {answer.by for answer in answers_of(Run(tmp_path))}
    assert len(names) == AT_ONCE * EACH + EACH
    assert not list((tmp_path / "answers").glob(".*")), "no part of a file is left"


def test_the_top_of_the_page_says_who_approved_when_and_why():
    tree = shown(an_approval())
    box = by_id(tree, "approval")

    assert by_id(tree, "main")[0] is box
    assert text_of(box).startswith(
        "Approved by admin on 20 November 2026, 08:00:00 UTC. Why: the change window is tonight"
    )
    assert "Approved: 2 recommendations: " in text_of(box)
    (target,) = {link.get("href") for link in elements(box, "a")}
    assert target.startswith("#cause-")
    assert by_id(tree, target.removeprefix("#")).get("class") == "body"


@pytest.mark.parametrize(
    ("by", "said"), [("ops", "Rejected by ops on"), (None, "Rejected, because nobody answered in time on")]
)
def test_the_top_of_the_page_says_that_it_was_rejected(by, said):
    text = text_of(by_id(shown(an_approval(status="REJECTED", by=by, why=None)), "approval"))

    assert text.startswith(said)
    assert "Why:" not in text
    assert text.endswith("Do not carry them out.")


def test_a_page_without_an_answer_says_nothing_of_one():
    rows = varied_rows(3)

    assert 'id="approval"' not in page_of(rows)


def test_a_what_if_and_its_answer_are_both_at_the_top():
    rows = sample_rows()
    tree = read_page(page_of(rows, approval=an_approval(), scenario=a_scenario()))

    assert [child.get("id") or child[0].get("id") for child in by_id(tree, "main")][:2] == ["approval", "what-if"]


def test_a_hostile_name_and_reason_are_only_text():
    hostile = "<script>alert(1)</script>\u202e"
    box = by_id(shown(an_approval(by=hostile, why=hostile)), "approval")

    assert elements(box, "script") == []
    assert text_of(box).count("<script>alert(1)</script>[U+202E]") == 2


def test_an_answer_that_approves_some_and_rejects_some_says_which_on_the_page_and_in_the_csv_file():
    approval = approval_of(an_approval(approved=BOTH[:1], rejected=BOTH[1:]))
    plan = plan_of(sample_rows(), approval=an_approval(approved=BOTH[:1], rejected=BOTH[1:]))

    (box,) = [e for e in shown(an_approval(approved=BOTH[:1], rejected=BOTH[1:])).iter() if e.get("id") == "approval"]
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(recommendations_csv(plan).decode()))}

    assert (approval.approved, approval.rejected) == (("expand_queues-1",), ("scale_consumers-1",))
    assert "Approved: 1 recommendation: " in text_of(box)
    assert "Rejected: 1 recommendation: " in text_of(box)
    assert "Do not carry it out." in text_of(box)
    assert [rows[one]["answer"] for one in BOTH] == ["APPROVED", "REJECTED"]
    assert {(row["answered_by"], row["answered_at"], row["answer_why"]) for row in rows.values()} == {
        ("admin", "2026-11-20T08:00:00Z", "the change window is tonight")
    }
    assert summary_of_plan(plan).approved == 1


def test_an_answer_of_an_earlier_version_was_to_all_of_them_alike():
    assert approval_of(an_approval()).approved == tuple(BOTH)
    assert approval_of(an_approval(status="REJECTED")).rejected == tuple(BOTH)


def test_each_has_its_own_reason_in_the_plan_on_the_page_and_in_the_csv_file():
    said = an_approval(approved=BOTH[:1], rejected=BOTH[1:], reasons={BOTH[1]: "it costs <too> much"})
    plan = plan_of(sample_rows(), approval=said)
    tree = shown(said)

    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(recommendations_csv(plan).decode()))}
    reason = "Why: it costs <too> much"

    assert json.loads(plan_bytes(plan))["approval"]["reasons"] == {BOTH[1]: "it costs <too> much"}
    assert [rows[one]["answer_why"] for one in BOTH] == ["the change window is tonight", "it costs <too> much"]
    lines = [text_of(one) for one in elements(by_id(tree, "approval"), "p")]
    assert [reason in line for line in lines] == ["Rejected: 1" in line for line in lines]
    ways = [text_of(one) for one in elements(tree, "p") if "said" in (one.get("class") or "").split()]
    assert ways == [f"Rejected: do not carry this out. {reason}", "Approved. Why: the change window is tonight"]


def test_many_reasons_at_the_top_of_the_page_are_counted_and_left_to_the_files():
    rows = sample_rows()
    rows["recommendation"] = [a_recommendation("INVESTIGATE", id=f"id-{n:03}") for n in range(500)]
    ids = [one["id"] for one in rows["recommendation"]]
    reasons = {one: f"reason {one}" for one in ids}
    box = by_id(shown(an_approval(recommendations=ids, approved=[], rejected=ids, reasons=reasons), rows), "approval")

    assert len(elements(box, "q")) == 1 + ANSWERS
    assert f"{500 - ANSWERS} more answers are in recommendations.csv and plan.json." in text_of(box)


def test_an_answer_of_the_version_before_had_one_reason_for_all():
    said = an_approval(approved=BOTH[:1], rejected=BOTH[1:])

    assert approval_of(said) == approval_of(said | {"reasons": {}})
