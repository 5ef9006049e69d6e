"""Hands a connection's secrets to a Spark app: in a file that lives as long as the app runs, and nowhere else."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rocketmq_capacity.client.options import render_options
from rocketmq_capacity.provider.hook import RocketmqHook
from rocketmq_capacity.provider.private_folder import private_folder

_NAME: Final = "connection.yaml"


@contextmanager
def connection_file(conn_id: str) -> Iterator[tuple[str, Path]]:
    """The name servers of a connection, and a file for ``--connection`` with everything else in it.

    Only this user can read the file (mode 0600, in a private folder). It is deleted when the body ends.

    Errors: those of RocketmqHook.get_conn, before anything is written.
    """
    connection = RocketmqHook(conn_id).get_conn()
    with private_folder() as folder:
        file = folder / _NAME
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
            written.write(render_options(connection.options))
        yield connection.nameservers, file
