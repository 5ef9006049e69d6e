"""plan.json: the contract's names, order and bytes."""

import json
import math
import random
from pathlib import Path

import msgspec
import pytest

from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.plan_file.group import PlanSkew
from rocketmq_capacity.plan_file.plan import decoded_plan
from rocketmq_capacity.tables.dataset import Queue
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_failure, a_finding, a_group, a_recommendation, a_strategy
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

GOLDEN = Path(__file__).with_name("golden") / "plan.json"


def test_the_contracts_sample_cluster_gives_the_golden_bytes():
    assert plan_bytes(plan_of(sample_rows())) == GOLDEN.read_bytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_in_any_order_give_the_same_bytes(seed):
    rows = varied_rows(24)
    expected = plan_bytes(plan_of(rows))
    for held in rows.values():
        random.Random(seed).shuffle(held)
    for row in rows["strategy_load"]:
        random.Random(seed).shuffle(row["idle_clients"])
    for row in rows["group_status"]:
        random.Random(seed).shuffle(row["topics"])

    assert plan_bytes(plan_of(rows)) == expected


def test_idle_clients_are_in_javas_order_of_utf_16_code_units():
    last_by_code_point, last_in_java = "\U0001f600@1", "\uffee@1"  # a surrogate pair sorts before U+FFEE in Java
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [
            a_strategy(idle_clients=[last_in_java, "b@1", last_by_code_point, "10.0.0.2@1", "10.0.0.10@1"])
        ],
    }

    strategy = plan_of(rows).groups[0].strategies[0]

    assert strategy.idle_clients == ("10.0.0.10@1", "10.0.0.2@1", "b@1", last_by_code_point, last_in_java)


def test_queues_are_in_order_of_topic_broker_and_number():
    def queue(topic, broker, number):
        return {"topic": topic, "broker_name": broker, "queue_id": number}

    queues = [queue("pay", "b", 10), queue("pay", "b", 2), queue("pay", "a", 11), queue("ack", "z", 0)]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [a_strategy(orphan_queues=queues, doubly_owned_queues=queues)],
    }

    strategy = plan_of(rows).groups[0].strategies[0]

    ordered = (Queue("ack", "z", 0), Queue("pay", "a", 11), Queue("pay", "b", 2), Queue("pay", "b", 10))
    assert strategy.orphan_queues == strategy.doubly_owned_queues == ordered


def test_a_metric_that_is_not_a_number_is_null_and_never_written_as_nan():
    load = [("peak", math.nan), ("floor", 1.0), ("excess", math.inf), ("gini", -1e-9), ("cv", 0.33335), ("max", 3.0)]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "strategy_load": [a_strategy(count=load, traffic=[("peak", math.nan)], lag=None)],
    }

    document = plan_of(rows)
    strategy = document.groups[0].strategies[0]

    assert strategy.count == PlanSkew(peak=None, floor=1.0, excess=None, gini=0.0, cv=round(0.33335, 4))
    assert strategy.traffic is None
    assert b"-0.0" not in plan_bytes(document)
    json.loads(plan_bytes(document), parse_constant=pytest.fail)


def test_a_broadcasting_group_has_no_strategies():
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(message_model="BROADCASTING", max_useful_clients=None)],
        "strategy_load": [a_strategy(strategy="BROADCASTING")],
    }

    assert plan_of(rows).groups[0].strategies == ()


def test_fractions_that_differ_in_their_last_digits_alone_give_the_same_bytes():
    def plan(total):
        return plan_of({"cluster": [a_cluster()], "finding": [a_finding(evidence={"put_msgs_per_s": total})]})

    assert plan_bytes(plan(0.1 + 0.2)) == plan_bytes(plan(0.3))
    assert plan_bytes(plan(0.3)) != plan_bytes(plan(0.300001))


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

    document = plan_of(rows)

    assert [(f.rule, f.consumer_group, f.subjects, f.evidence) for f in document.findings] == [
        ("IDLE_CONSUMERS", None, (), {}),
        ("IDLE_CONSUMERS", "g_pay", ("a",), {"n": 1}),
        ("IDLE_CONSUMERS", "g_pay", ("a",), {"n": 2}),
        ("IDLE_CONSUMERS", "g_pay", ("b",), {}),
        ("ORPHAN_QUEUE", "g_pay", (), {}),
    ]
    assert [r.id for r in document.recommendations] == ["3", "1", "2"]
    assert document.recommendations[0].rules == ("A", "B")


