"""What is to be reached on two cores, and what was."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

SAMPLE_PER_SESSION: Final = 2.5
"""The sample's plan, in sessions that count one row."""
ABOVE_LINE: Final = 1.2
"""A size's time, in what the line through its two neighbours says: there is no size from which on a plan is slow."""
EXPONENT: Final = 1.1
"""Of the time's growth between these numbers of copies."""
EXPONENT_BETWEEN: Final = (16, 256)
FLEET_SECONDS: Final = 60.0
FLEET_GB: Final = 4.0
SQL_EXECUTIONS: Final = 25
OF_SAMPLES: Final = 1.3
"""The fleet's plan with 90 days of samples, in one without: memory, and processor time."""
DRIVER_RATIO: Final = 0.1
"""Of the fleet's plan, what only the driver does: more cores do not make it shorter."""
DAG_SECONDS: Final = 40.0
STORE_SAMPLE: Final = 1.5
"""The sample's apps with a lake in S3, in those with a lake in a folder."""
STORE_FLEET: Final = 1.2
STORE_LIST: Final = 2.0
"""A warm list of a thousand reports."""
PAGE_MS: Final = 300.0
PAGES_MB: Final = 200.0


@dataclass(frozen=True, slots=True)
class Target:
    """A number that is to be at most another."""

    what: str
    reached: float
    most: float

    def __str__(self) -> str:
        """As a line of the table of targets."""
        verdict = "reached" if self.reached <= self.most else "NOT REACHED"
        return f"{self.what:66} {self.reached:8.2f}   at most {self.most:7.2f}   {verdict}"


def of_line(seconds: Mapping[int, float]) -> list[Target]:
    """Each size between two others beside the line through these; ``seconds`` is by number of copies."""
    sizes = sorted(seconds)
    targets = []
    for before, size, after in zip(sizes, sizes[1:], sizes[2:], strict=False):
        slope = (seconds[after] - seconds[before]) / (after - before)
        line = seconds[before] + slope * (size - before)
        what = f"{size} copies / the line through {before} and {after} ({line:.1f} s)"
        targets.append(Target(what, seconds[size] / line, ABOVE_LINE))
    return targets


def of_growth(seconds: Mapping[int, float]) -> list[Target]:
    """The exponent: 1 where twice the size takes twice the time. None where a size was not planned."""
    small, large = EXPONENT_BETWEEN
    if small not in seconds or large not in seconds:
        return []
    return [Target(f"growth exponent from {small} to {large} copies", exponent(seconds, small, large), EXPONENT)]


def exponents(seconds: Mapping[int, float]) -> dict[tuple[int, int], float]:
    """The exponent from each size to the next."""
    return {(small, large): exponent(seconds, small, large) for small, large in pairwise(sorted(seconds))}


def exponent(seconds: Mapping[int, float], small: int, large: int) -> float:
    """Slope of the time over the size, both as logarithms; the start of the process counts."""
    return log(seconds[large] / seconds[small]) / log(large / small)
