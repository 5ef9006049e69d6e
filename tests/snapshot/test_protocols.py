"""A gRPC client is recognised by its id."""

import pytest

from rocketmq_capacity.protocol.body.consumers import ConsumerChannel
from rocketmq_capacity.snapshot.protocols import protocol_of


@pytest.mark.parametrize(
    ("client_id", "language", "protocol"),
    [
        ("macbook-pro@90009@0@2dyeb8lep", "JAVA", "GRPC"),
        ("vm@20810@11@ds0ja8nn", "JAVA", "GRPC"),
        ("10.0.0.1@1@0@2dyeb8lep", "GOLANG", "GRPC"),
        ("WIN-7@4711@12@KX3F9Q1Z", "DOTNET", "GRPC"),
        ("host@1@0@0", "PYTHON", "GRPC"),
        ("host@90009#3_1763600000000", "CPP", "GRPC"),
        ("host@90009#3", "RUST", "GRPC"),
        ("10.0.0.1@90009#1234567890123", "JAVA", "REMOTING"),
        ("10.0.0.1@90009#3", "JAVA", "REMOTING"),
        ("10.0.0.1@90009", "JAVA", "REMOTING"),
        ("10.0.0.1@90009#1234567890123@STREAM", "JAVA", "REMOTING"),
        ("10.0.0.1@90009@1@STREAM", "JAVA", "REMOTING"),
        ("10.0.0.1@90009#1@unit@STREAM", "JAVA", "REMOTING"),
        ("127.0.0.1@orders-4", "JAVA", "REMOTING"),
        ("fe80::1@90009@unit", "JAVA", "REMOTING"),
        ("host@1@0@a@b", "JAVA", "REMOTING"),
        ("@1@0@a", "JAVA", "REMOTING"),
        ("", None, "REMOTING"),
    ],
)
def test_the_protocol_of_a_client(client_id: str, language: str | None, protocol: str) -> None:
    assert protocol_of(ConsumerChannel(client_id, "10.0.0.1:1", language, 479)) == protocol
