"""A properties text means here what `Properties.load` takes it for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_capacity.protocol.java_properties import parse_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=1\nb=2\n", {"a": "1", "b": "2"}),
        ("a = 1\nb : 2\nc 3\nd\n", {"a": "1", "b": "2", "c": "3", "d": ""}),
        ("# comment\n! comment\n\n   \n  a=1", {"a": "1"}),
        ("a=b=c:d e", {"a": "b=c:d e"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=one, \\\n    two\nb=2", {"a": "one, two", "b": "2"}),
        ("a=ends\\\\\nb=2", {"a": "ends\\", "b": "2"}),
        ("a=\\t\\n\\u00e4\\q", {"a": "\t\näq"}),
        ("a\\=b\\:c\\ d=1", {"a=b:c d": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("namesrvAddr=10.0.9.1:9876;10.0.9.2:9876", {"namesrvAddr": "10.0.9.1:9876;10.0.9.2:9876"}),
        ('user={"username":"x","password":"y"}', {"user": '{"username":"x","password":"y"}'}),
        ("name=größe-中文", {"name": "größe-中文"}),
        ("path=C:\\users", {"path": "C:\\users"}),
        ("pair=\\ud83d\\ude00\nhalf=\\ud800", {"pair": "😀", "half": "\ufffd"}),
        ("a=last\\", {"a": "last"}),
        ("=value", {"": "value"}),
        ("", {}),
    ],
)
def test_each_form_is_read_as_java_reads_it(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def escaped(text: str, also: str) -> str:
    special = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"} | {one: f"\\{one}" for one in also}
    return "".join(special.get(one, one) for one in text)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=6))
def test_what_java_would_store_comes_back(properties: dict[str, str]) -> None:
    lines = [f"{escaped(key, ' =:#!')}={escaped(value, ' =:#!')}" for key, value in properties.items()]
    assert parse_properties("\n".join(lines)) == properties
