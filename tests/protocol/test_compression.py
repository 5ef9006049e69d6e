"""Compressed bodies are recognised, and inflate within a limit."""

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.protocol.compression import inflate, is_compressed
from rocketmq_capacity.protocol.errors import BodyError


@settings(deadline=None)
@given(st.binary(max_size=2_000), st.integers(0, 9))
def test_a_compressed_body_comes_back_as_it_was(body: bytes, level: int) -> None:
    assert inflate(zlib.compress(body, level)) == body


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_text_that_begins_as_json_or_properties_do_is_left_alone(text: str) -> None:
    for body in (b"{" + text.encode(), b"[" + text.encode(), b"xKey=" + text.encode(), b""):
        assert inflate(body) == body


def test_a_body_that_inflates_past_the_limit_is_refused_with_the_limit() -> None:
    bomb = zlib.compress(b"\0" * 1_000_000)
    assert inflate(bomb, max_body_bytes=1_000_000) == b"\0" * 1_000_000
    with pytest.raises(BodyError, match="more than 999999 bytes"):
        inflate(bomb, max_body_bytes=999_999)


def test_a_cut_or_broken_stream_is_the_peers_error() -> None:
    body = zlib.compress(b'{"table":{}}' * 50)
    assert is_compressed(body)
    with pytest.raises(BodyError, match="cut"):
        inflate(body[:-6])
    with pytest.raises(BodyError, match="broken"):
        inflate(body[:2] + b"\xff" * 20)
