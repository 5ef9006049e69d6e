"""plan.json: the contract's names, order and bytes."""

import json
import math
import random
from pathlib import Path

import pytest

from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.report.plan import plan_document, render_plan
from rocketmq_capacity.report.what_if import scenario_object
from tests.report.row_builders import a_cluster, a_failure, a_finding, a_group, a_recommendation, a_strategy
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

GOLDEN = Path(__file__).with_name("golden") / "plan.json"


def test_the_contracts_sample_cluster_gives_the_golden_bytes():
    assert render_plan(plan_document(sample_rows())) == GOLDEN.read_bytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_in_any_order_give_the_same_bytes(seed):
    rows = varied_rows(24)
    expected = render_plan(plan_document(rows))
    for held in rows.values():
        random.Random(seed).shuffle(held)
    for row in rows["strategy_load"]:
        random.Random(seed).shuffle(row["idle_clients"])
    for row in rows["group_status"]:
        random.Random(seed).shuffle(row["topics"])

    assert render_plan(plan_document(rows)) == expected


def test_idle_clients_stand_in_javas_order_of_utf_16_code_units():
    last_by_code_point, last_in_java = "\U0001f600@1", "\uffee@1"  # a surrogate pair sorts before U+FFEE in Java
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [
            a_strategy(idle_clients=[last_in_java, "b@1", last_by_code_point, "10.0.0.2@1", "10.0.0.10@1"])
        ],
    }

    strategy = plan_document(rows)["groups"][0]["strategies"][0]

    assert strategy["idle_clients"] == ["10.0.0.10@1", "10.0.0.2@1", "b@1", last_by_code_point, last_in_java]


def test_queues_stand_by_topic_broker_and_number():
    def queue(topic, broker, number):
        return {"topic": topic, "broker_name": broker, "queue_id": number}

    queues = [queue("pay", "b", 10), queue("pay", "b", 2), queue("pay", "a", 11), queue("ack", "z", 0)]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [a_strategy(orphan_queues=queues, doubly_owned_queues=queues)],
    }

    strategy = plan_document(rows)["groups"][0]["strategies"][0]

    ordered = [queue("ack", "z", 0), queue("pay", "a", 11), queue("pay", "b", 2), queue("pay", "b", 10)]
    assert strategy["orphan_queues"] == strategy["doubly_owned_queues"] == ordered


def test_a_metric_that_is_not_a_number_is_null_and_never_written_as_nan():
    load = [("peak", math.nan), ("floor", 1.0), ("excess", math.inf), ("gini", -1e-9), ("cv", 0.33335), ("max", 3.0)]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [a_strategy(count=load, traffic=[("peak", None)], lag=None)],
    }

    document = plan_document(rows)
    strategy = document["groups"][0]["strategies"][0]

    assert list(strategy["count"].items()) == [
        ("peak", None),
        ("floor", 1.0),
        ("excess", None),
        ("gini", 0.0),
        ("cv", round(0.33335, 4)),
    ]
    assert strategy["traffic"] is None
    assert b"-0.0" not in render_plan(document)
    json.loads(render_plan(document), parse_constant=pytest.fail)


def test_metrics_are_read_from_a_mapping_and_from_arrows_pairs_alike():
    pairs = [("peak", 2.0), ("floor", 1.0), ("excess", 2.0), ("gini", 0.5), ("cv", 1.0)]
    documents = [
        plan_document({
            "cluster": [a_cluster()],
            "group_status": [a_group()],
            "strategy_load": [a_strategy(count=count)],
        })
        for count in (pairs, dict(pairs))
    ]

    assert documents[0] == documents[1]


def test_a_broadcasting_group_has_no_strategies():
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(message_model="BROADCASTING", max_useful_clients=None)],
        "strategy_load": [a_strategy(strategy="BROADCASTING")],
    }

    assert plan_document(rows)["groups"][0]["strategies"] == []


def test_fractions_that_differ_in_their_last_digits_alone_give_the_same_bytes():
    def plan(total):
        return plan_document({"cluster": [a_cluster()], "finding": [a_finding(evidence={"put_msgs_per_s": total})]})

    assert render_plan(plan(0.1 + 0.2)) == render_plan(plan(0.3))
    assert render_plan(plan(0.3)) != render_plan(plan(0.300001))


