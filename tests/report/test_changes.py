"""What is new, worse and gone since the plan before."""

import pytest

from tests.report.from_rows import page_of, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import by_id, elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group

BEFORE = "2026-11-19T02:00:00Z"


def rows_of(now, before, *, has_run_before=True):
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "finding": now,
        "finding_before": before,
        "run_before": [{"taken_at": BEFORE}] if has_run_before else [],
    }


def changes_of(now, before):
    changes = plan_of(rows_of(now, before)).changes
    return None if changes is None else (list(changes.new), list(changes.worse), list(changes.gone))


def section_of(rows, **more):
    tree = read_page(page_of(rows, **more))
    (section,) = with_class(tree, "changes") or [None]
    return tree, section


def test_without_a_plan_before_nothing_is_said_of_changes():
    rows = rows_of([a_finding()], [], has_run_before=False)

    assert plan_of(rows).changes is None
    assert "There is no plan before this one to compare with." in text_of(section_of(rows)[1])


def test_what_only_one_of_two_plans_has_is_new_or_gone():
    now, before = a_finding("HOT_QUEUE", consumer_group=None, topic="pay"), a_finding(message="as it was")
    made = plan_of(rows_of([now], [before]))

    assert made.changes is not None
    assert made.changes.since == BEFORE
    assert made.changes.new == (made.findings[0].id,)
    assert made.changes.worse == ()
    assert [(one.rule, one.consumer_group, one.message) for one in made.changes.gone] == [
        ("IDLE_CONSUMERS", "g_pay", "as it was")
    ]
    assert made.changes.gone[0].id == plan_of(rows_of([before], [])).findings[0].id


def test_a_finding_with_other_subjects_is_still_the_same():
    assert changes_of([a_finding(subjects=["c1"])], [a_finding(subjects=["c2"])]) == ([], [], [])


@pytest.mark.parametrize(
    ("severity", "before", "is_worse"),
    [("CRITICAL", "WARNING", True), ("WARNING", "WARNING", False), ("INFO", "WARNING", False)],
)
def test_a_higher_severity_is_worse(severity, before, is_worse):
    _, worse, _ = changes_of([a_finding(severity=severity)], [a_finding(severity=before)])

    assert [one.severity_before for one in worse] == ([before] if is_worse else [])


@pytest.mark.parametrize(
    ("lag", "before", "is_worse"),
    [(120, 100, True), (119, 100, False), (80, 100, False), (1, 0, True), (0, 0, False), (None, 100, False)],
)
def test_a_figure_is_worse_from_a_fifth_more_on(lag, before, is_worse):
    _, worse, _ = changes_of([a_finding("LAG_STATE", {"lag": lag})], [a_finding("LAG_STATE", {"lag": before})])

    figures = [(figure.name, figure.before, figure.now) for one in worse for figure in one.figures]
    assert figures == ([("lag", before, lag)] if is_worse else [])


def test_the_page_begins_with_what_changed_then_what_to_do_first():
    rows = rows_of([a_finding("LAG_STATE", {"lag": 1_516})], [a_finding("LAG_STATE", {"lag": 714})])
    tree, section = section_of(rows)

    assert [heading.get("id") for heading in elements(tree, "h2")][:2] == ["changes", "first"]
    assert "Worse 1" in text_of(section)
    assert "messages behind: 714 before, 1,516 now" in text_of(section)
    (link,) = elements(section, "a")
    assert "4 of 12 consumers own no queue." in text_of(by_id(tree, link.get("href")[1:]))


def test_equal_plans_say_that_nothing_changed():
    _, section = section_of(rows_of([a_finding()], [a_finding()]))

    assert "Nothing is new, worse or gone since 19 November 2026, 02:00:00 UTC." in text_of(section)


def test_many_changes_of_one_rule_are_one_line_with_their_number():
    gone = [a_finding(consumer_group=f"g_{number}") for number in range(12)]
    _, section = section_of(rows_of([], gone))

    (line,) = elements(section, "li")
    assert text_of(line).startswith("Warning 12 times: Consumers without a queue g_0 g_1")
    assert text_of(line).endswith("and 6 more")


def test_a_what_if_is_not_compared_with_the_plan_before():
    rows = rows_of([a_finding()], [])
    assert plan_of(rows, scenario=a_scenario()).changes is None
    assert section_of(rows, scenario=a_scenario())[1] is None
