"""A real cluster behind TLS and access keys, read by the command line: whom it lets in, and what else is said."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from rocketmq_capacity.client.connection import Connection
from rocketmq_capacity.client.options import options_of, settings_of
from rocketmq_capacity.client.reach import reach
from rocketmq_capacity.client.rights import Rights
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.cli.program import contents, run
from tests.client.certificates import authority
from tests.cluster.each_request import denied, requests
from tests.cluster.guarded import MASTER, READER, STRANGER, WITH_PRODUCERS, WRITER, GuardedCluster
from tests.docs.rights_table import ROWS
from tests.oracle.rocketmq_version import ROCKETMQ_NAME

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

WIDE = {"COLUMNS": "300"}


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A policy that takes one sample: what is read is not the question here."""
    file = tmp_path / "policy.yaml"
    file.write_text("snapshot: {sample_count: 1}", "utf-8")
    return file


@pytest.fixture
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where connection files stand, beside the folder in which the program runs."""
    return tmp_path_factory.mktemp("keys")


def foreign(guarded: GuardedCluster) -> dict[str, Any]:
    """Another authority than the cluster's."""
    folder = guarded.folder / "foreign"
    folder.mkdir(exist_ok=True)
    return {"tls_ca_file": str(authority(folder, "stranger").certificate)}


