"""A real cluster behind TLS and access keys, read by the command line: whom it lets in, and what else is said."""

from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.cli.program import contents, run
from tests.client.certificates import authority
from tests.cluster.guarded import GuardedCluster
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
    assert ill.stdout.count("check the network, and the keys in the connection file") == 2
    assert "wrong-and-not-to-be-told" not in ill.stdout
