"""A change of the sample's plan is shown as the members that differ."""

import json

from tests.plan.sample_bytes import AGAIN, FILE, SHOWN, difference

EXPECTED = FILE.read_bytes()


def test_equal_bytes_have_no_difference() -> None:
    assert difference(EXPECTED, EXPECTED) == ""


def test_a_member_that_differs_is_shown_with_its_path_and_both_values() -> None:
    changed = json.loads(EXPECTED) | {"cluster_name": "another"}
    name = json.loads(EXPECTED)["cluster_name"]

    lines = difference(EXPECTED, json.dumps(changed).encode()).splitlines()

    assert lines == [f'$.cluster_name: "{name}" -> "another"', f"if the change is meant: {AGAIN}"]


def test_an_entry_that_is_gone_is_shown_as_absent() -> None:
    assert difference(b'{"a": [1, {"b": 2}]}', b'{"a": [1]}').splitlines()[0] == '$.a[1]: {"b": 2} -> (absent)'


def test_numbers_of_another_type_differ() -> None:
    assert difference(b'{"a": 1}', b'{"a": 1.0}').splitlines()[0] == "$.a: 1 -> 1.0"


def test_only_the_first_members_are_shown() -> None:
    old, new = (json.dumps([value] * (SHOWN + 5)).encode() for value in (1, 2))

    lines = difference(old, new).splitlines()

    assert len(lines) == SHOWN + 2
    assert lines[SHOWN] == "and more"


def test_spaces_alone_are_a_difference_too() -> None:
    assert difference(b'{"a":1}', b'{"a": 1}').startswith("no member differs")
