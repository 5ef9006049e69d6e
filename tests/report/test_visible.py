"""Names as they are."""

import sys
import unicodedata

import pytest

from rocketmq_capacity.plan_file.visible import MAX_CHARACTERS, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u202egnp.exe", "pay[U+202E]gnp.exe"),
        ("pay\u200b", "pay[U+200B]"),
        ("pay\n# rm", "pay[U+000A]# rm"),
        ("\x1b[31mred", "[U+001B][31mred"),
        ("a\u00a0b", "a[U+00A0]b"),
        ("a\u2066b\u2069", "a[U+2066]b[U+2069]"),
        ("\ufeffpay", "[U+FEFF]pay"),
        ("a b", "a b"),
        ("支付 ✓ é", "支付 ✓ é"),
    ],
)
def test_what_hides_or_turns_text_around_is_written_out(text, shown):
    assert visible(text) == shown


def test_no_control_or_format_character_of_unicode_gets_through():
    hidden = [
        chr(point)
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point)) in {"Cc", "Cf", "Zl", "Zp"}
    ]

    assert not [character for character in hidden if character in visible(character)]


def test_an_endless_name_is_cut_and_says_so():
    shown = visible("x" * (MAX_CHARACTERS + 1_500))

    assert shown == "x" * MAX_CHARACTERS + " [… 1,500 more characters]"
