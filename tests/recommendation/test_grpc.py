"""What is recommended where clients are behind a Proxy, and what never is."""

from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory import Client
from tests.assessment.cases import member, members, takes
from tests.recommendation.answers import Answers, options
from tests.recommendation.cases import NAMESERVER, Cases
from tests.simulation.clusters import queues, reads

CASES = Cases()
FOUR = (queues("broker-a", 2), queues("broker-b", 2))


def grpc(count: int, **facts: Any) -> list[Client]:
    """gRPC consumers, as a Proxy in cluster mode names them."""
    return [member(f"vm@1@{i}@{i}z", protocol="GRPC", seen_on=("10.0.8.1:8080",), **facts) for i in range(count)]


CASES.case("grpc_many", grpc(9), *FOUR)
CASES.case("grpc_in_order", grpc(9), *FOUR, orderly=True, message_type="FIFO")
CASES.case("grpc_idle_bound", grpc(20, consume_threads=20, consume_batch_size=1, status=takes("x", 1.0)), *FOUR)
CASES.case(
    "grpc_too_busy",
    grpc(4, consume_threads=2, consume_batch_size=1, status=takes("grpc_too_busy", 200.0)),
    *FOUR,
)
CASES.case("grpc_same_id", [*grpc(1), *grpc(1), *grpc(1)], *FOUR)
CASES.case("both", [*members(3, allocate_strategy="AVG"), *grpc(2)], *FOUR)
CASES.case("both_in_order", [*members(3, allocate_strategy="AVG"), *grpc(2)], *FOUR, orderly=True)
CASES.topic("subscribed_by_one", *FOUR)
CASES.topic("subscribed_by_both", *FOUR)
_one, _other = grpc(2)
CASES.group(
    "grpc_subscribes_differently",
    [
        member(_one.client_id, protocol="GRPC", subscriptions=(reads("subscribed_by_both"),)),
        member(
            _other.client_id, protocol="GRPC", subscriptions=(reads("subscribed_by_both"), reads("subscribed_by_one"))
        ),
    ],
    "subscribed_by_one",
    "subscribed_by_both",
)
CASES.topic("fifo_alone", queues("broker-a", 4), message_type="FIFO")
CASES.group("fifo_alone_asks", members(8), "fifo_alone")
CASES.topic("fifo_on_two", *FOUR, message_type="FIFO")
CASES.group("fifo_on_two_asks", members(6), "fifo_on_two")
CASES.topic("fifo_by_its_reader", queues("broker-a", 4))
CASES.group("fifo_by_its_reader_asks", members(8), "fifo_by_its_reader")
CASES.group("fifo_by_its_reader_grpc", grpc(2), "fifo_by_its_reader", orderly=True)
CASES.topic("unordered", queues("broker-a", 4))
CASES.group("unordered_asks", members(8), "unordered")
CASES.group("unordered_grpc", grpc(2), "unordered")
CASES.topic("read_by_the_unseen", queues("broker-a", 4))
CASES.group("read_by_the_unseen_asks", members(8), "read_by_the_unseen")
CASES.group(
    "unseen",
    (),
    "read_by_the_unseen",
    samples={("read_by_the_unseen", "broker-a", 0): [(90_000, 1_000)]},
)


@pytest.mark.parametrize("group", ["grpc_many", "grpc_in_order", "grpc_idle_bound", "grpc_same_id"])
def test_nothing_is_recommended_for_what_grpc_clients_cannot_have(answered: Answers, group: str) -> None:
    assert answered.actions(consumer_group=group) == []
    assert answered.actions(topic=group) == []


def test_what_is_too_busy_may_have_more_clients_or_more_threads_of_their_own_kind(answered: Answers) -> None:
    actions = {"RAISE_CONSUME_THREADS", "SCALE_CONSUMERS", "SHORTEN_CALLS"}
    assert set(answered.actions(consumer_group="grpc_too_busy")) == actions
    # A gRPC client cannot be asked about itself.
    assert answered.one("SHORTEN_CALLS", "grpc_too_busy")["commands"] == []
    assert "setConsumptionThreadCount" in answered.one("RAISE_CONSUME_THREADS", "grpc_too_busy")["reason"]
    # 40 messages a second of 200 ms each keep 8 threads busy: at most 70 % of 6 clients' 12.
    assert answered.one("SCALE_CONSUMERS", "grpc_too_busy")["after"]["clients"] == 6


def test_commands_on_a_group_that_brokers_do_not_know_name_a_topic_or_its_proxy(answered: Answers) -> None:
    found = answered.one("SCALE_CONSUMERS", "grpc_too_busy")

    assert options(found["check_command"]) == {"-n": NAMESERVER, "-g": "grpc_too_busy", "-b": "10.0.8.1:8080"}
    found = answered.one("FIX_SUBSCRIPTION", "grpc_subscribes_differently")
    assert options(found["check_command"])["-t"] == "subscribed_by_both"


@pytest.mark.parametrize("group", ["both", "both_in_order"])
def test_clients_of_two_protocols_belong_in_two_groups(answered: Answers, group: str) -> None:
    assert answered.actions(consumer_group=group) == ["INVESTIGATE"]
    found = answered.one("INVESTIGATE", group)
    assert found["reason"].startswith("Give gRPC clients and remoting clients a group each:")
    assert found["rules"] == ["MIXED_STRATEGIES"]


def test_no_command_asks_a_grpc_client_about_itself(answered: Answers) -> None:
    asked = [
        command for row in answered.rows for command in row["commands"] if command.startswith("mqadmin consumerStatus")
    ]
    groups = {options(command)["-g"] for command in asked if "-i" not in options(command)}
    assert not [command for command in asked if "vm@1@" in command]
    assert not groups & {"grpc_subscribes_differently", "both", "both_in_order"}
    found = answered.one("FIX_SUBSCRIPTION", "grpc_subscribes_differently")
    assert [command.split()[1] for command in found["commands"]] == ["consumerConnection", "consumerConnection"]


@pytest.mark.parametrize(
    ("topic", "sentence"),
    [
        ("fifo_alone", "With 8 instead of 4 write queues about 50.0 % of its message groups move to another queue"),
        ("fifo_on_two", "With 6 instead of 4 write queues about 62.5 % of its message groups move to another queue"),
        ("fifo_by_its_reader", "With 8 instead of 4 write queues about 50.0 % of its message groups move to another"),
    ],
)
def test_more_queues_of_a_fifo_topic_say_which_share_of_its_message_groups_moves(
    answered: Answers, topic: str, sentence: str
) -> None:
    found = answered.one("EXPAND_QUEUES", topic=topic)
    assert sentence in found["reason"]
    assert found["is_manual"]


def test_a_topic_without_message_groups_says_nothing_of_them(answered: Answers) -> None:
    assert "message groups" not in answered.one("EXPAND_QUEUES", topic="unordered")["reason"]


def test_no_queues_are_added_while_clients_may_be_unseen(answered: Answers) -> None:
    found = answered.one("EXPAND_QUEUES", topic="read_by_the_unseen")
    assert found["is_manual"]
    assert "these groups may be offline, and would then start the new queues at their end: unseen" in found["reason"]
