"""What always holds of what producers do while brokers are in trouble."""

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.producers.ensemble import Habits, RouteTrouble, watch
from rocketmq_capacity.producers.producer import ProducerThread, SendAnswer, SendOutcome
from rocketmq_capacity.producers.proxy import ProxyChoice
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.producers.senders import SENDERS
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import ProducerTimeline
from tests.producers.watched import HABITS, OLD, TOLERANT_PROXY, kind_of, place, timelines

CHANGES: Final = st.one_of(
    st.builds(
        lambda name, latency, seconds: {
            "change": "slow_broker",
            "broker_name": name,
            "latency_ms": latency,
            "for_s": seconds,
        },
        st.sampled_from("abc"),
        st.sampled_from((0, 60, 549, 550, 800, 1_900)),
        st.sampled_from((0, 1, 7)),
    ),
    st.builds(lambda name: {"change": "read_only_broker", "broker_name": name}, st.sampled_from("abc")),
    st.builds(lambda name: {"change": "lose_broker", "broker_name": name}, st.sampled_from("abc")),
)
COUNTS: Final = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=6, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=2), COUNTS)
def test_the_shares_of_each_second_are_those_of_all_messages(
    changes: list[dict[str, Any]], counts: tuple[int, int, int]
) -> None:
    quick = Policy.model_validate({"thresholds": {"TRANSITION": {"poll_nameserver_s": 3}}})
    found = timelines(
        *changes, places=[place(*one) for one in zip("abc", ("pay",) * 3, counts, strict=True)], policy=quick
    )
    keys: dict[Any, list[ProducerTimeline]] = {}
    for row in found.timeline:
        keys.setdefault((*kind_of(row), row.begin_s), []).append(row)

    assert keys
    lost = {one["broker_name"] for one in changes if one["change"] != "slow_broker"}
    for all_ in keys.values():
        known = [row.share_ratio for row in all_ if row.share_ratio is not None]
        assert len(known) in (0, 3)
        if known and lost != set("abc"):
            assert sum(known) == pytest.approx(1, abs=1e-5)
        assert all((row.failed_ratio or 0) <= (row.share_ratio or 0) for row in all_)


@settings(max_examples=16, deadline=None)
@given(st.sampled_from(SENDERS), st.integers(1, 5), st.integers(1, 4), st.integers(0, 100))
def test_where_all_brokers_are_equal_their_shares_stay_equal(
    sender: Any, brokers: int, queues: int, latency_ms: int
) -> None:
    route = [WritePlace(f"b{number}", queues) for number in range(brokers)]
    threads = [*watch(sender, route, RouteTrouble(lambda *_: SendAnswer(latency_ms), until_ms=2_000), HABITS)]
    begun_ms, ended = (np.concatenate([one.messages[column] for one in threads]) for column in (0, 2))

    for second in range(2):
        counts = np.bincount(ended[begun_ms // 1_000 == second], minlength=brokers)
        assert set(counts.tolist()) == {counts.sum() // brokers}
    assert sum(one.held for one in threads) / len(threads) == pytest.approx([1 / brokers] * brokers)


ANSWERS: Final = (SendAnswer(5), SendAnswer(60), SendAnswer(549), SendAnswer(550), SendAnswer(1_900), SendAnswer(3_500))
TROUBLES: Final = st.tuples(
    st.sampled_from((*ANSWERS, SendAnswer(2, SendOutcome.UNREACHABLE), SendAnswer(5, 16))),
    st.sampled_from((0, 1_000, 7_000)),
)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(SENDERS),
    st.lists(st.tuples(st.integers(1, 6), TROUBLES), min_size=1, max_size=4),
    st.sampled_from((5, 150, 600)),
    st.sampled_from((0, 9_000)),
    st.booleans(),
)
def test_messages_that_are_computed_together_are_those_that_are_sent_one_by_one(
    sender: Any, brokers: list[tuple[int, tuple[SendAnswer, int]]], usual_ms: int, refresh_ms: int, is_lost: bool
) -> None:
    """The last broker leaves the route, or none does."""
    route = tuple(WritePlace(f"b{number}", queues) for number, (queues, _) in enumerate(brokers))
    bad = {place.broker_name: trouble for place, (_, trouble) in zip(route, brokers, strict=True)}

    def answers(name: str, now_ms: int) -> SendAnswer:
        late, until_ms = bad[name]
        return late if now_ms < until_ms else SendAnswer(usual_ms)

    trouble = RouteTrouble(
        answers,
        until_ms=20_000,
        changes_ms=tuple(sorted({until_ms for _, until_ms in bad.values()})),
        route_after=route[:-1] if is_lost else None,
        known_from_ms=4_000,
    )
    habits = Habits(interval_ms=100, refresh_ms=refresh_ms)
    together = [*watch(sender, route, trouble, habits)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProducerThread, "turn", lambda *_: None)
        patch.setattr(ProxyChoice, "turn", lambda *_: None)
        one_by_one = [*watch(sender, route, trouble, habits)]

    for one, other in zip(together, one_by_one, strict=True):
        assert one.turns <= other.turns == len(other.messages.begun_ms)
        assert one.displaced_queues == other.displaced_queues
        assert one.held.tolist() == other.held.tolist()
        for column, as_sent in zip((*one.messages, *one.tries), (*other.messages, *other.tries), strict=True):
            assert column.tolist() == as_sent.tolist()


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(SENDERS),
    st.lists(st.sampled_from((5, 60, 550, 800, 1_900, 2_999, 3_500, None)), min_size=2, max_size=4),
    st.integers(1, 3),
)
def test_after_the_trouble_every_thread_uses_all_queues_in_turn_again_unless_it_is_displaced_or_stays_away(
    sender: Any, latencies: list[int | None], queues: int
) -> None:
    """None is a broker that refuses connections."""
    route = [WritePlace(f"b{number}", queues) for number in range(len(latencies))]
    answers = {
        place.broker_name: SendAnswer(2, SendOutcome.UNREACHABLE) if latency is None else SendAnswer(latency)
        for place, latency in zip(route, latencies, strict=True)
    }
    habits = Habits(interval_ms=500, refresh_ms=0)
    trouble = RouteTrouble(
        lambda name, now: answers[name] if now < 6_000 else SendAnswer(5),
        until_ms=6_000 + 603_000 + 9_000,
        changes_ms=(6_000,),
    )
    every = sorted((number, queue_id) for number in range(len(route)) for queue_id in range(queues))
    # A Proxy without the detector does not come back to a broker that failed once.
    stays_away = sender is TOLERANT_PROXY and any(latency is None or latency > 3_000 for latency in latencies)

    for thread in watch(sender, route, trouble, habits):
        last = zip(
            thread.tries.broker[-len(every) :].tolist(), thread.tries.queue_id[-len(every) :].tolist(), strict=True
        )
        if not thread.displaced_queues and not stays_away:
            assert sorted(last) == every
        assert not thread.displaced_queues or sender is OLD
