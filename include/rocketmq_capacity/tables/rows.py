"""Reads a dataset's parquet files as rows of its type.

Arrow converts a table to Python one value at a time, each with an object in between. A large cluster's tables have
millions of values, most of them in lists and maps. This module converts whole columns, and each text once per batch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset, Queue
from rocketmq_capacity.tables.source import parquet_files, read_files

BATCH_ROWS: Final = 5_000
"""Rows that are in memory at a time."""
Row = TypeVar("Row", bound=Dataset)
Record = TypeVar("Record", bound=NamedTuple)


def rows_in(files: Sequence[Path], dataset: type[Row]) -> Iterator[Row]:
    """All rows of a dataset's files, one after the other."""
    for parquet in parquet_files(files):
        for batch in parquet.iter_batches(BATCH_ROWS):
            yield from _rows(dataset, batch)


def table_in(
    files: Sequence[Path],
    dataset: type[Dataset],
    columns: Sequence[str] | None = None,
    condition: pc.Expression | None = None,
) -> pa.Table:
    """The rows of a dataset's files that meet a condition; of these columns, or of all."""
    if not files:
        return arrow_schema(dataset).empty_table().select([*(columns or arrow_schema(dataset).names)])
    return read_files(files, columns=None if columns is None else [*columns], filters=condition)


def is_one_of(column: str, values: Iterable[str]) -> pc.Expression:
    """The condition that a column of texts has one of these values."""
    return pc.field(column).cast(pa.string()).isin(pa.array(sorted(values), pa.string()))


def rows_where(files: Sequence[Path], dataset: type[Row], condition: pc.Expression) -> list[Row]:
    """The rows that meet a condition."""
    return _rows_of(table_in(files, dataset, condition=condition), dataset)


def rows_by(
    held: Sequence[Path] | pa.Table,
    dataset: type[Row],
    key: str,
    values: Iterable[str],
    condition: pc.Expression | None = None,
) -> dict[str, list[Row]]:
    """The rows whose column ``key`` has one of the values, by value; values without rows are missing.

    A condition reduces them, and what is read: parts of a file that cannot meet it are left out.

    Args:
        held: where the rows are: the files of a dataset, or a table that has been read.
        dataset: which.
        key: a column of texts.
        values: those that are looked up.
        condition: another one that the rows meet.
    """
    is_wanted = pc.field(key).isin(pa.array(set(values), pa.string()))
    if condition is not None:
        is_wanted = condition & is_wanted
    if isinstance(held, pa.Table):
        rows = _rows_of(ds.dataset(held).to_table(filter=is_wanted), dataset)
    else:
        rows = rows_where(held, dataset, is_wanted)
    by_value: dict[str, list[Row]] = {}
    for row in rows:
        by_value.setdefault(getattr(row, key), []).append(row)
    return by_value


def records_where(
    files: Sequence[Path], dataset: type[Dataset], kind: type[Record], condition: pc.Expression
) -> Iterator[Record]:
    """Some columns of the rows that meet a condition, as named tuples."""
    return records_of(table_in(files, dataset, kind._fields, condition), kind)


def records_of(table: pa.Table, kind: type[Record]) -> Iterator[Record]:
    """The rows of a table as named tuples."""
    return map(kind._make, zip(*(table[name].to_pylist() for name in kind._fields), strict=True))


def _rows_of(table: pa.Table, dataset: type[Row]) -> list[Row]:
    return [row for batch in table.combine_chunks().to_batches() for row in _rows(dataset, batch)]


def _rows(dataset: type[Row], batch: pa.RecordBatch) -> Iterator[Row]:
    names = [name for name in arrow_schema(dataset).names if name in batch.schema.names]
    for values in zip(*(_values(batch.column(name)) for name in names), strict=True):
        yield dataset(**dict(zip(names, values, strict=True)))


def _values(array: pa.Array) -> list[Any]:
    """A column's values in Python: lists as tuples, maps as dicts, structs as :class:`Queue`, the only one there is."""
    kind = array.type
    if pa.types.is_map(kind):
        keys, items = _values(array.keys), _values(array.items)
        return _parts(array, lambda start, end: dict(zip(keys[start:end], items[start:end], strict=True)))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        held = tuple(_values(array.values))
        return _parts(array, lambda start, end: held[start:end])
    if pa.types.is_struct(kind):
        return list(map(Queue, *(_values(array.field(name)) for name in ("topic", "broker_name", "queue_id"))))
    if pa.types.is_dictionary(kind):
        words = [*array.dictionary.to_pylist(), None]
        return [words[index] for index in array.indices.fill_null(len(words) - 1).to_numpy().tolist()]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _values(array.dictionary_encode())
    return list(array.to_pylist() if array.null_count else array.to_numpy(zero_copy_only=False).tolist())


def _parts(array: pa.Array, part: Callable[[int, int], Any]) -> list[Any]:
    """The part of each row of an array of lists, between its two offsets; None if the row is null."""
    ends = array.offsets.to_numpy().tolist()
    if not array.null_count:
        return [part(start, end) for start, end in pairwise(ends)]
    known = array.is_valid().to_numpy(zero_copy_only=False).tolist()
    return [part(*bounds) if is_known else None for bounds, is_known in zip(pairwise(ends), known, strict=True)]
