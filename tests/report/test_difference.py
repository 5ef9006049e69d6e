"""What two plans say differently."""

import copy
import json
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.plan import decoded_plan
from rocketmq_capacity.report.difference import LoadChange, StrategyInPlan, difference
from rocketmq_capacity.report.summary_file import summary_of_plan
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation, a_strategy, metrics
from tests.report.sample_cluster import IDLE, sample_rows
from tests.report.varied_cluster import varied_rows


def small_plan(**rows):
    return plan_of({"cluster": [a_cluster()], **rows})


def test_a_plan_does_not_differ_from_itself():
    plan = plan_of(varied_rows(12))
    found = difference(plan, copy.deepcopy(plan))

    assert found.relation == "same facts"
    for changes, name in ((found.findings, "findings"), (found.recommendations, "recommendations")):
        assert (changes.new, changes.gone, changes.changed) == ((), (), ())
        assert len(changes.same) == len(changes.still) == len(getattr(plan, name)) > 0
    assert not [change for change in found.loads if change.matters]
    assert (found.groups_new, found.groups_gone) == ((), ())


@pytest.mark.parametrize("seeds", [(1, 2), (3, 9), (5, 5)])
def test_everything_of_both_plans_is_somewhere_once_and_the_other_way_round_new_is_gone(seeds):
    plans = [plan_of(varied_rows(10, seed)) for seed in seeds]
    there, back = difference(*plans), difference(*reversed(plans))

    for name in ("findings", "recommendations"):
        forth, behind = getattr(there, name), getattr(back, name)
        before = [*forth.gone, *(old for old, _ in forth.still)]
        after = [*forth.new, *(new for _, new in forth.still)]
        assert sorted(map(repr, before)) == sorted(map(repr, getattr(plans[0], name)))
        assert sorted(map(repr, after)) == sorted(map(repr, getattr(plans[1], name)))
        assert len(behind.new) == len(forth.gone)
        assert len(behind.still) == len(forth.still)


def test_a_finding_is_still_there_when_its_clients_or_its_severity_have_changed():
    before = small_plan(finding=[a_finding(subjects=["a", "b"])])
    after = small_plan(finding=[a_finding(subjects=["a"], severity="CRITICAL")])

    ((old, new),) = difference(before, after).findings.changed

    assert (old.severity, new.severity) == ("WARNING", "CRITICAL")


def test_a_finding_or_a_recommendation_whose_figures_hardly_differ_counts_as_the_same():
    def plan(lag, reason):
        return small_plan(
            finding=[a_finding("STUCK_QUEUE", {"lag": lag}, message=f"{lag} messages wait.")],
            recommendation=[a_recommendation(before={"lag": lag}, after={"lag": 0}, reason=reason)],
        )

    today = plan(1000, "1000 wait")
    little, much = difference(today, plan(1001, "1001 wait")), difference(today, plan(1200, "1200 wait"))

    for changes in (little.findings, little.recommendations):
        assert (changes.changed, len(changes.same)) == ((), 1)
    for changes in (much.findings, much.recommendations):
        assert (len(changes.changed), changes.same) == (1, ())


def test_a_finding_about_another_rule_group_topic_or_broker_is_another():
    here: dict[str, Any] = {"consumer_group": "g", "topic": "t", "broker_name": "b"}
    before = small_plan(finding=[a_finding("HOT_QUEUE", **here)])
    others = [a_finding("ORPHAN_QUEUE", **here)] + [a_finding("HOT_QUEUE", **here | {name: "x"}) for name in here]

    for other in others:
        changes = difference(before, small_plan(finding=[other])).findings
        assert (len(changes.new), len(changes.gone), changes.still) == (1, 1, ())


def test_a_plan_that_names_queues_as_texts_is_read_and_compared_with_one_that_has_objects():
    queue = {"topic": "pay", "broker_name": "broker-a", "queue_id": 3}
    after = small_plan(finding=[a_finding("ORPHAN_QUEUE", topic="pay", queues=[queue]), a_finding(subjects=["c1"])])
    stored = json.loads(plan_bytes(after))
    stored["findings"][1]["subjects"] = ["broker-a:3"]
    before = decoded_plan(json.dumps(stored).encode())

    found = difference(before, after)

    assert before.findings[1].subjects == ("broker-a:3",)
    assert (found.findings.new, found.findings.gone, len(found.findings.still)) == ((), (), 2)
    assert summary_of_plan(before).findings == summary_of_plan(after).findings


def test_of_several_findings_about_one_place_equal_ones_belong_together():
    ids = [a_finding("DUPLICATE_CLIENT_ID", subjects=[name], severity="CRITICAL") for name in ("x", "y", "z")]

    changes = difference(small_plan(finding=ids), small_plan(finding=[ids[2], ids[0]])).findings

    assert [new.subjects for _, new in changes.same] == [("x",), ("z",)]
    assert [gone.subjects for gone in changes.gone] == [("y",)]
    assert (changes.new, changes.changed) == ((), ())


