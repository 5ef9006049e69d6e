"""Airflow on this machine: four processes that `make up` starts and `make down` ends, and what they left running.

The processes themselves show what belongs to it: each, and everything that it starts, inherits one variable of
its environment. So nothing is forgotten when a process was killed and its children go on, and a stale file of process
numbers cannot name a stranger.
"""

import contextlib
import json
import os
import socket
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import psutil

COMMANDS: Final = {
    "api-server": ("airflow", "api-server"),
    # Their log servers would listen on every address of the machine; on one machine the logs are read from the disk.
    "scheduler": ("airflow", "scheduler", "--skip-serve-logs"),
    "dag-processor": ("airflow", "dag-processor"),
    "triggerer": ("airflow", "triggerer", "--skip-serve-logs"),
}
MARK: Final = "ROCKETMQ_CAPACITY_UP"
"""Names the variable whose value is the Airflow home that a process serves."""

POLITE_S: Final = 10.0
"""The four end within seconds by themselves, but a scheduler would wait for its running tasks to finish."""
STUBBORN_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Started:
    """One of the four, as it was started: its number may belong to another process by now."""

    pid: int
    created: float

    def is_alive(self) -> bool:
        """Whether that very process runs."""
        try:
            process = psutil.Process(self.pid)
            return bool(process.create_time() == self.created and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False


@dataclass(frozen=True, slots=True)
class LocalAirflow:
    """The installation under one Airflow home.

    Attributes:
        home: ``AIRFLOW_HOME``; it has everything that is written.
    """

    home: Path

    @property
    def address_file(self) -> Path:
        """Where the address of the running one is noted."""
        return self.home / "up" / "address"

    @property
    def login_file(self) -> Path:
        """User names and passwords as Airflow's simple login reads them; only its owner can read them."""
        return self.home / "login.json"

    def log_file(self, component: str) -> Path:
        """What a component prints."""
        return self.home / "up" / f"{component}.log"

    def components(self) -> dict[str, bool]:
        """Each of the four that was started and never ended by ``stop``: whether it is alive."""
        return {component: process.is_alive() for component, process in self._started().items()}

    def processes(self) -> list[psutil.Process]:
        """Every running process with the mark: the four, their children, and orphans."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):  # it has just ended, or is another user's
                if process.environ().get(MARK) == str(self.home) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def start(self, address: str, environment: dict[str, str]) -> None:
        """Start the four, each in a session of its own, so that they do not end with this terminal."""
        self.address_file.parent.mkdir(parents=True, exist_ok=True)
        self.address_file.write_text(f"{address}\n")
        # Airflow renames its processes; without the second one that would overwrite the mark.
        marked = environment | {MARK: str(self.home), "SPT_NOENV": "1"}
        started: dict[str, Started] = {}
        for component, command in COMMANDS.items():
            with self.log_file(component).open("wb") as log:
                child = subprocess.Popen(
                    command, env=marked, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            started[component] = Started(child.pid, psutil.Process(child.pid).create_time())
            self._started_file.write_text(json.dumps({name: asdict(facts) for name, facts in started.items()}))

    def stop(self) -> int:
        """End the four and whatever they left behind; gives how many processes there were. None is no error."""
        leaders = {process.pid for process in self._started().values()}
        found = self.processes()
        _end([process for process in found if process.pid in leaders], POLITE_S)
        # Tasks that outlive their scheduler, and children whose parent was killed.
        rest = self.processes()
        _end(rest, STUBBORN_S)
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                process.kill()
        self._started_file.unlink(missing_ok=True)
        self.address_file.unlink(missing_ok=True)
        return len({process.pid for process in (*found, *rest)})

    @property
    def _started_file(self) -> Path:
        return self.home / "up" / "started.json"

    def _started(self) -> dict[str, Started]:
        try:
            noted = json.loads(self._started_file.read_text())
        except FileNotFoundError:
            return {}
        return {component: Started(**facts) for component, facts in noted.items()}


def is_free(port: int) -> bool:
    """Whether nothing listens on that port of the loopback address."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _end(processes: list[psutil.Process], patience_s: float) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            process.terminate()
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and any(_is_alive(process) for process in processes):
        time.sleep(0.1)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def of_environment() -> LocalAirflow:
    """The installation that ``.make/env.sh`` names."""
    return LocalAirflow(Path(os.environ["AIRFLOW_HOME"]))
