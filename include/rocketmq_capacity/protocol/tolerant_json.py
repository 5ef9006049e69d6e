r"""RocketMQ's JSON, which is not always JSON: fastjson writes the keys of a map as they are.

A map by number gives ``{0:"a",1:"b"}``, a map by object ``{{"brokerName":"b","queueId":0,"topic":"t"}:{...}}``, and
strings may hold escapes that JSON does not know (``\v``, ``\x41``, ``\0``, ``\'``). Here such keys become strings: a
number its digits, an object its own text. Strict JSON is read as what it is.

The usual bodies are rewritten by regular expressions and read by the interpreter's own JSON reader; whatever is left
goes to a reader that knows the whole grammar, and that alone says what is wrong and where. Both are linear in the text.
"""

import json
import re
from typing import Any, Final, NoReturn

from rocketmq_capacity.errors import shown
from rocketmq_capacity.protocol.each_once import each_once
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_DEPTH
from rocketmq_capacity.protocol.whole_characters import whole_characters

# Every quote outside a string opens one, and one that never closes runs to the end: no position is scanned twice.
_STRING: Final = re.compile(r'("(?:[^"\\]++|\\.?)*+(?:"|\Z))', re.DOTALL)
_NUMBER_KEY: Final = re.compile(r"([{,]\s*)(-?[0-9]+)(\s*:)")
# Inside a string a quote would be escaped, so that `{"` followed by a name is always an object and its first key.
_QUEUE_KEY: Final = re.compile(r'\{"brokerName":"([^"\\]*)","queueId":(-?[0-9]+),"topic":"([^"\\]*)"\}:')
_QUEUE_KEY_AS_STRING: Final = (r'"{\"brokerName\":\"', r"\",\"queueId\":", r",\"topic\":\"", r'\"}":')
"""The texts before, between and after the three values of a queue's key once it is a string."""

_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_WHOLE_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_KEY_NUMBER: Final = re.compile(r"-?[0-9]++")
_WORDS: Final = {"true": True, "false": False, "null": None}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = dict(zip("\"\\/bfnrtv'01234567", "\"\\/\b\f\n\r\t\v'\0\1\2\3\4\5\6\7", strict=True))
_SHOWN: Final = 24


def parse(text: str, *, max_depth: int = MAX_DEPTH) -> Any:
    """Read a document.

    Shape: objects as dicts with string keys, arrays as lists, the rest as its own type.
    Errors: `BodyError` that names the character where the text stops to make sense, where a member is given twice, or
    where it nests deeper than allowed.
    """
    for rewrite in (_with_queue_keys_as_strings, _with_number_keys_as_strings):
        text_as_json = rewrite(text)
        try:
            document = _STRICT.decode(text_as_json)
            return _without_lone_surrogates(document) if "\\u" in text else document
        except (ValueError, RecursionError):
            continue
    return _Reader(text, max_depth).document()


def decode(body: bytes) -> Any:
    """Read a document from bytes in UTF-8; errors as in :func:`parse`."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BodyError(f"byte {error.start} of {len(body)} is not UTF-8") from None
    return parse(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# NaN and Infinity are no JSON, and fastjson writes null for them.
_STRICT: Final = json.JSONDecoder(strict=False, parse_constant=_no_constant, object_pairs_hook=each_once)


def _with_queue_keys_as_strings(text: str) -> str:
    pieces = _QUEUE_KEY.split(text)  # what is no key, and the three values of a key, by turns
    keys = len(pieces) // 4
    woven = [""] * (8 * keys + 1)
    woven[0::8] = pieces[0::4]
    for place, words in enumerate(_QUEUE_KEY_AS_STRING):
        woven[2 * place + 1 :: 8] = [words] * keys
    for value in (1, 2, 3):
        woven[2 * value :: 8] = pieces[value::4]
    return "".join(woven)


def _with_number_keys_as_strings(text: str) -> str:
    pieces = _STRING.split(_with_queue_keys_as_strings(text))  # outside and inside of strings by turns
    pieces[0::2] = [_NUMBER_KEY.sub(r'\1"\2"\3', piece) for piece in pieces[0::2]]
    return "".join(pieces)


def _without_lone_surrogates(value: Any) -> Any:
    """The same document; half a surrogate pair, which no UTF-8 can hold, becomes U+FFFD."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return each_once([(whole_characters(key), _without_lone_surrogates(item)) for key, item in value.items()])
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    return value


class _Reader:
    """Recursive descent over one text; ``at`` is the next character."""

    def __init__(self, text: str, max_depth: int) -> None:
        self._text, self._at, self._max_depth = text, 0, max_depth

    def document(self) -> Any:
        value = self._value(1)
        if self._next():
            raise self._failure("the end")
        return value

    def _value(self, depth: int) -> Any:
        first = self._next()
        if first in ("{", "["):
            if depth > self._max_depth:
                raise BodyError(f"character {self._at} is nested deeper than {self._max_depth} levels")
            return self._object(depth) if first == "{" else self._array(depth)
        if first == '"':
            return self._string()
        for word, value in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return value
        return self._number()

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self._at += 1
        if self._next() == "}":
            self._at += 1
            return members
        while True:
            key = self._key(depth)
            if key in members:
                raise BodyError(f"character {self._at}: the member {shown(key)} is given twice; expected it once")
            self._expect(":")
            members[key] = self._value(depth + 1)
            if self._expect(",}") == "}":
                return members

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self._at += 1
        if self._next() == "]":
            self._at += 1
            return items
        while True:
            items.append(self._value(depth + 1))
            if self._expect(",]") == "]":
                return items

    def _key(self, depth: int) -> str:
        first, start = self._next(), self._at
        if first == '"':
            return self._string()
        if first == "{":
            self._value(depth + 1)
            return self._text[start : self._at]
        if number := _KEY_NUMBER.match(self._text, start):
            self._at = number.end()
            return number[0]
        raise self._failure("a key")

    def _string(self) -> str:
        token = _WHOLE_STRING.match(self._text, self._at)
        if token is None:
            raise BodyError(f"the string that begins at character {self._at} of {len(self._text)} never ends")
        self._at = token.end()
        content = token[0][1:-1]
        return _without_lone_surrogates(_ESCAPE.sub(self._unescape, content)) if "\\" in content else content

    def _unescape(self, escape: re.Match[str]) -> str:
        if number := escape[1] or escape[2]:
            return chr(int(number, 16))
        if escape[3] not in _ESCAPED:
            raise BodyError(f"{escape[0]!r} before character {self._at} is not an escape")
        return _ESCAPED[escape[3]]

    def _number(self) -> int | float:
        token = _NUMBER.match(self._text, self._at)
        if token is None:
            raise self._failure("a value")
        self._at = token.end()
        try:
            return int(token[0]) if token[0].lstrip("-").isdigit() else float(token[0])
        except ValueError:
            raise BodyError(f"the number that ends at character {self._at} has too many digits") from None

    def _next(self) -> str:
        """Skip white space; the character that follows, empty at the end."""
        space = _SPACE.match(self._text, self._at)
        if space is not None:
            self._at = space.end()
        return self._text[self._at : self._at + 1]

    def _expect(self, allowed: str) -> str:
        character = self._next()
        if not character or character not in allowed:
            raise self._failure(" or ".join(repr(one) for one in allowed))
        self._at += 1
        return character

    def _failure(self, expected: str) -> BodyError:
        rest = self._text[self._at : self._at + _SHOWN]
        following = repr(rest) if rest else "the end"
        return BodyError(f"character {self._at} of {len(self._text)}: expected {expected}, found {following}")
