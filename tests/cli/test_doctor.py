"""``doctor`` says what is there, what is not, and how to mend it."""

import asyncio
import json
import socket
import sys
from pathlib import Path

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.doctor import Requirement, examine
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import Address
from tests.cli.program import run
from tests.client.conftest import free_address
from tests.client.speaking_peer import SpeakingPeer, Visit

__all__ = ["free_address"]
WIDE = {"COLUMNS": "300"}


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Part -> what was found of it, and how to mend it."""
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if "│" in line]
    return {part: (found, mend) for part, found, mend in cells}


def test_a_machine_that_has_everything_gets_status_0(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = run("doctor", f"--nameserver={address}", cwd=tmp_path, env=WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    said = rows(done.stdout)
    machine = {"Python", "Java", "Spark", "packages", "memory", "temporary folder"}
    assert said.keys() == {*machine, f"name server {address}"}
    assert {mend for _, mend in said.values()} == {"nothing to do"}
    assert said["Python"][0] == ".".join(map(str, sys.version_info[:3]))
    assert said["Java"][0].startswith(("17", "21"))
    assert said["Spark"][0] == "pyspark 4.2.0"
    assert said[f"name server {address}"][0] == "reached"


def test_without_a_name_server_it_checks_what_a_plan_needs(tmp_path: Path) -> None:
    done = run("doctor", cwd=tmp_path, env={**WIDE, "TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    said = rows(done.stdout)
    assert said["packages"] == ("all installed", "nothing to do")
    assert said["memory"][0].endswith(" GiB")
    assert said["temporary folder"][0].startswith(f"{tmp_path}, ")
    assert said["name server"] == ("none named; ask with --nameserver HOST:PORT", "nothing to do")


@pytest.mark.parametrize("java_home", ["", "/nowhere"])
def test_on_a_machine_without_java_it_says_what_to_install(tmp_path: Path, java_home: str) -> None:
    done = run("doctor", cwd=tmp_path, env={**WIDE, "JAVA_HOME": java_home, "PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (1, "")
    found, mend = rows(done.stdout)["Java"]
    assert found == "not on the PATH" if not java_home else found.startswith("/nowhere/bin/java does not run")
    assert mend.startswith("install a JDK or JRE 17 or 21 (Debian: openjdk-17-jre-headless)")


def test_a_java_that_spark_does_not_run_on_is_named_with_its_version(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    done = run("doctor", cwd=tmp_path, env={**WIDE, "JAVA_HOME": str(tmp_path)})
    assert done.returncode == 1
    found, mend = rows(done.stdout)["Java"]
    assert found == f"11.0.2 at {java}"
    assert mend.startswith("install a JDK or JRE 17 or 21")


def test_a_name_server_that_is_not_reached_is_named(tmp_path: Path, free_address: object) -> None:
    done = run("doctor", f"--nameserver={free_address}", cwd=tmp_path, env=WIDE)
    assert done.returncode == 1
    found, mend = rows(done.stdout)[f"name server {free_address}"]
    assert found.startswith("not reached (")
    assert "Connection refused" in found
    assert mend == "check the address, the network and that it runs"


def of_cluster(**brokers: str) -> list[Requirement]:
    """What is said of a cluster whose name server lists these brokers, by name and address."""
    table = {name: {"brokerName": name, "brokerAddrs": {"0": address}} for name, address in brokers.items()}
    info = json.dumps({"brokerAddrTable": table, "clusterAddrTable": {"C1": [*table]}}).encode()

    async def names(visit: Visit, asked: Command) -> None:
        visit.answer(asked, info)

    async def ask() -> list[Requirement]:
        async with SpeakingPeer(names) as name_server:
            address = str(name_server.address)
            said = await asyncio.to_thread(examine, address, ConnectionSettings())
        return said[said.index(Requirement(f"name server {address}", "answered")) + 1 :]

    return asyncio.run(ask())


def test_a_broker_at_an_address_that_is_not_reached_may_have_registered_a_wrong_one(free_address: Address) -> None:
    (broker,) = of_cluster(a=str(free_address))
    assert broker.name == f"broker a 0 {free_address}"
    assert broker.state == "not read (cannot connect: Connection refused)"
    assert "brokerIP1" in broker.mend


def test_a_name_server_that_lists_no_broker_is_not_enough() -> None:
    assert of_cluster() == [
        Requirement("brokers", "the name server lists none", "check that it is theirs (namesrvAddr of the brokers)")
    ]
