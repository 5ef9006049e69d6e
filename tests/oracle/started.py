"""What is started and closed again: a context manager, as every judge of the tests is."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Started(ABC):
    """Starts at the beginning of a ``with``, and is closed at its end."""

    @abstractmethod
    def start(self) -> Self:
        """Start it."""

    @abstractmethod
    def close(self) -> None:
        """End it; nothing happens where it has ended."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
