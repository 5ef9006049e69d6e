"""A lock in an object store: the last of the objects ``.lock.<number>``, which is held until a moment in it.

The next number is only created where it is absent, so that of several processes one gets it. The holder moves its
moment on while it works. A holder that was killed does not, and a minute later the next number may be taken. A lock
that was given back stays, with a moment that is over: no number is taken twice.

The clocks of two machines may differ by less than the lease, a minute.
"""

import json
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.store.place import check_kept, errors_in_one_line, file_system, key_of, put

PREFIX: Final = ".lock."
LEASE_S: Final = 60.0
BEAT_S: Final = 15.0


class Lease:
    """The lock of a folder of a store, once `take` has got it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._name = 0, uuid4().hex
        self._ends = threading.Event()
        self._beat = threading.Thread(target=self._renew, daemon=True)

    def take(self) -> bool:
        """Take the lock, unless another process holds it. Errors: StoreUnreachable if the store does not keep it."""
        last = self._last()
        if last and self._until(last) > time.time():
            return False
        self._number = last + 1
        content = self._held_for(LEASE_S)
        try:
            put(self._place(self._number), content, is_new=True)
        except FileExistsError:
            return False
        check_kept(self._folder, {f"{PREFIX}{self._number}": len(content)})
        self._beat.start()
        return True

    def is_held(self) -> bool:
        """Whether no other process has taken the lock since; it may if this one has stood still for a minute."""
        return self._last() == self._number and self._read(self._number).get("by") == self._name

    def give_back(self) -> None:
        """Let the next process take it at once."""
        self._ends.set()
        self._beat.join()
        if self.is_held():
            put(self._place(self._number), self._held_for(0))

    def __reduce__(self) -> tuple[type["Lease"], tuple[Path]]:
        """A copy for an executor holds nothing."""
        return Lease, (self._folder,)

    def _renew(self) -> None:
        while not self._ends.wait(BEAT_S):
            # If the store does not answer now, it may at the next beat; a commit asks whether the lock is still held.
            with suppress(StoreUnreachable), errors_in_one_line(self._folder):
                if not self.is_held():
                    return
                put(self._place(self._number), self._held_for(LEASE_S))

    def _last(self) -> int:
        numbers = (place.name.removeprefix(PREFIX) for place in self._folder.glob(f"{PREFIX}*"))
        return max((int(number) for number in numbers if number.isdecimal()), default=0)

    def _until(self, number: int) -> float:
        until = self._read(number).get("until")
        return until if isinstance(until, int | float) else 0.0

    def _read(self, number: int) -> dict[str, object]:
        """What a lock holds; nothing if it is gone or damaged."""
        try:
            content = json.loads(file_system(self._folder).cat_file(key_of(self._place(number))))
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _held_for(self, seconds: float) -> bytes:
        return json.dumps({"until": time.time() + seconds if seconds else 0, "by": self._name}).encode()

    def _place(self, number: int) -> Path:
        return self._folder / f"{PREFIX}{number}"
