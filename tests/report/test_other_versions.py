"""A stored plan of another version is read, compared and shown, whatever the evidence of its findings looks like."""

import json
from typing import Any

import pytest

from rocketmq_capacity.catalogue.rule import evidence_of, rules
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.difference import difference
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import read_page, text_of
from tests.report.row_builders import Row, a_cluster, a_finding

NO_FIGURES: dict[str, Any] = {}
OTHER_FIGURES: dict[str, Any] = {"figure_of_then_s": 7}
NAMES = ("lag", "queues", "clients", "cause", "version", "proposed", "pairs", "matrix", "orphans", "utilisation_ratio")
OTHER_TYPES: dict[str, Any] = {name: {"of": "another kind"} for name in NAMES}
ALL: tuple[dict[str, Any], ...] = (NO_FIGURES, OTHER_FIGURES, OTHER_TYPES)


def findings(evidence: dict[str, Any]) -> dict[str, list[Row]]:
    """A finding of each rule, and of one that this version does not know, all with this evidence."""
    rows = [a_finding(rule) | {"evidence": json.dumps(evidence)} for rule in (*rules(), "A_RULE_OF_THEN")]
    return {"cluster": [a_cluster()], "finding": rows}


def plan_with(evidence: dict[str, Any]) -> Plan:
    return plan_of(findings(evidence))


@pytest.mark.parametrize("evidence", ALL, ids=["no figures", "other figures", "other types"])
def test_findings_belong_to_causes_and_their_figures_are_unknown(evidence: dict[str, Any]) -> None:
    plan = plan_with(evidence)

    assert [evidence_of(one) for one in plan.findings] == [None] * (len(rules()) + 1)
    assert {one.evidence == evidence for one in plan.findings} == {True}
    assert {one for cause in plan.causes for one in cause.findings} == {one.id for one in plan.findings}
    assert {(one.impact.lag, one.impact.unread_queues, one.impact.idle_clients) for one in plan.causes} == {
        (None, None, None)
    }


def test_the_page_shows_their_figures_as_they_are() -> None:
    text = text_of(read_page(page_of(findings(OTHER_FIGURES))))

    assert text.count("figure of then") == len(rules()) + 1
    assert "7 s" in text


def test_such_plans_are_compared_with_one_another() -> None:
    plans = [plan_with(evidence) for evidence in ALL]

    both = [difference(before, after).findings for before in plans for after in plans]
    assert {(one.new, one.gone, len(one.still)) for one in both} == {((), (), len(rules()) + 1)}
