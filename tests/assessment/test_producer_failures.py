"""What producers see when a broker is lost: by hand, and as the model that equals the official classes sends."""

from typing import Any, Final

import pytest

from rocketmq_capacity.assessment.producer_failures import producer_failures
from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.producers.generation import release_of
from rocketmq_capacity.producers.producer import NEVER_MS, ProducerThread, SendAnswer, SendOutcome
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Producer as Running
from rocketmq_capacity.tables import ProducerFailure

ENTRIES: Final = [
    {"match": "^once", "retries": 0},
    {"match": "^late", "timeout_ms": 12, "retries": 4},
    {"match": "^async_once", "sending": "ASYNC", "retries": 0},
    {"match": "^async", "sending": "ASYNC"},
    {"match": "^log", "sending": "ONEWAY"},
]
GROUPS: Final = ("sync", "once", "late", "async", "async_once", "log")


def loss(topic: str = "pay", lost: str = "b", *, elsewhere: int | None = 4, there: bool | None = True) -> TopicLoss:
    return TopicLoss(topic, lost, 10.0, 4, elsewhere, True, there)


def failures(*places: TopicLoss, groups: tuple[str, ...] = GROUPS, **policy: Any) -> dict[str, ProducerFailure]:
    """By producer group, ending and broker."""
    settings = Policy.model_validate({"producers": ENTRIES, **policy})
    running = [Running(producer_group=name, client_id=name) for name in groups]
    return {
        f"{row.producer_groups[0] if row.producer_groups else row.sending} {row.ending} {row.broker_name}": row
        for row in producer_failures(places, running, settings)
    }


def outcome(row: ProducerFailure) -> tuple[int | None, str | None, str, int, float | None]:
    return row.failed_tries, row.failing, row.noticed_by, row.worst_ms, row.until_s


@pytest.mark.parametrize(
    ("group", "killed", "silent"),
    [
        # 5 ms for the refusal and 5 ms for the next try; clients ask for the route every 30 s.
        ("sync", (1, "NONE", "EXCEPTION", 10, 30.0), (1, "ALL", "EXCEPTION", 3_000, 155.0)),
        ("once", (1, "ALL", "EXCEPTION", 5, 30.0), (1, "ALL", "EXCEPTION", 3_000, 155.0)),
        ("late", (1, "NONE", "EXCEPTION", 10, 30.0), (1, "ALL", "EXCEPTION", 12, 155.0)),
        # The client looks for unanswered requests every second, and gives each a second more.
        ("async", (1, "NONE", "CALLBACK", 10, 30.0), (1, "ALL", "CALLBACK", 5_000, 155.0)),
        ("async_once", (1, "ALL", "CALLBACK", 5, 30.0), (1, "ALL", "CALLBACK", 5_000, 155.0)),
        ("log", (1, "ALL", "NOBODY", 0, 30.0), (1, "ALL", "NOBODY", 0, 155.0)),
    ],
)
def test_what_each_way_to_send_sees_of_topics_that_other_brokers_have(
    group: str, killed: tuple[Any, ...], silent: tuple[Any, ...]
) -> None:
    found = failures(loss())

    assert outcome(found[f"{group} KILL b"]) == killed
    assert outcome(found[f"{group} SILENT b"]) == silent


def test_messages_of_topics_that_are_nowhere_else_fail_after_all_tries_until_the_broker_is_back() -> None:
    found = failures(loss(elsewhere=0))
    both = failures(loss(elsewhere=0), loss("log"))

    assert outcome(found["sync KILL b"]) == (3, "ONLY_THERE", "EXCEPTION", 15, None)
    assert outcome(found["late KILL b"]) == (5, "ONLY_THERE", "EXCEPTION", 12, None)
    assert outcome(found["once KILL b"]) == (1, "ALL", "EXCEPTION", 5, None)
    assert outcome(both["sync KILL b"]) == (3, "ONLY_THERE", "EXCEPTION", 15, 30.0)


def test_where_it_is_unknown_whether_a_topic_is_elsewhere_so_is_what_fails() -> None:
    found = failures(loss(elsewhere=None), loss("log"))
    maybe = failures(loss(there=None), loss("log"))

    for row in (found["sync KILL b"], maybe["sync KILL b"]):
        assert (row.failed_tries, row.failing, row.worst_ms) == (None, None, 15)
    assert outcome(found["sync SILENT b"]) == (1, "ALL", "EXCEPTION", 3_000, 155.0)
    assert failures(loss(elsewhere=None), loss("log", elsewhere=0))["sync KILL b"].failing == "ONLY_THERE"


def test_brokers_that_nobody_writes_to_have_no_row_and_unknown_producers_the_ways_of_the_policy() -> None:
    assert failures(loss(there=False), loss(there=None)) == {}
    assert sorted(failures(loss(), groups=()))[::2] == ["ASYNC KILL b", "ONEWAY KILL b", "SYNC KILL b"]
    quick = failures(loss(), groups=("sync",), thresholds={"TRANSITION": {"poll_nameserver_s": 5.0}})
    assert [row.until_s for row in quick.values()] == [5.0, 130.0]


@pytest.mark.parametrize("has_elsewhere", [True, False])
@pytest.mark.parametrize("ending", ["KILL", "SILENT"])
@pytest.mark.parametrize("group", GROUPS)
def test_the_model_of_the_client_sends_no_worse_than_that(group: str, ending: str, has_elsewhere: bool) -> None:
    row = failures(loss(elsewhere=4 if has_elsewhere else 0))[f"{group} {ending} b"]
    release = release_of("V5_3_3")
    assert release is not None
    gone = SendAnswer(5, SendOutcome.UNREACHABLE) if ending == "KILL" else SendAnswer(NEVER_MS, SendOutcome.SILENT)
    producer = ProducerThread(
        release,
        [WritePlace("a", 4), WritePlace("b", 4)] if has_elsewhere else [WritePlace("b", 4)],
        start=0,
        mode=row.sending,
        retries=row.retries,
        timeout_ms=row.timeout_ms or 1,
    )
    sent = [producer.send(0, lambda name: gone if name == "b" else SendAnswer(5)) for _ in range(40)]
    met = [one for one in sent if one.tries[0].broker_name == "b"]
    failed = [sum(queue.broker_name == "b" for queue in one.tries) for one in met]

    assert len(met) >= 10
    # The time of a producer may be up before its last try.
    assert max(failed) == row.failed_tries or (group == "late" and ending == "KILL" and max(failed) == 3)
    all_fail = row.failing == "ALL" or not has_elsewhere
    assert {one.is_stored for one in met} == {not all_fail}
    # One ms more than the timeout is when the client notices; a callback comes later.
    assert max(one.ended_at_ms for one in met) <= row.worst_ms + 1
