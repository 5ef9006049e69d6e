"""`make audit` with the real pip-audit, asking a server that knows one vulnerability, or nobody."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from tests.fixtures.environment import ROOT

pytestmark = pytest.mark.slow

UNANSWERED: Final = "sniffio"
NOBODY: Final = "http://127.0.0.1:1/"

KNOWN: Final[dict[str, Any]] = {
    "id": "GHSA-aaaa-bbbb-cccc",
    "aliases": ["CVE-2026-1"],
    "summary": "It breaks.",
    "affected": [
        {
            "package": {"name": "six", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}],
        }
    ],
}


class Index(BaseHTTPRequestHandler):
    """Answers as OSV does: six has one vulnerability, one makes it fail, everything else has none."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"vulns": [KNOWN]} if asked["package"]["name"] == "six" else {}).encode()
        self.send_response(500 if asked["package"]["name"] == UNANSWERED else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
    server.shutdown()
    server.server_close()


def audit(
    folder: Path, index: str, *, pins: str = "idna==3.20\nsix==1.17.0\n", accepted: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    (folder / "pins.txt").write_text(pins)
    (folder / "accepted.txt").write_text(f"# why\n{accepted}")
    own = ["--pins", folder / "pins.txt", "--accepted", folder / "accepted.txt"]
    service = ["--vulnerability-service", "osv", "--osv-url", index, "--cache-dir", folder / "cache"]
    command = [sys.executable, str(ROOT / ".make/audit.py"), *map(str, (*own, *service))]
    given = {name: value for name, value in os.environ.items() if name != "AUDIT_OFFLINE"} | environment
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)


def test_a_vulnerability_fails_and_is_named_with_what_mends_it(tmp_path: Path, index: str) -> None:
    refused = audit(tmp_path, index)
    assert refused.returncode == 1
    found, count = refused.stdout.splitlines()
    assert found == "audit: six 1.17.0: CVE-2026-1, GHSA-aaaa-bbbb-cccc; mended in 2.0; NOT ACCEPTED"
    assert count == "audit: pins audited: 2; vulnerabilities: 1, of which not accepted: 1"


@pytest.mark.parametrize("identity", ["GHSA-aaaa-bbbb-cccc", "CVE-2026-1"])
def test_one_that_is_accepted_is_listed_with_its_reason(identity: str, tmp_path: Path, index: str) -> None:
    passed = audit(tmp_path, index, accepted=f"{identity} we never call it")
    assert passed.returncode == 0, passed.stdout
    assert "mended in 2.0; we never call it" in passed.stdout


def test_a_vulnerability_accepted_without_a_reason_is_not_accepted(tmp_path: Path, index: str) -> None:
    assert audit(tmp_path, index, accepted="CVE-2026-1").returncode == 1


def test_what_is_accepted_and_gone_has_to_go_from_the_list(tmp_path: Path, index: str) -> None:
    stale = audit(tmp_path, index, pins="idna==3.20\n", accepted="CVE-2026-1 we never call it")
    assert stale.returncode == 1
    assert "CVE-2026-1 is accepted in" in stale.stdout


def test_pins_with_hashes_are_asked_about(tmp_path: Path, index: str) -> None:
    refused = audit(tmp_path, index, pins=f"six==1.17.0 \\\n    --hash=sha256:{'0' * 64}\n")
    assert "audit: six 1.17.0: " in refused.stdout


@pytest.mark.parametrize(("environment", "status"), [({}, 1), ({"AUDIT_OFFLINE": "1"}, 0)])
def test_where_nobody_answers_one_line_says_so_and_only_the_switch_lets_it_pass(
    environment: dict[str, str], status: int, tmp_path: Path
) -> None:
    unasked = audit(tmp_path, NOBODY, **environment)
    assert unasked.returncode == status
    (line,) = unasked.stdout.splitlines()
    assert line.startswith("audit: the index of vulnerabilities cannot be asked here, so no pin is audited")
    assert ("AUDIT_OFFLINE is set, so this passes" in line) == bool(environment)
    assert unasked.stderr == ""


@pytest.mark.parametrize(("environment", "status"), [({}, 1), ({"AUDIT_OFFLINE": "1"}, 0)])
def test_an_index_that_stops_to_answer_fails_without_the_switch(
    environment: dict[str, str], status: int, tmp_path: Path, index: str
) -> None:
    told = audit(tmp_path, index, pins=f"idna==3.20\n{UNANSWERED}==1.3.1\n", **environment)
    assert told.returncode == status, told.stdout
    assert "audit: not audited: all: " in told.stdout


def test_the_switch_hides_no_vulnerability(tmp_path: Path, index: str) -> None:
    assert audit(tmp_path, index, AUDIT_OFFLINE="1").returncode == 1
