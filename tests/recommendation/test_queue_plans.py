"""Plans in steps: a topic that shrinks or grows, a retry topic, a broker that comes, and one that goes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.plan_file.queue_plan import QueueCost
from rocketmq_capacity.plan_file.steps import RecommendationStep
from rocketmq_capacity.recommendation.broker_plans import remove_broker_plan
from rocketmq_capacity.recommendation.shrinking import smallest_count
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup
from tests.assessment.cases import a_group, a_topic, member, members
from tests.recommendation.answers import options
from tests.recommendation.cases import broker
from tests.recommendation.plans_in_steps import TWO, added, facts_of, of_topic, plan_to
from tests.simulation.clusters import cluster, queues


def counts_of(step: RecommendationStep) -> list[tuple[str, str, str]]:
    """Broker, read and write queues of each command of a step."""
    each = [options(line.removeprefix("# ")) for line in step.commands]
    return [(str(one["-b"]).partition(":")[0], str(one["-r"]), str(one["-w"])) for one in each]


def test_write_queues_go_down_first_and_read_queues_last() -> None:
    (plan,) = plan_to(of_topic(), 4)
    first, routes, drained, last = plan.steps

    assert (plan.action, plan.topic, plan.manual, plan.smallest) == ("SHRINK_QUEUES", "pay", False, 2)
    assert counts_of(first) == [("broker-a", "8", "4"), ("broker-b", "8", "4")]
    assert counts_of(last) == [("broker-a", "4", "4"), ("broker-b", "4", "4")]
    assert not routes.commands
    assert not drained.commands
    assert [check.command.split()[1] for step in plan.steps for check in step.checks] == [
        "topicRoute",
        "topicStatus",
        "consumerProgress",
        "topicRoute",
    ]
    assert "broker-a 4 to 7, broker-b 4 to 7" in drained.checks[0].shows
    assert all(step.expect and step.way_back for step in plan.steps)


@settings(max_examples=60, deadline=None)
@given(
    before=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=2),
    after=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_no_command_ever_leaves_fewer_read_than_write_queues(
    before: list[tuple[int, int]], after: tuple[int, int]
) -> None:
    topic = of_topic(*(queues(f"broker-{letter}", *pair) for letter, pair in zip("ab", before, strict=False)))

    for plan in plan_to(topic, *after):
        for step in plan.steps:
            for line, (_, read, write) in zip(step.commands, counts_of(step), strict=True):
                assert line.startswith("#") or int(read) >= int(write)
                assert line.startswith("#") or plan.action != "SHRINK_QUEUES" or int(write) > 0


def test_for_a_shrink_that_has_begun_the_remaining_steps_are_given() -> None:
    (plan,) = plan_to(of_topic(queues("broker-a", 8, 4), queues("broker-b", 8, 4)), 4)

    assert [step.title.partition(":")[0] for step in plan.steps] == ["Wait for routes", "Drained", "Read down"]
    assert counts_of(plan.steps[-1]) == [("broker-a", "4", "4"), ("broker-b", "4", "4")]


def test_a_group_that_is_offline_has_to_have_read_as_well() -> None:
    gone: dict[str, Any] = {"subscriptions": ()}
    (plan,) = plan_to(of_topic(groups=(("g_pay", 4, {}), ("g_night", 0, gone))), 4)
    drained = plan.steps[2]

    assert [options(check.command)["-g"] for check in drained.checks] == ["g_night", "g_pay"]
    assert [block.partition(":")[0] for block in drained.blocks] == ["Groups without a running client, as far as known"]
    assert "g_night." in drained.blocks[0]


def test_no_command_shows_what_a_broadcasting_group_has_read() -> None:
    (plan,) = plan_to(of_topic(groups=(("g_all", 2, {"message_model": "BROADCASTING"}),)), 4)

    assert not plan.steps[2].checks
    assert "Broadcasting groups keep their offsets in their clients: g_all." in plan.steps[2].blocks[0]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"order": True}, "keys move to other queues"),
        ({"message_type": "FIFO"}, "keys move to other queues"),
        ({"groups": (("g_pay", 4, {"orderly": True}),)}, "keys move to other queues"),
        ({"order": None}, "its order flag is unknown"),
    ],
)
def test_what_forbids_it_makes_comments_of_its_commands(facts: dict[str, Any], why: str) -> None:
    (plan,) = plan_to(of_topic(**facts), 4)

    assert plan.manual
    assert why in plan.reason
    assert all(line.startswith("# ") for step in plan.steps for line in step.commands)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"message_type": "PRIORITY"}, "it is a PRIORITY topic"),
        ({"message_type": "LITE"}, "it is a LITE topic"),
        ({"name": "%RETRY%g_pay"}, "it is a topic of the kind RETRY"),
        ({"name": "%LMQ%pay"}, "it is a topic of the kind LMQ"),
    ],
)
def test_topics_whose_number_of_queues_means_something_do_not_shrink(facts: dict[str, Any], why: str) -> None:
    (plan,) = plan_to(of_topic(**facts), 4)

    assert plan.action == "SHRINK_QUEUES"
    assert not plan.steps
    assert why in plan.reason


def test_fewer_read_than_write_queues_are_no_plan() -> None:
    (plan,) = plan_to(of_topic(), 2, 4)
    assert not plan.steps
    assert "fewer read than write queues" in plan.reason


@pytest.mark.parametrize(
    ("clients", "smallest"), [((4,), 2), ((5,), 3), ((4, 9), 5), ((1,), 1), ((), 1)], ids=lambda one: str(one)
)
def test_the_smallest_number_serves_every_client_of_every_group(clients: tuple[int, ...], smallest: int) -> None:
    topic = of_topic(groups=[(f"g_{index}", number, {}) for index, number in enumerate(clients)])
    assert smallest_count(topic) == smallest


def test_where_too_few_stay_the_plan_says_so() -> None:
    (plan,) = plan_to(of_topic(groups=(("g_pay", 9, {}),)), 4)
    assert "With fewer than 5 on each writable broker some clients are left without a queue." in plan.reason


def test_what_queues_cost_is_said_for_each_broker_and_replica() -> None:
    topic = a_topic("pay", *TWO, order=False, message_type="NORMAL")
    groups = [a_group("g_1", members(2), [topic]), a_group("g_2", members(3), [topic])]
    brokers = [broker("broker-a"), broker("broker-a", 1), broker("broker-b")]
    (plan,) = plan_to(facts_of(cluster([topic], groups, brokers))[1]["pay"], 4)

    # 300,000 entries of 20 bytes a file; two groups pull each queue every 15 s.
    assert plan.cost_before[0] == QueueCost(
        broker_name="broker-a", replicas=2, files=8, files_bytes=48_000_000, pulls_per_s=1.0667
    )
    assert plan.cost_after[0].files == 4


def test_a_topic_grows_in_one_command_a_broker() -> None:
    (plan,) = plan_to(of_topic(), 10)
    (step,) = plan.steps

    assert (plan.action, plan.manual) == ("EXPAND_QUEUES", False)
    assert counts_of(step) == [("broker-a", "10", "10"), ("broker-b", "10", "10")]


def test_one_broker_may_shrink_while_another_grows() -> None:
    plans = plan_to(of_topic(queues("broker-a", 8), queues("broker-b", 2)), 4)
    assert [(plan.action, counts_of(plan.steps[-1])) for plan in plans] == [
        ("SHRINK_QUEUES", [("broker-a", "4", "4")]),
        ("EXPAND_QUEUES", [("broker-b", "4", "4")]),
    ]


def test_a_retry_topic_grows_before_brokers_use_its_queues() -> None:
    retry = of_topic(queues("broker-a", 1), queues("broker-b", 1), name="%RETRY%g_pay")
    (plan,) = plan_to(retry, 4)
    topic, number = plan.steps

    assert counts_of(topic) == [("broker-a", "4", "4"), ("broker-b", "4", "4")]
    assert not any(line.startswith("#") for line in topic.commands)
    # Whoever leaves one of the settings out changes it: a person fills them in.
    assert all(line.startswith("# mqadmin updateSubGroup") for line in number.commands)
    assert options(number.commands[0].removeprefix("# ")).keys() >= {f"-{letter}" for letter in "nbgqsmdorpiwa"}


def test_a_new_broker_gets_the_topics() -> None:
    topic = of_topic()
    plan = added(topic, topic.cluster)

    assert (plan.action, plan.broker_name, plan.manual) == ("ADD_BROKER", "broker-c", False)
    (line,) = plan.steps[1].commands
    asked = {name: options(line)[name] for name in ("-b", "-t", "-r", "-w", "-p", "-o", "-a")}
    assert asked == {
        "-b": "broker-c:10911",
        "-t": "pay",
        "-r": "8",
        "-w": "8",
        "-p": "6",
        "-o": "false",
        "-a": "+message.type=NORMAL",
    }


@pytest.mark.parametrize(
    "facts",
    [
        {"order": True},
        {"message_type": None},
        {"message_type": "LITE"},
        {"groups": (("g_night", 0, {}),)},
    ],
    ids=["ordered", "unknown type", "lite", "offline group"],
)
def test_what_may_not_be_spread_is_a_comment(facts: dict[str, Any]) -> None:
    topic = of_topic(**facts)
    plan = added(topic, topic.cluster)
    assert plan.manual
    assert plan.steps[1].commands[0].startswith("# ")


def test_no_new_broker_gets_queues_that_consumers_do_not_see() -> None:
    topic = of_topic()
    plan = added(topic, topic.cluster, read=4)
    assert plan.manual
    assert plan.steps[1].commands[0].startswith("# ")
    assert "pay: broker-c would have fewer read than write queues" in plan.reason


def test_a_broker_is_read_to_its_end_before_it_goes() -> None:
    whole, topics = facts_of(_with_two_groups())
    plan = remove_broker_plan(whole, "broker-b", [topics["pay"]])
    stop, routes, drained, remove = plan.steps

    assert (plan.action, plan.manual) == ("REMOVE_BROKER", False)
    (line,) = stop.commands
    assert {name: options(line)[name] for name in ("-b", "-k", "-v")} == {
        "-b": "broker-b:10911",
        "-k": "brokerPermission",
        "-v": "4",
    }
    assert not (*routes.commands, *drained.commands, *remove.commands)
    assert [options(check.command)["-g"] for check in drained.checks] == ["g_night", "g_pay"]
    assert "g_night." in drained.blocks[0]


def test_a_group_of_grpc_clients_is_asked_by_topic_because_it_has_no_retry_topic_of_its_name() -> None:
    pay, refund = (a_topic(name, *TWO, order=False, message_type="NORMAL") for name in ("pay", "refund"))
    proxied = [member("vm@1@1@1z", protocol="GRPC", seen_on=("10.0.8.1:8080",))]
    groups = [a_group("g_grpc", proxied, [pay, refund]), a_group("g_pay", members(4), [pay, refund])]
    whole, topics = facts_of(cluster([pay, refund], groups, [broker("broker-a"), broker("broker-b")]))
    both = [topics["pay"], topics["refund"]]

    drained = remove_broker_plan(whole, "broker-b", both).steps[2]
    assert [(options(one.command)["-g"], options(one.command).get("-t")) for one in drained.checks] == [
        ("g_grpc", "pay"),
        ("g_grpc", "refund"),
        ("g_pay", None),
    ]
    assert "%RETRY%g_grpc_pay" in drained.checks[0].shows
    assert "retry topic included" in drained.checks[2].shows


def test_a_broker_that_alone_can_be_written_stays() -> None:
    topic = of_topic(queues("broker-b", 8))
    plan = remove_broker_plan(topic.cluster, "broker-b", [topic])

    assert plan.manual
    assert "nobody could write these topics, which have no other writable broker: pay" in plan.reason
    assert plan.steps[0].commands[0].startswith("# ")


def _with_two_groups() -> Inventory:
    topic = a_topic("pay", *TWO, order=False, message_type="NORMAL")
    groups: list[InventoryGroup] = [a_group("g_pay", members(4), [topic]), a_group("g_night", (), [topic])]
    return cluster([topic], groups, [broker("broker-a"), broker("broker-b")])
