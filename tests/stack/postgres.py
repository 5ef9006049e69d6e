"""Debian's PostgreSQL as a cluster of its own on loopback, in a folder that is deleted afterwards."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.fixtures.ports import free_port
from tests.stack.service import Services, StackError, as_user

DEBIAN: Final = Path("/usr/lib/postgresql")
USER: Final = "airflow"
DONE_WITHIN_S: Final = 300.0
WELL_WITHIN_S: Final = 180.0
FOR_A_TEST: Final = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "32MB",
    # What a power cut would lose is thrown away anyway.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


class PostgresMissing(Exception):
    """This machine has no PostgreSQL server; the message says how to get one."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """Where it answers."""

    port: int
    password: str
    programs: Path

    @property
    def url(self) -> str:
        """As SQLAlchemy takes it."""
        return f"postgresql+psycopg2://{USER}:{self.password}@127.0.0.1:{self.port}/{USER}"

    def dump(self, file: Path) -> None:
        """Write everything that it stores, as text: what a backup would hold."""
        _do([str(self.programs / "pg_dump"), *self._reached(), f"--file={file}", USER], self)

    def environment(self) -> dict[str, str]:
        """Of its own programs."""
        return {"PGPASSWORD": self.password, "LC_ALL": "C.UTF-8"}

    def is_well(self) -> bool:
        """Whether it takes connections."""
        command = [str(self.programs / "pg_isready"), "--quiet", *self._reached()]
        return subprocess.run(command, env=self.environment(), check=False, timeout=WELL_WITHIN_S).returncode == 0

    def create_database(self) -> None:
        """The one database, of its user's name."""
        _do([str(self.programs / "createdb"), *self._reached(), USER], self)

    def _reached(self) -> list[str]:
        return ["--host=127.0.0.1", f"--port={self.port}", f"--username={USER}"]


def programs() -> Path:
    """The folder of the newest server's programs.

    Errors: PostgresMissing.
    """
    found = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path is None:
        raise PostgresMissing("needs a PostgreSQL server: no initdb here (Debian: apt-get install postgresql)")
    return Path(on_path).resolve().parent


@contextmanager
def running_postgres(services: Services) -> Iterator[Postgres]:
    """A new database cluster with one user and one database; root's is run by the user postgres, as the server asks.

    Errors: PostgresMissing; StackError where it does not come up.
    """
    owner = "postgres" if os.geteuid() == 0 else None
    if owner and not any(user.pw_name == owner for user in pwd.getpwall()):
        raise PostgresMissing(
            "needs a user postgres, since root runs no PostgreSQL (Debian: apt-get install postgresql)"
        )
    postgres = Postgres(free_port(), secrets.token_hex(16), programs())
    # Not below pytest's own folder, which no other user may enter.
    folder = Path(tempfile.mkdtemp(prefix="rmqc-postgres-"))
    services.delete_afterwards(folder)
    _make(folder, postgres, owner)
    settings = [f"--{name}={value}" for name, value in FOR_A_TEST.items()]
    command = [str(postgres.programs / "postgres"), "-D", str(folder / "data"), f"--port={postgres.port}"]
    with services.ending() as ours:
        service = services.start(
            "postgres",
            [*command, *settings, f"--unix_socket_directories={folder}"],
            postgres.environment(),
            user=owner,
            end_signal=signal.SIGINT,  # at once, without waiting for connections to end
        )
        ours.append(service)
        service.wait_until(postgres.is_well, WELL_WITHIN_S)
        postgres.create_database()
        yield postgres


def _make(folder: Path, postgres: Postgres, owner: str | None) -> None:
    password = folder / "password"
    password.touch(0o600)
    password.write_text(postgres.password)
    if owner:
        for owned in (folder, password):
            shutil.chown(owned, owner, owner)
    command = [str(postgres.programs / "initdb"), f"--pgdata={folder / 'data'}", f"--username={USER}", "--no-sync"]
    access = ["--auth=scram-sha-256", f"--pwfile={password}"]
    _do([*command, *access, "--encoding=UTF8", "--locale=C.UTF-8"], postgres, owner)


def _do(command: Sequence[str], postgres: Postgres, user: str | None = None) -> None:
    environment = postgres.environment()
    done = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True, timeout=DONE_WITHIN_S, **as_user(user)
    )
    if done.returncode:
        raise StackError(f"{Path(command[0]).name} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
