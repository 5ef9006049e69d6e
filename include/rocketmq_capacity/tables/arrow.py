"""The datasets as Arrow tables: schema, rows to tables, and parquet files read back."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

import numpy as np
import pyarrow as pa
from msgspec import structs

from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.tables.dataset import Dataset, Int, Metrics, Queue

QUEUE: Final = pa.struct([("topic", pa.string()), ("broker_name", pa.string()), ("queue_id", pa.int32())])
METRICS: Final = pa.map_(pa.string(), pa.float64())
_TYPES: Final[dict[Any, pa.DataType]] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    Int: pa.int32(),
    Queue: QUEUE,
    Metrics: METRICS,
    dict[str, str]: pa.map_(pa.string(), pa.string()),
    dict[str, float]: pa.map_(pa.string(), pa.float64()),
}


def arrow_type(kind: Any) -> pa.DataType:
    """The Arrow type of a column whose values have this type in Python."""
    if get_origin(kind) is tuple:
        return pa.list_(arrow_type(get_args(kind)[0]))
    if get_origin(kind) is Literal:
        return pa.string()
    if isinstance(kind, UnionType):  # an item that may be unknown
        return arrow_type(get_args(kind)[0])
    return next(arrow for python, arrow in _TYPES.items() if python == kind)


@cache
def arrow_schema(dataset: type[Dataset]) -> pa.Schema:
    """Names, types and nullability in the dataset's order."""
    return pa.schema([pa.field(c.name, arrow_type(c.type), nullable=c.is_nullable) for c in dataset.columns()])


def table_of(dataset: type[Dataset], rows: Iterable[Dataset]) -> pa.Table:
    """Rows as a table of their dataset. Errors: those of :func:`table_of_columns`."""
    columns = list(zip(*map(structs.astuple, rows), strict=True))
    names = dataset.__struct_fields__
    return table_of_columns(dataset, dict(zip(names, columns or [()] * len(names), strict=True)))


def table_of_columns(dataset: type[Dataset], columns: dict[str, Any]) -> pa.Table:
    """Columns of values (lists, numpy or Arrow arrays of one length) as a table of their dataset.

    Errors: :class:`ContractBroken` naming the dataset and the column that is missing, has another type, or is null but
    must not be.
    """
    arrays = []
    for field in arrow_schema(dataset):
        try:
            array = _array(columns[field.name], field.type)
        except (KeyError, pa.ArrowException) as error:
            raise ContractBroken(f"{dataset.dataset_name()}: {field.name}: {error!r:.200}") from error
        if array.null_count and not field.nullable:
            raise ContractBroken(f"{dataset.dataset_name()}: {field.name} is null in {array.null_count} rows")
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=_as_given(arrow_schema(dataset), arrays))


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if pa.types.is_list(kind) and kind.value_type == QUEUE:
        queues = list(chain.from_iterable(value for value in values if value))
        members = [pa.array(list(map(attrgetter(field.name), queues)), field.type) for field in QUEUE]
        return pa.ListArray.from_arrays(_begins(values), pa.StructArray.from_arrays(members, fields=list(QUEUE)))
    if pa.types.is_map(kind):
        known = [value for value in values if value]
        keys = pa.array(chain.from_iterable(known), kind.key_type)
        items = pa.array(chain.from_iterable(map(dict.values, known)), kind.item_type)
        return pa.MapArray.from_arrays(_begins(values), keys, items)
    return pa.array(values, kind)


def _begins(values: Sequence[Any]) -> pa.Array:
    """Where the items of each list or map begin among those of all, and where the last one ends; null for None."""
    ends = np.cumsum([0, *map(len, [value or () for value in values])])
    return pa.array(ends, pa.int32(), mask=np.array([*[value is None for value in values], False]))


def _as_given(schema: pa.Schema, arrays: list[pa.Array]) -> pa.Schema:
    """The schema with the types of the arrays, which may be dictionary-encoded texts."""
    return pa.schema([field.with_type(array.type) for field, array in zip(schema, arrays, strict=True)])
