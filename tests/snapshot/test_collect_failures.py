"""Whatever is not answered is a failure with its place; whatever is merely not there is none."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.snapshot.broker_survey import RELAYED_AT_A_TIME
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.inventory import InventoryFailure, TopicQueues
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from tests.client.speaking_peer import Visit
from tests.snapshot.told_cluster import (
    Answer,
    Rule,
    ToldBroker,
    connection,
    group_table,
    only,
    snapshot_of,
    topic_table,
)

QUICK = CollectOptions(settings=ConnectionSettings(request_timeout_s=1.5, attempts=2, retry_wait_s=0.01))
ALL = {21, 26, 28, 43, 201, 328, 402}
OF_PRODUCERS = 328
GET_CONSUMER_RUNNING_INFO = 307
RUNNING = (0, {"properties": {"PROP_THREADPOOL_CORE_SIZE": "7"}})


def test_a_slave_is_asked_about_itself_and_for_what_it_copies() -> None:
    master, slave = ToldBroker("a"), ToldBroker("a", 1)
    inventory = snapshot_of([master, slave])
    assert (master.codes(), slave.codes()) == (ALL, {21, 26, 28, 201})
    assert [(one.broker_id, one.version, one.broker_perm) for one in inventory.brokers] == [
        (0, "V5_3_3", 6),
        (1, "V5_3_3", 6),
    ]
    assert inventory.failures == ()


def test_without_a_master_the_slave_with_the_lowest_id_answers_for_its_name() -> None:
    second, first = ToldBroker("a", 2), ToldBroker("a", 1, rules={201: group_table("g")})
    inventory = snapshot_of([second, first])
    assert (first.codes(), second.codes()) == (ALL | {203, 208}, {26, 28})
    assert [group.consumer_group for group in inventory.consumer_groups] == ["g"]


def test_a_topic_that_was_deleted_and_a_group_that_is_offline_are_no_failures() -> None:
    broker = ToldBroker("a", rules={21: topic_table("pay"), 201: group_table("g"), 402: (3, "not supported")})
    inventory = snapshot_of([broker])
    assert {202, 203, 208} < broker.codes()
    assert inventory.failures == ()
    assert [topic.queues for topic in inventory.topics] == [()]


def test_topics_and_groups_of_rocketmqs_own_are_listed_and_not_looked_into() -> None:
    broker = ToldBroker(
        "a", rules={21: topic_table("BenchmarkTest", "C1", "a", "pay"), 201: group_table("TOOLS_CONSUMER")}
    )
    inventory = snapshot_of([broker])
    asked = {request.ext_fields["topic"] for request in broker.asked if request.code == 202}
    assert asked == {"pay"}
    assert not {203, 208} & broker.codes()
    assert [topic.topic for topic in inventory.topics] == ["BenchmarkTest", "C1", "a", "pay"]
    assert [group.consumer_group for group in inventory.consumer_groups] == ["TOOLS_CONSUMER"]


def test_groups_are_found_in_settings_offsets_and_retry_topics_and_asked_on_every_broker() -> None:
    offsets = '{"offsetTable":{"pay@g_offsets":{0:1},"pay@g_all@broadcast":{0:1}}}'
    first = ToldBroker("a", rules={201: group_table("g_set"), 43: (0, offsets)})
    second = ToldBroker("b")
    inventory = snapshot_of([first, second], topics=("pay", "%RETRY%g_retried", "%RETRY%g_set_pay"))
    names = ["g_offsets", "g_retried", "g_set"]
    assert [group.consumer_group for group in inventory.consumer_groups] == names
    for broker in (first, second):
        for code in (203, 208):
            asked = [request.ext_fields["consumerGroup"] for request in broker.asked if request.code == code]
            assert sorted(asked) == names


def test_a_topic_that_only_a_broker_knows_is_listed_and_its_route_asked_for() -> None:
    route = (0, {"queueDatas": [{"brokerName": "a", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}]})
    broker = ToldBroker("a", rules={21: topic_table("new")})
    inventory = snapshot_of([broker], name_server={105: only("topic", "new", route)})
    assert [(topic.topic, len(topic.queues or ())) for topic in inventory.topics] == [("new", 1), ("pay", 0)]


def test_a_request_that_fails_for_many_is_one_failure_with_the_first_and_the_number() -> None:
    topics = tuple(f"t{number}" for number in range(9))
    broker = ToldBroker("a", rules={21: topic_table(*topics), 202: (1, "disk\nis full")})
    inventory = snapshot_of([broker], topics=topics)
    assert inventory.failures == (
        InventoryFailure(
            broker_addr=broker.address,
            request="GET_TOPIC_STATS_INFO",
            error="t0: answered code 1 (SYSTEM_ERROR): disk is full (and 8 more)",
        ),
    )
    assert all(topic.offsets is None for topic in inventory.topics)


def test_a_route_that_is_refused_is_a_failure_of_the_name_server() -> None:
    inventory = snapshot_of([ToldBroker("a")], name_server={105: (1, "no memory")})
    (failure,) = inventory.failures or ()
    assert (failure.broker_addr, failure.request) == ((inventory.nameservers or ())[0], "GET_ROUTEINFO_BY_TOPIC")


def test_a_topic_whose_route_nobody_told_has_the_queues_that_brokers_register() -> None:
    read_only = ToldBroker("a", rules={21: topic_table("pay"), 26: (0, "brokerPermission=4\n")})
    brokers = [read_only, ToldBroker("b"), ToldBroker("c", rules={21: (1, "no memory")})]
    inventory = snapshot_of(brokers, name_server={105: (1, "no memory")})
    (pay,) = inventory.topics
    assert pay.queues == (
        TopicQueues(broker_name="a", read_queue_nums=1, write_queue_nums=1, perm=4),
        TopicQueues(broker_name="c"),
    )


def test_of_a_topic_whose_route_nobody_told_a_broker_that_is_open_changes_no_permission() -> None:
    code, table = topic_table("pay")
    table["topicConfigTable"]["pay"] = {**table["topicConfigTable"]["pay"], "perm": 7}  # as TBW102 has it
    inventory = snapshot_of([ToldBroker("a", rules={21: (code, table)})], name_server={105: (1, "no memory")})
    assert [[one.perm for one in topic.queues or ()] for topic in inventory.topics] == [[7]]


def test_a_topic_that_a_name_server_knows_no_route_of_has_no_queues_whoever_else_is_silent() -> None:
    broker = ToldBroker("a", rules={21: topic_table("pay")})
    inventory = snapshot_of([broker], other_name_servers=[{105: (1, "no memory")}])
    assert [topic.queues for topic in inventory.topics] == [()]


def test_logical_queues_are_unknown_where_nobody_told_the_route() -> None:
    code, body = topic_table("pay")
    static = {**body, "topicQueueMappingDetailMap": {"pay": {"scope": "__global__", "totalQueues": 5}}}
    inventory = snapshot_of([ToldBroker("a", rules={21: (code, static)})], name_server={105: (1, "no memory")})
    assert [topic.queues for topic in inventory.topics] == [(TopicQueues(broker_name="a"),)]


READ = '{"offsetTable":{{"brokerName":"a","queueId":0,"topic":"pay"}:{"brokerOffset":9,"consumerOffset":%d}}}'


def test_a_group_whose_clients_may_not_be_asked_for_has_unknown_ones_and_is_no_sign_of_a_proxy() -> None:
    places = iter(range(9))
    denied: dict[int, Rule | None] = {201: group_table("g"), 203: DENIED[0], 208: lambda _: (0, READ % next(places))}
    options = CollectOptions(sample_count=3, sample_interval_s=0.01)
    inventory = snapshot_of([ToldBroker("a", rules=denied), ToldBroker("b")], options=options)
    assert [group.clients for group in inventory.consumer_groups] == [None]
    assert [failure.broker_addr for failure in inventory.failures or ()] == [inventory.brokers[0].broker_addr]


def test_a_group_has_no_clients_where_a_broker_with_its_offsets_says_so_whoever_else_is_silent() -> None:
    well = ToldBroker("a", rules={201: group_table("g"), 208: (0, READ % 1)})
    inventory = snapshot_of([well, ToldBroker("b", rules={203: DENIED[0]})])
    assert [group.clients for group in inventory.consumer_groups] == [()]


def test_a_body_that_makes_no_sense_is_a_failure_and_the_rest_is_kept() -> None:
    inventory = snapshot_of([ToldBroker("a", rules={201: (0, "{]")}), ToldBroker("b", rules={201: group_table("g")})])
    (failure,) = inventory.failures or ()
    assert failure.request == "GET_ALL_SUBSCRIPTIONGROUP_CONFIG"
    assert "cannot be read" in (failure.error or "")
    assert [group.consumer_group for group in inventory.consumer_groups] == ["g"]


def test_a_broker_whose_address_is_none_is_listed_with_a_failure() -> None:
    inventory = snapshot_of([ToldBroker("a"), ToldBroker("b", address="nowhere")])
    assert [(one.broker_name, one.broker_addr) for one in inventory.brokers][1] == ("b", "nowhere")
    (failure,) = inventory.failures or ()
    assert (failure.broker_addr, failure.request) == ("nowhere", "CONNECT")


def test_a_silent_broker_costs_a_few_limits_and_leaves_one_failure_a_request() -> None:
    silent = ToldBroker("a", rules=dict.fromkeys([21, 26, 28, 43, 201, 203, 208, 402]))
    inventory = snapshot_of(
        [silent, ToldBroker("b", rules={201: group_table(*(f"g{n}" for n in range(50)))})], options=QUICK
    )
    assert {failure.request for failure in inventory.failures or ()} == {
        "GET_ALL_CONSUMER_OFFSET",
        "GET_ALL_MESSAGE_REQUEST_MODE",
        "GET_ALL_SUBSCRIPTIONGROUP_CONFIG",
        "GET_ALL_TOPIC_CONFIG",
        "GET_BROKER_CONFIG",
        "GET_BROKER_RUNTIME_INFO",
        "GET_CONSUMER_CONNECTION_LIST",
        "GET_CONSUME_STATS",
    }
    assert {failure.broker_addr for failure in inventory.failures or ()} == {silent.address}
    assert all("timed out after 1.5 s" in (failure.error or "") for failure in inventory.failures or ())
    assert not {203, 208} & silent.codes()  # by then it was given up
    assert len(inventory.consumer_groups) == 50


def test_a_client_is_asked_through_another_broker_where_the_first_does_not_reach_it() -> None:
    rules = {201: group_table("g"), 203: connection("c")}
    for reached in ("a", "b"):
        brokers = [ToldBroker(name, rules={**rules, **({307: RUNNING} if name == reached else {})}) for name in "ab"]
        inventory = snapshot_of(brokers)
        assert inventory.failures == ()
        ((client,),) = [group.clients or () for group in inventory.consumer_groups]
        assert (client.consume_threads, client.seen_on) == (7, ("a", "b"))


def test_a_client_that_nobody_reaches_is_one_failure_and_stays_with_unknowns() -> None:
    rules = {201: group_table("g"), 203: connection("c"), 307: (1, "The Consumer <g> <c> not online")}
    brokers = [ToldBroker(name, rules=dict(rules)) for name in "ab"]
    inventory = snapshot_of(brokers)
    (failure,) = inventory.failures or ()
    assert failure.request == "GET_CONSUMER_RUNNING_INFO"
    assert failure.broker_addr in {broker.address for broker in brokers}
    assert failure.error == "g c: answered code 1 (SYSTEM_ERROR): The Consumer <g> <c> not online"
    ((client,),) = [group.clients or () for group in inventory.consumer_groups]
    assert (client.client_id, client.consume_threads, client.owned_queues) == ("c", None, None)


def test_an_id_that_is_listed_twice_is_asked_once() -> None:
    broker = ToldBroker("a", rules={201: group_table("g"), 203: connection("c", "c"), 307: RUNNING})
    inventory = snapshot_of([broker])
    assert [request.code for request in broker.asked].count(307) == 1
    (clients,) = [group.clients or () for group in inventory.consumer_groups]
    assert [client.consume_threads for client in clients] == [7, None]


def test_no_more_questions_are_passed_on_at_a_time_than_leave_a_broker_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = [f"c{number}" for number in range(5 * RELAYED_AT_A_TIME)]
    broker = ToldBroker("a", rules={201: group_table("g"), 203: connection(*clients)})
    waiting: list[tuple[Visit, Command]] = []
    at_once: list[int] = []

    def answer_all() -> None:
        for visit, request in waiting:
            visit.answer(request, b"{}")
        waiting.clear()

    async def answer_when_full(visit: Visit, request: Command) -> None:
        if request.code != GET_CONSUMER_RUNNING_INFO:
            await ToldBroker.handle(broker, visit, request)
            return
        waiting.append((visit, request))
        at_once.append(len(waiting))
        if len(waiting) == RELAYED_AT_A_TIME:
            asyncio.get_running_loop().call_later(0.02, answer_all)  # time for one question too many

    monkeypatch.setattr(broker, "handle", answer_when_full)
    inventory = snapshot_of([broker])
    assert inventory.failures == ()
    assert len(at_once) == len(clients)
    assert max(at_once) == RELAYED_AT_A_TIME
    assert not waiting


def test_a_client_of_several_groups_is_asked_one_question_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = [f"g{number}" for number in range(12)]
    rules: dict[int, Rule | None] = {201: group_table(*groups), 203: connection("c")}
    brokers = [ToldBroker(name, rules=dict(rules)) for name in "abc"]
    at_once: list[int] = [0]

    def counting(broker: ToldBroker) -> Callable[[Visit, Command], Awaitable[None]]:
        async def count_and_answer(visit: Visit, request: Command) -> None:
            if request.code != GET_CONSUMER_RUNNING_INFO:
                await ToldBroker.handle(broker, visit, request)
                return
            at_once.append(at_once[-1] + 1)
            await asyncio.sleep(0.01)
            at_once.append(at_once[-1] - 1)
            visit.answer(request, b"{}")

        return count_and_answer

    for broker in brokers:
        monkeypatch.setattr(broker, "handle", counting(broker))
    inventory = snapshot_of(brokers)
    assert inventory.failures == ()
    assert at_once == [0, *[1, 0] * len(groups)]


def test_a_client_that_let_a_broker_wait_is_asked_nothing_more() -> None:
    rules = {201: group_table("g", "h"), 203: connection("c"), 307: (207, "consumer <g> <c> Timeout")}
    brokers = [ToldBroker(name, rules=dict(rules)) for name in "ab"]
    inventory = snapshot_of(brokers)
    assert sum([request.code for request in broker.asked].count(307) for broker in brokers) == 1
    (failure,) = inventory.failures or ()
    assert failure.error == "g c: answered code 207 (CONSUME_MSG_TIMEOUT): consumer <g> <c> Timeout (and 1 more)"
    assert failure.of_clients


def test_the_same_answers_in_another_order_give_the_same_bytes() -> None:
    def taken(topics: list[str], groups: list[str], client_ids: list[str]) -> str:
        # Clients that answer: which broker is asked first about one hangs on the ports, and so would its failure.
        rules = {21: topic_table(*topics), 201: group_table(*groups), 203: connection(*client_ids), 307: RUNNING}
        inventory = snapshot_of([ToldBroker(name, rules=dict(rules)) for name in ("b", "a")], topics=tuple(topics))
        # Ports and the moment differ from run to run.
        return re.sub(
            r"127.0.0.1:[0-9]+|10.0.0.1:[0-9]+|20[0-9-]+T[0-9:]+Z", "", b"".join(render_inventory(inventory)).decode()
        )

    topics, groups, client_ids = ["pay", "ship", "中"], ["g", "h"], ["c1", "c2", "c10"]
    assert taken(topics, groups, client_ids) == taken(topics[::-1], groups[::-1], client_ids[::-1])


def test_several_clusters_of_one_name_server_are_taken_as_one() -> None:
    assert snapshot_of([ToldBroker("a")], clusters=("C2", "C1")).cluster_name == "C1_C2"


def test_a_name_server_without_brokers_gives_an_inventory_without_brokers() -> None:
    inventory = snapshot_of([], topics=(), clusters=())
    assert (inventory.cluster_name, inventory.brokers, inventory.topics) == ("unknown", (), ())


@pytest.mark.parametrize("answer", [(16, "denied"), (0, "nonsense")])
def test_a_name_server_that_does_not_tell_its_brokers_is_no_name_server(answer: Answer) -> None:
    with pytest.raises(ClusterUnreachable, match=r"127\.0\.0\.1:[0-9]+"):
        snapshot_of([ToldBroker("a")], name_server={106: answer})


DENIED: tuple[Answer, ...] = (
    (16, "check signature failed."),
    (1, "org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=reader"),  # 4.x
)


@pytest.mark.parametrize("answer", DENIED)
def test_brokers_that_deny_everything_are_a_cluster_that_cannot_be_read(answer: Answer) -> None:
    brokers = [ToldBroker(name, rules=dict.fromkeys(ALL, answer)) for name in ("a", "b")]
    with pytest.raises(ClusterUnreachable) as refused:
        snapshot_of(brokers)
    said = str(refused.value)
    assert said.startswith("access to the brokers was refused: ")
    assert all(broker.address in said for broker in brokers)
    assert "heck signature failed" in said
    assert not {202, 203, 208, 307} & {code for broker in brokers for code in broker.codes()}


def test_brokers_that_nobody_reaches_are_a_cluster_that_cannot_be_read() -> None:
    """As with addresses of containers: an inventory without groups would look like an empty cluster."""
    brokers = [ToldBroker(name, rules=dict.fromkeys(ALL)) for name in ("a", "b")]
    with pytest.raises(ClusterUnreachable) as error:
        snapshot_of(brokers, options=QUICK)
    said = str(error.value)
    assert said.startswith("no broker that the name servers list can be read: ")
    assert all(f"{broker.address}: timed out after" in said for broker in brokers)


@pytest.mark.parametrize("open_code", sorted(ALL))
def test_one_answer_among_refusals_is_a_cluster_that_can_be_read(open_code: int) -> None:
    closed = dict.fromkeys(ALL, DENIED[0])
    opened = {code: answer for code, answer in closed.items() if code != open_code}
    inventory = snapshot_of([ToldBroker("a", rules=dict(closed)), ToldBroker("b", rules=dict(opened))])
    failures = inventory.failures or ()
    # Whoever may not see producers has a whole snapshot without them.
    denied = [*closed, *opened]
    assert len(failures) == len(denied) - denied.count(OF_PRODUCERS)
    assert all("NO_PERMISSION" in (failure.error or "") for failure in failures)


def test_a_broker_that_fails_for_another_reason_is_not_taken_for_one_that_refuses() -> None:
    inventory = snapshot_of([ToldBroker("a", rules=dict.fromkeys(ALL, (1, "disk is full")))])
    assert {failure.request for failure in inventory.failures or ()} >= {"GET_ALL_TOPIC_CONFIG"}