def test_a_finding_names_queues_as_objects_in_their_order_and_all_else_as_texts():
    queues = [{"topic": "pay", "broker_name": "broker-a", "queue_id": queue_id} for queue_id in (2, 10)]
    later = [queues[1]]
    finding = [
        a_finding("ORPHAN_QUEUE", queues=later, evidence={"hottest": [{"queue": later[0]}]}),
        a_finding("ORPHAN_QUEUE", queues=queues),
        a_finding(subjects=["c1"]),
    ]

    written = json.loads(plan_bytes(plan_of({"cluster": [a_cluster()], "finding": finding})))["findings"]

    assert [one["subjects"] for one in written] == [["c1"], queues, later]
    assert written[2]["evidence"] == {"hottest": [{"queue": later[0]}]}


def test_unanswered_requests_are_listed_with_the_ratio():
    rows = {
        "cluster": [a_cluster(completeness_ratio=0.9375)],
        "failure": [a_failure(request="B"), a_failure(request=None), a_failure(request="A")],
    }

    completeness = plan_of(rows).completeness

    assert completeness.ratio == 0.9375
    assert [failure.request for failure in completeness.failures] == [None, "A", "B"]


@pytest.mark.parametrize("text", ["[]", "1", "", '{"a": NaN}', "{"])
def test_a_json_column_that_holds_no_object_is_a_defect_of_its_stage(text):
    rows = {"cluster": [a_cluster()], "finding": [a_finding() | {"evidence": text}]}

    with pytest.raises(ContractBroken, match=r"finding\.evidence: expected a JSON object"):
        plan_of(rows)


@pytest.mark.parametrize("clusters", [[], [a_cluster(), a_cluster()]])
def test_a_plan_is_of_one_cluster(clusters):
    with pytest.raises(ContractBroken, match="cluster: expected one row"):
        plan_of({"cluster": clusters})


def test_a_severity_that_the_contract_does_not_know_is_a_defect_of_its_stage():
    with pytest.raises(ContractBroken, match=r"finding\.severity: is 'BAD'"):
        plan_of({"cluster": [a_cluster()], "finding": [a_finding(severity="BAD")]})


def test_a_scenario_is_last():
    made = plan_of({"cluster": [a_cluster()]}, scenario=a_scenario())

    assert list(json.loads(plan_bytes(made)))[-1] == "scenario"


@pytest.mark.parametrize("scenario", [None, a_scenario()])
def test_each_member_each_entry_of_its_lists_and_each_sentence_has_a_line(scenario):
    for rows in ({"cluster": [a_cluster()]}, varied_rows(5)):
        made = plan_of(rows, scenario=scenario)
        assert json.loads(plan_bytes(made)) == json.loads(msgspec.json.encode(made))

        first, *lines, last = plan_bytes(made).decode().splitlines()
        assert (first, last) == ("{", "}")
        begin = lines.index('"groups": [') + 1 if made.groups else 0
        for group, line in zip(made.groups, lines[begin:], strict=False):
            assert json.loads(line.removesuffix(",")) == json.loads(msgspec.json.encode(group))
        begin = lines.index('"sentences": {') + 1 if made.sentences else 0
        for text, line in zip(made.sentences, lines[begin:], strict=False):
            assert list(json.loads(f"{{{line.removesuffix(',')}}}")) == [text]


def test_a_plan_is_read_as_it_was_written_and_members_that_a_later_version_adds_are_ignored():
    made = plan_of(varied_rows(5), scenario=a_scenario())
    stored = json.loads(plan_bytes(made))
    stored["mood"] = []
    stored["groups"][0]["forecast"] = {"lower": 0.1}
    stored["groups"][0]["strategies"][0]["count"]["max"] = 3

    assert decoded_plan(json.dumps(stored).encode()) == decoded_plan(plan_bytes(made)) == made


@pytest.mark.parametrize(("protocol", "told"), [("GRPC", "GRPC"), ("MIXED", "MIXED"), ("REMOTING", None), (None, None)])
def test_a_group_with_grpc_clients_has_its_protocol(protocol, told):
    rows = {"cluster": [a_cluster()], "group_status": [a_group(protocol=protocol)]}

    (group,) = json.loads(plan_bytes(plan_of(rows)))["groups"]

    assert group.get("protocol") == told
