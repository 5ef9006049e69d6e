"""The documents that are made from the code against what it says now."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocketmq_capacity.report.documents import documents
from tests.docs.pages import DOCS


@pytest.mark.parametrize("name", documents())
def test_a_committed_document_is_what_the_code_says_now(name: str) -> None:
    assert documents()[name].decode() == (DOCS / name).read_text(encoding="utf-8"), "run: make docs"


def test_the_documents_are_made_by_a_program(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "rocketmq_capacity.report.documents", str(tmp_path)], check=True, timeout=300)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == documents()
