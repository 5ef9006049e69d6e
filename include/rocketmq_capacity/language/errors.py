"""English lines of errors, refusals and ``doctor`` -> the same in another language.

An error has words of others in it: of a user, of the system, of a library. The usual ones of the system and of
libraries are in the catalogue, too. Others stay as they are, which a sentence of a plan must not have.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from rocketmq_capacity.language.joining import PLACEHOLDER
from rocketmq_capacity.language.sentences import SENTENCE_END, spaced
from rocketmq_capacity.language.template import Template, TemplateIndex, template_of

LONGEST: Final = 4_000
"""Characters of a line that is looked at."""
DEEPEST: Final = 3
"""Texts of ours in places of others."""
TITLE: Final = "title"
"""The place for the title of a field."""
LONG: Final = 16
"""Letters of its own from which on a text is known for certain, whatever stands in its places."""
VALUE: Final = re.compile(
    r"(?![A-Za-z]?[a-z]+$)\S*|None|True|False|-?inf|nan|'.*'|\".*\"|\[.*\]|\(.*\)|\{.*\}|`.*`"
    r"|['\"\[({].*\.\.\.",
    re.DOTALL,
)
"""A name that is no usual word, or a value as errors show it, which may be cut."""
PLACE: Final = ": "
"""What stands after the source of an error, and after the place in it."""
END: Final = "; "
"""What begins an end that many errors may have, such as the nearest name."""


MOST_LISTED: Final = 20
"""Lines in one."""


class Errors:
    """The lines of one language, by the English ones."""

    def __init__(self, texts: Mapping[str, str], titles: Callable[[str], str | None]) -> None:
        """``titles`` says the title of a form's field, which a page has, too."""
        self._titles = titles
        self._fixed = {text: said for text, said in texts.items() if not PLACEHOLDER.search(text)}
        made = (template_of(text, said) for text, said in texts.items() if PLACEHOLDER.search(text))
        self._templates = TemplateIndex(made)
        self.said = lru_cache(maxsize=1_000)(self._whole)
        """The line in the language, with source and place as they are; in English if it is not known."""

    def _whole(self, text: str) -> str:
        return (self._line(text, 0) or text) if len(text) <= LONGEST else text

    def _line(self, text: str, depth: int) -> str | None:
        """A line of one sentence or several, after whatever names the place of the error."""
        parts = SENTENCE_END.split(text)
        if len(parts) > 1:
            said = [self._line(part, depth) for part in parts]
            return None if None in said else "".join(filter(None, said))
        pieces = text.split(PLACE)
        for start in range(min(len(pieces), 2 * DEEPEST)):
            said_of_it = self._text(PLACE.join(pieces[start:]), depth)
            if said_of_it is not None:
                places = [self._text(piece, depth) or piece if " " in piece else piece for piece in pieces[:start]]
                return PLACE.join([*places, said_of_it])
        return None

    def _text(self, text: str, depth: int) -> str | None:
        if text in self._fixed:
            return self._fixed[text]
        begin, link, end = text.rpartition(END)
        said_of_end = self._by_template(link + end, depth, begins=END) if link else None
        said_of_begin = None if said_of_end is None else self._line(begin, depth + 1)
        if said_of_begin is not None:
            return f"{said_of_begin}{said_of_end}"
        return self._by_template(text, depth)

    def _by_template(self, text: str, depth: int, begins: str = "") -> str | None:
        for template in self._templates.candidates(text) if depth <= DEEPEST else ():
            if template.key.startswith(begins):
                for values in template.values(text):
                    said = self._filled(template, values, depth)
                    if said is not None:
                        return said
        return None

    def _filled(self, template: Template, values: Iterable[str], depth: int) -> str | None:
        is_short = template.length < LONG
        known: dict[str, str] = {}
        for name, value in zip(template.names, values, strict=True):
            said = self._value(name, value, depth, is_short=is_short)
            if said is None and is_short and not VALUE.fullmatch(value):
                return None
            known[name] = said or value
        return spaced(PLACEHOLDER.sub(lambda place: known[place[1]], template.said))

    def _value(self, name: str, value: str, depth: int, *, is_short: bool) -> str | None:
        if name == TITLE:
            return self._titles(value)
        if is_short:
            return self._text(value, depth + 1)
        return self._listed(value, depth + 1) or self._line(value, depth + 1)

    def _listed(self, text: str, depth: int) -> str | None:
        """Several lines in one, such as why each name server did not answer."""
        parts = text.split(END, MOST_LISTED)
        said = [self._line(part, depth) for part in parts] if 1 < len(parts) <= MOST_LISTED else [None]
        return None if None in said else "；".join(filter(None, said))
