"""Which protocol a client speaks, told by its id: no answer of a broker or a Proxy says so.

A remoting client makes its id of an address and the name of its instance (``10.0.0.1@1#1``). The official gRPC clients
make theirs of host name, process, a number and a time: ``host@1234@0@2dyeb8lep`` in Java, Go, Python, C#, Node.js and
PHP, ``host@1234#0_1763600000000`` in C++ and ``host@1234#0`` in Rust.
Source: docs/design.md and the ClientId of each language, apache/rocketmq-clients; ClientConfig.buildMQClientId,
rocketmq-all-5.3.3.
"""

import re
from typing import Final

from rocketmq_capacity.protocol.body.consumers import Connection
from rocketmq_capacity.vocabulary import GRPC, REMOTING, Protocol

# The last part of a lite pull consumer's id is STREAM (RequestType), which no time in base 36 is.
_OF_MOST: Final = re.compile(r"[^@]+@\d+@\d+@(?!STREAM$)[0-9A-Za-z]+", re.ASCII)
_OF_CPP: Final = re.compile(r"[^@]+@\d+#\d+_\d+", re.ASCII)
_OF_RUST: Final = re.compile(r"[^@]+@\d+#\d+", re.ASCII)
RUST: Final = "RUST"
"""The language that a Rust client reports; that of RocketMQ itself is a gRPC client."""


def protocol_of(connection: Connection) -> Protocol:
    """The protocol of the client that has the connection."""
    client_id = connection.client_id
    is_rust = connection.language == RUST and _OF_RUST.fullmatch(client_id)
    return GRPC if is_rust or _OF_MOST.fullmatch(client_id) or _OF_CPP.fullmatch(client_id) else REMOTING
