"""BROKER_LOSS of a broker that crashed without a slave: it is in no route, and only the history tells of it."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, parse_utc
from tests.assessment.cases import a_group, a_topic, member
from tests.assessment.judge import Row, judge
from tests.recommendation.answers import answer
from tests.simulation.clusters import AT, broker, cluster, queues

ON_BOTH = a_topic("pay", queues("broker-a", 2), queues("broker-b", 2))
ON_ONE = a_topic("pay", queues("broker-a", 2))
ELSEWHERE = a_topic("elsewhere", queues("broker-a", 2))


def seen(hours_ago: float = 24, **facts: Any) -> Inventory:
    """The cluster with both brokers, so many hours ago."""
    topics = (ON_BOTH, ELSEWHERE)
    groups = [a_group("g_pay", [member("c1"), member("c2")], [ON_BOTH], lag=300), a_group("g", [], [ELSEWHERE])]
    moment = utc_text(parse_utc(AT) - timedelta(hours=hours_ago))
    return replace(cluster(topics, groups, (broker("broker-a"), broker("broker-b"))), taken_at=moment, **facts)


def now() -> Inventory:
    groups = [a_group("g_pay", [member("c1"), member("c2")], [ON_ONE]), a_group("g", [], [ELSEWHERE])]
    return cluster([ON_ONE, ELSEWHERE], groups, (broker("broker-a"),))


def found(*history: Inventory, policy: Policy | None = None) -> list[Row]:
    judged = judge(now(), policy, history)
    return [one for one in judged.findings if one["rule"] == "BROKER_LOSS" and one["broker_name"] == "broker-b"]


def test_a_broker_that_crashed_is_named_with_what_waits_there() -> None:
    (one,) = found(seen())

    assert (one["severity"], one["subjects"], one["topic"]) == ("CRITICAL", ["broker-b"], None)
    assert one["evidence"] == {
        "broker_addr": "broker-b:10911",
        "gone_s": 86_400.0,
        "msgs_per_s": 20.0,
        "unread_msgs": 600,
        "topics": 1,
        "topic_names": ["pay"],
        "groups": 1,
        "group_names": ["g_pay"],
    }
    assert one["message"] == (
        "broker-b (broker-b:10911) is lost: no name server lists it any more. 24 h ago 20.0 messages a second came to"
        " its queues of 1 topic (pay). Nobody can read what is left there; unread then: 600 messages."
        " 1 group read there: g_pay."
    )


def test_all_groups_are_named_so_that_what_is_found_of_them_is_no_cause_of_its_own() -> None:
    groups = [a_group(f"g_{number}", [member(f"c{number}")], [ON_BOTH], lag=1) for number in range(60)]
    (one,) = found(seen(consumer_groups=tuple(groups)))

    assert len(one["evidence"]["group_names"]) == one["evidence"]["groups"] == 60


def test_without_a_history_or_after_a_long_time_it_is_nothing() -> None:
    assert found() == []
    assert found(seen(13 * 24)) != []
    assert found(seen(15 * 24)) == []
    assert found(seen(3 * 24), policy=Policy.model_validate({"thresholds": {"STALE_OBJECT": {"days": 2}}})) == []


def test_what_the_policy_leaves_out_is_not_missed() -> None:
    without_topic = Policy.model_validate({"exclude": {"topics": ["^pay$"]}})
    without_group = Policy.model_validate({"exclude": {"consumer_groups": ["^g_pay$"]}})
    assert found(seen(), policy=without_topic) == []
    (one,) = found(seen(), policy=without_group)
    assert (one["evidence"]["groups"], one["evidence"]["unread_msgs"]) == (0, None)
    assert one["message"].endswith(" Nobody can read what is left there.")


def test_the_answer_looks_whether_it_runs_and_changes_nothing() -> None:
    (row,) = [one for one in answer(now(), history=[seen()]).all("INVESTIGATE") if "BROKER_LOSS" in one["rules"]]

    assert row["commands"] == [
        "mqadmin clusterList -n '<name server>'",
        "mqadmin brokerStatus -n '<name server>' -b broker-b:10911",
    ]
    assert row["reason"].startswith("Find out whether broker-b still runs.")
    assert "broker-b (broker-b:10911) is lost" in row["reason"]
    assert row["before"] == {"broker_names": ["broker-b"]}
    assert row["check_command"] == "mqadmin clusterList -n '<name server>'"


def test_the_lost_broker_comes_before_those_whose_loss_would_do_harm() -> None:
    inventory, alone = now(), a_topic("alone", queues("broker-c", 2))
    brokers, topics = (*inventory.brokers, broker("broker-c")), (*inventory.topics, alone)
    groups = (*inventory.consumer_groups, a_group("g_alone", [member("c3"), member("c4")], [alone]))
    inventory = replace(inventory, brokers=brokers, topics=topics, consumer_groups=groups)
    (row,) = [one for one in answer(inventory, history=[seen()]).all("INVESTIGATE") if "BROKER_LOSS" in one["rules"]]

    assert row["before"] == {"broker_names": ["broker-a", "broker-b", "broker-c"]}
    assert row["reason"].startswith("Find out whether broker-b still runs.")


@pytest.mark.parametrize("addr", [None, "10.0.1.2:10911"])
def test_an_address_that_is_not_known_is_left_to_the_reader(addr: str | None) -> None:
    lost = replace(broker("broker-b"), broker_addr=addr)
    answers = answer(now(), history=[seen(brokers=(broker("broker-a"), lost))])
    (row,) = [one for one in answers.all("INVESTIGATE") if "BROKER_LOSS" in one["rules"]]
    assert f"-b {addr or repr('<address of broker-b>')}" in row["commands"][1]
