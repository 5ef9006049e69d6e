"""Whatever a cluster answers, the snapshot ends in time, can be stored, and says what it could not read."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.client.speaking_peer import Visit
from tests.snapshot.told_cluster import ToldBroker, connection, group_table, snapshot_of, topic_table

ONCE: Final = CollectOptions(settings=ConnectionSettings(request_timeout_s=30, attempts=1))
"""For brokers that answer: each request is sent once, and has all the time that a busy machine takes."""
PAY: Final = '{"brokerName":"a","queueId":0,"topic":"pay"}'
ROUTE: Final = {
    "queueDatas": [{"brokerName": "a", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}],
    "brokerDatas": [],
}
HUGE: Final = 10**30
WAIT_S: Final = 60.0
"""What a snapshot without a limit would wait for; with one it ends before, on a busy machine too."""
COUNTS: Final = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6}


def stored(inventory: Inventory) -> Inventory:
    """The inventory as the next run reads it."""
    return parse_inventory(b"".join(render_inventory(inventory)), source="stored")


def offsets(**entry: Any) -> tuple[int, str]:
    return 0, f'{{"offsetTable":{{{PAY}:{msgspec.json.encode(entry).decode()}}}}}'


def running_info(text: str) -> tuple[int, str]:
    """The body of 307 with one member more."""
    return 0, f'{{"properties":{{"PROP_THREADPOOL_CORE_SIZE":"7"}},{text}}}'


@pytest.mark.parametrize(
    "body",
    [
        running_info('"statusTable":{"pay":{"consumeRT":' + "9" * 400 + "}}"),
        running_info('"statusTable":{"":{"consumeRT":1}}'),
        running_info('"mqTable":{{"brokerName":"a","queueId":-5,"topic":"pay"}:{}}'),
        running_info('"mqTable":{{"brokerName":"a","queueId":0,"topic":""}:{}}'),
        running_info('"subscriptionSet":[{"topic":""}]'),
        running_info('"subscriptionSet":' + "[" * 700 + "]" * 700),
        running_info('"statusTable":{"\\uD800":' + "[" * 700 + "]" * 700 + "}"),
        (0, "\x00\x01"),
        (0, ""),
    ],
    ids=[
        "digits",
        "no topic",
        "queue -5",
        "no topic of a queue",
        "no topic read",
        "deep",
        "deep and half",
        "bytes",
        "none",
    ],
)
def test_a_client_that_says_something_impossible_is_unknown_and_the_rest_is_there(body: tuple[int, str]) -> None:
    def of(request: Command) -> tuple[int, Any]:
        return body if request.ext_fields["clientId"] == "odd" else running_info('"mqTable":{}')

    broker = ToldBroker("a", rules={201: group_table("g"), 203: connection("odd", "well"), 307: of})
    inventory = stored(snapshot_of([broker], options=ONCE))
    (group,) = inventory.consumer_groups
    assert [(one.client_id, one.consume_threads) for one in group.clients or ()] == [("odd", None), ("well", 7)]
    (failure,) = inventory.failures or ()
    assert failure.request == "GET_CONSUMER_RUNNING_INFO"
    assert "g odd: " in (failure.error or "")


@pytest.mark.parametrize(
    "text",
    [
        f'"mqTable":{{{PAY}:{{"cachedMsgCount":{HUGE}}}}}',
        f'"mqTable":{{{PAY}:{{"lastPullTimestamp":{HUGE}}}}}',
        f'"properties":{{"pullThresholdForTopic":"{HUGE}","consumeMessageBatchMaxSize":"{"9" * 5_000}"}}',
    ],
    ids=["cached", "time", "thresholds"],
)
def test_a_figure_that_no_client_can_have_is_unknown(text: str) -> None:
    broker = ToldBroker("a", rules={201: group_table("g"), 203: connection("odd"), 307: running_info(text)})
    (group,) = stored(snapshot_of([broker], options=ONCE)).consumer_groups
    (client,) = group.clients or ()
    assert (client.pull_threshold_for_topic, client.consume_batch_size) == (None, None)
    assert [(one.cached_msgs, one.last_pulled_at) for one in client.owned_queues or ()] in ([], [(None, None)])


@pytest.mark.parametrize(
    ("code", "body", "request_name"),
    [
        (
            21,
            (0, {"topicConfigTable": {"pay": {**COUNTS, "readQueueNums": HUGE}}}),
            "TOPIC_CONFIG",
        ),
        (21, (0, {"topicConfigTable": {"": COUNTS}}), "TOPIC_CONFIG"),
        (201, (0, {"subscriptionGroupTable": {"": {}}}), "SUBSCRIPTIONGROUP"),
        (208, offsets(brokerOffset=2**70, consumerOffset=0, lastTimestamp=0), "CONSUME_STATS"),
        (202, offsets(minOffset=0, maxOffset=2**70), "TOPIC_STATS"),
        (203, (0, {"connectionSet": [{"clientId": "", "version": 1}]}), "CONSUMER_CONNECTION"),
        (203, (0, {"connectionSet": [{"clientId": "x" * 100_000, "version": 1}]}), "CONSUMER_CONNECTION"),
        (28, (0, {"table": {"k": "x" * 100_000}}), "RUNTIME"),
        (43, (0, {"offsetTable": {"pay@g": {"-5": 1}}}), "CONSUMER_OFFSET"),
    ],
)
def test_an_answer_beyond_the_limits_is_a_failure(code: int, body: Any, request_name: str) -> None:
    broker = ToldBroker("a", rules={21: topic_table("pay"), 201: group_table("g"), code: body})
    inventory = stored(snapshot_of([broker], options=ONCE))
    assert [request_name in (one.request or "") for one in inventory.failures or ()] == [True]


def test_a_permission_of_five_thousand_digits_is_unknown() -> None:
    broker = ToldBroker("a", rules={26: (0, f"brokerPermission={'6' * 5_000}\n")})
    (found,) = stored(snapshot_of([broker], options=ONCE)).brokers
    assert found.broker_perm is None


def test_a_route_that_names_a_broker_twice_is_a_failure() -> None:
    twice = {"queueDatas": ROUTE["queueDatas"] * 2, "brokerDatas": []}
    inventory = stored(snapshot_of([ToldBroker("a")], name_server={105: (0, twice)}, options=ONCE))
    assert [one.request for one in inventory.failures or ()] == ["GET_ROUTEINFO_BY_TOPIC"]


def test_two_brokers_that_speak_of_one_queue_count_once() -> None:
    written, read = offsets(minOffset=0, maxOffset=9), offsets(brokerOffset=9, consumerOffset=1)
    rules: dict[int, Any] = {21: topic_table("pay"), 201: group_table("g"), 202: written, 208: read}
    inventory = stored(snapshot_of([ToldBroker(name, rules=rules) for name in ("a", "b")], options=ONCE))
    assert [len(topic.offsets or ()) for topic in inventory.topics] == [1]
    assert [len(group.offsets or ()) for group in inventory.consumer_groups] == [1]


def test_the_peers_words_are_cut_and_no_terminal_obeys_them() -> None:
    remark = "\x1b]0;owned\x07 " + "x" * 5_000_000
    inventory = stored(snapshot_of([ToldBroker("a", rules={28: (1, remark)})], options=ONCE))
    (failure,) = inventory.failures or ()
    assert (failure.error or "").startswith("answered code 1 (SYSTEM_ERROR): \\x1b]0;owned\\x07 xxx")
    assert len(failure.error or "") < 1_100


@dataclass
class Dripping(ToldBroker):
    """A broker that begins every answer to one request, and then sends a byte now and then."""

    drips_on: int = 208
    dripping: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, visit: Visit, request: Command) -> None:
        if request.code != self.drips_on:
            await super().handle(visit, request)
            return
        self.asked.append(request)
        self.dripping.add(asyncio.create_task(self._drip(visit)))

    async def _drip(self, visit: Visit) -> None:
        visit.send(b"\x00\x00\x10\x00")
        for _ in range(600):
            await asyncio.sleep(0.1)
            visit.send(b"\x00")


def test_a_broker_that_sends_a_byte_now_and_then_is_given_up() -> None:
    groups = [f"g{number}" for number in range(160)]
    broker = Dripping("a", rules={201: group_table(*groups)})
    settings_ = ConnectionSettings(request_timeout_s=1.0, attempts=1)
    inventory = stored(snapshot_of([broker], options=CollectOptions(settings=settings_)))
    # As many as are under way at a time, and not one after the other until all have waited in vain.
    assert 0 < sum(request.code == 208 for request in broker.asked) <= settings_.in_flight
    assert "GET_CONSUME_STATS" in {one.request for one in inventory.failures or ()}
    assert len(inventory.consumer_groups) == len(groups)


def test_the_snapshot_ends_within_its_limit_whatever_the_cluster_does() -> None:
    settings_ = ConnectionSettings(request_timeout_s=WAIT_S, attempts=3)
    broker = ToldBroker("a", rules={201: group_table("g"), 208: None})
    begin = time.monotonic()
    inventory = stored(snapshot_of([broker], options=CollectOptions(settings=settings_, limit_s=2.5)))
    assert time.monotonic() - begin < WAIT_S
    (failure,) = [one for one in inventory.failures or () if one.request == "GET_CONSUME_STATS"]
    assert failure.error == "g: not asked or not answered within the snapshot's limit of 2.5 s"
    assert [group.consumer_group for group in inventory.consumer_groups] == ["g"]


def test_samples_end_with_the_limit() -> None:
    options = CollectOptions(sample_count=3, sample_interval_s=WAIT_S, limit_s=1)
    begin = time.monotonic()
    stored(snapshot_of([ToldBroker("a", rules={201: group_table("g")})], options=options))
    assert time.monotonic() - begin < WAIT_S


def test_a_silent_name_server_is_one_error_within_the_limit() -> None:
    settings_ = ConnectionSettings(request_timeout_s=30, attempts=3)
    with pytest.raises(ClusterUnreachable, match=r"limit of 1 s"):
        snapshot_of([], name_server={106: None}, options=CollectOptions(settings=settings_, limit_s=1))


def test_brokers_are_not_asked_once_name_servers_have_taken_all_the_time() -> None:
    broker = ToldBroker("a", rules={201: group_table("g")})
    settings_ = ConnectionSettings(request_timeout_s=3, attempts=1)
    options = CollectOptions(settings=settings_, limit_s=1)
    with pytest.raises(
        ClusterUnreachable, match=rf"{broker.address}: not asked or not answered within .* limit of 1 s"
    ):
        snapshot_of([broker], other_name_servers=[{106: None}], options=options)
    assert broker.asked == []


BODIES: Final = {
    21: topic_table("pay"),
    43: (0, {"offsetTable": {"pay@g": {"0": 1}}}),
    201: group_table("g"),
    202: offsets(minOffset=0, maxOffset=5),
    203: connection("c"),
    208: offsets(brokerOffset=5, consumerOffset=1, lastTimestamp=0),
    307: running_info(f'"mqTable":{{{PAY}:{{"cachedMsgCount":1}}}},"statusTable":{{"pay":{{"consumeRT":1.5}}}}'),
    328: (0, {"data": {"p": [{"clientId": "c", "version": 1, "remoteIP": "/10.0.0.1:1"}]}}),
    402: (0, {"messageRequestModeMap": {"pay": {"g": {"mode": "POP", "popShareQueueNum": 1}}}}),
}


def encoded(answer: tuple[int, Any]) -> str:
    said = answer[1]
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()


def damaged(code: int) -> st.SearchStrategy[str]:
    """An answer of which a part is replaced by something else."""
    whole = encoded(BODIES[code])
    odd = ["", "-1", "null", "[]", "{}", '""', "1e400", str(HUGE), "9" * 5_000, '"\\ud800"', "[" * 900]
    parts = st.sampled_from(odd)
    cut = st.integers(0, len(whole))

    def replaced(at: tuple[int, int], part: str) -> str:
        return whole[: min(at)] + part + whole[max(at) :]

    return st.builds(replaced, st.tuples(cut, cut), parts | st.text(max_size=20))


@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_any_answer_gives_a_snapshot_that_can_be_read_again(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(BODIES)))
    rules: dict[int, Any] = {**BODIES, code: (0, data.draw(damaged(code)).encode(errors="replace").decode())}
    stored(snapshot_of([ToldBroker("a", rules=rules)], name_server={105: (0, ROUTE)}, options=ONCE))
