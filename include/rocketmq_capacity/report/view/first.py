"""The first of many items: as many as a page shows."""

from collections.abc import Iterable
from typing import Self, TypeVar

Item = TypeVar("Item")


class First(tuple[Item, ...]):
    """The first of some items.

    Attributes:
        more: how many there are besides.
    """

    more: int

    def __new__(cls, items: Iterable[Item], total: int) -> Self:
        """Those that are shown, of so many."""
        first = super().__new__(cls, items)
        first.more = total - len(first)
        return first

    @property
    def total(self) -> int:
        """How many there are in all."""
        return len(self) + self.more
