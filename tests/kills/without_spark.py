"""What a step asks of Spark, done in its own process, so that the step can be killed without waiting for a JVM.

Only the killed try works like this; its retry is done by Spark. The step's own code is the same, and so is every byte
that it writes: Spark reads tables and hands units to the function that writes them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

BATCH_ROWS: Final = 1_000
"""Rows of a batch, as `session.SETTINGS` has them."""


@dataclass(frozen=True)
class Frame:
    """Rows, computed anew each time they are asked for."""

    batches: Callable[[], Iterator[pa.RecordBatch]]

    def select(self, *columns: str) -> "Frame":
        """The same rows with fewer columns."""
        return Frame(lambda: (batch.select(list(columns)) for batch in self.batches()))

    def mapInArrow(  # noqa: N802  # Spark's name
        self, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], _schema: object
    ) -> "Frame":
        """What the function makes of the rows."""
        return Frame(lambda: function(self.batches()))

    def collect(self) -> "list[Row]":
        """All of them."""
        return [Row(row.items()) for batch in self.batches() for row in batch.to_pylist()]


class Row(dict[str, Any]):
    """A row, which has an order like Spark's."""

    def __lt__(self, other: dict[str, Any]) -> bool:
        return tuple(self.values()) < tuple(other.values())


@dataclass(frozen=True)
class Broadcast:
    """A value that every task sees."""

    value: Any


class Context:
    """What `Planning.share`, `Planning.map_units` and `frame_of` ask for."""

    defaultParallelism: Final = 2  # noqa: N815  # Spark's name

    def setJobDescription(self, _description: str) -> None:  # noqa: N802  # Spark's name
        """There is no page that shows it."""

    def setLocalProperty(self, _name: str, _value: str | None) -> None:  # noqa: N802  # Spark's name
        """The same."""

    def broadcast(self, value: object) -> Broadcast:
        """The value, in the only process that there is."""
        return Broadcast(value)


class Session:
    """What `Planning.read` and `Planning.share` ask for."""

    sparkContext: Final = Context()  # noqa: N815  # Spark's name

    @property
    def read(self) -> "Session":
        """Itself."""
        return self

    def schema(self, _schema: object) -> "Session":
        """Itself: the files have their own."""
        return self

    def parquet(self, *files: str) -> Frame:
        """The rows of these files."""
        return Frame(lambda: iter(pq.read_table(list(files)).combine_chunks().to_batches(BATCH_ROWS)))

    def range(self, start: int, end: int, step: int, _partitions: int) -> Frame:
        """A row a number."""
        return Frame(lambda: iter([pa.RecordBatch.from_pydict({"id": range(start, end, step)})]))
