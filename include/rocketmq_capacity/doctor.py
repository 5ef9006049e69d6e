"""What a machine has and lacks for a run, and how to mend it."""

import asyncio
import importlib.metadata
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rocketmq_capacity.client.reach import ProcessAnswer, reach
from rocketmq_capacity.client.rights import Rights
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import printable
from rocketmq_capacity.language.current import error_words
from rocketmq_capacity.settings.address import parse_nameservers
from rocketmq_capacity.spark.jvm import LEAST_HEAP_MIB, MOST_OF_MACHINE, java_program

JAVA_VERSIONS: Final = (17, 21)
"""What Spark 4 runs on."""
PYTHON_VERSION: Final = (3, 11)
TIME_LIMIT_S: Final = 5.0
PACKAGE: Final = "rocketmq-capacity"
AIRFLOW_CHECK: Final = "rocketmq_capacity.provider.deployment_check"
AIRFLOW_LIMIT_S: Final = 180.0
"""Airflow alone takes some seconds to be imported, and a store may be silent for a minute."""
LEAST_FREE_MIB: Final = 512
"""For a plan of 10,000 groups, with what Spark spills."""
OF_BROKER: Final = (
    "check the network to this address, which the broker registers itself (brokerIP1), and TLS and the keys in the"
    " connection file"
)


class Requirement(NamedTuple):
    """One thing that a run needs; ``mend`` is empty if it is there."""

    name: str
    state: str
    mend: str = ""


def examine(
    nameserver: str | None,
    settings: ConnectionSettings | None = None,
    further: Iterable[Requirement] = (),
) -> list[Requirement]:
    """What is there and what is not.

    With the settings of a connection, name servers and brokers are asked. Without them, it only checks that a name
    server listens. ``further`` parts come after those of the machine.
    """
    cluster = _cluster(nameserver, settings) if nameserver and settings else _name_servers(nameserver)
    machine = _python(), _java(), _spark(), _packages(), _memory(), _folder()
    return [*machine, *further, *cluster]


def print_parts(parts: Iterable[Requirement]) -> None:
    """Print them as a table, in the language of now."""
    table = Table()
    for title in ("part", "found", "how to mend it"):
        table.add_column(error_words(title), overflow="fold")  # Chinese has no spaces at which a line could break
    for part in parts:
        # A cluster's words are text, and no markup of rich's.
        cells = (part.name, part.state, part.mend or "nothing to do")
        table.add_row(*(Text(printable(error_words(words))) for words in cells))
    Console().print(table)


def _python() -> Requirement:
    version = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, PYTHON_VERSION))
    return Requirement(
        "Python", version, "" if sys.version_info >= PYTHON_VERSION else f"install Python {wanted} or later"
    )


