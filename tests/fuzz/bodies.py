"""Bodies of answers: those of every request, and the JSON and the properties that they are written in."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rocketmq_capacity.protocol import request, tolerant_json
from rocketmq_capacity.protocol.compression import inflate
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_DEPTH
from rocketmq_capacity.protocol.request import Request
from rocketmq_capacity.protocol.tolerant_json import _Reader
from tests.fuzz.target import Target
from tests.protocol.test_recorded_bodies import RECORDED

LARGEST_BODY: Final = 2**20
"""Bytes of an inflated body here."""
ASKED: Final[dict[int, Request[Any]]] = {
    int(one.code): one
    for one in (
        request.with_change(request.topic_configs()),
        request.broker_config(),
        request.broker_runtime(),
        request.consumer_ids("g"),
        request.committed_offsets(),
        request.topic_route("T"),
        request.cluster_info(),
        request.with_change(request.subscription_groups()),
        request.topic_stats("T"),
        request.consumer_connection("g"),
        request.topic_list(),
        request.consume_stats("g"),
        request.consumer_running_info("g", "c"),
        request.producers(),
        request.message_request_modes(),
    )
}
"""Each request, by its code."""


def read_body(data: bytes) -> None:
    """A body is read or refused as the peer's fault; what was read can be stored.

    The first line is the request's code, the rest the body.
    """
    line, _, body = data.partition(b"\n")
    codes = sorted(ASKED)
    code = int(line) if line.isdigit() and len(line) <= 3 else sum(line)
    asked = ASKED.get(code) or ASKED[codes[code % len(codes)]]
    try:
        # Not Request.answer(), which makes everything that a decoder raises the peer's fault.
        answer = asked.decode(inflate(body, max_body_bytes=LARGEST_BODY))
    except BodyError:
        return
    msgspec.msgpack.encode(answer, enc_hook=_plain)


def read_json(data: bytes) -> None:
    """The quick way reads what the whole grammar reads, and refuses what it refuses, except for depth."""
    text = data.decode(errors="replace")
    try:
        quick = tolerant_json.parse(text)
    except BodyError as error:
        quick = error
    try:
        whole = _Reader(text, MAX_DEPTH).document()
    except BodyError as error:
        whole = error
    if isinstance(whole, BodyError):
        assert isinstance(quick, BodyError) or "nested deeper" in str(whole), (quick, whole)
    else:
        assert repr(quick) == repr(whole)


def body_seeds() -> Iterator[bytes]:
    """Bodies of a real broker."""
    for file in sorted(RECORDED.glob("*.txt")):
        code = int(file.name[:3])
        yield b"%d\n%b" % (code, file.read_bytes())


def json_seeds() -> Iterator[bytes]:
    """Bodies of a real broker that are JSON."""
    for file in sorted(RECORDED.glob("*.txt")):
        if not file.name.startswith("026"):
            yield file.read_bytes()


def _plain(value: Any) -> Any:
    raise NotImplementedError(type(value))


TARGETS: Final = (Target("bodies", read_body, body_seeds, share=4), Target("json", read_json, json_seeds, share=2))
