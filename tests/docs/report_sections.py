"""The sections of a report's page, and the page of the documentation that explains each by its name."""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from tests.docs.pages import DOCS
from tests.report.page_reader import elements, read_page, text_of

EXPLAINS: Final = DOCS / "how-to" / "read-a-report.md"


def unexplained(page: str) -> list[str]:
    """The headings of a report's page that the document does not explain by their names."""
    text = EXPLAINS.read_text(encoding="utf-8")
    explained = set(re.findall(r"(?m)^#{2,3} (.+)$", text))
    named = {" ".join(name.split()) for name in re.findall(r"\*\*([^*]+)\*\*", text)}
    tree = read_page(page)
    sections = [_without_number(heading) for heading in elements(tree, "h2")]
    parts = [part for name in ("summary", "groups") for part in _parts_of(tree, name)]
    return [one for one in sections if one not in explained] + [one for one in parts if one not in named]


def _parts_of(tree: Element, name: str) -> Iterator[str]:
    """The headings inside a section that are about the whole cluster."""
    for section in elements(tree, "section"):
        if section.get("aria-labelledby") == name:
            yield from (text_of(one) for one in elements(section, "h3") if not list(elements(one, "code")))


def _without_number(heading: Element) -> str:
    """``What to do``, of ``What to do 16``; ``What-if`` of ``What-if: its name``."""
    return re.sub(r" [\d,]+\Z", "", text_of(heading)).partition(":")[0]