def test_the_worst_of_what_is_new_comes_first():
    findings = [
        a_finding("STALE_OBJECT", severity="INFO"),
        a_finding("IDLE_CONSUMERS"),
        a_finding("ORPHAN_QUEUE", severity="CRITICAL"),
    ]

    new = difference(small_plan(), small_plan(finding=findings)).findings.new

    assert [finding.severity for finding in new] == ["CRITICAL", "WARNING", "INFO"]


def test_a_recommendation_is_still_there_by_its_id_or_by_what_it_does_to_what():
    before = small_plan(recommendation=[a_recommendation(id="1"), a_recommendation(id="2", topic="ship")])
    after = small_plan(
        recommendation=[
            a_recommendation(id="1", reason="13 consumers share 8 queues."),
            a_recommendation(id="3", topic="ship", commands=["mqadmin"]),
            a_recommendation(id="4", topic="other"),
        ]
    )

    changes = difference(before, after).recommendations

    assert [(old.id, new.id) for old, new in changes.still] == [("1", "1"), ("2", "3")]
    assert [new.id for new in changes.new] == ["4"]
    assert changes.gone == ()


def test_loads_of_the_strategy_in_use_come_first_with_both_sides():
    rows = sample_rows()
    before = plan_of(rows)
    rows["strategy_load"][1] |= {"idle_clients": [], "count": metrics([1] * 12, 1.0)}
    found = difference(before, plan_of(rows))

    first = found.loads[0]
    assert (first.consumer_group, first.strategy, first.in_use, first.matters) == (
        "g_pay",
        "AVG",
        (True, True),
        True,
    )
    assert first.before == StrategyInPlan(idle=len(IDLE), orphans=0, count_peak=1.5, traffic_peak=None)
    assert first.after == StrategyInPlan(idle=0, orphans=0, count_peak=1.0, traffic_peak=None)
    assert [change.strategy for change in found.loads] == ["AVG", "POP"]  # MACHINE_ROOM can be run in neither


def test_another_strategy_in_use_is_a_change_even_with_equal_loads():
    rows = sample_rows()
    before = plan_of(rows)
    rows["group_status"][0]["current_strategy"] = "POP"

    loads = {change.strategy: change for change in difference(before, plan_of(rows)).loads}

    assert (loads["AVG"].in_use, loads["POP"].in_use) == ((True, False), (False, True))
    assert loads["AVG"].matters


def test_groups_that_come_and_go_are_named_and_have_loads_on_one_side():
    def with_group(name):
        return small_plan(group_status=[a_group(name)], strategy_load=[a_strategy(name)])

    found = difference(with_group("g_old"), with_group("g_new"))

    assert (found.groups_new, found.groups_gone) == (("g_new",), ("g_old",))
    sides = {change.consumer_group: (change.before is None, change.after is None) for change in found.loads}
    assert sides == {"g_new": (True, False), "g_old": (False, True)}


def test_a_what_if_is_compared_with_the_plan_that_it_changes():
    rows = varied_rows(5)
    plan, what_if = plan_of(rows), plan_of(rows, scenario=a_scenario())

    assert difference(plan, what_if).findings.new == ()


def test_plans_of_two_clusters_are_not_compared():
    with pytest.raises(BadInput, match="are of two clusters, C1 and C2"):
        difference(small_plan(), plan_of({"cluster": [a_cluster(cluster_name="C2")]}))


@pytest.mark.parametrize(
    ("after", "in_use", "is_worth_a_line"),
    [
        (StrategyInPlan(40, 0, 1.5, 2.0), True, False),
        (StrategyInPlan(41, 0, 1.55, 2.09), True, False),
        (StrategyInPlan(44, 0, 1.5, 2.0), True, True),
        (StrategyInPlan(40, 1, 1.5, 2.0), True, True),
        (StrategyInPlan(40, 0, 1.5, 2.2), True, True),
        (StrategyInPlan(40, 0, 1.5, None), True, True),
        (None, True, True),
        (StrategyInPlan(40, 0, 1.5, 2.0), False, True),
    ],
)
def test_a_load_that_changes_by_little_is_worth_no_line(
    after: StrategyInPlan | None, *, in_use: bool, is_worth_a_line: bool
):
    change = LoadChange("g", "AVG", (True, in_use), StrategyInPlan(40, 0, 1.5, 2.0), after)

    assert change.matters == is_worth_a_line


def test_a_what_if_begins_with_the_first_lines_of_its_page():
    rows = varied_rows(12)
    before = plan_of(rows)

    assert difference(before, before).what_if == ()
    first, *rest = difference(before, plan_of(rows, scenario=a_scenario())).what_if
    assert first == "Not everything is still carried: nobody can read or write pay."
    assert len(rest) == 3
