"""How a figure grows from day to day, and when it reaches a level."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trend:
    """How a figure grows.

    Attributes:
        now: the figure of today, as the trend has it; with a season that of the day that has most.
        per_day: how much it grows a day.
        lower: the same at least, with 95 % confidence.
        upper: the same at most.
        points: how many days were known.
    """

    now: float
    per_day: float
    lower: float
    upper: float
    points: int

    @property
    def is_rising(self) -> bool:
        """Whether it grows for certain."""
        return self.lower > 0

    def days_until(self, level: float) -> tuple[float, float, float | None]:
        """The days until a level, of a figure that rises: at the earliest, most likely, at the latest.

        The last is None if it may take for ever. All are 0 if the level is reached.
        """
        left = max(level - self.now, 0.0)
        return left / self.upper, left / self.per_day, left / self.lower if self.lower > 0 else None
