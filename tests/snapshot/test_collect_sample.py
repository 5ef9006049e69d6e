"""A sample asks each broker little, and what was not answered is unknown."""

import json
from collections import Counter

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.collect_sample import ClusterSample
from tests.snapshot.told_cluster import Answer, Rule, ToldBroker, connection, sample_of

IMPATIENT = CollectOptions(settings=ConnectionSettings(request_timeout_s=0.3, attempts=1))


def broker(
    name: str, written: dict[str, list[int]], committed: dict[str, list[int]], **rules: Rule | None
) -> ToldBroker:
    """A broker: the ends of its queues by topic, and by ``topic@group`` the committed offsets, from queue 0."""

    def stats(asked: Command) -> Answer:
        topic = asked.ext_fields["topic"]
        entries = (
            f'{{"brokerName":"{name}","queueId":{queue_id},"topic":"{topic}"}}:{{"maxOffset":{end},"minOffset":0}}'
            for queue_id, end in enumerate(written[topic])
        )
        return 0, f'{{"offsetTable":{{{",".join(entries)}}}}}'

    table = {key: {str(queue_id): offset for queue_id, offset in enumerate(each)} for key, each in committed.items()}
    told: dict[int, Rule | None] = {43: (0, json.dumps({"offsetTable": table})), 202: stats}
    told[203] = connection("c-2", "c-1")
    return ToldBroker(name, rules={**told, **{int(code.removeprefix("code_")): rule for code, rule in rules.items()}})


def lags(sample: ClusterSample) -> dict[str, int | None]:
    return {one.consumer_group: one.lag for one in sample.groups}


def test_a_sample_sums_what_brokers_say() -> None:
    a = broker("a", {"pay": [101, 50]}, {"pay@g": [91, 50], "pay@h": [1, 50]})
    b = broker("b", {"pay": [7], "ship": [3]}, {"pay@g": [7], "ship@g": [0]})
    sample = sample_of([a, b])
    assert {(one.topic, one.broker_name): (one.queues, one.written) for one in sample.topics} == {
        ("pay", "a"): (2, 151),
        ("pay", "b"): (1, 7),
        ("ship", "b"): (1, 3),
    }
    assert lags(sample) == {"g": 13, "h": 100}
    assert [(one.consumer_group, one.client_ids) for one in sample.members] == [
        ("g", ("c-1", "c-2")),
        ("h", ("c-1", "c-2")),
    ]
    assert (sample.cluster_name, sample.failures) == ("C1", [])


def test_a_broker_is_asked_once_and_once_a_topic_and_one_broker_once_a_group() -> None:
    two = [broker(name, {"pay": [5], "ship": [5]}, {"pay@g": [5], "ship@g": [5], "pay@h": [5]}) for name in ("a", "b")]
    sample_of(two)
    asked = Counter(request.code for one in two for request in one.asked)
    assert asked == {43: 2, 202: 4, 203: 2}


def test_topics_and_groups_of_rocketmq_itself_are_left_out() -> None:
    own = {key: [0] for key in ("%RETRY%g@g", "%DLQ%g@g", "TBW102@g", "a@g", "pay@CID_RMQ_SYS_TRANS", "pay@")}
    one = broker("a", {}, own)
    sample = sample_of([one])
    assert (sample.topics, sample.groups, sample.members) == ([], [], [])
    assert one.codes() == {43}


@pytest.mark.parametrize(
    ("written", "committed", "lag"),
    [
        ([9, 5], [4, 5], 5),
        ([9, 5], [4], None),  # of a queue with messages, nothing was committed
        ([9, 0], [4], 5),
        ([9, 5], [4, 6], None),  # the offset lies beyond what the broker has
    ],
)
def test_a_lag_is_unknown_where_that_of_a_queue_is(written: list[int], committed: list[int], lag: int | None) -> None:
    assert lags(sample_of([broker("a", {"pay": written}, {"pay@g": committed})])) == {"g": lag}


def test_a_topic_that_may_not_be_read_leaves_a_failure_and_an_unknown_lag() -> None:
    one = broker("a", {}, {"pay@g": [5]}, code_202=(16, "no"))
    sample = sample_of([one])
    assert (sample.topics, lags(sample)) == ([], {"g": None})
    assert [(failure.broker_addr, failure.request, failure.error) for failure in sample.failures] == [
        (one.address, "GET_TOPIC_STATS_INFO", "pay: answered code 16 (NO_PERMISSION): no")
    ]


def test_a_broker_that_is_silent_leaves_a_failure_and_unknown_lags() -> None:
    silent = ToldBroker("b", rules={43: None})
    sample = sample_of([broker("a", {"pay": [100]}, {"pay@g": [90]}), silent], options=IMPATIENT)
    assert lags(sample) == {"g": None}
    assert [(one.topic, one.broker_name, one.written) for one in sample.topics] == [("pay", "a", 100)]
    assert [(one.broker_name, one.has_answered) for one in sample.brokers] == [("a", True), ("b", False)]
    assert [(one.broker_addr, one.request) for one in sample.failures] == [(silent.address, "GET_ALL_CONSUMER_OFFSET")]


def test_an_answer_that_is_none_is_a_failure() -> None:
    (failure,) = sample_of([broker("a", {}, {}, code_43=(0, '{"offsetTable":{"pay@g":7}}'))]).failures
    assert failure.request == "GET_ALL_CONSUMER_OFFSET"
    assert "pay@g is a int; expected an object" in (failure.error or "")


def test_wrong_keys_are_an_error_and_no_empty_cluster() -> None:
    with pytest.raises(ClusterUnreachable, match="access to the brokers was refused"):
        sample_of([ToldBroker("a", rules={43: (16, "check signature failed")})])
