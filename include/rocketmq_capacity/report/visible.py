"""Names as they are: characters that hide, or that turn the text around them, are written out."""

import unicodedata
from typing import Any, Final

from markupsafe import Markup

HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control, format (bidirectional overrides, zero width), surrogate, private, unassigned, line and paragraph ends."""
MAX_CHARACTERS: Final = 4_000
"""A text longer than this is cut, and says so: the page must open whatever a cluster holds."""


def visible(text: str) -> str:
    """The text with every character that a reader would not see, or that reorders its neighbours, as ``[U+202E]``.

    A command that holds such a character cannot be run as it is shown; that is meant: it would not be what it seems.
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
    """What a template writes for a value: text visibly, our own mark-up as it is, the rest as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
