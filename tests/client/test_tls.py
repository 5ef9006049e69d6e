"""TLS is used where it is asked for, and every way in which it fails has its message."""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rocketmq_capacity.client.errors import ConnectError, ConnectionLostError, TransportError
from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import Address
from tests.client.speaking_peer import SpeakingPeer, Visit


@dataclass(frozen=True)
class Party:
    """A self-signed certificate for 127.0.0.1 and its key, as files."""

    certificate: Path
    key: Path

    def context(self, purpose: ssl.Purpose, *, trusts: "Party | None" = None) -> ssl.SSLContext:
        context = ssl.create_default_context(purpose, cafile=trusts.certificate if trusts else None)
        context.load_cert_chain(self.certificate, self.key)
        return context


def make_party(folder: Path, name: str) -> Party:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509
        .CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    party = Party(folder / f"{name}.pem", folder / f"{name}.key")
    party.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    party.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return party


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Party:
    return make_party(tmp_path_factory.mktemp("server"), "server")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Party:
    return make_party(tmp_path_factory.mktemp("client"), "client")


async def topics(visit: Visit, asked: Command) -> None:
    visit.answer(asked, b'{"topicList":["pay"]}')


async def ask_address(address: Address, tls: ssl.SSLContext | None) -> list[object]:
    """What 20 requests at once come to."""
    peer = Peer(address, ConnectionSettings(request_timeout_s=5, attempts=1, tls=tls))
    calls = (peer.call(request.topic_list()) for _ in range(20))
    outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
    await peer.close()
    return list(outcomes)


def ask(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext | None) -> list[object]:
    """What 20 requests at once to such a server come to."""

    async def run() -> list[object]:
        async with SpeakingPeer(topics, tls=server_tls) as speaking:
            return await ask_address(speaking.address, client_tls)

    return asyncio.run(run())


def trusting(server: Party) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=server.certificate)


def test_requests_are_answered_over_tls(server: Party) -> None:
    outcomes = ask(server.context(ssl.Purpose.CLIENT_AUTH), trusting(server))
    assert {getattr(outcome, "topics", outcome) for outcome in outcomes} == {("pay",)}


def test_a_certificate_of_an_unknown_authority_is_a_connect_error_that_says_so(server: Party) -> None:
    outcomes = ask(server.context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context())
    assert all(isinstance(outcome, TransportError) for outcome in outcomes)
    assert isinstance(outcomes[0], ConnectError)
    assert "certificate verify failed" in str(outcomes[0])


def test_a_plain_request_to_a_tls_port_fails_for_all(server: Party) -> None:
    outcomes = ask(server.context(ssl.Purpose.CLIENT_AUTH), None)
    assert all(isinstance(outcome, TransportError) for outcome in outcomes)


def test_a_client_certificate_that_is_asked_for_and_known_is_shown(server: Party, client: Party) -> None:
    wanting = server.context(ssl.Purpose.CLIENT_AUTH, trusts=client)
    wanting.verify_mode = ssl.CERT_REQUIRED
    outcomes = ask(wanting, client.context(ssl.Purpose.SERVER_AUTH, trusts=server))
    assert {getattr(outcome, "topics", outcome) for outcome in outcomes} == {("pay",)}


@contextlib.contextmanager
def rejecting(context: ssl.SSLContext) -> Iterator[Address]:
    """Listens as RocketMQ's Netty does: a client without a certificate is sent an alert, then the end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            # The handshake fails, and that is an OSError.
            with connection, contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True):
                pytest.fail("a client without a certificate was let in")

        thread = threading.Thread(target=serve)
        thread.start()
        yield Address(*listener.getsockname()[:2])
        thread.join(30)


def test_a_missing_client_certificate_fails_all_that_is_under_way(server: Party, client: Party) -> None:
    # Under TLS 1.3 the client's handshake is over before the server looks at the certificate: requests are under way.
    wanting = server.context(ssl.Purpose.CLIENT_AUTH, trusts=client)
    wanting.verify_mode = ssl.CERT_REQUIRED
    with rejecting(wanting) as address:
        outcomes = asyncio.run(ask_address(address, trusting(server)))
    assert {type(outcome) for outcome in outcomes} == {ConnectionLostError}
    assert len(outcomes) == 20
    # The server hangs up behind its alert, and where that comes first the alert is lost.
    assert any(word in str(outcomes[0]) for word in ("alert", "reset by peer"))
