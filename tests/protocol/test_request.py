"""Answers are read in one way: a refusal is not a body that makes no sense, and bodies may be compressed."""

import json
import zlib
from typing import Any

import pytest

from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel
from rocketmq_capacity.protocol.body.offsets import MessageQueue, WrittenOffset
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import BodyError, ResponseError
from rocketmq_capacity.protocol.request import Request

REQUESTS: dict[int, Request[Any]] = {
    21: request.topic_configs(),
    26: request.broker_config(),
    28: request.broker_runtime(),
    38: request.consumer_ids("g"),
    43: request.committed_offsets(),
    52: request.acl_version(),
    105: request.topic_route("t"),
    106: request.cluster_info(),
    201: request.subscription_groups(),
    202: request.topic_stats("t"),
    203: request.consumer_connection("g"),
    206: request.topic_list(),
    208: request.consume_stats("g"),
    307: request.consumer_running_info("g", "c"),
    328: request.producers(),
    402: request.message_request_modes(),
    3009: request.acl_of("reader"),
}
STATS = b'{"offsetTable":{{"brokerName":"b","queueId":3,"topic":"t"}:{"maxOffset":9,"minOffset":1}},"topicPutTps":0.0}'


def response(body: bytes, code: int = 0, remark: str | None = None) -> Command:
    return Command(code, 1, flag=1, body=body, remark=remark)


def test_only_requests_that_read_can_be_made() -> None:
    assert {int(code) for code in RequestCode} == set(REQUESTS)
    assert all(asked.code == code for code, asked in REQUESTS.items())


def test_every_argument_is_a_text() -> None:
    for asked in REQUESTS.values():
        assert all(isinstance(value, str) for value in asked.ext_fields.values())


def test_a_refusal_carries_its_code_and_remark_in_one_line() -> None:
    with pytest.raises(ResponseError) as refused:
        request.topic_stats("t").answer(response(b"", 17, "topic[t] not exist\nSee the documentation"))
    assert (refused.value.code, refused.value.request) == (17, RequestCode.GET_TOPIC_STATS_INFO)
    assert str(refused.value) == "answered code 17 (TOPIC_NOT_EXIST): topic[t] not exist See the documentation"


def test_an_unknown_code_is_shown_as_a_number() -> None:
    with pytest.raises(ResponseError, match="code 4711"):
        request.topic_list().answer(response(b"", 4711))


def test_a_compressed_body_is_read_like_a_plain_one() -> None:
    expected = {MessageQueue("t", "b", 3): WrittenOffset(1, 9)}
    assert request.topic_stats("t").answer(response(STATS)) == expected
    assert request.topic_stats("t").answer(response(zlib.compress(STATS))) == expected


def test_a_compressed_body_over_the_limit_is_refused() -> None:
    with pytest.raises(BodyError, match="more than 20 bytes"):
        request.topic_stats("t").answer(response(zlib.compress(STATS)), max_body_bytes=20)


def test_a_user_without_an_acl_has_an_empty_body() -> None:
    assert request.acl_of("reader").answer(response(b"")) == ()


@pytest.mark.parametrize("code", sorted(set(REQUESTS) - {26, 52, 3009}))
def test_an_empty_body_is_the_peers_error(code: int) -> None:
    with pytest.raises(BodyError, match="the body of 0 bytes cannot be read"):
        REQUESTS[code].answer(response(b""))


@pytest.mark.parametrize("code", sorted(set(REQUESTS) - {26, 52}))
@pytest.mark.parametrize("body", [b"[]", b"1", b"\xff\xfe", b'{"a":'])
def test_a_body_that_is_no_object_is_the_peers_error(code: int, body: bytes) -> None:
    with pytest.raises(BodyError, match=f"the body of {len(body)} bytes cannot be read"):
        REQUESTS[code].answer(response(body))


@pytest.mark.parametrize(
    ("code", "body", "words"),
    [
        (21, b'{"topicConfigTable":{"t":{"readQueueNums":"4"}}}', "topicConfigTable.t.readQueueNums is '4'"),
        (21, b'{"topicConfigTable":[1]}', "topicConfigTable is a list"),
        (26, b"\xff=1", "not UTF-8"),
        (28, b'{"table":{"a":[]}}', "table.a is a list"),
        (38, b'{"consumerIdList":[1]}', "an entry of consumerIdList is 1"),
        (43, b'{"offsetTable":{"t@g":{0:"x"}}}', "t@g.0 is 'x'"),
        (43, b'{"offsetTable":{"t@g":{"a":1}}}', "the key 'a'"),
        (105, b'{"queueDatas":[{"brokerName":1}]}', "queueDatas.brokerName is 1"),
        (106, b'{"brokerAddrTable":{"b":{"brokerName":"b","brokerAddrs":{x:"h:1"}}}}', "expected a key"),
        (106, b'{"brokerAddrTable":{"b":{"brokerName":"b","brokerAddrs":{"x":"h:1"}}}}', "the key 'x'"),
        (202, b'{"offsetTable":{{"brokerName":"b","topic":"t"}:{}}}', "queueId is None"),
        (202, b'{"offsetTable":{"no queue":{}}}', "expected a value"),
        (202, b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:{"minOffset":true}}}', "minOffset is True"),
        (203, b'{"connectionSet":[{"clientAddr":"h:1"}]}', "connectionSet.clientId is None"),
        (307, b'{"statusTable":{"t":{"consumeRT":"x"}}}', "statusTable.t.consumeRT is 'x'"),
        (328, b'{"data":{"p":[{"remoteIP":"/h:1"}]}}', "data.p.clientId is None"),
        (402, b'{"messageRequestModeMap":{"t":{"g":{}}}}', "messageRequestModeMap.t.g.mode is None"),
    ],
)
def test_a_member_of_a_wrong_type_is_named(code: int, body: bytes, words: str) -> None:
    with pytest.raises(BodyError) as failure:
        REQUESTS[code].answer(response(body))
    assert words in str(failure.value)


def test_names_with_escapes_braces_and_other_scripts_come_through_in_keys() -> None:
    names = [r"b\"{:}", r"\u4e2d", "日本"]
    entries = ",".join(
        f'{{"brokerName":"{name}","queueId":0,"topic":"t,0:"}}:{{"maxOffset":1,"minOffset":0}}' for name in names
    )
    stats = request.topic_stats("t").answer(response(f'{{"offsetTable":{{{entries}}}}}'.encode()))
    assert {queue.broker_name for queue in stats} == {'b"{:}', "中", "日本"}
    assert {queue.topic for queue in stats} == {"t,0:"}


def test_what_java_leaves_out_counts_as_nothing() -> None:
    info = request.consumer_running_info("g", "c").answer(response(b'{"properties":{},"mqTable":null}'))
    assert (info.queues, info.pop_queues, info.subscriptions, dict(info.statuses)) == ((), (), (), {})
    assert request.consumer_ids("g").answer(response(b"{}")).client_ids == ()


def test_producers_are_listed_by_group_with_their_addresses_as_brokers_see_them() -> None:
    told = {"clientId": "10.0.0.9@9#9", "remoteIP": "/10.0.0.9:40001", "language": "JAVA", "version": 479}
    body = json.dumps({"data": {"p_pay": [{**told, "lastUpdateTimestamp": 1}], "p_none": []}}).encode()
    assert request.producers().answer(response(body)) == {
        "p_pay": (ConsumerChannel("10.0.0.9@9#9", "10.0.0.9:40001", "JAVA", 479),),
        "p_none": (),
    }