def test_findings_and_recommendations_have_a_total_order_with_nulls_first():
    rows = {
        "cluster": [a_cluster()],
        "finding": [
            a_finding("ORPHAN_QUEUE"),
            a_finding(subjects=["b"]),
            a_finding(subjects=["a"], evidence={"n": 2}),
            a_finding(subjects=["a"], evidence={"n": 1}),
            a_finding(consumer_group=None, topic="pay"),
        ],
        "recommendation": [
            a_recommendation(id="2"),
            a_recommendation(id="1"),
            a_recommendation("CHANGE_STRATEGY", id="3", topic=None, consumer_group="g", rules=["B", "A"]),
        ],
    }

    document = plan_document(rows)

    assert [(f["rule"], f["consumer_group"], f["subjects"], f["evidence"]) for f in document["findings"]] == [
        ("IDLE_CONSUMERS", None, [], {}),
        ("IDLE_CONSUMERS", "g_pay", ["a"], {"n": 1}),
        ("IDLE_CONSUMERS", "g_pay", ["a"], {"n": 2}),
        ("IDLE_CONSUMERS", "g_pay", ["b"], {}),
        ("ORPHAN_QUEUE", "g_pay", [], {}),
    ]
    assert [r["id"] for r in document["recommendations"]] == ["3", "1", "2"]
    assert document["recommendations"][0]["rules"] == ["A", "B"]


def test_what_went_unanswered_is_told_with_the_ratio():
    rows = {
        "cluster": [a_cluster(completeness_ratio=0.9375)],
        "failure": [a_failure(request="B"), a_failure(request=None), a_failure(request="A")],
    }

    completeness = plan_document(rows)["completeness"]

    assert completeness["ratio"] == 0.9375
    assert [failure["request"] for failure in completeness["failures"]] == [None, "A", "B"]
    assert list(completeness["failures"][0]) == ["broker_addr", "request", "error"]


@pytest.mark.parametrize("text", ["[]", "1", "", '{"a": NaN}', "{"])
def test_a_json_column_that_holds_no_object_is_a_defect_of_its_stage(text):
    rows = {"cluster": [a_cluster()], "finding": [a_finding() | {"evidence": text}]}

    with pytest.raises(ContractBroken, match=r"finding\.evidence: expected a JSON object"):
        plan_document(rows)


@pytest.mark.parametrize("clusters", [[], [a_cluster(), a_cluster()]])
def test_a_plan_is_of_one_cluster(clusters):
    with pytest.raises(ContractBroken, match="cluster: expected one row"):
        plan_document({"cluster": clusters})


def test_a_scenario_stands_last_with_its_groups_in_order():
    def effect(strategy, **changes):
        count = [("peak", 1.23456), ("floor", 1.0), ("excess", 1.23456), ("gini", 0.1), ("cv", 0.2), ("mean", 2.0)]
        return {
            "consumer_group": "g_pay",
            "strategy": strategy,
            "moved_queues": 6,
            "moved_ratio": 0.375,
            "before_idle": 0,
            "before_count": count,
            "before_traffic": None,
            "after_idle": 1,
            "after_count": count,
            "after_traffic": None,
        } | changes

    effects = [effect("POP", moved_queues=None, moved_ratio=None, before_idle=None, before_count=None), effect("AVG")]
    scenario = scenario_object("more", [{"change": "add_clients", "count": 1}], effects, [a_finding(topic="pay")], [])

    document = plan_document({"cluster": [a_cluster()]}, scenario=scenario)

    assert list(document)[-1] == "scenario"
    assert list(document["scenario"]) == ["name", "changes", "groups", "findings_added", "findings_cleared"]
    first, second = document["scenario"]["groups"]
    metrics = {"peak": 1.2346, "floor": 1.0, "excess": 1.2346, "gini": 0.1, "cv": 0.2}
    assert first == {
        "consumer_group": "g_pay",
        "strategy": "AVG",
        "moved_queues": 6,
        "moved_ratio": 0.375,
        "before": {"idle": 0, "count": metrics, "traffic": None},
        "after": {"idle": 1, "count": metrics, "traffic": None},
    }
    assert (second["moved_queues"], second["before"]["idle"], second["before"]["count"]) == (None, None, None)
    assert document["scenario"]["findings_added"][0]["evidence"] == {}
