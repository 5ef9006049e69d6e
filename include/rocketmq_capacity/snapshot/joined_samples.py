"""Puts the tables of many samples together, in few bytes: sorted by what a row is about, then by time."""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.sample import MemberSample

AT_A_TIME = 12
"""Samples of members that are joined at once: there are many client ids, and most stretches go on."""


def joined(dataset: type[Dataset], tables: Iterable[pa.Table]) -> pa.Table:
    """The rows of all tables, sorted by key, a moment after what it is the moment of; of equal keys the last one.

    Members that stay the same become one stretch.
    """
    nothing = arrow_schema(dataset).empty_table()
    if dataset is not MemberSample:
        return _sorted(dataset, [nothing, *tables])
    left, stretches = iter(tables), nothing
    while next_tables := [*islice(left, AT_A_TIME)]:
        stretches = _in_stretches(_sorted(dataset, [stretches, *next_tables]))
    return stretches


def _sorted(dataset: type[Dataset], tables: Sequence[pa.Table]) -> pa.Table:
    table = pa.concat_tables(map(_encoded, tables)).unify_dictionaries().combine_chunks()
    if not table.num_rows:
        return table
    by = sorted(dataset.KEY, key=lambda name: name.endswith("at"))
    place = np.zeros(table.num_rows, np.int64)
    for name in by:
        code = ranks(table[name])
        place = place * (code.max() + 1) + code
    if (np.diff(place) > 0).all():  # as a day's file is
        return table
    order = np.argsort(place, kind="stable")  # of equal keys the later table's row stays last
    return table.take(order[np.r_[np.diff(place[order]) != 0, True]])


def encoded_schema(dataset: type[Dataset]) -> pa.Schema:
    """The dataset's columns with each different text once."""
    return _encoded(arrow_schema(dataset).empty_table()).schema


def _encoded(table: pa.Table) -> pa.Table:
    """The table with each different text once: a day has few names, and each of them in hundreds of rows."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = table[field.name].dictionary_encode()
            table = table.set_column(place, field.with_type(texts.type), texts)
    return table


def _in_stretches(table: pa.Table) -> pa.Table:
    """Rows that follow one another with the same members, as one row."""
    if not table.num_rows:
        return table
    ids = pc.binary_join(table["client_ids"], "\0").dictionary_encode()
    codes = [ranks(table["consumer_group"]), ranks(table["broker_name"]), ranks(ids)]
    starts = np.flatnonzero(np.r_[True, np.any([np.diff(code) != 0 for code in codes], axis=0)])
    ends = np.r_[starts[1:], table.num_rows] - 1
    place = table.schema.get_field_index("last_at")
    return table.take(starts).set_column(place, table.schema.field(place), table["last_at"].take(ends))


def ranks(texts: pa.ChunkedArray) -> Integers:
    """The place of each encoded text among the different ones."""
    encoded = texts.combine_chunks()
    order = np.argsort(encoded.dictionary.to_numpy(zero_copy_only=False), kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    codes: Integers = ranks[encoded.indices.to_numpy()]
    return codes
