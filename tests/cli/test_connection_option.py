"""``--connection``: what is wrong with it is printed before anybody is asked, and never with a value of the file."""

from pathlib import Path

import pytest

from tests.cli.conftest import Refusal
from tests.cli.program import run
from tests.cli.small_cluster import written
from tests.cli.test_unreachable_cluster import silent_address

__all__ = ["silent_address"]

COMMANDS = [["snapshot", "--out=new.json"], ["plan", "--out=out"], ["doctor"]]


def connection(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "connection.yaml"
    file.write_text(text, "utf-8")
    file.chmod(mode)
    return file


@pytest.mark.parametrize("command", [["plan", "--out=out", "--inventory=inventory.json"], ["doctor"]])
def test_without_a_live_cluster_there_is_nothing_to_connect_to(
    refusal: Refusal, tmp_path: Path, command: list[str]
) -> None:
    written(tmp_path)
    file = connection(tmp_path, "tls: true")
    line = refusal(*command, f"--connection={file}")
    assert line == "--connection: is for a live cluster; expected --nameserver as well"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("acess_key: reader", 0o600, "acess_key: is not a known key; the nearest known key is 'access_key'"),
        (
            "access_key: reader\nsecret_key: *never-to-be-told",
            0o600,
            "line 2: has an anchor or an alias (&, *); expected every value in full",
        ),
        ("access_key: reader\nsecret_key: never-to-be-told", 0o644, "holds a secret and is open to others (mode 0644)"),
        (
            "{tls: true, tls_ca_file: absent.pem}",
            0o600,
            "tls_ca_file: {folder}/absent.pem cannot be read (No such file",
        ),
    ],
)
def test_a_bad_file_is_refused_before_the_cluster_is_asked(
    refusal: Refusal, tmp_path: Path, command: list[str], text: str, mode: int, words: str
) -> None:
    file = connection(tmp_path, text, mode)
    line = refusal(*command, "--nameserver=127.0.0.1:1", f"--connection={file}")
    assert line.startswith(f"{file}: {words.format(folder=tmp_path)}")
    assert "never-to-be-told" not in line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_not_there_is_named(refusal: Refusal, command: list[str]) -> None:
    line = refusal(*command, "--nameserver=127.0.0.1:1", "--connection=absent")
    assert line == "absent: cannot be read (No such file or directory); expected a connection file"


def test_an_output_that_would_replace_the_file_is_refused(refusal: Refusal, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    file = connection(tmp_path / "out", "")
    line = refusal("plan", "--out=out", "--overwrite", "--nameserver=127.0.0.1:1", f"--connection={file}")
    assert line == f"--out: out holds {file}, which would be replaced; expected another folder"


def test_the_doctor_asks_by_the_time_limits_of_the_file(tmp_path: Path, silent_address: str) -> None:
    file = connection(tmp_path, "request_timeout_s: 0.3")
    done = run("doctor", f"--nameserver={silent_address}", f"--connection={file}", cwd=tmp_path, env={"COLUMNS": "300"})
    assert done.returncode == 1
    assert "not read (timed out after 0.3 s" in done.stdout
    assert "check the address, the network, and TLS in the connection file" in done.stdout