def _java() -> Requirement:
    mend = "install a JDK or JRE 17 or 21 (Debian: openjdk-17-jre-headless), or set JAVA_HOME to one"
    java = java_program()
    if java is None:
        return Requirement("Java", "not on the PATH", mend)
    try:
        output = subprocess.run(  # noqa: S603  # the program that Spark itself would start
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return Requirement("Java", f"{java} does not run ({error})", mend)
    version = re.search(r'version "(\d+)([^"]*)"', output)
    if version is None:
        return Requirement("Java", f"{java} does not tell its version", mend)
    return Requirement("Java", f"{version[1]}{version[2]} at {java}", "" if int(version[1]) in JAVA_VERSIONS else mend)


def _spark() -> Requirement:
    versions = []
    for distribution in ("pyspark", "pyspark-client"):
        try:
            versions.append(importlib.metadata.version(distribution))
        except importlib.metadata.PackageNotFoundError:
            if distribution == "pyspark":
                return Requirement(
                    "Spark", "pyspark is not installed", "install the package again: pip install rocketmq-capacity"
                )
    # Both distributions write into one folder; a mix of two versions fails in unexpected places.
    if len(set(versions)) > 1:
        return Requirement(
            "Spark", f"pyspark {versions[0]}, pyspark-client {versions[1]}", "install both in one version"
        )
    return Requirement("Spark", f"pyspark {versions[0]}")


def airflow_parts() -> list[Requirement]:
    """What the deployment's Airflow has and lacks, as its own program says it."""
    mend = f"run it where Airflow runs, with its settings; pip install '{PACKAGE}[airflow]' installs what it needs"
    try:
        done = subprocess.run(  # noqa: S603  # a module of this package
            [sys.executable, "-m", AIRFLOW_CHECK], capture_output=True, text=True, timeout=AIRFLOW_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return [Requirement("Airflow", f"has not answered for {AIRFLOW_LIMIT_S:.0f} s", mend)]
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no word"]
        return [Requirement("Airflow", f"cannot be asked ({last[0]})", mend)]
    # Airflow may write lines of its own before.
    return [Requirement(*words) for words in json.loads(done.stdout.splitlines()[-1])]


def _packages() -> Requirement:
    """Whether everything that this package requires is installed; extras are not asked about."""
    wanted = (
        re.split(r"[ ;<>=!~\[(]", one)[0] for one in importlib.metadata.requires(PACKAGE) or () if "extra ==" not in one
    )
    missing = [name for name in wanted if not _is_installed(name)]
    state = f"missing: {', '.join(missing)}" if missing else "all installed"
    return Requirement("packages", state, f"install the package again: pip install {PACKAGE}" if missing else "")


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _memory() -> Requirement:
    """The machine's memory: half of it is for Spark's JVM, which takes LEAST_HEAP_MIB at least."""
    machine_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    least_mib = int(LEAST_HEAP_MIB / MOST_OF_MACHINE)
    # A machine of 2 GiB tells a little less: the kernel keeps some.
    is_enough = machine_mib >= least_mib * 0.9
    return Requirement(
        "memory", f"{machine_mib / 1024:.1f} GiB", "" if is_enough else f"a plan needs {least_mib / 1024:.0f} GiB"
    )


def _folder() -> Requirement:
    """The folder for temporary files, where Spark and the tables of a plan are while it is made."""
    folder = tempfile.gettempdir()
    free_mib = shutil.disk_usage(folder).free >> 20
    is_enough = free_mib >= LEAST_FREE_MIB
    mend = f"a plan needs {LEAST_FREE_MIB:,} MiB free there; TMPDIR names another folder"
    return Requirement("temporary folder", f"{folder}, {free_mib:,} MiB free", "" if is_enough else mend)


def _name_servers(nameserver: str | None) -> Iterator[Requirement]:
    if not nameserver:
        yield Requirement("name server", "none named; ask with --nameserver HOST:PORT")
        return
    for address in parse_nameservers([nameserver]):
        try:
            socket.create_connection((address.host, address.port), timeout=TIME_LIMIT_S).close()
        except (OSError, ValueError) as error:  # a name that cannot be encoded is a ValueError
            yield Requirement(
                f"name server {address}", f"not reached ({error})", "check the address, the network and that it runs"
            )
        else:
            yield Requirement(f"name server {address}", "reached")


def _cluster(nameserver: str, settings: ConnectionSettings) -> Iterator[Requirement]:
    answers = asyncio.run(reach([nameserver], settings))
    yield from (
        _answer(one, "check the address, the network, and TLS in the connection file") for one in answers.nameservers
    )
    yield from (_answer(one, OF_BROKER) for one in answers.brokers)
    if not answers.brokers and any(one.problem is None for one in answers.nameservers):
        mend = "check that it is theirs (namesrvAddr of the brokers)"
        yield Requirement("brokers", "the name server lists none", mend)
    if settings.credentials is not None:
        yield from _rights(settings.credentials.access_key, answers.brokers)
    yield from (_answer(one, "check that it is the remoting port (remotingListenPort)") for one in answers.proxies)


def _rights(access_key: str, brokers: Iterable[ProcessAnswer]) -> Iterator[Requirement]:
    """What the account may do: a part for each different answer, with the brokers that gave it."""
    at: dict[Rights, list[str]] = {}
    for broker in brokers:
        if broker.rights is not None:
            at.setdefault(broker.rights, []).append(broker.name)
    for rights, names in at.items():
        yield Requirement(f"rights of {access_key} at {', '.join(names)}", rights.words, rights.mend)


def _answer(answer: ProcessAnswer, mend: str) -> Requirement:
    kind = "" if answer.name in ("name server", "Proxy") else "broker "
    name = f"{kind}{answer.name} {answer.address}"
    if answer.problem is not None:
        return Requirement(name, f"not read ({answer.problem})", mend)
    return Requirement(name, f"answered, {answer.version}" if answer.version else "answered")
