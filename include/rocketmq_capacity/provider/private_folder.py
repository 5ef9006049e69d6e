"""A folder for what a task hands to a Spark app: nobody else can read it or write into it."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_DELETE_AFTER_US: Final = 'trap "" HUP INT TERM; read -r _; rm -rf -- "$0"'


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder of mode 0700, below the temporary folder, that is deleted when the body ends.

    If this process is killed, a small shell that waits for that deletes it.
    """
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
