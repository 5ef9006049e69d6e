"""The course of a cluster's counts, as rows and as a picture."""

import re
from dataclasses import replace

from msgspec import structs

from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.report.trend import trend_of
from rocketmq_capacity.store.lake import Lake
from tests.plugins.stored_reports import CLUSTER, LAST, put, put_days, rows_of
from tests.report.page_reader import SVG, elements, read_page


def stored(folder):
    return Shelf(Lake(folder), "plans").reports(CLUSTER)


def drawn(picture, name):
    return elements(read_page(f"<!DOCTYPE html><title>x</title>{picture}"), name, SVG)


def lines(picture):
    return [path for path in drawn(picture, "path") if path.get("stroke-width") == "2.0"]


def test_reports_are_listed_oldest_first_whatever_their_order(tmp_path):
    put_days(tmp_path, 4)
    reports = stored(tmp_path)

    trend = trend_of(CLUSTER, reports)

    assert list(trend.reports) == list(reversed(reports))
    assert trend == trend_of(CLUSTER, list(reversed(reports)))


def test_the_score_has_a_picture_of_its_own_if_two_plans_have_one(tmp_path):
    put_days(tmp_path, 4)
    reports = stored(tmp_path)
    scored = [
        replace(one, summary=structs.replace(one.summary, score=50.0 + place)) for place, one in enumerate(reports)
    ]
    picture = trend_of(CLUSTER, scored).score

    assert [title.text for title in drawn(picture, "title")] == [f"Score of {CLUSTER}"]
    assert {text.text for text in drawn(picture, "text")} >= {"0", "50", "100"}
    unknown = [replace(one, summary=structs.replace(one.summary, score=None)) for one in reports[1:]]
    assert trend_of(CLUSTER, [*unknown, scored[0]]).score is None


def test_the_picture_is_one_image_whose_description_says_where_each_line_begins_and_ends(tmp_path):
    put_days(tmp_path, 4)
    reports = stored(tmp_path)
    picture = trend_of(CLUSTER, reports).picture
    first, last = reports[-1].summary.cause_counts, reports[0].summary.cause_counts

    (image,), (title,), (description,) = (drawn(picture, name) for name in ("svg", "title", "desc"))
    assert image.get("role") == "img"
    assert title.text == f"Causes of {CLUSTER}"
    said = description.text
    assert "over 4 plans, from 17 November 2026, 02:00:00 UTC to 20 November 2026, 02:00:00 UTC" in said
    for word, name in (("critical", "CRITICAL"), ("warning", "WARNING"), ("info", "INFO")):
        assert f"{word} {first[name]} to {last[name]}" in said


def test_each_severity_has_a_line_of_its_own_that_does_not_differ_by_colour_alone(tmp_path):
    put_days(tmp_path, 5)

    found = lines(trend_of(CLUSTER, stored(tmp_path)).picture)

    assert {path.get("stroke") for path in found} == {f"var(--{name}-line)" for name in ("critical", "warning", "info")}
    assert len({path.get("stroke-dasharray") for path in found}) == 3
    # Each point is one step from that before; of points at one height there is one step.
    assert max(len(re.findall("[lh]", path.get("d"))) for path in found) == 5


def test_one_snapshot_is_no_trend_however_often_it_was_planned(tmp_path):
    for run in ("r1", "r2"):
        put(tmp_path, run, rows_of(LAST))

    assert trend_of(CLUSTER, stored(tmp_path)).picture is None
    assert len(trend_of(CLUSTER, stored(tmp_path)).reports) == 2


def test_a_cluster_without_findings_is_drawn(tmp_path):
    put_days(tmp_path, 2)
    for folder in (tmp_path / CLUSTER).iterdir():
        put(tmp_path, folder.name, rows_of(LAST) | {"finding": []})
    (folder, _) = sorted((tmp_path / CLUSTER).iterdir())
    rows = rows_of(LAST) | {"finding": []}
    rows["cluster"][0]["taken_at"] = "2026-11-19T02:00:00Z"
    put(tmp_path, folder.name, rows)

    assert len(lines(trend_of(CLUSTER, stored(tmp_path)).picture)) == 3


def test_causes_the_busiest_client_and_groups_have_a_course_each(tmp_path):
    put_days(tmp_path, 4)
    reports = stored(tmp_path)
    first, last = reports[-1].summary, reports[0].summary

    courses = {one.title: one for one in trend_of(CLUSTER, reports).courses}

    assert courses["Causes"].first == str(sum(first.cause_counts.values()))
    assert courses["Causes"].last == str(sum(last.cause_counts.values()))
    assert (courses["Consumer groups"].least, courses["Consumer groups"].most) == ("5", "7")
    assert "Score" not in courses
    assert courses["Consumer groups"].picture.count(",") == 4
    assert "NaN" not in "".join(one.picture for one in courses.values())


def test_plans_of_an_earlier_version_which_did_not_count_causes_are_in_the_table_alone(tmp_path):
    put_days(tmp_path, 3)
    old, *reports = stored(tmp_path)
    old = replace(old, summary=structs.replace(old.summary, cause_counts=None))

    trend = trend_of(CLUSTER, [old, *reports])

    assert len(trend.reports) == 3
    assert "over 2 plans" in str(trend.picture)
    assert trend_of(CLUSTER, [old, reports[0]]).picture is None


def test_plans_of_a_day_have_the_time_of_day_on_the_axis(tmp_path):
    put_days(tmp_path, 2)
    first, last = sorted(stored(tmp_path), key=lambda one: one.order)

    def words_of(*moments):
        reports = [
            replace(one, summary=structs.replace(one.summary, taken_at=moment))
            for one, moment in zip((first, last), moments, strict=True)
        ]
        return " ".join(text.text for text in drawn(trend_of(CLUSTER, reports).picture, "text"))

    of_a_day = words_of("2026-11-20T02:00:00Z", "2026-11-20T14:00:00Z")
    assert "Causes, 2026-11-20 (UTC)" in of_a_day
    assert "06:00" in of_a_day
    assert "11-21" in words_of("2026-11-20T02:00:00Z", "2026-11-22T02:00:00Z")


def test_the_score_has_a_course_over_the_plans_that_have_one(tmp_path):
    put_days(tmp_path, 4)
    scores = (80.5, None, 100.0, 64.0)
    reports = [
        replace(report, summary=structs.replace(report.summary, score=score))
        for report, score in zip(stored(tmp_path), scores, strict=True)
    ]

    (course,) = [one for one in trend_of(CLUSTER, reports).courses if one.title == "Score"]

    assert (course.first, course.last, course.least, course.most) == ("64", "80.5", "64", "100")
    assert course.picture.count(",") == 3


def test_predictions_that_came_have_a_course_over_the_plans_that_could_judge_some(tmp_path):
    put_days(tmp_path, 4)
    predictions = ((9, 10), (0, 0), None, (1, 2))
    reports = [
        replace(report, summary=structs.replace(report.summary, predictions=came))
        for report, came in zip(stored(tmp_path), predictions, strict=True)
    ]

    (course,) = [one for one in trend_of(CLUSTER, reports).courses if one.title == "Predictions that came"]

    assert {course.first, course.last} == {"50 %", "90 %"}


def test_the_picture_says_from_when_to_when_with_the_year(tmp_path):
    put_days(tmp_path, 4)

    assert ">Causes, 2026-11-17 to 2026-11-20 (UTC)</text>" in str(trend_of(CLUSTER, stored(tmp_path)).picture)
