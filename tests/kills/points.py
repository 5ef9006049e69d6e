"""Points at which a process is killed: where its Python touches the file system, counted from the first.

Python tells an audit hook of such a call before it is made (sys.addaudithook), so that a kill at every number meets
every state that a step leaves between two calls: before and after each rename, each deletion and each new file.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

KILL: Final = "RMQC_TEST_KILL"
"""What `watch_app` reads: the app, the folder, the number of the point and who is killed there, by blanks."""
ME, PARENT, GROUP = "driver", "jvm", "group"
_KILLS: Final[dict[str, Callable[[], None]]] = {
    ME: lambda: os.kill(os.getpid(), signal.SIGKILL),
    PARENT: lambda: os.kill(os.getppid(), signal.SIGKILL),
    GROUP: lambda: os.killpg(os.getpgid(0), signal.SIGKILL),
}
_CHANGES: Final = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")


def kill_at(number: int, folder: Path, who: str = ME, *, is_meant: Callable[[], bool] = lambda: True) -> list[int]:
    """Kill at the point of that number below the folder; the list counts the points so far."""
    seen = [0]
    below = os.fsencode(folder)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not is_meant() or not _is_point(event, arguments, below):
            return
        seen[0] += 1
        if seen[0] == number:
            _KILLS[who]()

    sys.addaudithook(hook)
    return seen


def watch_app() -> None:
    """Do so in the driver of an app, where the environment asks for it; called as each Python starts."""
    app, folder, number, who = os.environ[KILL].split(" ")
    # Python's own programs around the app start in the same environment.
    kill_at(int(number), Path(folder), who, is_meant=lambda: sys.argv[:1] != [] and Path(sys.argv[0]).stem == app)


def _is_point(event: str, arguments: tuple[Any, ...], below: bytes) -> bool:
    if event == "open":
        path, _mode, flags = arguments
        is_written = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        return is_written and _is_below(path, below)
    # shutil.rmtree names what it deletes relative to an open folder.
    return event in _CHANGES and (_is_below(arguments[0], below) or arguments[-1] not in (-1, None))


def _is_below(path: object, below: bytes) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.fsencode(path).startswith(below)
