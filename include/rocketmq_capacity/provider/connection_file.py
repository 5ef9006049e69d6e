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
    """The name servers of a connection, and a file for ``--connection`` with everything else in it.

    Only this user can read the file (mode 0600, in a folder of mode 0700 below the temporary folder). It is deleted
    when the body ends. If this process is killed, a small shell that waits for that deletes it.

    Errors: those of RocketmqHook.get_conn, before anything is written; AirflowNotFoundException if there is no such
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
    """A new folder of mode 0700 that is deleted with the end of this process."""
    folder = Path(tempfile.mkdtemp(prefix="rocketmq-capacity-"))
    try:
        # In its own session, because a task is killed with its whole process group. Its input ends with ours.
        shell = subprocess.Popen(  # noqa: S603  # a fixed program; the folder is only its argument
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
            # Not waited for: a process that was forked in the meantime may keep its input open.
            shell.kill()
