"""Every dataset as a model of pandera, made from its class: a table is checked by it before it is written.

Pandera checks Arrow's tables as they are. To import it takes a second, so only those who write or read tables import
this module.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from sys import float_info
from typing import Final

import pandera.pyarrow as pandera
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import fields
from pandera.errors import SchemaError, SchemaErrorReason, SchemaErrors

from rocketmq_capacity.errors import ContractBroken, shown
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Column, Dataset
from rocketmq_capacity.tables.rows import table_in
from rocketmq_capacity.tables.source import parquet_files

CHECKED_ROWS: Final = 65_536
"""So many rows are in memory at a time, or up to twice as many."""
CHECKED_BYTES: Final = 2**25
"""Fewer rows are, where they are long: those of 10,000 units are 400 MB."""
SHOWN_ROWS: Final = 3
"""So many of the rows that break a check are shown."""
MOST_FLOAT: Final = float_info.max
"""A number is finite: NaN and infinity are beyond it."""


@cache
def model(dataset: type[Dataset], names: tuple[str, ...] | None = None) -> pandera.DataFrameSchema:
    """The model of a dataset, or of some of its columns: type, whether null is allowed, range or words; and the key."""
    schema, name = arrow_schema(dataset), dataset.dataset_name()
    columns = [column for column in dataset.columns() if names is None or column.name in names]
    return pandera.DataFrameSchema(
        {column.name: _column(column, schema.field(column.name).type) for column in columns},
        name=name,
        description=dataset.__doc__,
        unique=list(dataset.KEY) or None,
        strict=True,
    )


def check(dataset: type[Dataset], table: pa.Table, names: tuple[str, ...] | None = None) -> None:
    """Check a table, or some of a dataset's columns.

    Errors: ContractBroken naming the dataset, the column, the check and the first rows that break it.
    """
    try:
        model(dataset, names).validate(table, lazy=True)
    except SchemaErrors as broken:
        raise ContractBroken(_problem(dataset, table, broken.schema_errors)) from None


def check_written(dataset: type[Dataset], files: Sequence[Path]) -> None:
    """Check a table's files as they are on the disk, some rows at a time. Errors: as :func:`check`."""
    rows: list[pa.RecordBatch] = []
    are_long = False
    for parquet in parquet_files(files):
        for batch in parquet.iter_batches(CHECKED_ROWS):
            rows.append(batch)
            is_long = sum(one.nbytes for one in rows) >= CHECKED_BYTES
            if is_long or sum(map(len, rows)) >= CHECKED_ROWS:
                check(dataset, pa.Table.from_batches(rows))
                rows, are_long = [], are_long or is_long
    if rows:
        check(dataset, pa.Table.from_batches(rows))
    if are_long and dataset.KEY:  # few rows were together
        check(dataset, table_in(files, dataset, dataset.KEY), dataset.KEY)


def check_stored(dataset: type[Dataset], files: Sequence[Path]) -> None:
    """Check the files of a table that another run or version has stored: the columns of each file, and its key.

    A column that has a default may be missing: an earlier version has not written it.

    Errors: ContractBroken as :func:`check`, or if a file cannot be read.
    """
    optional = {column.name for column in fields(dataset) if not column.required}
    keys = []
    try:
        for parquet in parquet_files(files):
            held = parquet.schema_arrow
            lacks = [field for field in arrow_schema(dataset) if field.name in optional - {*held.names}]
            check(dataset, pa.schema([*held, *lacks]).empty_table())
            if dataset.KEY:
                keys.append(parquet.read([*dataset.KEY]))
        if keys:
            check(dataset, pa.concat_tables(keys), dataset.KEY)
    except (pa.ArrowException, OSError) as error:
        raise ContractBroken(f"{dataset.dataset_name()}: {files[0].parent}: cannot be read: {error!r:.200}") from None


def _column(column: Column, kind: pa.DataType) -> pandera.Column:
    least, most = column.least, column.most
    if pa.types.is_floating(kind):
        least, most = (-MOST_FLOAT if least is None else least), (MOST_FLOAT if most is None else most)
    checks = [] if least is None else [pandera.Check.ge(least)]
    if most is not None and not pa.types.is_integer(kind):  # the type has its own
        checks.append(pandera.Check.le(most))
    if column.words:
        checks.append(pandera.Check.isin(column.words))
    # Pandera knows no maps; Arrow has made them of the right type.
    checked_type = None if pa.types.is_map(kind) else kind
    return pandera.Column(checked_type, checks, nullable=column.is_nullable, description=column.description)


def _problem(dataset: type[Dataset], table: pa.Table, errors: Sequence[SchemaError]) -> str:
    """The first thing that is wrong, with the first rows that it is wrong in."""
    error, name = errors[0], dataset.dataset_name()
    cases, column = error.failure_cases, getattr(error.schema, "name", None)
    more = f" ({len(errors) - 1} more checks fail)" if len(errors) > 1 else ""
    match error.reason_code:
        case SchemaErrorReason.COLUMN_NOT_IN_DATAFRAME:
            return f"{name}: has no column {cases}{more}"
        case SchemaErrorReason.COLUMN_NOT_IN_SCHEMA:
            return f"{name}: has a column that it must not have: {shown(cases)}{more}"
        case SchemaErrorReason.WRONG_DATATYPE:
            return f"{name}: {column}: has type {cases}; expected {error.check}{more}"
        case SchemaErrorReason.DUPLICATES:
            return f"{name}: {', '.join(dataset.KEY)}: rows have the same key: {_first(cases)}{more}"
    rows = table.filter(pc.is_in(table[column], cases[column].combine_chunks()))
    check = error.check if isinstance(error.check, str) else error.check.error
    return f"{name}: {column}: breaks {check}: {_first(rows.select(dict.fromkeys((*dataset.KEY, column))))}{more}"


def _first(rows: pa.Table) -> str:
    return "; ".join(shown(row) for row in rows.slice(0, SHOWN_ROWS).to_pylist())
