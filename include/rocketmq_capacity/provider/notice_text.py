"""A notice, and how it is written as plain text and for a mail."""

import html
from dataclasses import dataclass

from rocketmq_capacity.plan_file.visible import visible


@dataclass(frozen=True, slots=True)
class NoticeLine:
    """A line: words that may lead somewhere, and what follows them."""

    words: str
    link: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice: a subject, some lines, and a link to the whole."""

    subject: str
    lines: tuple[NoticeLine, ...]
    link: str

    @property
    def text(self) -> str:
        """The lines as plain text."""
        return "\n".join(f"{one.words}{one.more} {one.link}".rstrip() for one in self.lines)

    @property
    def html(self) -> str:
        """The lines and the link as HTML, for a mail."""
        lines = "<br>".join(
            f"{_anchor(one.words, one.link) if one.link else html.escape(one.words)}{html.escape(one.more)}"
            for one in self.lines
        )
        return f"<p>{lines}</p><p>{_anchor(self.link, self.link)}</p>"


def notice(subject: str, *lines: NoticeLine, link: str) -> Notice:
    """A notice whose every character is visible: names of a cluster may have any."""
    shown = tuple(NoticeLine(visible(one.words), one.link, visible(one.more)) for one in lines)
    return Notice(visible(subject), shown, link)


def _anchor(words: str, link: str) -> str:
    return f'<a href="{html.escape(link)}">{html.escape(words)}</a>'
