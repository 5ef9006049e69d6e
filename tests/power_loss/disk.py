"""A disk as power may leave it: what is in files and folders, and how much of it is known to be stored.

A file's bytes are stored once `fsync` was called on it, a name once `fsync` was called on its folder. What was not
stored may be lost or not: of each folder's changes the last ones are lost, from some change on, and a file that was not
stored is empty, cut or whole. A rename is one change of both of its folders. No journal of a real file system promises
less. Source: fsync(2) and the abstract persistence model of ALICE, OSDI 2014.
"""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

ROOT: Final = 0
"""The number of the folder that is looked at; it is stored."""
State = dict[str, bytes | None]
"""By path: a file's bytes; None for a folder."""


@dataclass(frozen=True)
class Change:
    """A name of a folder that was given to a file or a folder, or taken away.

    Attributes:
        number: changes of one number are made together.
        name: in the folder.
        target: the number of the file or the folder; None if the name is gone.
    """

    number: int
    name: str
    target: int | None


@dataclass(frozen=True)
class File:
    """A file's bytes now, and those that are stored; None before any are."""

    now: bytes
    stored: bytes | None = None


@dataclass(frozen=True)
class Folder:
    """A folder's changes, and how many of them are stored."""

    changes: tuple[Change, ...] = ()
    stored: int = 0


@dataclass
class Disk:
    """Everything below a folder, whether it still has a name or not."""

    files: dict[int, File] = field(default_factory=dict)
    folders: dict[int, Folder] = field(default_factory=lambda: {ROOT: Folder()})

    def copied(self) -> "Disk":
        """The disk as it is now."""
        return Disk(dict(self.files), dict(self.folders))

    def store(self, number: int) -> None:
        """What `fsync` does."""
        if number in self.files:
            self.files[number] = replace(self.files[number], stored=self.files[number].now)
            return
        for place, count in self._closed({number: len(self.folders[number].changes)}).items():
            self.folders[place] = replace(self.folders[place], stored=count)

    def losses(self, chance: random.Random, drawn: int) -> Iterator[State]:
        """States after a loss of power now: the least, every name without its bytes or half of them, and some drawn."""
        every = {number: len(folder.changes) for number, folder in self.folders.items()}
        yield self._state(self._closed({}), [0])
        for part in (0, 1):
            yield self._state(every, [part])
        for _ in range(drawn):
            kept = {number: chance.randint(self.folders[number].stored, count) for number, count in every.items()}
            yield self._state(self._closed(kept), [chance.randrange(3) for _ in range(7)])

    def whole(self) -> State:
        """What is seen now."""
        return self._state({number: len(folder.changes) for number, folder in self.folders.items()}, [2])

    def _closed(self, kept: dict[int, int]) -> dict[int, int]:
        """How many changes of each folder are kept: at least those stored, and both parts of a rename or none."""
        kept = {number: max(folder.stored, kept.get(number, 0)) for number, folder in self.folders.items()}
        is_closed = False
        while not is_closed:
            is_closed = True
            made = {one.number for number, count in kept.items() for one in self.folders[number].changes[:count]}
            for number, folder in self.folders.items():
                last = max((i for i, one in enumerate(folder.changes, 1) if one.number in made), default=0)
                if last > kept[number]:
                    kept[number], is_closed = last, False
        return kept

    def _state(self, kept: dict[int, int], parts: list[int]) -> State:
        """The state with so many changes of each folder; of files that are not stored 0: nothing, 1: half, 2: all."""
        state: State = {}

        def fill(number: int, path: str) -> None:
            names: dict[str, int] = {}
            for one in self.folders[number].changes[: kept[number]]:
                names.pop(one.name, None)
                if one.target is not None:
                    names[one.name] = one.target
            for name, target in names.items():
                below = f"{path}{name}"
                if target in self.folders:
                    state[below] = None
                    fill(target, f"{below}/")
                else:
                    state[below] = self._bytes(self.files[target], parts[target % len(parts)])

        fill(ROOT, "")
        return state

    def _bytes(self, file: File, part: int) -> bytes:
        before = file.stored or b""
        return (before, file.now[: len(file.now) // 2] if before != file.now else before, file.now)[part]


def put(state: State, folder: Path) -> None:
    """Write a state below a folder, which is made."""
    folder.mkdir(parents=True)
    for path, content in sorted(state.items()):
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)


def names_below(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every path below a folder, parents first, with its state."""
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        try:
            yield entry.name, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                for below, stat in names_below(Path(entry.path)):
                    yield f"{entry.name}/{below}", stat
        except FileNotFoundError:  # another thread has just deleted it
            continue
