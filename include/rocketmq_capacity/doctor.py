"""What a machine has and lacks for a run, and how to mend it."""

import asyncio
import importlib.metadata
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rocketmq_capacity.client.reach import Answer, reach
from rocketmq_capacity.client.rights import Rights
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import printable
from rocketmq_capacity.settings.address import parse_nameservers
from rocketmq_capacity.spark.jvm import java_program

JAVA_VERSIONS: Final = (17, 21)
"""What Spark 4 runs on."""
PYTHON_VERSION: Final = (3, 11)
TIME_LIMIT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a run needs; ``mend`` is empty if it is there."""

    name: str
    found: str
    mend: str = ""


def examine(nameserver: str | None, settings: ConnectionSettings | None = None) -> bool:
    """Print what is there and what is not; True if nothing is missing.

    With the settings of a connection, name servers and brokers are asked. Without them, it only checks that a name
    server listens.
    """
    cluster = _cluster(nameserver, settings) if nameserver and settings else _name_servers(nameserver)
    parts = [_python(), _java(), _spark(), *cluster]
    table = Table("part", "found", "how to mend it")
    for part in parts:
        # A cluster's words are text, and no markup of rich's.
        table.add_row(*(Text(printable(words)) for words in (part.name, part.found, part.mend or "nothing to do")))
    Console().print(table)
    return not any(part.mend for part in parts)


def _python() -> Part:
    found = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, PYTHON_VERSION))
    return Part("Python", found, "" if sys.version_info >= PYTHON_VERSION else f"install Python {wanted} or later")


def _java() -> Part:
    mend = "install a JDK or JRE 17 or 21 (Debian: openjdk-17-jre-headless), or set JAVA_HOME to one"
    java = java_program()
    if java is None:
        return Part("Java", "not on the PATH", mend)
    try:
        told = subprocess.run(  # noqa: S603  # the program that Spark itself would start
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return Part("Java", f"{java} does not run ({error})", mend)
    version = re.search(r'version "(\d+)([^"]*)"', told)
    if version is None:
        return Part("Java", f"{java} does not tell its version", mend)
    return Part("Java", f"{version[1]}{version[2]} at {java}", "" if int(version[1]) in JAVA_VERSIONS else mend)


def _spark() -> Part:
    versions = []
    for distribution in ("pyspark", "pyspark-client"):
        try:
            versions.append(importlib.metadata.version(distribution))
        except importlib.metadata.PackageNotFoundError:
            if distribution == "pyspark":
                return Part(
                    "Spark", "pyspark is not installed", "install the package again: pip install rocketmq-capacity"
                )
    # Both distributions write into one folder; a mix of two versions fails in unexpected places.
    if len(set(versions)) > 1:
        return Part("Spark", f"pyspark {versions[0]}, pyspark-client {versions[1]}", "install both in one version")
    return Part("Spark", f"pyspark {versions[0]}")


def _name_servers(nameserver: str | None) -> Iterator[Part]:
    if not nameserver:
        yield Part("name server", "none named; ask with --nameserver HOST:PORT")
        return
    for address in parse_nameservers([nameserver]):
        try:
            socket.create_connection((address.host, address.port), timeout=TIME_LIMIT_S).close()
        except (OSError, ValueError) as error:  # a name that cannot be encoded is a ValueError
            yield Part(
                f"name server {address}", f"not reached ({error})", "check the address, the network and that it runs"
            )
        else:
            yield Part(f"name server {address}", "reached")


def _cluster(nameserver: str, settings: ConnectionSettings) -> Iterator[Part]:
    found = asyncio.run(reach([nameserver], settings))
    yield from (
        _answer(one, "check the address, the network, and TLS in the connection file") for one in found.nameservers
    )
    yield from (_answer(one, "check the network, and the keys in the connection file") for one in found.brokers)
    if settings.credentials is not None:
        yield from _rights(settings.credentials.access_key, found.brokers)
    yield from (_answer(one, "check that it is the remoting port (remotingListenPort)") for one in found.proxies)


def _rights(access_key: str, brokers: Iterable[Answer]) -> Iterator[Part]:
    """What the account may do: a part for each different answer, with the brokers that gave it."""
    at: dict[Rights, list[str]] = {}
    for one in brokers:
        if one.rights is not None:
            at.setdefault(one.rights, []).append(one.name)
    for rights, names in at.items():
        yield Part(f"rights of {access_key} at {', '.join(names)}", rights.words, rights.mend)


def _answer(answer: Answer, mend: str) -> Part:
    kind = "" if answer.name in ("name server", "Proxy") else "broker "
    name = f"{kind}{answer.name} {answer.address}"
    if answer.problem is not None:
        return Part(name, f"not read ({answer.problem})", mend)
    return Part(name, f"answered, {answer.version}" if answer.version else "answered")
