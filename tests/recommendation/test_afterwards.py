"""What a recommendation comes with: a check that only looks, and a way back."""

import inspect
import re

import pytest

from rocketmq_capacity.catalogue.action import action_of, actions
from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.afterwards import GrpcClients, with_afterwards
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.vocabulary import LOOKING, changes_cluster

QUEUES = [{"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4, "perm": 6}]


def with_check(action, rules=("IDLE_CONSUMERS",), grpc=None, **place):
    one = answer(
        action_of(action),
        target=1,
        reason="",
        rules=rules,
        before={"queues": QUEUES},
        after={"queues": QUEUES},
        **place,
    )
    (found,) = with_afterwards([one], "ns:9876", grpc)
    return found


@pytest.mark.parametrize("place", [{"consumer_group": "g"}, {"topic": "t"}, {}], ids=["group", "topic", "cluster"])
@pytest.mark.parametrize("action", [*actions(), "ONE_OF_TOMORROW"])
def test_every_action_has_a_check_that_only_looks(action, place):
    found = with_check(action, **place)

    assert not changes_cluster(found.check_command)
    assert found.check_command.startswith("mqadmin ")
    assert " -n ns:9876" in found.check_command
    assert found.check_shows.endswith(".")


@pytest.mark.parametrize("rule", rules())
def test_every_rule_that_is_looked_into_has_a_check(rule):
    assert with_check("INVESTIGATE", [rule], consumer_group="g").check_shows


@pytest.mark.parametrize("action", actions())
def test_every_action_has_a_way_back(action):
    assert with_check(action, consumer_group="g").way_back


@pytest.mark.parametrize("action", actions())
def test_grpc_clients_are_not_asked_what_they_own(action):
    command = with_check(action, consumer_group="g", grpc=GrpcClients()).check_command

    assert "consumerStatus" not in command
    assert "-s true" not in command


def test_no_command_asks_grpc_clients_either():
    asking = [commands.consumer_progress("ns:9876", "g"), commands.consumer_status("ns:9876", "g")]
    one_of_java = commands.consumer_status("ns:9876", "g", "c01")
    looks = with_check("INVESTIGATE", commands=[*asking, one_of_java], consumer_group="g", grpc=GrpcClients())

    assert looks.commands == ("mqadmin consumerProgress -n ns:9876 -g g", one_of_java)


def test_a_group_of_grpc_clients_alone_has_no_retry_topic_by_which_mqadmin_finds_its_brokers():
    alone = GrpcClients(["pay", "ship"], ["proxy:8080"])
    looks = with_check(
        "INVESTIGATE", commands=[commands.consumer_progress("ns:9876", "g")], consumer_group="g", grpc=alone
    )
    sizes = with_check("SCALE_CONSUMERS", consumer_group="g", grpc=alone)

    assert looks.commands == tuple(f"mqadmin consumerProgress -n ns:9876 -g g -t {topic}" for topic in ("pay", "ship"))
    assert looks.check_command == "mqadmin consumerProgress -n ns:9876 -g g -t pay"
    assert sizes.check_command == "mqadmin consumerConnection -n ns:9876 -g g -b proxy:8080"


@pytest.mark.parametrize(
    ("rule", "column"), [("BROKER_DISK", "#SPACE"), ("BROKER_LOSS", "#BID"), ("SNAPSHOT_INCOMPLETE", "#Version")]
)
def test_the_list_of_brokers_has_the_column_that_must_have_changed(rule, column):
    found = with_check("INVESTIGATE", [rule])

    # With -m it has none of these: ClusterListSubCommand.printClusterMoreStats, rocketmq-all-5.3.3.
    assert found.check_command == "mqadmin clusterList -n ns:9876"
    assert column in found.check_shows


@pytest.mark.parametrize("rule", ["READ_ONLY_IDLE", "SLAVE_DRIFT", "SUSPECT_SNAPSHOT"])
def test_what_the_list_of_brokers_does_not_show_is_left_to_the_next_plan(rule):
    assert "the next plan" in with_check("INVESTIGATE", [rule]).check_shows


def test_the_check_of_a_group_that_nobody_uses_is_whether_it_is_still_there():
    found = with_check("INVESTIGATE", ["LAG_STATE", "RETENTION_RISK", "STALE_OBJECT"], consumer_group="g")

    assert found.check_command == "mqadmin consumerProgress -n ns:9876 -g g"
    assert found.check_shows.startswith("the command fails if it was deleted")


def test_versions_of_clients_are_checked_where_they_are_listed():
    assert "consumerConnection" in with_check("INVESTIGATE", ["BAD_VERSION"], consumer_group="g").check_command


def test_the_queues_of_the_change_are_what_the_route_must_show():
    assert "broker-a 4 and 4" in with_check("EXPAND_QUEUES", topic="t").check_shows


def test_what_is_called_read_only_is_a_command_that_only_looks():
    said = inspect.getsource(commands)
    looking = {
        name for part in said.split("\ndef ") if "(read-only)" in part for name in re.findall(r'mqadmin\("(\w+)"', part)
    }
    changing = set(re.findall(r'mqadmin\(\s*"(\w+)"', said)) - looking

    assert looking <= LOOKING
    assert changing
    assert not changing & LOOKING


@pytest.mark.parametrize(
    ("command", "is_change"),
    [
        ("mqadmin updateTopic -n a -t t", True),
        ("# mqadmin updateTopic -n a -t t", True),
        ("mqadmin topicRoute -n a -t t -l", False),
        ("# only words", False),
        ("mqadmin somethingNew", True),
        ("", False),
    ],
)
def test_an_unknown_command_may_change_the_cluster(command, is_change):
    assert changes_cluster(command) is is_change
