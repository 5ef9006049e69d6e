"""How the verdicts on what-ifs and failures read, in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.scenario import Verdict
from rocketmq_capacity.report.figures import UNKNOWN


@dataclass(frozen=True, slots=True)
class VerdictWording:
    """How a verdict reads."""

    title: str
    word: str
    of_groups: str
    tone: str


VERDICTS: Final[Mapping[Verdict, VerdictWording]] = {
    "WORSE": VerdictWording("These changes make the cluster worse.", "Worse", "worse off", "critical"),
    "MIXED": VerdictWording(
        "These changes make some of the cluster worse and some of it better.", "Mixed", "partly worse off", "warning"
    ),
    "UNDECIDED": VerdictWording(
        "These changes make nothing worse that can be judged, but some groups can no longer be judged.",
        "Undecided",
        "undecided",
        "info",
    ),
    "BETTER": VerdictWording("These changes make the cluster better.", "Better", "better off", "ready"),
    "UNCHANGED": VerdictWording(
        "These changes make the cluster neither better nor worse.",
        "Unchanged",
        "touched, neither better nor worse",
        "info",
    ),
}
ORDER: Final[tuple[Verdict, ...]] = ("WORSE", "MIXED", "UNDECIDED", "BETTER", "UNCHANGED")
"""Worst first."""
REASONS: Final[Mapping[str, str]] = {"CAPACITY": "too busy", "REACHABILITY": "cut off", "LOSS": "messages wait"}
"""Why a failure leaves a group worse off."""


def verdict_word(verdict: str | None, reasons: Sequence[str]) -> str:
    """A verdict in a cell, with its reasons if it is bad news: ``Worse: too busy``."""
    if verdict is None:
        return UNKNOWN
    word = next(wording.word for name, wording in VERDICTS.items() if name == verdict)
    return f"{word}: {', '.join(REASONS[one] for one in reasons)}" if verdict == "WORSE" else word