def test_with_certificates_and_keys_everything_is_answered(
    guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path, quick: Path
) -> None:
    file = guarded_cluster.connection_file(keys)
    done = run(
        "snapshot",
        f"--nameserver={guarded_cluster.nameserver}",
        f"--connection={file}",
        f"--policy={quick}",
        "--out=inventory.json",
        "--quiet",
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    inventory = read_inventory(tmp_path / "inventory.json")
    assert inventory.failures == ()
    assert [(broker.broker_name, broker.version) for broker in inventory.brokers] == [
        ("broker-a", ROCKETMQ_NAME),
        ("broker-b", ROCKETMQ_NAME),
    ]
    (pay,) = (topic for topic in inventory.topics if topic.topic == "pay")
    assert len(pay.offsets or ()) == 6
    assert "g_pay" in {group.consumer_group for group in inventory.consumer_groups}
    assert inventory.producers is None  # that would need a right on the cluster, which this user does not have
    written = (tmp_path / "inventory.json").read_text("utf-8") + done.stdout
    assert guarded_cluster.secret_key not in written


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"secret_key": "wrong-and-not-to-be-told"}, "code 16 (NO_PERMISSION): check signature failed."),
        ({"access_key": "nobody"}, "code 16 (NO_PERMISSION): User:nobody is not found."),
        ({"access_key": None, "secret_key": None}, "code 16 (NO_PERMISSION): username cannot be null."),
    ],
)
def test_without_the_right_keys_the_error_says_that_access_was_refused(
    guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path, changed: dict[str, Any], words: str
) -> None:
    file = guarded_cluster.connection_file(keys, **changed)
    for command in (["snapshot", "--out=inventory.json"], ["plan", "--out=out"]):
        done = run(*command, f"--nameserver={guarded_cluster.nameserver}", f"--connection={file}", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (3, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("rocketmq-capacity: access to the brokers was refused: ")
        for address in guarded_cluster.cluster.broker_addrs.values():
            assert f"{address}: answered {words}" in line
        assert guarded_cluster.secret_key not in line
        assert "wrong-and-not-to-be-told" not in line
        assert contents(tmp_path) == {}


def unknown_authority(guarded: GuardedCluster) -> tuple[dict[str, Any], str, str]:
    return foreign(guarded), guarded.nameserver, "certificate verify failed: unable to get local issuer certificate"


def the_systems_authorities(guarded: GuardedCluster) -> tuple[dict[str, Any], str, str]:
    return (
        {"tls_ca_file": None},
        guarded.nameserver,
        "certificate verify failed: unable to get local issuer certificate",
    )


def another_host(guarded: GuardedCluster) -> tuple[dict[str, Any], str, str]:
    nameserver = guarded.nameserver.replace("127.0.0.1", "localhost")
    return {}, nameserver, "Hostname mismatch, certificate is not valid for 'localhost'"


def no_certificate_of_ours(guarded: GuardedCluster) -> tuple[dict[str, Any], str, str]:
    return {"tls_cert_file": None, "tls_key_file": None}, guarded.nameserver, "alert"


def no_tls(guarded: GuardedCluster) -> tuple[dict[str, Any], str, str]:
    plain = dict.fromkeys(("tls", "tls_ca_file", "tls_cert_file", "tls_key_file"))
    return plain, guarded.nameserver, "the peer closed the connection"


@pytest.mark.parametrize(
    "case", [unknown_authority, the_systems_authorities, another_host, no_certificate_of_ours, no_tls]
)
def test_a_connection_that_either_side_does_not_trust_ends_in_status_3_and_says_why(
    guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path, case: Any
) -> None:
    changed, nameserver, words = case(guarded_cluster)
    file = guarded_cluster.connection_file(keys, **changed)
    done = run("snapshot", f"--nameserver={nameserver}", f"--connection={file}", "--out=i.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert f"no name server answered: {nameserver}: " in line
    assert words in line
    assert guarded_cluster.secret_key not in line
    assert contents(tmp_path) == {}


def test_certificates_are_not_looked_at_where_that_is_asked_for(
    guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path, quick: Path
) -> None:
    nameserver = guarded_cluster.nameserver.replace("127.0.0.1", "localhost")
    file = guarded_cluster.connection_file(keys, **foreign(guarded_cluster), tls_verify=False)
    given = (f"--nameserver={nameserver}", f"--connection={file}", f"--policy={quick}")
    done = run("snapshot", *given, "--out=i.json", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_inventory(tmp_path / "i.json").failures == ()


def test_the_doctor_says_of_everybody_whether_he_answers(
    guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path
) -> None:
    nameserver = f"--nameserver={guarded_cluster.nameserver}"
    well = run("doctor", nameserver, f"--connection={guarded_cluster.connection_file(keys)}", cwd=tmp_path, env=WIDE)
    assert (well.returncode, well.stderr) == (0, "")
    assert well.stdout.count(f"answered, {ROCKETMQ_NAME}") == 2
    wrong = guarded_cluster.connection_file(keys, secret_key="wrong-and-not-to-be-told")
    ill = run("doctor", nameserver, f"--connection={wrong}", cwd=tmp_path, env=WIDE)
    assert (ill.returncode, ill.stderr) == (1, "")
    assert ill.stdout.count("not read (answered code 16 (NO_PERMISSION): check signature failed.)") == 2
    assert ill.stdout.count("TLS and the keys in the connection file") == 2
    assert "wrong-and-not-to-be-told" not in ill.stdout


def settings_for(guarded: GuardedCluster, user: str) -> ConnectionSettings:
    """Those of a connection as one of the users."""
    secret_key = guarded.master_key if user == MASTER else guarded.secret_key
    return settings_of(options_of(guarded.options(access_key=user, secret_key=secret_key), "test"), "test", Path())


def test_with_get_on_the_cluster_the_producers_are_there_too(guarded_cluster: GuardedCluster) -> None:
    options = CollectOptions(settings=settings_for(guarded_cluster, WITH_PRODUCERS))
    inventory = collect_now([guarded_cluster.nameserver], options=options)
    assert inventory.failures == ()
    assert inventory.producers is not None


@pytest.mark.parametrize(
    ("user", "rights"),
    [
        (STRANGER, {"topic", "group", "cluster"}),
        (READER, {"cluster"}),
        (WITH_PRODUCERS, set()),
        (MASTER, set()),
    ],
)
def test_a_broker_denies_what_the_how_to_says_and_nothing_else(
    guarded_cluster: GuardedCluster, user: str, rights: set[str]
) -> None:
    needed = {f"`Get` on the {right}" for right in rights}
    needs = {row.code for row in ROWS if row.acl_2.removesuffix(", at Proxies") in needed}
    asked = requests("pay", "g_pay", user)
    broker_addr = guarded_cluster.cluster.broker_addrs["broker-a", 0]
    assert denied(broker_addr, asked, settings_for(guarded_cluster, user)) == needs


@pytest.mark.parametrize(("user", "code"), [(READER, ResponseCode.NO_PERMISSION), (WITH_PRODUCERS, 0)])
def test_get_on_the_cluster_reads_the_passwords_of_all_users(
    guarded_cluster: GuardedCluster, user: str, code: int
) -> None:
    list_users = 3005  # AUTH_LIST_USER, which the product never sends

    async def asked() -> Command:
        address = parse_address(guarded_cluster.cluster.broker_addrs["broker-a", 0])
        connection = await Connection.open(address, settings_for(guarded_cluster, user))
        try:
            return await connection.ask(cast(RequestCode, list_users), {"filter": ""}, limit_s=60)
        finally:
            connection.close()

    answer = asyncio.run(asked())
    assert answer.code == code
    assert (guarded_cluster.master_key.encode() in answer.body) == (code == 0)


def rights_of(guarded: GuardedCluster, user: str) -> set[Rights | None]:
    found = asyncio.run(reach([guarded.nameserver], settings_for(guarded, user)))
    assert len(found.brokers) == 2
    return {one.rights for one in found.brokers}


@pytest.mark.parametrize(
    ("user", "words", "is_too_much"),
    [
        (STRANGER, "no super user, and no right on the cluster", False),
        (READER, "no super user, and no right on the cluster", False),
        (WITH_PRODUCERS, "what a snapshot with producers needs", False),
        (WRITER, "more than a snapshot needs: Pub on Topic:*, Update on Topic:*, Pub on Group:*", True),
        (MASTER, "every right: it is a super user", True),
    ],
)
def test_an_account_with_more_rights_than_a_snapshot_needs_is_seen(
    guarded_cluster: GuardedCluster, user: str, words: str, is_too_much: bool
) -> None:
    (rights,) = rights_of(guarded_cluster, user)
    assert rights is not None
    assert rights.words.startswith(words)
    assert bool(rights.mend) == is_too_much


def test_the_doctor_tells_it(guarded_cluster: GuardedCluster, tmp_path: Path, keys: Path) -> None:
    file = guarded_cluster.connection_file(keys, access_key=WRITER)
    done = run("doctor", f"--nameserver={guarded_cluster.nameserver}", f"--connection={file}", cwd=tmp_path, env=WIDE)
    assert (done.returncode, done.stderr) == (1, "")
    (line,) = [line for line in done.stdout.splitlines() if "more than a snapshot needs" in line]
    assert f"rights of {WRITER} at broker-a 0, broker-b 0" in line
