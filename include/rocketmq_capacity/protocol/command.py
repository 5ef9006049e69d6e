"""A command: one request or one response, header and body."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.protocol.codes import Flag, Serialization
from rocketmq_capacity.protocol.version import OWN_VERSION


@dataclass(frozen=True, slots=True)
class Command:
    """One message of the protocol.

    ``opaque`` pairs a response with its request; both sides of a connection number their own requests, so that a
    request of the peer may have the number of one of ours.
    """

    code: int
    opaque: int
    flag: int = 0
    remark: str | None = None
    ext_fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    language: str = "PYTHON"
    version: int = OWN_VERSION
    serialization: Serialization = Serialization.JSON

    @property
    def is_response(self) -> bool:
        """Whether this answers a request."""
        return bool(self.flag & Flag.RESPONSE)
