"""What is started and closed again: a context manager, as every judge of the tests is."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Started(ABC):
    """Starts at the beginning of a ``with``, and is closed at its end."""

    @abstractmethod
    def _start(self) -> None:
        """Start it, and wait until it answers."""

    @abstractmethod
    def close(self) -> None:
        """End it; nothing happens where it has ended."""

    def start(self) -> Self:
        """Start it; what a failure leaves half-started is ended.

        Errors: those of its parts: OracleUnavailable without Java, Maven or Maven Central; ClusterError if it does not
        come up in time.
        """
        try:
            self._start()
        except BaseException:  # also Ctrl-C: no JVM outlives the tests
            self.close()
            raise
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
