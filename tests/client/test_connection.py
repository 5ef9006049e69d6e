"""One connection carries many requests, and whatever a peer does ends in an answer or in one clear error."""

import asyncio
import random
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from rocketmq_capacity.client.connection import Connection
from rocketmq_capacity.client.errors import ConnectError, ConnectionLostError, RequestTimeoutError
from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.protocol.codes import RequestCode, Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import RemoteProtocolError
from rocketmq_capacity.protocol.signature import signed_fields
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.settings.networks import parse_network
from tests.client.speaking_peer import Handler, SpeakingPeer, Visit

QUICK = ConnectionSettings(connect_timeout_s=5, request_timeout_s=0.3)
CODE = RequestCode.GET_TOPIC_STATS_INFO


async def echo(visit: Visit, request: Command) -> None:
    visit.answer(request, request.ext_fields["topic"].encode())


async def never(visit: Visit, request: Command) -> None:
    """What a frozen process does: the system accepts its connections, and nothing answers."""


def ask(connection: Connection, topic: str, *, limit_s: float = 60) -> asyncio.Future[Command]:
    return connection.ask(CODE, {"topic": topic}, limit_s=limit_s)


def with_peer(
    handler: Handler,
    use: Callable[[SpeakingPeer, Connection], Awaitable[None]],
    settings: ConnectionSettings = QUICK,
) -> None:
    """Open one connection to a peer that behaves so, and use it."""

    async def run() -> None:
        async with SpeakingPeer(handler) as peer:
            connection = await Connection.open(peer.address, settings)
            try:
                await asyncio.wait_for(use(peer, connection), 60)
            finally:
                connection.close()

    asyncio.run(run())


def test_answers_find_their_requests_in_any_order() -> None:
    held: list[tuple[Visit, Command]] = []

    async def shuffled(visit: Visit, request: Command) -> None:
        held.append((visit, request))
        if len(held) == 100:
            random.Random(7).shuffle(held)
            for one, asked in held:
                await echo(one, asked)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        answers = await asyncio.gather(*(ask(connection, f"t{index}") for index in range(100)))
        assert [answer.body.decode() for answer in answers] == [f"t{index}" for index in range(100)]

    with_peer(shuffled, use, replace(QUICK, in_flight=100))


def test_no_more_requests_are_open_than_allowed_and_all_are_answered() -> None:
    open_now, most = 0, 0
    unanswered: list[tuple[Visit, Command]] = []

    async def slow(visit: Visit, request: Command) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        unanswered.append((visit, request))
        # None is answered before as many are open as may be; one more then has some time to come.
        if most >= 8:
            for each in unanswered:
                asyncio.get_running_loop().call_later(0.001, finish, *each)
            unanswered.clear()

    def finish(visit: Visit, request: Command) -> None:
        nonlocal open_now
        open_now -= 1
        visit.answer(request)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        await asyncio.gather(*(ask(connection, "t") for _ in range(200)))
        assert len(peer.requests) == 200

    with_peer(slow, use, replace(QUICK, in_flight=8))
    assert most == 8


def test_requests_of_the_peer_are_no_answers_even_with_our_numbers() -> None:
    async def talkative(visit: Visit, request: Command) -> None:
        visit.ask(Command(40, request.opaque, ext_fields={"consumerGroup": "g"}))
        await echo(visit, request)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        assert (await ask(connection, "pay")).body == b"pay"
        assert (await ask(connection, "ship")).body == b"ship"

    with_peer(talkative, use)


def test_an_answer_that_nobody_asked_for_is_passed_over() -> None:
    async def confused(visit: Visit, request: Command) -> None:
        visit.answer(replace(request, opaque=request.opaque + 1_000), b"stray")
        await echo(visit, request)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        assert (await ask(connection, "pay")).body == b"pay"

    with_peer(confused, use)


