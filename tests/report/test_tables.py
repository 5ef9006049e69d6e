"""findings.csv and recommendations.csv."""

import csv
import io
import json
import re

import pytest

from rocketmq_capacity.report.tables import defused, findings_csv, recommendations_csv
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_recommendation, a_recommended_transition
from tests.report.sample_cluster import COMMAND, IDLE, sample_rows


def read(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))


def test_every_finding_is_a_line_with_its_subjects_one_a_line_in_their_cell():
    (line,) = read(findings_csv(plan_of(sample_rows())))

    assert line["rule"] == "IDLE_CONSUMERS"
    assert line["topic"] == ""
    assert line["subjects"].split("\n") == IDLE
    assert line["evidence"].startswith('{"clients":12,"queues":8,"idle":4,')


def test_queues_are_named_in_short_one_a_line():
    queues = [{"topic": "pay", "broker_name": "broker-a", "queue_id": queue_id} for queue_id in (1, 10)]
    rows = {"cluster": [a_cluster()], "finding": [a_finding("ORPHAN_QUEUE", queues=queues)]}

    (line,) = read(findings_csv(plan_of(rows)))

    assert line["subjects"] == "pay broker-a 1\npay broker-a 10"


def test_every_recommendation_is_a_line_with_its_commands_in_order():
    scale, expand = read(recommendations_csv(plan_of(sample_rows())))

    assert expand["commands"].split("\n") == [COMMAND.format(broker=1), COMMAND.format(broker=2)]
    assert expand["manual"] == "false"
    assert scale["commands"] == ""


def test_what_happens_meanwhile_and_fixed_lists_are_json_in_their_cells():
    rows = sample_rows()
    queue = {"topic": "pay", "broker_name": "broker-a", "queue_id": 0}
    lists = {"moved_queues": 1, "before": {}, "after": {}, "note": "Restart.", "clients": {"c1": [queue]}}
    expand, scale = rows["recommendation"]
    rows["recommendation"] = [expand, scale | {"config_assignment": json.dumps(lists)}]
    rows["recommended_transition"] = [
        a_recommended_transition(expand["id"], moved_queues=3, new_queues=0),
        a_recommended_transition(scale["id"], is_of_lists=True, moved_queues=1, new_queues=0),
    ]
    by_action = {line["action"]: line for line in read(recommendations_csv(plan_of(rows)))}

    grown, scaled = by_action[expand["action"]], by_action[scale["action"]]
    assert json.loads(grown["transition"])["moved_queues"] == 3
    assert (grown["config_assignment"], scaled["transition"]) == ("", "")
    assert scaled["transition_undecided"].startswith("UNDECIDED: who owns the queues of g_pay")
    found = json.loads(scaled["config_assignment"])
    assert (found["clients"], found["transition"]["moved_queues"]) == ({"c1": [queue]}, 1)


def test_lines_name_their_cause_their_plan_and_what_replaces_them():
    plan = plan_of(sample_rows())
    (finding,), (expand, scale) = read(findings_csv(plan)), read(recommendations_csv(plan))

    (cause,) = plan.causes
    assert {line["cause"] for line in (finding, expand, scale)} == {cause.id}
    assert (finding["id"],) == cause.findings
    assert (expand["alternative"], scale["alternative"]) == (scale["id"], expand["id"])
    assert (finding["cluster_name"], scale["taken_at"]) == ("C1", "2026-11-20T02:00:00Z")


def test_lines_are_in_the_order_of_the_causes():
    rows = {
        "cluster": [a_cluster()],
        "finding": [a_finding("ALLOCATION_SKEW", severity="INFO"), a_finding("ORPHAN_QUEUE", severity="CRITICAL")],
    }

    assert [line["severity"] for line in read(findings_csv(plan_of(rows)))] == ["CRITICAL", "INFO"]


def test_quotes_commas_line_ends_and_other_alphabets_survive():
    message = 'a "quoted", long\r\nmessage: 支付 ✓'
    rows = {"cluster": [a_cluster()], "finding": [a_finding(message=message)]}

    content = findings_csv(plan_of(rows))

    assert read(content)[0]["message"] == message
    assert content.endswith(b"\r\n")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1", "\uff1d1", '=HYPERLINK("http://x")', "\uff20x"]
)
def test_no_cell_begins_as_a_spreadsheets_formula(text):
    finding = a_finding(consumer_group=text, topic=text, broker_name=text, message=text, subjects=[text, "b"])
    recommendation = a_recommendation(id=text, consumer_group=text, topic=text, reason=text, commands=[text])
    document = plan_of({"cluster": [a_cluster()], "finding": [finding], "recommendation": [recommendation]})

    (line,) = read(findings_csv(document))
    (advice,) = read(recommendations_csv(document))

    for name in ("consumer_group", "topic", "broker_name", "message", "subjects"):
        assert line[name].startswith("'" + text[:1])
    for name in ("id", "consumer_group", "topic", "reason", "commands"):
        assert advice[name].startswith("'" + text[:1])


@pytest.mark.parametrize("separator", [";", "\t", "\r\n"])
@pytest.mark.parametrize("text", ["x;=1+1", "x\t@SUM(A1)", "x\n=1+1", "x;;+1", "x\r-1", "x;\uff1d1"])
def test_no_cell_of_another_separator_begins_as_a_formula_either(text, separator):
    finding = a_finding(consumer_group=text, message=text, subjects=[text, "=1"], evidence={"why": text})
    content = findings_csv(plan_of({"cluster": [a_cluster()], "finding": [finding]})).decode()

    # A reader that splits at it finds no quotes at the beginning of a cell, so that they protect nothing.
    for cell in re.split(f"{separator}|\r|\n", content):
        assert not cell.startswith(("=", "+", "-", "@", "\uff1d"))


@pytest.mark.parametrize(
    "text", ["", "pay", "10.0.0.1@1#1", "mqadmin updateTopic -n 'a:1;b:1' -t pay", "a=b", "'=1", "late; -5 ms", "a, -1"]
)
def test_other_texts_stay_as_they_are(text):
    assert defused(text) == text
