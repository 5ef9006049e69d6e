"""The position of a change in a scenario file, for errors about a change that does not fit the snapshot."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from rocketmq_capacity.errors import LONGEST_VALUE, BadInput, shown


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """One change of one scenario file: ``changes[index]`` of ``source``."""

    source: str
    index: int

    def refusal(self, key: str, problem: str) -> BadInput:
        """The error about a key of the change, such as ``count`` or ``client_ids[1]``."""
        return BadInput(self.source, f"changes[{self.index}].{key}", problem)

    def check_known(self, key: str, name: str, known: Iterable[str], what: str) -> None:
        """Refuse a name that does not exist.

        Errors: :class:`BadInput` with the nearest existing name.
        """
        names = set(known)
        if name in names:
            return
        near = difflib.get_close_matches(name[:LONGEST_VALUE], sorted(names), n=1, cutoff=0.0)
        exists = f"the nearest {what} is {shown(near[0])}" if near else f"there is no {what} at all"
        raise self.refusal(key, f"is {shown(name)}, which is not there; {exists}")
