"""Who broke the protocol: we (`LocalProtocolError`) or the peer (`RemoteProtocolError`); a refusal is neither."""

from typing import Final

from rocketmq_capacity.errors import cut, printable
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.limits import MAX_REMARK

_ACL_1: Final = "AclException"
"""A broker with ACL 1.0 has no code for denied access; its text has this word (NettyRemotingAbstract.java, 4.9.4)."""


class ProtocolError(Exception):
    """Anything that went wrong with a command itself, whoever made it."""


class LocalProtocolError(ProtocolError):
    """We asked for something that cannot be said in this protocol."""


class RemoteProtocolError(ProtocolError):
    """The peer sent bytes that are not RocketMQ's protocol."""


class BodyError(RemoteProtocolError):
    """The peer's frame was sound and its body is not what the request promises."""


class ResponseError(ProtocolError):
    """The peer understood the request and answered with a code other than success.

    Args:
        request: what was asked.
        code: the response code, known or not.
        remark: the peer's own words, if it had any.
    """

    def __init__(self, request: RequestCode, code: int, remark: str | None) -> None:
        self.request, self.code, self.remark = request, code, remark
        words = kept(remark or "")
        super().__init__(f"answered code {code} ({ResponseCode.describe(code)})" + (f": {words}" if words else ""))

    @property
    def is_refusal(self) -> bool:
        """Whether access was denied."""
        return self.code == ResponseCode.NO_PERMISSION or _ACL_1 in (self.remark or "")


def kept(words: str) -> str:
    """The peer's words in one line: cut to `MAX_REMARK` characters, with escapes for what no terminal should get."""
    return cut(printable(" ".join(words[: 2 * MAX_REMARK].split())), MAX_REMARK)
