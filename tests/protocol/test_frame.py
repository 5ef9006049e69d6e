"""Frames survive any cut of the stream, and what is no frame is said to be none."""

import contextlib
import json
import struct
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.protocol import header_json
from rocketmq_capacity.protocol.codes import Flag, RequestCode, Serialization
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import LocalProtocolError, RemoteProtocolError
from rocketmq_capacity.protocol.frame import FrameDecoder, encode_frame

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
COMMANDS = st.builds(
    Command,
    code=st.integers(0, 2**15 - 1),
    opaque=st.integers(-(2**31), 2**31 - 1),
    flag=st.sampled_from([0, int(Flag.RESPONSE), int(Flag.ONEWAY)]),
    remark=st.none() | TEXTS.filter(bool),
    ext_fields=st.dictionaries(TEXTS, TEXTS, max_size=4),
    body=st.binary(max_size=200),
    language=st.sampled_from(["JAVA", "GO", "PYTHON"]),
    version=st.integers(0, 2**15 - 1),
    serialization=st.sampled_from(Serialization),
)


@settings(deadline=None)
@given(st.lists(COMMANDS, max_size=5), st.data())
def test_commands_come_back_whole_however_the_stream_is_cut(commands: list[Command], data: st.DataObject) -> None:
    stream = b"".join(map(encode_frame, commands))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20))
    decoder, received = FrameDecoder(), []
    for start, end in pairwise([0, *sorted(cuts), len(stream)]):
        received += decoder.feed(stream[start:end])
    assert received == commands


@settings(deadline=None)
@given(COMMANDS)
def test_commands_come_back_whole_byte_by_byte(command: Command) -> None:
    decoder = FrameDecoder()
    received = [one for byte in encode_frame(command) for one in decoder.feed(bytes([byte]))]
    assert received == [command]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=10))
def test_random_bytes_never_raise_anything_but_the_peers_error(chunks: list[bytes]) -> None:
    decoder = FrameDecoder(max_frame_bytes=1_000)
    with contextlib.suppress(RemoteProtocolError):
        for chunk in chunks:
            decoder.feed(chunk)


@settings(deadline=None)
@given(COMMANDS, st.data())
def test_a_damaged_header_never_raises_anything_but_the_peers_error(command: Command, data: st.DataObject) -> None:
    frame = bytearray(encode_frame(command))
    header = struct.unpack_from(">I", frame, 4)[0] & 0xFFFFFF
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(8, 8 + header - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(RemoteProtocolError):
        FrameDecoder().feed(bytes(frame))


def test_a_json_request_is_written_as_rocketmq_reads_it() -> None:
    command = Command(RequestCode.GET_TOPIC_STATS_INFO, 7, ext_fields={"topic": "pay"})
    frame = encode_frame(command)
    length, mark = struct.unpack_from(">II", frame)
    assert (length, mark) == (len(frame) - 4, len(frame) - 8)
    assert json.loads(frame[8:]) == {
        "code": 202,
        "extFields": {"topic": "pay"},
        "flag": 0,
        "language": "PYTHON",
        "opaque": 7,
        "serializeTypeCurrentRPC": "JSON",
        "version": 479,
    }


def test_a_binary_request_is_written_as_rocketmq_reads_it() -> None:
    command = Command(202, 7, ext_fields={"topic": "pä"}, serialization=Serialization.ROCKETMQ, remark="r")
    header = bytes.fromhex("00ca 03 01df 00000007 00000000 00000001 72 0000000e 0005 746f706963 00000003 70c3a4")
    assert encode_frame(command) == struct.pack(">II", len(header) + 4, 1 << 24 | len(header)) + header


def test_a_frame_over_the_limit_is_refused_with_both_numbers_before_it_has_arrived() -> None:
    decoder = FrameDecoder(max_frame_bytes=1_000)
    with pytest.raises(RemoteProtocolError, match="1001 bytes; allowed are 1000"):
        decoder.feed(struct.pack(">II", 1_001, 10))


def test_a_frame_of_exactly_the_limit_is_taken() -> None:
    command = Command(1, 1, body=b"x" * 500)
    length = len(encode_frame(command)) - 4
    assert FrameDecoder(max_frame_bytes=length).feed(encode_frame(command)) == [command]
    with pytest.raises(RemoteProtocolError):
        FrameDecoder(max_frame_bytes=length - 1).feed(encode_frame(command))


def test_our_own_frame_over_the_limit_is_our_error() -> None:
    with pytest.raises(LocalProtocolError, match="allowed are 100"):
        encode_frame(Command(1, 1, body=b"x" * 200), max_frame_bytes=100)


def test_a_code_that_no_binary_header_can_hold_is_our_error() -> None:
    with pytest.raises(LocalProtocolError, match="200050"):
        encode_frame(Command(200_050, 1, serialization=Serialization.ROCKETMQ))


def test_a_header_longer_than_its_frame_is_the_peers_error() -> None:
    with pytest.raises(RemoteProtocolError, match="header of 20 bytes leaves its frame of 10"):
        FrameDecoder().feed(struct.pack(">II", 10, 20) + b"{}")


def test_an_unknown_serialisation_is_the_peers_error() -> None:
    with pytest.raises(RemoteProtocolError, match="serialisation is 9"):
        FrameDecoder().feed(struct.pack(">II", 10, 9 << 24 | 2) + b"{}")


@pytest.mark.parametrize(
    "header", [b"[]", b"nonsense", b'{"code":"0"}', b'{"remark":1}', b'{"extFields":[1]}', b"\xff\xfe"]
)
def test_a_header_that_makes_no_sense_is_the_peers_error(header: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        FrameDecoder().feed(struct.pack(">II", 4 + len(header), len(header)) + header)


def test_after_an_error_nothing_is_decoded_any_more() -> None:
    decoder = FrameDecoder(max_frame_bytes=1_000)
    with pytest.raises(RemoteProtocolError):
        decoder.feed(b"GET / HTTP/1.1\r\n")
    with pytest.raises(RemoteProtocolError):
        decoder.feed(encode_frame(Command(1, 1)))


def test_a_header_that_says_a_member_twice_is_the_peers_error() -> None:
    with pytest.raises(RemoteProtocolError, match="a member is given twice"):
        header_json.decode_header(b'{"opaque":1,"opaque":2}', b"")


def test_of_the_fields_of_a_json_header_only_texts_are_kept() -> None:
    command = header_json.decode_header(b'{"extFields":{"a":1,"b":null,"c":["x"],"d":"e"}}', b"")
    assert command.ext_fields == {"d": "e"}
