"""A lock in an object store: the last of the objects ``.lock.<number>``, which is held until a moment in it.

The next number is only created where it is absent, so that of several processes one gets it. The holder moves its
moment on while it works. A holder that was killed does not, and a minute later the next number may be taken. A lock
that was given back stays, with a moment that is over: no number is taken twice.

The clocks of two machines may differ by less than the lease, a minute.
"""

import json
import threading
import time
from pathlib import Path
from typing import Final

from rocketmq_capacity.store.place import file_system, key_of

PREFIX: Final = ".lock."
LEASE_S: Final = 60.0
BEAT_S: Final = 15.0


class Lease:
    """The lock of a folder of a store, once `take` has got it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._ends = threading.Event()
        self._beat = threading.Thread(target=self._renew, daemon=True)

    def take(self) -> bool:
        """Take the lock, unless another process holds it."""
        last = self._last()
        if last and self._until(last) > time.time():
            return False
        self._number = last + 1
        try:
            file_system(self._folder).pipe_file(self._key(self._number), _until(LEASE_S), mode="create")
        except FileExistsError:
            return False
        self._beat.start()
        return True

    def is_held(self) -> bool:
        """Whether no other process has taken the lock since; it may if this one has stood still for a minute."""
        return self._last() == self._number

    def give_back(self) -> None:
        """Let the next process take it at once."""
        self._ends.set()
        self._beat.join()
        if self.is_held():
            file_system(self._folder).pipe_file(self._key(self._number), _until(0))

    def __reduce__(self) -> tuple[type["Lease"], tuple[Path]]:
        """A copy for an executor holds nothing."""
        return Lease, (self._folder,)

    def _renew(self) -> None:
        while not self._ends.wait(BEAT_S):
            if not self.is_held():
                return
            file_system(self._folder).pipe_file(self._key(self._number), _until(LEASE_S))

    def _last(self) -> int:
        numbers = (place.name.removeprefix(PREFIX) for place in self._folder.glob(f"{PREFIX}*"))
        return max((int(number) for number in numbers if number.isdecimal()), default=0)

    def _until(self, number: int) -> float:
        try:
            return float(json.loads(file_system(self._folder).cat_file(self._key(number)))["until"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return 0.0

    def _key(self, number: int) -> str:
        return f"{key_of(self._folder)}/{PREFIX}{number}"


def _until(seconds: float) -> bytes:
    return json.dumps({"until": time.time() + seconds if seconds else 0}).encode()
