"""A figure with its bounds."""

from typing import NamedTuple


class Interval(NamedTuple):
    """The least, the largest and the most likely value of a figure."""

    lower: float
    estimate: float
    upper: float

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are equal: everything that the figure depends on is known."""
        return self.lower == self.upper

    def times(self, factor: float) -> "Interval":
        """Every bound times a factor."""
        return Interval(self.lower * factor, self.estimate * factor, self.upper * factor)
