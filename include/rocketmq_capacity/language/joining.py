"""What joins phrases and names in a sentence, and how it is said in Chinese."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
FULL_STOP: Final = "。"
BEGINS: Final = (", ", ": ", "; ", ". ")
"""What a further phrase begins with."""
LINKS: Final = ("; ", ": ", " › ", " · ", ", and ", ", ", " and ")
"""What joins phrases, in the order in which a text is taken apart."""
_SAID: Final = {
    "": "",
    " ": " ",
    "; ": "；",
    ": ": "：",
    " › ": " › ",
    " · ": " · ",
    ", and ": "，",
    ", ": "，",
    " and ": "，",
    ".": FULL_STOP,
    ". ": FULL_STOP,
    " → ": " → ",
    "(": "（",
    " (": "（",
    ")": "）",
}
_NAME: Final = "name"
"""What the places of names begin with: they are listed."""
_LISTED: Final = frozenset({"", ", ", " and "})
_MORE: Final = re.compile(r" and ([\d,]+) more")


class Items(NamedTuple):
    """A list: ``a, b and 4 more``, or ``a, b and c``."""

    items: tuple[str, ...]
    more: str | None
    """How many are left out."""

    def said(self, names: str) -> str:
        """The list in Chinese, with its names joined already."""
        return names if self.more is None else f"{names} 等（另有 {self.more} 个）"


def items_of(text: str) -> Items | None:
    """The items of a list; None if the text is none."""
    begin, _, last = text.rpartition(" and ")
    more = _MORE.fullmatch(f" and {last}") if begin else None
    if more:
        return Items(tuple(begin.split(", ")), more[1])
    if begin and " and " not in begin and " " not in last:
        return Items((*begin.split(", "), last), None)
    items = tuple(text.split(", "))
    return Items(items, None) if len(items) > 1 else None


def key_of_list(text: str, items: Items) -> str:
    """The key of a list whose items are phrases."""
    places = [f"{{{_NAME}{number}}}" for number in range(1, len(items.items) + 1)]
    end = f" and {items.more} more"
    if items.more is not None:
        return ", ".join(places) + end
    ends_with_and = len(text.split(", ")) < len(places)
    return ", ".join(places[:-1]) + (" and " if ends_with_and else ", ") + places[-1]


def key_of(*links: str) -> str:
    """The key of phrases that are joined: what stands before the first place, between them, and after the last."""
    return links[0] + "".join(f"{{{number}}}{link}" for number, link in enumerate(links[1:], 1))


def joining(key: str) -> str | None:
    """How a key that only joins its places is said in Chinese; None if it is none."""
    parts = PLACEHOLDER.split(key)
    names, links = parts[1::2], parts[::2]
    if names and all(name.startswith(_NAME) for name in names):
        more = _MORE.fullmatch(links[-1])
        items = Items(tuple(names), None if more is None else more[1])
        are_known = all(link in _LISTED for link in links[:-1]) and (more is not None or not links[-1])
        return items.said("、".join(f"{{{name}}}" for name in names)) if are_known else None
    # A space at the begin or at the end only keeps words apart, which Chinese needs not.
    if not names or any(link not in _SAID for link in links):
        return None
    said = ["" if link == " " and number in {0, len(names)} else _SAID[link] for number, link in enumerate(links)]
    return said[0] + "".join(f"{{{name}}}{link}" for name, link in zip(names, said[1:], strict=True))


def joined(parts: Iterable[str | None], link: str = "") -> str | None:
    """All of them; None if one is unknown."""
    all_parts = list(parts)
    known = [part for part in all_parts if part is not None]
    return link.join(known) if len(known) == len(all_parts) else None
