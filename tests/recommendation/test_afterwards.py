"""What a recommendation comes with: a check that only looks, and a way back."""

import inspect
import re

import pytest

from rocketmq_capacity.catalogue.action import action_of, actions
from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.afterwards import with_afterwards
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.vocabulary import LOOKING, changes_cluster

QUEUES = [{"broker_name": "broker-a", "read_queue_nums": 4, "write_queue_nums": 4, "perm": 6}]


def with_check(action, rules=("IDLE_CONSUMERS",), has_grpc_clients=False, **place):
    one = answer(
        action_of(action),
        target=1,
        reason="",
        rules=rules,
        before={"queues": QUEUES},
        after={"queues": QUEUES},
        **place,
    )
    (found,) = with_afterwards([one], "ns:9876", has_grpc_clients=has_grpc_clients)
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
    command = with_check(action, consumer_group="g", has_grpc_clients=True).check_command

    assert "consumerStatus" not in command
    assert "-s true" not in command


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