def test_a_silent_peer_fails_everything_at_once_with_the_limit() -> None:
    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        answers = [ask(connection, "t", limit_s=1.5) for _ in range(20)]
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {RequestTimeoutError}
        assert "timed out after 1.5 s" in str(outcomes[0])
        assert not connection.is_open
        assert len(peer.requests) == 4  # those that were waiting for their turn never left

    with_peer(never, use, replace(QUICK, in_flight=4))


@pytest.mark.slow
def test_one_slow_request_fails_alone_while_others_are_answered() -> None:
    async def slow_for_one(visit: Visit, request: Command) -> None:
        if request.ext_fields["topic"] != "slow":
            await echo(visit, request)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        slow = ask(connection, "slow", limit_s=1.5)
        while not slow.done():
            assert (await ask(connection, "pay")).body == b"pay"
            await asyncio.sleep(0.02)
        with pytest.raises(RequestTimeoutError, match=r"timed out after 1.5 s"):
            await slow
        assert connection.is_open
        assert (await ask(connection, "pay")).body == b"pay"

    with_peer(slow_for_one, use)


@pytest.mark.slow
def test_an_answer_that_comes_too_late_is_passed_over() -> None:
    late: list[tuple[Visit, Command]] = []

    async def late_for_one(visit: Visit, request: Command) -> None:
        if request.ext_fields["topic"] == "slow":
            late.append((visit, request))
        else:
            await echo(visit, request)

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        slow = ask(connection, "slow", limit_s=1.5)
        while not slow.done():
            await ask(connection, "pay")
            await asyncio.sleep(0.01)
        with pytest.raises(RequestTimeoutError):
            await slow
        late[0][0].answer(late[0][1], b"late")
        assert (await ask(connection, "pay")).body == b"pay"

    with_peer(late_for_one, use)


