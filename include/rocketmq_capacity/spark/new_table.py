"""Writes a parquet file of a dataset: on an executor or on the driver, it is written in one way."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.manifest import File
from rocketmq_capacity.store.new_file import NewFile
from rocketmq_capacity.tables.dataset import Dataset


class NewTable:
    """A parquet file to append rows to.

    Args:
        folder: of the dataset.
        part: the number of the file among those of the dataset, in the order of their rows.
        schema: of the rows.
        options: of Arrow's writer.
    """

    def __init__(self, folder: Path, part: int, schema: pa.Schema, **options: Any) -> None:
        self._new = NewFile(folder, part)
        # Without Arrow's own schema, readers see plain texts instead of encoded ones.
        # A disk or a store may change a byte, which without the checksum of its page would be read as another figure.
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._new, "w"), schema, store_schema=False, write_page_checksum=True, **options
        )
        self.rows = 0

    def write(self, table: pa.Table, row_group_size: int | None = None) -> None:
        """Append rows."""
        self._writer.write_table(table, row_group_size)
        self.rows += table.num_rows

    def close(self) -> None:
        """End the file."""
        self._writer.close()
        self._new.close()

    @property
    def name(self) -> str:
        """The file's name."""
        return self._new.place.name

    @property
    def file(self) -> File:
        """What the manifest lists, once the file is closed."""
        return self._new.written(self.rows)


def add_file(
    run: Run, dataset: type[Dataset], table: pa.Table, row_group_size: int | None = None, **options: Any
) -> None:
    """Write a table as one more file of a dataset whose step is under way."""
    name = dataset.dataset_name()
    new = NewTable(run.table(name), run.next_part(name), table.schema, **options)
    try:
        new.write(table, row_group_size)
    finally:
        new.close()
    run.add(name, new.name, new.file)
