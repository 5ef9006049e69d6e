"""The dashboard and the alert rules use the metrics that there are; tests/promtool runs promtool over them."""

import re

import pytest

from rocketmq_capacity.handover.families import FAMILIES, PREFIX
from tests.handover.monitoring import ALERTS, DASHBOARD, FOLDER, queries, rules

KNOWN = {family.name: family for family in FAMILIES}
USED = re.compile(rf"({PREFIX}\w+)(?:\{{([^}}]*)\}})?")
BY = re.compile(r"by \(([^)]*)\)")
LABEL = re.compile(r"(\w+)\s*(?:=~|!=|=)")


@pytest.mark.parametrize(("title", "query"), list(queries()))
def test_a_query_names_metrics_and_labels_that_there_are(title: str, query: str) -> None:
    used = USED.findall(query)
    assert used, title
    for name, matchers in used:
        assert name in KNOWN
        asked = {*LABEL.findall(matchers)} | {
            label.strip() for labels in BY.findall(query) for label in labels.split(",")
        }
        assert asked <= set(KNOWN[name].labels)


def test_what_a_rule_or_a_legend_says_names_labels_that_its_query_keeps() -> None:
    said = [(rule["expr"], " ".join(rule["annotations"].values())) for rule in rules()]
    said += [(one["expr"], one["legendFormat"]) for panel in DASHBOARD["panels"] for one in panel["targets"]]
    for query, text in said:
        kept = {label.strip() for labels in BY.findall(query) for label in labels.split(",")}
        kept = kept or set.intersection(*(set(KNOWN[name].labels) for name, _ in USED.findall(query)))
        assert set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text)) <= kept, query


def test_only_a_rule_that_asks_the_clock_waits_so_that_the_next_plan_has_time_to_be_made() -> None:
    """A plan is valid for a day, and the next one is ready some minutes after that."""
    waits = {rule["alert"]: rule.get("for") for rule in rules()}

    assert {name for name, how_long in waits.items() if how_long} == {
        rule["alert"] for rule in rules() if "time()" in rule["expr"]
    }
    assert waits["RocketmqCapacityPlanTooOld"] == "1h"


def test_what_a_rule_file_names_is_there() -> None:
    (named,) = re.findall(r"include/\S+\.md", ALERTS.read_text("utf-8"))

    assert (FOLDER.parents[1] / named).is_file()


def test_panels_have_places_of_their_own_and_choices_that_exist() -> None:
    places: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & places, panel["title"]
        places |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    names = {choice["name"] for choice in DASHBOARD["templating"]["list"]}
    assert set(re.findall(r"\$\{?(\w+)", (FOLDER / "grafana-dashboard.json").read_text())) <= names


def test_every_metric_of_a_group_or_the_cluster_that_alarms_is_on_the_dashboard_or_in_a_rule() -> None:
    named = {name for _, query in queries() for name, _ in USED.findall(query)}
    assert {"consumer_group_clients", "completeness_ratio", "left_out_topics"} <= {
        name.removeprefix(PREFIX) for name in named
    }