def test_garbage_ends_the_connection_with_the_peers_error_for_all() -> None:
    async def garbage(visit: Visit, request: Command) -> None:
        visit.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        outcomes = await asyncio.gather(*(ask(connection, "t") for _ in range(5)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {RemoteProtocolError}
        assert "is this a RocketMQ port?" in str(outcomes[0])
        with pytest.raises(RemoteProtocolError):
            await ask(connection, "later")

    with_peer(garbage, use)


def test_a_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    async def huge(visit: Visit, request: Command) -> None:
        visit.send(struct.pack(">II", 5_000_000, 10))

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        with pytest.raises(RemoteProtocolError, match="5000000 bytes; allowed are 1000000"):
            await ask(connection, "t")

    with_peer(huge, use, replace(QUICK, max_frame_bytes=1_000_000))


def test_a_connection_that_is_closed_half_way_through_an_answer_fails_everything() -> None:
    async def half(visit: Visit, request: Command) -> None:
        visit.send(struct.pack(">II", 500, 100) + b'{"code":0')
        await visit.hang_up()

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        outcomes = await asyncio.gather(*(ask(connection, "t") for _ in range(5)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ConnectionLostError}
        assert str(outcomes[0]) == "the peer closed the connection"
        with pytest.raises(ConnectionLostError):
            await ask(connection, "later")

    with_peer(half, use)


def test_closing_fails_what_is_under_way() -> None:
    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        answer = ask(connection, "t")
        connection.close()
        with pytest.raises(ConnectionLostError, match="closed by us"):
            await answer

    with_peer(never, use)


def test_a_request_that_was_given_up_before_its_turn_is_not_sent() -> None:
    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        first, second, third = (ask(connection, topic) for topic in ("first", "second", "third"))
        second.cancel()
        await asyncio.gather(first, third)
        assert [request.ext_fields["topic"] for request in peer.requests] == ["first", "third"]

    with_peer(echo, use, replace(QUICK, in_flight=1))


def test_binary_headers_are_spoken_where_they_are_asked_for() -> None:
    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        assert (await ask(connection, "pä")).body.decode() == "pä"
        assert peer.requests[0].serialization == Serialization.ROCKETMQ

    with_peer(echo, use, replace(QUICK, serialization=Serialization.ROCKETMQ))


def test_requests_are_signed_with_credentials_and_secrets_are_never_shown() -> None:
    credentials = Credentials("labadmin", "labsecret1", "token1")

    async def use(peer: SpeakingPeer, connection: Connection) -> None:
        await ask(connection, "pay")
        signed = signed_fields(
            {"topic": "pay"},
            b"",
            access_key=credentials.access_key,
            secret_key=credentials.secret_key,
            security_token=credentials.security_token,
        )
        assert peer.requests[0].ext_fields == signed

    settings = replace(QUICK, credentials=credentials)
    with_peer(echo, use, settings)
    assert "labadmin" in repr(settings)
    assert "labsecret1" not in repr(settings)
    assert "token1" not in repr(settings)


def test_nobody_listening_is_a_connect_error_in_the_systems_words(free_address: Address) -> None:
    with pytest.raises(ConnectError, match="cannot connect: Connection refused"):
        asyncio.run(Connection.open(free_address, QUICK))


def test_a_host_that_drops_what_it_is_sent_is_a_connect_error_with_the_limit(deaf_address: Address) -> None:
    with pytest.raises(ConnectError, match=r"cannot connect: timed out after 0.3 s"):
        asyncio.run(Connection.open(deaf_address, replace(QUICK, connect_timeout_s=0.3)))


def test_a_host_without_an_address_is_a_connect_error() -> None:
    with pytest.raises(ConnectError, match="cannot connect"):
        asyncio.run(Connection.open(Address("no-such-host.invalid", 9876), QUICK))


@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8",), ("10.0.0.0/8", "127.0.0.1")])
def test_an_address_in_the_networks_is_asked(networks: tuple[str, ...]) -> None:
    async def use(_: SpeakingPeer, connection: Connection) -> None:
        assert (await ask(connection, "pay")).body == b"pay"

    with_peer(echo, use, replace(QUICK, networks=tuple(map(parse_network, networks))))


@pytest.mark.parametrize("tls", [None, ssl.create_default_context()], ids=["plain", "tls"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nothing_is_sent_to_an_address_outside_the_networks(host: str, tls: ssl.SSLContext | None) -> None:
    settings = replace(QUICK, networks=(parse_network("10.0.0.0/8"),), tls=tls)

    async def run() -> int:
        async with SpeakingPeer(echo) as peer:
            with pytest.raises(ConnectError, match=r"127\.0\.0\.1.* is outside the networks of the connection"):
                await Connection.open(Address(host, peer.address.port), settings)
            # One that may connect comes after any that was begun before.
            (await Connection.open(peer.address, QUICK)).close()
            while not peer.visits:
                await asyncio.sleep(0.01)
            return peer.visits

    assert asyncio.run(run()) == 1


def test_of_the_addresses_of_a_name_only_those_inside_are_asked() -> None:
    async def run() -> bytes:
        async with SpeakingPeer(echo) as peer:
            address = Address("localhost", peer.address.port)
            connection = await Connection.open(address, replace(QUICK, networks=(parse_network("127.0.0.0/8"),)))
            try:
                return (await ask(connection, "pay")).body
            finally:
                connection.close()

    assert asyncio.run(run()) == b"pay"


@pytest.mark.parametrize("networks", [(), ("127.0.0.0/8",)])
def test_a_peer_that_hangs_up_at_once_is_an_error_of_the_connection(networks: tuple[str, ...]) -> None:
    settings = replace(QUICK, networks=tuple(map(parse_network, networks)))

    async def use(address: Address) -> None:
        connection = await Connection.open(address, settings)
        await ask(connection, "pay")

    async def run() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.transport.abort(), "127.0.0.1", 0)
        async with server:
            with pytest.raises((ConnectError, ConnectionLostError)):
                await use(Address(*server.sockets[0].getsockname()[:2]))

    asyncio.run(run())
