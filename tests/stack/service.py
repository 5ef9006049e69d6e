"""Programs that a test runs as services: each with a log, a check that says when it is well, and a clean end.

All that belongs to one stack inherits a mark in its environment. A keeper of its own ends what bears the mark as soon
as the test's process is gone, however that went, so that a test that is killed leaves nothing running.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import psutil

from tests.fixtures.environment import ROOT

MARK: Final = "ROCKETMQ_CAPACITY_STACK"
"""Names the variable whose value is the folder of the stack that a process belongs to."""

POLITE_S: Final = 15.0
"""They end within seconds, but a scheduler waits for its tasks; a second signal ends it at once."""
STUBBORN_S: Final = 30.0
LOOK_EVERY_S: Final = 0.2
LAST_LINES: Final = 30


class StackError(Exception):
    """A service did not do what it was started for; the message has the last lines of its log."""


@dataclass
class Service:
    """One program that runs until it is stopped."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    end_signal: signal.Signals = signal.SIGTERM

    def wait_until(self, is_well: Callable[[], bool], limit_s: float) -> None:
        """Look until the service is well.

        Errors: StackError where it ends before, or the time is up.
        """
        deadline = time.monotonic() + limit_s
        while not is_well():
            if self.process.poll() is not None:
                raise StackError(f"{self.name} ended with status {self.process.returncode}:\n{self.last_words()}")
            if time.monotonic() > deadline:
                raise StackError(f"{self.name} is not well after {limit_s:.0f} s:\n{self.last_words()}")
            time.sleep(LOOK_EVERY_S)

    def tell_to_end(self) -> None:
        """Ask it to end, as its operator would."""
        if self.process.poll() is None:
            self.process.send_signal(self.end_signal)

    def ended(self) -> bool:
        """Wait for its end; False where it had to be killed."""
        for patience_s in (POLITE_S, STUBBORN_S):
            try:
                self.process.wait(patience_s)
            except subprocess.TimeoutExpired:
                self.tell_to_end()
            else:
                return True
        self.process.kill()
        self.process.wait()
        return False

    def last_words(self) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-LAST_LINES:])


@dataclass
class Services:
    """The services of one stack; a context manager.

    Attributes:
        folder: where their logs stand, and the value of the mark.
    """

    folder: Path
    _keeper: "subprocess.Popen[bytes] | None" = None

    def __enter__(self) -> Self:
        """Start the keeper; nothing else runs yet."""
        (self.folder / "logs").mkdir(parents=True)
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.stack.service", str(self.folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_error: object) -> None:
        """End whatever is left."""
        if self._keeper is not None:
            with self._keeper:  # its input ends: it sweeps, then ends itself
                pass

    def delete_afterwards(self, folder: Path) -> None:
        """Have the keeper delete a folder elsewhere, when everything has ended."""
        if self._keeper is not None and self._keeper.stdin is not None:
            self._keeper.stdin.write(f"{folder}\n".encode())
            self._keeper.stdin.flush()

    @contextmanager
    def ending(self) -> Iterator[list[Service]]:
        """A list whose services end, all of them at once, when the body does.

        Errors: StackError where one had to be killed.
        """
        services: list[Service] = []
        try:
            yield services
        finally:
            for service in services:
                service.tell_to_end()
            late = [service for service in services if not service.ended()]
        if late:
            reasons = [f"{service.name} had to be killed:\n{service.last_words()}" for service in late]
            raise StackError("\n".join(reasons))

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        """An environment with the mark."""
        # Airflow renames its processes, and would write over the mark.
        return {**environment, MARK: str(self.folder), "SPT_NOENV": "1"}

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        user: str | None = None,
        end_signal: signal.Signals = signal.SIGTERM,
    ) -> Service:
        """Start a program, as another user if one is named."""
        log = self.folder / "logs" / f"{name}.log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                command,
                env=self.marked(environment),
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
                **as_user(user),
            )
        return Service(name, process, log, end_signal)

    def run(self, name: str, command: Sequence[str], environment: Mapping[str, str], limit_s: float) -> None:
        """Run a program to its end, its output in a log.

        Errors: StackError where it fails or the time is up.
        """
        service = self.start(name, command, environment)
        try:
            status = service.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            service.process.kill()
            service.process.wait()
            raise StackError(f"{name} did not end within {limit_s:.0f} s:\n{service.last_words()}") from None
        if status:
            raise StackError(f"{name} ended with status {status}:\n{service.last_words()}")


def as_user(user: str | None) -> dict[str, Any]:
    """What ``subprocess`` needs to run a program as that user, without any further group."""
    return {"user": user, "group": user, "extra_groups": [], "cwd": "/"} if user else {"cwd": str(ROOT)}


def end_all(folder: str) -> None:
    """End whatever bears the mark of that stack, politely first."""
    for end, patience_s in (("terminate", POLITE_S), ("kill", POLITE_S)):
        found = _marked(folder)
        for process in found:
            with contextlib.suppress(psutil.Error):  # it has just ended
                getattr(process, end)()
        psutil.wait_procs(found, patience_s)


def _marked(folder: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # gone meanwhile, or another user's
            if process.pid != os.getpid() and process.environ().get(MARK) == folder:
                found.append(process)
    return found


if __name__ == "__main__":
    to_delete = sys.stdin.read().splitlines()
    try:
        end_all(sys.argv[1])
    finally:
        for one in to_delete:
            shutil.rmtree(one, ignore_errors=True)
