"""The summary that a terminal shows."""

import json
import os
import subprocess
import sys

import pytest

from rocketmq_capacity.report.summary import main
from tests.report.from_rows import publish_rows
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_finding, a_group
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows


def test_it_names_the_report_and_counts_by_rule(tmp_path, capsys):
    publish_rows(varied_rows(18), tmp_path)

    assert main([str(tmp_path / "plan.json")]) == 0

    told = capsys.readouterr().out
    assert f"Report: {tmp_path / 'report.html'}" in told
    assert "Cluster prod-eu-1, 20 November 2026, 02:00:00 UTC" in told
    assert "Queues read completely: 97.2 %" in told
    rules = [finding["rule"] for finding in json.loads((tmp_path / "plan.json").read_bytes())["findings"]]
    line = next(line for line in told.splitlines() if "ORPHAN_QUEUE" in line)
    assert line.startswith("Critical")
    assert line.endswith(str(rules.count("ORPHAN_QUEUE")))


def test_it_gives_the_score_where_enough_can_be_judged(tmp_path, capsys):
    group = a_group(provision_status="RIGHT_PROVISIONED", reading_status="READ")
    publish_rows({"cluster": [a_cluster()], "group_status": [group], "finding": [a_finding("ORPHAN_QUEUE")]}, tmp_path)

    main([str(tmp_path / "plan.json")])

    told = capsys.readouterr().out
    assert "Score: 77 of 100, 77 after all recommendations; 89.6 % of goals judged" in told


def test_it_counts_recommendations_and_those_to_be_carried_out_by_hand(tmp_path, capsys):
    rows = sample_rows()
    rows["recommendation"][0]["is_manual"] = True
    publish_rows(rows, tmp_path)

    main([str(tmp_path / "plan.json")])

    assert "Recommendations: 2, of which 1 manual" in capsys.readouterr().out


def test_a_recorded_snapshot_says_so(tmp_path, capsys):
    publish_rows({"cluster": [a_cluster(recorded_at="2026-09-01T15:27:09Z")]}, tmp_path)

    main([str(tmp_path / "plan.json")])

    assert (
        "A recorded snapshot, of 1 September 2026, 15:27:09 UTC, which was given this date" in capsys.readouterr().out
    )


def test_a_what_if_says_so_and_what_it_would_do(tmp_path, capsys):
    publish_rows(varied_rows(3), tmp_path, scenario=a_scenario())

    main([str(tmp_path / "plan.json")])

    told = " ".join(capsys.readouterr().out.split())
    assert "What-if, not the cluster as it is: lose broker-b These changes make the cluster worse. Not every" in told


def test_a_plan_without_findings_says_so(tmp_path, capsys):
    publish_rows({"cluster": [a_cluster()]}, tmp_path)

    main([str(tmp_path / "plan.json")])

    assert "No findings." in capsys.readouterr().out


def test_where_there_is_no_terminal_the_output_is_plain_text(tmp_path):
    publish_rows({"cluster": [a_cluster()], "finding": [a_finding()]}, tmp_path)

    run = subprocess.run(
        [sys.executable, "-m", "rocketmq_capacity.report.summary", tmp_path / "plan.json"],
        capture_output=True,
        check=True,
        timeout=300,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )

    assert run.stdout.isascii()
    assert b"\x1b" not in run.stdout
    assert b"IDLE_CONSUMERS" in run.stdout


def test_a_name_cannot_drive_the_terminal(tmp_path, capsys):
    publish_rows({"cluster": [a_cluster(cluster_name="a\x1b]0;x\x07[red]b")]}, tmp_path)

    main([str(tmp_path / "plan.json")])

    assert "Cluster a[U+001B]]0;x[U+0007][red]b" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "cannot be read"), ("{", "is not JSON"), ("{}", "is not of the format")]
)
def test_what_is_no_plan_is_bad_input(tmp_path, capsys, content, problem):
    path = tmp_path / "plan.json"
    if content is not None:
        path.write_text(content)

    assert main([str(path)]) == 2

    told = capsys.readouterr().err
    assert str(path) in told
    assert problem in told
    assert told.count("\n") == 1
