"""A figure that is known within bounds."""

from typing import NamedTuple


class Interval(NamedTuple):
    """The least and the largest that a figure can be, and what it most likely is."""

    lower: float
    estimate: float
    upper: float

    @property
    def is_exact(self) -> bool:
        """Whether nothing that it rests on is unknown."""
        return self.lower == self.upper

    def times(self, factor: float) -> "Interval":
        """Every bound times a factor."""
        return Interval(self.lower * factor, self.estimate * factor, self.upper * factor)
