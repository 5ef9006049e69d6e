"""The how-to's table of what each request needs, as the tests read it."""

import re
from dataclasses import dataclass
from typing import Final

from tests.docs.pages import DOCS

PAGE: Final = (DOCS / "how-to/connect-with-tls-and-access-keys.md").read_text(encoding="utf-8")
_ROW: Final = re.compile(r"(?m)^\| (\d+) \| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$")


@dataclass(frozen=True, slots=True)
class Row:
    """One request: where it is sent, and what access control 2.0 and 1.0 ask for."""

    code: int
    name: str
    sent_to: str
    acl_2: str
    acl_1: str


ROWS: Final = [Row(int(code), *cells) for code, *cells in _ROW.findall(PAGE)]
