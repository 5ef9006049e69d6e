"""A page as a strict HTML parser reads it."""

from typing import Any

import html5lib

Element = Any
HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def read_page(text: str) -> Element:
    """The tree of the page; any parse error of the HTML standard is raised."""
    return html5lib.HTMLParser(strict=True).parse(text)


def elements(tree: Element, name: str, namespace: str = HTML) -> list[Element]:
    """All elements of a name, in the order of the page."""
    return list(tree.iter(namespace + name))


def inner_links(tree: Element) -> set[str]:
    """The ids that links lead to; other links lead to scripts beside the page."""
    return {href[1:] for a in elements(tree, "a") if (href := a.get("href", "")).startswith("#")}


def text_of(element: Element) -> str:
    """The element's text, white space as a reader sees it."""
    return " ".join("".join(element.itertext()).split())


def with_class(tree: Element, name: str) -> list[Element]:
    """All elements of a class."""
    return [element for element in tree.iter() if name in (element.get("class") or "").split()]


def cells_of(table: Element) -> list[list[str]]:
    """The text of each cell, by row."""
    return [[text_of(cell) for cell in row] for row in elements(table, "tr")]


def table_of(tree: Element, caption: str) -> list[list[str]]:
    """The cells of the one table with these words, by row; the first row has the titles."""
    (table,) = (one for one in elements(tree, "table") if caption in text_of(one))
    return cells_of(table)


def by_id(tree: Element, name: str) -> Element:
    """The one element of an id."""
    (found,) = [element for element in tree.iter() if element.get("id") == name]
    return found


def section(tree: Element, name: str) -> Element:
    """The section whose heading has this id."""
    (found,) = (one for one in elements(tree, "section") if one.get("aria-labelledby") == name)
    return found
