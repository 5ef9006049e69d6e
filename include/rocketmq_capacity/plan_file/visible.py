"""Shows every character of a name: invisible ones, and ones that reorder the text, are written as their numbers."""

import unicodedata
from typing import Any, Final

from markupsafe import Markup

HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control, format (bidirectional overrides, zero width), surrogate, private, unassigned, line and paragraph ends."""
MAX_CHARACTERS: Final = 4_000
"""A longer text is cut, and says so: the page must open whatever names a cluster has."""


def visible(text: str) -> str:
    """The text; a character that a reader would not see, or that reorders its neighbours, becomes ``[U+202E]``.

    A command with such a character cannot be run as it is shown. This is on purpose, because the command would not be
    what it seems to be.
    """
    if text.isascii() and text.isprintable() and len(text) <= MAX_CHARACTERS:
        return text
    shown = "".join(_shown(character) for character in text[:MAX_CHARACTERS])
    left_out = len(text) - MAX_CHARACTERS
    return f"{shown} [… {left_out:,} more characters]" if left_out > 0 else shown


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    is_odd_space = category == "Zs" and character != " "
    return f"[U+{ord(character):04X}]" if category in HIDDEN_CATEGORIES or is_odd_space else character


def finalize(value: Any) -> Any:
    """What a template writes for a value: text with all characters visible; mark-up and other values unchanged."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
