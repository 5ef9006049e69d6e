"""Notes what a function does below a folder, whoever writes there: Python, Arrow or another process.

The folder is looked at whenever this process is about to open, rename or delete something, and at each `fsync`. What
has changed since the last look are changes of a `Disk`.
"""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from tests.power_loss.disk import ROOT, Change, Disk, File, Folder, names_below

CHANGES: Final = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")


class Recording:
    """What has happened below a folder.

    Attributes:
        disks: the disk before each thing that the process did, and at the end.
    """

    def __init__(self, folder: Path) -> None:
        self.disks: list[Disk] = []
        self._folder = folder
        self._disk = Disk()
        self._numbers: dict[int, int] = {folder.stat().st_ino: ROOT}
        self._used = ROOT
        self._changed = 0
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._lock = threading.RLock()
        self._is_looking = False
        self.is_over = False
        self.look()
        for number in (*self._disk.files, *self._disk.folders):  # what was there before is stored
            self._disk.store(number)
        self.disks = []

    def look(self) -> None:
        """See what has changed."""
        with self._lock:
            if self._is_looking or self.is_over:
                return
            self._is_looking = True
            try:
                self._note(dict(names_below(self._folder)))
                self.disks.append(self._disk.copied())
            finally:
                self._is_looking = False

    def store(self, handle: int) -> None:
        """`fsync` is called on a handle."""
        with self._lock:
            self.look()
            number = self._numbers.get(os.fstat(handle).st_ino)
            if number is not None:
                self._disk.store(number)

    def _note(self, found: dict[str, os.stat_result]) -> None:
        alive = {state.st_ino for state in found.values()}
        root = next(ino for ino, number in self._numbers.items() if number == ROOT)
        self._numbers = {ino: number for ino, number in self._numbers.items() if ino in alive or ino == root}
        now: dict[str, tuple[int, int, int]] = {}
        for path, state in found.items():
            if state.st_ino not in self._numbers:
                self._used += 1
                self._numbers[state.st_ino] = self._used
            number = self._numbers[state.st_ino]
            now[path] = number, state.st_size, state.st_mtime_ns
            if stat.S_ISDIR(state.st_mode):
                self._disk.folders.setdefault(number, Folder())
            elif self._seen.get(path) != now[path]:
                self._read(path, number)
        self._name(now)
        self._seen = now

    def _read(self, path: str, number: int) -> None:
        try:
            content = (self._folder / path).read_bytes()
        except FileNotFoundError:  # another thread has just renamed it
            content = b""
        before = self._disk.files.get(number, File(b""))
        self._disk.files[number] = File(content, before.stored)

    def _name(self, now: dict[str, tuple[int, int, int]]) -> None:
        """Note the names that were given and taken away; those of one file or folder are one change."""
        had = {path: number for path, (number, *_) in self._seen.items()}
        has = {path: number for path, (number, *_) in now.items()}
        # By folder and name: what is in a folder that was renamed has kept its own.
        before = {self._place(path, had): number for path, number in had.items()}
        after = {self._place(path, has): number for path, number in has.items()}
        together: dict[int, int] = {}
        for folder, name in sorted(before.keys() | after.keys()):
            old, new = before.get((folder, name)), after.get((folder, name))
            if old == new:
                continue
            known = next((together[one] for one in (new, old) if one in together), None)
            if known is None:
                self._changed += 1
                known = self._changed
            together.update({one: known for one in (old, new) if one is not None})
            held = self._disk.folders[folder]
            self._disk.folders[folder] = Folder((*held.changes, Change(known, name, new)), held.stored)

    @staticmethod
    def _place(path: str, numbers: dict[str, int]) -> tuple[int, str]:
        parent, _, name = path.rpartition("/")
        return (numbers[parent] if parent else ROOT), name


_active: list[Recording] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active:
        return
    if event == "open":
        flags = arguments[2]
        if not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            return
    elif event not in CHANGES:
        return
    _active[-1].look()


sys.addaudithook(_hook)


@contextmanager
def recording(folder: Path) -> Iterator[Recording]:
    """Record what happens below a folder until the body ends."""
    record = Recording(folder)
    real = os.fsync

    def fsync(handle: int) -> None:
        record.store(handle)
        real(handle)

    _active.append(record)
    try:
        with mock.patch.object(os, "fsync", fsync):
            yield record
            record.look()
    finally:
        record.is_over = True
        _active.remove(record)
