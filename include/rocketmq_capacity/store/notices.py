"""What owners were told of a cluster: one file beside its runs, ``LAKE/<cluster_name>/.notices/told.json``.

No run has such a name, so nothing takes the folder for a run.
"""

from pathlib import Path
from typing import Final

from rocketmq_capacity.store.place import errors_in_one_line
from rocketmq_capacity.store.writing import refuse_link, write_whole

FILE: Final = ".notices/told.json"


def record(cluster: Path) -> bytes | None:
    """The file of a cluster's folder; None if nobody was told anything.

    Errors: BadInput if it is a link; OSError, StoreUnreachable.
    """
    file = cluster / FILE
    refuse_link(file.parent)
    refuse_link(file)
    try:
        with errors_in_one_line(file):
            return file.read_bytes()
    except FileNotFoundError:
        return None


def keep_record(cluster: Path, content: bytes) -> None:
    """Replace the file."""
    write_whole(cluster / FILE, content)
