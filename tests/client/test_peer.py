"""A request is tried again where what failed may pass, never where it will not, and a dead peer is given up."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from tenacity import RetryCallState

from rocketmq_capacity.client.errors import ConnectError, PeerGivenUpError, RequestTimeoutError, TransportError
from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.retry import retrying
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import BodyError, RemoteProtocolError, ResponseError
from rocketmq_capacity.settings.address import Address
from tests.client.speaking_peer import Handler, SpeakingPeer, Visit

PATIENT = ConnectionSettings(connect_timeout_s=60, request_timeout_s=60, attempts=3, retry_wait_s=0.01)
TOPICS = b'{"topicList":["pay"]}'
ROUTE = b'{"brokerDatas":[],"queueDatas":[]}'


def with_peer(
    handler: Handler, use: Callable[[SpeakingPeer, Peer], Awaitable[None]], settings: ConnectionSettings = PATIENT
) -> None:
    """Ask a peer that behaves so."""

    async def run() -> None:
        async with SpeakingPeer(handler) as speaking:
            peer = Peer(speaking.address, settings)
            try:
                await asyncio.wait_for(use(speaking, peer), 60)
            finally:
                await peer.close()

    asyncio.run(run())


def answers_in_turn(*codes: tuple[int, str | None]) -> Handler:
    """Refuses with these codes first, and then answers."""
    left = list(codes)

    async def handler(visit: Visit, asked: Command) -> None:
        if left:
            code, remark = left.pop(0)
            visit.answer(asked, code=code, remark=remark)
        else:
            visit.answer(asked, b'{"table":{"a":"1"}}' if asked.code == 28 else TOPICS)

    return handler


async def never(visit: Visit, asked: Command) -> None:
    """As a frozen process."""


@pytest.mark.parametrize(
    ("asked", "code", "remark"),
    [
        (request.topic_list(), 2, "[TIMEOUT_CLEAN_QUEUE]broker busy"),
        (request.topic_list(), 215, "flow control"),
        (request.topic_list(), 1, "name server not ready"),
        (request.broker_runtime(), 1, "java.util.NoSuchElementException"),
    ],
)
def test_what_passes_is_asked_again(asked: request.Request[object], code: int, remark: str) -> None:
    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        assert await peer.call(asked)
        assert [one.code for one in speaking.requests] == [asked.code] * 3

    with_peer(answers_in_turn((code, remark), (code, remark)), use)


@pytest.mark.parametrize(
    ("code", "remark"), [(1, "java.lang.NullPointerException"), (3, None), (16, "denied"), (17, None), (206, None)]
)
def test_a_refusal_that_stays_is_not_asked_again(code: int, remark: str | None) -> None:
    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        with pytest.raises(ResponseError) as refused:
            await peer.call(request.topic_list())
        assert refused.value.code == code
        assert len(speaking.requests) == 1

    with_peer(answers_in_turn(*[(code, remark)] * 9), use)


def test_a_request_that_stays_busy_is_tried_as_often_as_set_and_no_more() -> None:
    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        with pytest.raises(ResponseError, match="SYSTEM_BUSY"):
            await peer.call(request.topic_list())
        assert len(speaking.requests) == 3

    with_peer(answers_in_turn(*[(2, "busy")] * 99), use)


def waits(attempt: int, draws: int = 1_000) -> list[float]:
    """What is waited after so many attempts, drawn again and again; the first bound is 1 s."""
    policy = retrying(replace(PATIENT, retry_wait_s=1.0))
    state = RetryCallState(policy, None, (), {})
    state.attempt_number = attempt
    return [policy.wait(state) for _ in range(draws)]


@pytest.mark.parametrize(("attempt", "bound"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (20, 5.0)])
def test_waits_are_drawn_evenly_up_to_a_bound_that_doubles(attempt: int, bound: float) -> None:
    random.seed(7)
    drawn = waits(attempt)
    assert 0 <= min(drawn) < 0.01 * bound
    assert 0.99 * bound < max(drawn) <= bound
    assert sum(drawn) / len(drawn) == pytest.approx(bound / 2, rel=0.05)


def test_requests_that_were_refused_together_do_not_come_back_together() -> None:
    asked: list[str] = []

    async def busy_at_first(visit: Visit, request: Command) -> None:
        topic = request.ext_fields["topic"]
        refused = topic not in asked
        asked.append(topic)
        visit.answer(request, ROUTE, code=2 if refused else 0)

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        await asyncio.gather(*(peer.call(request.topic_route(f"t{number}")) for number in range(16)))

    random.seed(7)
    with_peer(busy_at_first, use, replace(PATIENT, retry_wait_s=0.2))
    first, second = asked[:16], asked[16:]
    assert sorted(first) == sorted(second)
    assert first != second


def test_a_body_that_makes_no_sense_is_not_asked_for_again() -> None:
    async def nonsense(visit: Visit, asked: Command) -> None:
        visit.answer(asked, b"nonsense")

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        with pytest.raises(BodyError, match="the body of 8 bytes cannot be read"):
            await peer.call(request.topic_list())
        assert len(speaking.requests) == 1

    with_peer(nonsense, use)


def test_a_peer_that_does_not_speak_the_protocol_is_not_asked_again() -> None:
    async def garbage(visit: Visit, asked: Command) -> None:
        visit.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        with pytest.raises(RemoteProtocolError):
            await peer.call(request.topic_list())
        assert speaking.visits == 1

    with_peer(garbage, use)


def test_a_lost_connection_is_made_again_for_all_that_were_under_way() -> None:
    async def breaks_once(visit: Visit, asked: Command) -> None:
        if visit.number == 1:
            await visit.hang_up()
        else:
            visit.answer(asked, TOPICS)

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        lists = await asyncio.gather(*(peer.call(request.topic_list()) for _ in range(50)))
        assert {one.topics for one in lists} == {("pay",)}
        assert speaking.visits == 2

    with_peer(breaks_once, use)


def test_a_frozen_peer_is_given_up_after_as_many_connections_as_attempts() -> None:
    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        outcomes = await asyncio.gather(*(peer.call(request.topic_list()) for _ in range(100)), return_exceptions=True)
        assert all(isinstance(outcome, TransportError) for outcome in outcomes)
        assert any(isinstance(outcome, RequestTimeoutError) for outcome in outcomes)
        assert speaking.visits == 3
        asked = len(speaking.requests)
        with pytest.raises(PeerGivenUpError, match=r"timed out after 1 s"):
            await peer.call(request.topic_list())
        assert (speaking.visits, len(speaking.requests)) == (3, asked)

    with_peer(never, use, replace(PATIENT, request_timeout_s=1.0))


def test_a_peer_that_freezes_half_way_is_given_up_too() -> None:
    async def freezes(visit: Visit, asked: Command) -> None:
        if visit.number == 1 and asked.opaque <= 10:
            visit.answer(asked, TOPICS)

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        calls = [peer.call(request.topic_list()) for _ in range(100)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(not isinstance(outcome, Exception) for outcome in outcomes) == 10
        assert speaking.visits <= 4
        with pytest.raises(PeerGivenUpError):
            await peer.call(request.topic_list())

    with_peer(freezes, use, replace(PATIENT, in_flight=16, request_timeout_s=1.5))


def test_a_peer_that_answers_one_request_of_each_connection_is_given_up() -> None:
    async def one_each(visit: Visit, asked: Command) -> None:
        if asked.opaque == 1:
            visit.answer(asked, TOPICS)

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        answered = 0
        for _ in range(10):  # as a snapshot asks about 160 groups, some at a time
            calls = [peer.call(request.topic_list()) for _ in range(16)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            answered += sum(not isinstance(outcome, Exception) for outcome in outcomes)
        assert answered == speaking.visits == 3

    with_peer(one_each, use, replace(PATIENT, request_timeout_s=1.0))


def test_a_peer_that_answers_only_what_nobody_asked_is_given_up() -> None:
    async def beside_the_point(visit: Visit, asked: Command) -> None:
        async def answer_for_ever() -> None:
            while True:
                visit.answer(replace(asked, opaque=asked.opaque + 1_000_000), TOPICS)
                visit.ask(replace(asked, code=40))
                await asyncio.sleep(0.05)

        talking.add(asyncio.create_task(answer_for_ever()))

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        try:
            calls = [peer.call(request.topic_list()) for _ in range(160)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            for task in talking:
                task.cancel()
        assert all(isinstance(outcome, TransportError) for outcome in outcomes)
        assert speaking.visits == 3

    talking: set[asyncio.Task[None]] = set()
    with_peer(beside_the_point, use, replace(PATIENT, request_timeout_s=1.0))


def test_a_peer_that_breaks_the_protocol_again_and_again_is_given_up() -> None:
    async def garbage(visit: Visit, asked: Command) -> None:
        visit.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        for _ in range(3):
            with pytest.raises(RemoteProtocolError):
                await peer.call(request.topic_list())
        with pytest.raises(PeerGivenUpError, match=r"is this a RocketMQ port"):
            await peer.call(request.topic_list())
        assert speaking.visits == 3

    with_peer(garbage, use)


def test_an_answer_that_came_before_the_end_is_not_read_after_it() -> None:
    read: list[int] = []

    def ends(body: bytes) -> None:
        read.append(len(body))
        peers[0].give_up("the time is up")

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        peers.append(peer)
        asked = request.Request(RequestCode.GET_ALL_TOPIC_CONFIG, ends)
        outcomes = await asyncio.gather(*(peer.call(asked) for _ in range(16)), return_exceptions=True)
        assert len(read) == 1
        assert sum(isinstance(outcome, PeerGivenUpError) for outcome in outcomes) == 15

    peers: list[Peer] = []
    together: list[tuple[Visit, Command]] = []

    async def all_at_once(visit: Visit, asked: Command) -> None:
        together.append((visit, asked))
        if len(together) == 16:
            for each, one in together:
                each.answer(one, TOPICS)

    with_peer(all_at_once, use)


def test_answers_between_two_losses_keep_a_peer_from_being_given_up() -> None:
    async def ends_after_three(visit: Visit, asked: Command) -> None:
        visit.answer(asked, TOPICS)
        if asked.opaque == 3:
            await visit.hang_up()

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        for _ in range(30):
            assert (await peer.call(request.topic_list())).topics == ("pay",)
        assert speaking.visits >= 10

    with_peer(ends_after_three, use)


def test_giving_up_ends_an_attempt_to_connect(deaf_address: Address) -> None:
    async def run() -> None:
        peer = Peer(deaf_address, replace(PATIENT, connect_timeout_s=600))
        calls = [asyncio.create_task(peer.call(request.topic_list())) for _ in range(20)]
        await asyncio.sleep(0.1)
        peer.give_up("the time is up")
        outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
        assert {str(outcome) for outcome in outcomes} == {"the time is up"}
        assert all(isinstance(outcome, PeerGivenUpError) for outcome in outcomes)
        await peer.close()

    asyncio.run(run())


def test_an_address_at_which_nobody_listens_is_tried_as_often_as_set(free_address: Address) -> None:
    async def run() -> None:
        peer = Peer(free_address, PATIENT)
        with pytest.raises(ConnectError, match="Connection refused"):
            await peer.call(request.topic_list())
        with pytest.raises(PeerGivenUpError, match="Connection refused"):
            await peer.call(request.topic_list())
        await peer.close()

    asyncio.run(run())


def test_a_request_that_is_passed_on_has_the_time_that_passing_on_takes() -> None:
    async def slow(visit: Visit, asked: Command) -> None:
        later = 0.6 if asked.code == RequestCode.GET_CONSUMER_RUNNING_INFO else 0
        asyncio.get_running_loop().call_later(later, visit.answer, asked, b"{}")

    async def use(speaking: SpeakingPeer, peer: Peer) -> None:
        assert (await peer.call(request.consumer_running_info("g", "c"))).queues == ()
        assert len(speaking.requests) == 1

    with_peer(slow, use)
