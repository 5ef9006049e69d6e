"""What one run decides otherwise than the deployment's policy, as the run stores it and as the plan repeats it."""

from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.writing import write_whole

LONGEST_VALUE: Final = 80
"""Characters of a value in words."""


class PolicyDifference(Struct, frozen=True, kw_only=True):
    """A value of the policy that one run has decided otherwise."""

    key: Annotated[str, means("of the policy, with dots, such as thresholds.HOT_QUEUE.peak")]
    deployment: Annotated[Any, means("the value of the deployment's policy; null if it has none")]
    run: Annotated[Any, means("the value of this run; null if it has none")]

    def in_words(self) -> str:
        """Such as ``thresholds.HOT_QUEUE.peak is 3.0 instead of 2.0``."""
        return f"{self.key} is {_in_words(self.run)} instead of {_in_words(self.deployment)}"


class OwnPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The policy of a run that differs from the deployment's.

    Attributes:
        is_trial: whether the run is a trial, which never counts as the day's plan.
        differences: the values that differ, by their keys.
        strategies: the strategies that the run computes: those that were chosen, and all that groups use.
    """

    is_trial: bool
    differences: tuple[PolicyDifference, ...]
    strategies: tuple[str, ...]

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """What a run has stored; None if its policy is the deployment's. Errors: BadInput for a damaged file."""
        if not file.exists():
            return None
        try:
            return msgspec.json.decode(file.read_bytes(), type=cls)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            problem = f"is not a stored policy ({error}); expected what the step snapshot wrote"
            raise BadInput(str(file), "", problem) from None

    def write(self, file: Path) -> None:
        """Store it, completely or not at all."""
        write_whole(file, json_file(self))


def _in_words(value: Any) -> str:
    if value is None:
        return "none"
    listed = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    return cut(", ".join(value) if listed else msgspec.json.encode(value).decode(), LONGEST_VALUE)
