"""The documentation as the tests read it: its pages, their links, headings and code blocks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from textwrap import dedent
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "include/docs"
PAGES: Final = (*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md")), ROOT / "include/sample/README.md")
_FENCE: Final = re.compile(r"(?ms)^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$")
_SETS_A_VARIABLE: Final = re.compile(r"[A-Z_]+=")
_LINK: Final = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced code block."""

    page: Path
    language: str
    body: str

    def __str__(self) -> str:
        """How a test names it: the page and the block's first line."""
        return f"{self.page.stem}: {self.body.splitlines()[0] if self.body else ''}"


def blocks(*languages: str) -> list[Block]:
    """The blocks in these languages, of all pages."""
    return [block for page in PAGES for block in _blocks_of(page) if block.language in languages]


def links(page: Path) -> list[str]:
    """Targets that are no address of the web."""
    found = _LINK.findall(_prose(page))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", _prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(program: str) -> list[list[str]]:
    """The arguments of every command line of the program in shell blocks, without variables set before it."""
    lines = [shlex.split(line, comments=True) for block in blocks("shell", "sh") for line in block.body.splitlines()]
    calls = [list(dropwhile(_SETS_A_VARIABLE.match, words)) for words in lines]
    return [words[1:] for words in calls if words and words[0] == program]


def _blocks_of(page: Path) -> Iterator[Block]:
    for found in _FENCE.finditer(page.read_text(encoding="utf-8")):
        yield Block(page, found["language"], dedent(found["body"]))


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))
