"""The position of a change in a scenario file, for errors about a change that does not fit the snapshot."""

from collections.abc import Iterable
from dataclasses import dataclass

from rocketmq_capacity.errors import LONGEST_VALUE, BadInput, most_like, shown


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
        near = most_like(name[:LONGEST_VALUE], names)
        exists = f"there is no {what} at all" if near is None else f"the nearest {what} is {shown(near)}"
        raise self.refusal(key, f"is {shown(name)}, which is not there; {exists}")
