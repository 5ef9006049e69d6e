"""Times that depend on timers: the least, the mean and the most, in seconds."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import factorial, prod
from typing import Final, NamedTuple, Self

SHORTEST_S: Final = 1e-3
"""A timer with a shorter period than this counts as fixed."""


class DelaySpan(NamedTuple):
    """A time in seconds: at best, on average, at worst; best <= expected <= worst."""

    best: float
    expected: float
    worst: float

    def plus(self, other: "DelaySpan") -> "DelaySpan":
        """The sum of both times."""
        return DelaySpan(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


NO_TIME: Final = DelaySpan(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Delay:
    """A time after an event, in seconds: a fixed part, and the waits for timers at an unknown point of their period.

    Attributes:
        least: the fixed part.
        spans: the period of each timer; the wait for it is uniform between 0 and its period.
        most: the worst case, with events that the mean leaves out, such as a lost message; at least `least` and all
            spans.
    """

    least: float = 0.0
    spans: tuple[float, ...] = ()
    most: float = 0.0

    @classmethod
    def of(cls, least: float, spans: Iterable[float] = (), most: float = 0.0) -> Self:
        """A delay; timers with very short periods are left out."""
        every = tuple(spans)
        return cls(least, tuple(span for span in every if span > SHORTEST_S), max(most, least + sum(every)))

    def plus(self, other: "Delay") -> "Delay":
        """This one and, from then on, another one."""
        return Delay(self.least + other.least, (*self.spans, *other.spans), self.most + other.most)

    @property
    def span(self) -> DelaySpan:
        """At best, on average, at worst."""
        return DelaySpan(self.least, self.least + sum(self.spans) / 2, self.most)


def later(moment: Delay, other: Delay) -> DelaySpan:
    """How much later one moment is than the other, 0 if it is earlier; the two are independent."""
    best, worst = max(0.0, moment.least - other.most), max(0.0, moment.most - other.least)
    mean = mean_excess(moment.least - other.least, (*moment.spans, *(-span for span in other.spans)))
    return DelaySpan(best, min(max(mean, best), worst), worst)


def chance_later(moment: Delay, other: Delay) -> float:
    """The probability that one moment is after the other; events that only `most` covers are left out."""
    fixed, spans = moment.least - other.least, (*moment.spans, *(-span for span in other.spans))
    return min(max(_over_corners(fixed, spans, len(spans)), 0.0), 1.0) if spans else float(fixed > 0)


def mean_excess(fixed: float, spans: tuple[float, ...]) -> float:
    """Mean of max(0, fixed + U1 + U2 + …), where each U is uniform between 0 and its span, which may be negative.

    Each integration over a uniform part divides the difference of an antiderivative by the part's span. The n-fold
    antiderivative of max(0, x) is max(0, x)^(n+1) / (n+1)!, so the mean is a sum over the corners of the box of spans.
    The chance that the sum is above 0 is the same with the step function, whose n-fold antiderivative is x^n / n!.
    """
    return _over_corners(fixed, spans, len(spans) + 1)


def _over_corners(fixed: float, spans: tuple[float, ...], power: int) -> float:
    """The sum of max(0, corner)^power / power! / product of spans; minus for each part of the corner that is 0."""
    total = 0.0
    for corner in product((0, 1), repeat=len(spans)):
        at = fixed + sum(span for span, is_in in zip(spans, corner, strict=True) if is_in)
        total += (-1) ** (len(spans) - sum(corner)) * max(0.0, at) ** power
    return total / (factorial(power) * prod(spans))
