"""What is done below a folder, with a loss of power at each of its moments: every state that may be left, once."""

import random
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.power_loss.disk import State, put
from tests.power_loss.recording import recording

DRAWN: Final = 3
"""States that are drawn for each moment, beside those that are made for each."""


def states_of(folder: Path, work: Callable[[], object], moments: int | None = None) -> tuple[list[State], list[State]]:
    """The states after a loss of power while the work is done below the folder, and after it, without repetitions.

    ``moments`` is how many moments are drawn for the first; None: all.
    """
    with recording(folder) as record:
        work()
    chance = random.Random(1)
    *disks, last = record.disks
    drawn = disks if moments is None else chance.sample(disks, moments)
    during: dict[bytes, State] = {}
    after: dict[bytes, State] = {}
    for of_moment, some in ((during, drawn), (after, [last])):
        for disk in some:
            for state in disk.losses(chance, DRAWN):
                of_moment.setdefault(_digest(state), state)
    return list(during.values()), list(after.values())


def each_put(states: list[State], folder: Path) -> Iterator[Path]:
    """Each of some states, written below a folder of its own."""
    for number, state in enumerate(states):
        place = folder / str(number)
        put(state, place)
        yield place
        shutil.rmtree(place)


def _digest(state: State) -> bytes:
    digest = sha256()
    for path, content in sorted(state.items()):
        digest.update(f"{path}\0{-1 if content is None else len(content)}\0".encode() + (content or b""))
    return digest.digest()
