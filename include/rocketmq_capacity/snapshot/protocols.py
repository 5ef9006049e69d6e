"""The protocol of a client, recognised by its id: no answer of a broker or a Proxy gives the protocol.

The id of a remoting client is made of an address and the name of its instance (``10.0.0.1@1#1``). The ids of the
official gRPC clients are made of host name, process, a number and a time: ``host@1234@0@2dyeb8lep`` in Java, Go,
Python, C#, Node.js and PHP, ``host@1234#0_1763600000000`` in C++ and ``host@1234#0`` in Rust.
Source: docs/design.md and the ClientId of each language, apache/rocketmq-clients; ClientConfig.buildMQClientId,
rocketmq-all-5.3.3.
"""

import re
from typing import Final

from rocketmq_capacity.protocol.body.consumers import ConsumerChannel
from rocketmq_capacity.vocabulary import GRPC, REMOTING, Protocol

# The id of a lite pull consumer, which is remoting, ends in STREAM (RequestType).
_OF_MOST: Final = re.compile(r"[^@]+@\d+@\d+@(?!STREAM$)[0-9A-Za-z]+", re.ASCII)
_OF_CPP: Final = re.compile(r"[^@]+@\d+#\d+_\d+", re.ASCII)
_OF_RUST: Final = re.compile(r"[^@]+@\d+#\d+", re.ASCII)
RUST: Final = "RUST"
"""The language that a Rust client reports; RocketMQ's own Rust client speaks gRPC."""


def protocol_of(connection: ConsumerChannel) -> Protocol:
    """The protocol of the client that has the connection."""
    client_id = connection.client_id
    is_rust = connection.language == RUST and _OF_RUST.fullmatch(client_id)
    return GRPC if is_rust or _OF_MOST.fullmatch(client_id) or _OF_CPP.fullmatch(client_id) else REMOTING
