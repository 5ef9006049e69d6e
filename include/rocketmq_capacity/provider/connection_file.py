"""Hands a connection's secrets to a Spark app: in a file that lives as long as the app runs, and nowhere else."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rocketmq_capacity.client.options import render_options
from rocketmq_capacity.provider.hook import RocketmqHook

_NAME: Final = "connection.yaml"
_DELETE_AFTER_US: Final = 'trap "" HUP INT TERM; read -r _; rm -rf -- "$0"'


@contextmanager
def connection_file(conn_id: str) -> Iterator[tuple[str, Path]]:
    """The name servers of a connection, and a file for ``--connection`` with all else that it says.

    The file is readable by this user alone (mode 0600, in a folder of mode 0700 of the temporary folder) and deleted
    when the body ends, however it ends: where this process is killed, by a small shell that waits for just that.

    Errors: those of RocketmqHook.get_conn, before anything is written; AirflowNotFoundException where there is no such
    connection.
    """
    connection = RocketmqHook(conn_id).get_conn()
    with _private_folder() as folder:
        file = folder / _NAME
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
            written.write(render_options(connection.options))
        yield connection.nameservers, file


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A new folder of mode 0700 that does not outlive this process."""
    folder = Path(tempfile.mkdtemp(prefix="rocketmq-capacity-"))
    try:
        # In a session of its own, since a task is killed with its whole process group; its input ends when we do.
        shell = subprocess.Popen(  # noqa: S603  (a fixed program; the folder is its argument and no part of its text)
            ["/bin/sh", "-c", _DELETE_AFTER_US, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        folder.rmdir()
        raise
    with shell:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            # Not waited for: a process that we have forked meanwhile may hold its input open.
            shell.kill()
