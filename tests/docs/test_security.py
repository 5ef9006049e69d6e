"""SECURITY.md's table of threats: each row names tests that show it, and each of these exists."""

import re
from typing import Final

import pytest

from tests.docs.pages import ROOT

PAGE: Final = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS: Final = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| who | what they can reach |")[2].partition("\n\n")[0].splitlines()[2:]
]
TEST: Final = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`")


def test_everyone_who_could_do_harm_has_a_row() -> None:
    people = {re.split(r"[:,]| in ", who)[0] for who, *_ in ROWS}
    named = {"readers", "triggerers", "approvers", "lake writers", "clusters", "chats", "neighbours on the network"}
    assert people == named | {"publishers of packages and images", "whoever gets hold of the account of a connection"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(f"{row[0]}: {row[1]}".split()[:6]))
def test_every_row_is_shown_by_tests_that_exist(row: list[str]) -> None:
    _who, _reach, _stopped, shown = row
    assert re.sub(TEST, "", shown).strip(", ") == ""
    for file, name in TEST.findall(shown):
        pattern = rf"(?m)^(?:async )?def {name or 'test_[a-z_0-9]+'}\("
        assert re.search(pattern, (ROOT / file).read_text(encoding="utf-8")), (file, name)


def test_every_test_that_the_page_names_exists() -> None:
    assert all((ROOT / file).is_file() for file, _ in TEST.findall(PAGE))
