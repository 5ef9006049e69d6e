"""Functions in processes of their own, which are killed at a point of theirs; a new process costs milliseconds."""

import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.kills.points import kill_at

TIME_LIMIT_S: Final = 300.0
_CONTEXT: Final = multiprocessing.get_context("forkserver")
# Imported once, by the server that every process is forked from.
_CONTEXT.set_forkserver_preload(["tests.kills.steps", "tests.kills.points"])


def killed_at(number: int, folder: Path, function: Callable[..., None], *arguments: Any) -> bool:
    """Run it, killed at the point of that number below the folder; False where it ended well before.

    Errors: AssertionError where it ended in any other way.
    """
    status = _run(_with_kill, number, folder, function, arguments)
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def killed_after(seconds: float, function: Callable[..., None], *arguments: Any) -> bool:
    """Run it, killed after so long; False where it ended well before. Errors: as `killed_at`."""
    process = _CONTEXT.Process(target=function, args=arguments)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def ended_well(function: Callable[..., None], *arguments: Any) -> None:
    """Run it to its end. Errors: AssertionError where that is not a good one."""
    assert _run(function, *arguments) == 0


def points_of(folder: Path, function: Callable[..., None], *arguments: Any) -> int:
    """How many points below the folder it has, told by running it."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    assert _run(_counted, sender, folder, function, arguments) == 0
    count: int = receiver.recv()
    return count


def _run(function: Callable[..., None], *arguments: Any) -> int:
    process = _CONTEXT.Process(target=function, args=arguments)
    process.start()
    process.join(TIME_LIMIT_S)
    if process.is_alive():
        process.kill()
        process.join()
        raise AssertionError(f"still running after {TIME_LIMIT_S} s")
    assert process.exitcode is not None
    return process.exitcode


def _with_kill(number: int, folder: Path, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    kill_at(number, folder)
    function(*arguments)


def _counted(sender: Any, folder: Path, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    seen = kill_at(0, folder)
    function(*arguments)
    sender.send(seen[0])
