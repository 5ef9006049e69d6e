"""RocketMQ's JSON is read as RocketMQ means it, whatever its strings hold."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.tolerant_json import _Reader, parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Strings made of what the parser looks for, so that nothing in a string is taken for structure.
TRAPS = st.lists(
    st.sampled_from(["{", "}", "{0:", ",1:", '{"brokerName":"b","queueId":0,"topic":"t"}:', '"', "\\", "\\u0041", ":"])
).map("".join)
STRINGS = TEXTS | TRAPS
QUEUES = st.tuples(STRINGS, st.integers(-1, 70_000), STRINGS)


class NumberMap(dict[int, Any]):
    """A map that fastjson writes with bare numbers as keys."""


class QueueMap(dict[tuple[str, int, str], Any]):
    """A map that fastjson writes with objects as keys."""


def queue_text(queue: tuple[str, int, str], quote: Callable[[str], str]) -> str:
    broker_name, queue_id, topic = queue
    return f'{{"brokerName":{quote(broker_name)},"queueId":{queue_id},"topic":{quote(topic)}}}'


def as_rocketmq(value: Any, space: str, quote: Callable[[str], str]) -> str:
    """The text that fastjson would write, with white space between tokens."""
    comma, colon = f"{space},{space}", f"{space}:{space}"
    if isinstance(value, dict):
        if isinstance(value, NumberMap):
            keys = [str(key) for key in value]
        elif isinstance(value, QueueMap):
            keys = [queue_text(key, quote) for key in value]
        else:
            keys = [quote(key) for key in value]
        items = (
            f"{key}{colon}{as_rocketmq(item, space, quote)}" for key, item in zip(keys, value.values(), strict=True)
        )
        return "{" + space + comma.join(items) + space + "}"
    if isinstance(value, list):
        return "[" + space + comma.join(as_rocketmq(item, space, quote) for item in value) + space + "]"
    return quote(value) if isinstance(value, str) else json.dumps(value)


def expected(value: Any, quote: Callable[[str], str]) -> Any:
    """What reading should give: string keys, numbers as digits, objects as their text."""
    if isinstance(value, QueueMap):
        return {queue_text(key, quote): expected(item, quote) for key, item in value.items()}
    if isinstance(value, dict):
        return {str(key): expected(item, quote) for key, item in value.items()}
    return [expected(item, quote) for item in value] if isinstance(value, list) else value


def plain(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
DOCUMENTS = st.recursive(
    SCALARS | STRINGS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(STRINGS, inner, max_size=4)
        | st.dictionaries(st.integers(-5, 2**31), inner, max_size=4).map(NumberMap)
        | st.dictionaries(QUEUES, inner, max_size=4).map(QueueMap)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(DOCUMENTS, st.sampled_from(["", " ", "\n\t"]), st.sampled_from([plain, escaped]))
@example({"a": NumberMap({0: "{1:"})}, "", plain)
@example(QueueMap({('b"\\{', 0, "t}:"): NumberMap({0: 545, 1: -1})}), " ", escaped)
def test_every_document_is_read_as_it_was_written(value: Any, space: str, quote: Callable[[str], str]) -> None:
    assert parse(as_rocketmq(value, space, quote)) == expected(value, quote)


@settings(deadline=None)
@given(DOCUMENTS, st.sampled_from(["", " "]), st.sampled_from([plain, escaped]))
def test_the_reader_of_the_whole_grammar_agrees_with_the_fast_way(
    value: Any, space: str, quote: Callable[[str], str]
) -> None:
    text = as_rocketmq(value, space, quote)
    assert _Reader(text, 64).document() == parse(text)


@settings(deadline=None)
@given(st.text(st.sampled_from('{}[]":,\\0123-eutrfalsn \x00'), max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        strict = json.loads(text, parse_constant=lambda _: pytest.fail("NaN is not JSON"))
    except (ValueError, RecursionError):
        with contextlib.suppress(BodyError):
            parse(text)
    else:
        assert parse(text) == strict


@settings(deadline=None)
@given(DOCUMENTS, st.data())
def test_a_cut_document_is_never_taken_for_a_whole_one(value: Any, data: st.DataObject) -> None:
    text = as_rocketmq([value], "", plain)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(BodyError):
        parse(cut)


def test_escapes_that_fastjson_knows_and_json_does_not_are_read() -> None:
    assert parse(r'{0:"\v\x41\0\7\'"}') == {"0": "\v\x41\0\x07'"}
    assert parse(r'["\v\x41\0\7\'\u00e4\/"]') == ["\v\x41\0\x07'ä/"]


def test_surrogate_pairs_are_one_character_and_halves_are_replaced() -> None:
    assert parse(r'["\ud83d\ude00", "\ud83d"]') == ["😀", "\ufffd"]
    assert parse(r'{0:"\ud83d\ude00\v", 1:"\ude00"}') == {"0": "😀\v", "1": "\ufffd"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "character 0 of 0: expected a value, found the end"),
        ('{"a":1', "character 6 of 6: expected ',' or '}', found the end"),
        ('{"a" 1}', "character 5 of 7: expected ':', found '1}'"),
        ("[1,]", "character 3 of 4: expected a value"),
        ("{,}", "expected a key"),
        ('{"a":"b}', "string that begins at character 5 of 8 never ends"),
        ("[1] 2", "character 4 of 5: expected the end"),
        ("[NaN]", "character 1 of 5: expected a value"),
        (r'{0:"\q"}', "is not an escape"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BodyError) as failure:
        parse(text)
    assert words in str(failure.value)


def test_nesting_has_a_limit() -> None:
    deep = "{0:" * 64 + "1" + "}" * 64
    assert parse(deep, max_depth=64) is not None
    with pytest.raises(BodyError, match="nested deeper than 63 levels"):
        _Reader(deep, 63).document()
    with pytest.raises(BodyError, match="nested deeper than 64 levels"):
        parse("[" * 200_000)
    with pytest.raises(BodyError, match="nested deeper than 64 levels"):
        parse("{0:" * 200_000)


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 200_000,
        '{0:"' + '\\"' * 200_000,
        '{"a":1}' * 100_000,
        '{"brokerName":"' * 100_000,
        "{0:" + "," * 400_000,
        "-" * 400_000,
        "1" * 400_000,
    ],
)
def test_hostile_texts_are_refused_without_reading_any_part_again_and_again(text: str) -> None:
    # Quadratic reading of 400,000 characters would take minutes and run into the tests' time limit.
    with pytest.raises(BodyError):
        parse(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '[{"b":{"a":1,"\\u0061":2}}]', '{0:1,"0":2}', r'{"\ud800":1,"\udfff":2}']
)
def test_a_member_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(BodyError, match=r"is given twice; expected it once"):
        parse(text)


def test_halves_of_characters_deep_inside_are_refused_as_what_is_too_deep() -> None:
    with pytest.raises(BodyError, match="nested deeper than 64 levels"):
        parse('{"\\ud800":' + "[" * 700 + "]" * 700 + "}")
