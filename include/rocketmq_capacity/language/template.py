"""A sentence with places for figures and names, and what stands in them in a text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

import re2

from rocketmq_capacity.language.joining import PLACEHOLDER

SHORT: Final = 3
"""Characters of a probe that other texts may have by chance."""
OWN_WORDS: Final = "own_words"
"""The place of what a person has written: it may have any text, and stays as it is."""
CLAUSE: Final = re.compile(r"[;:] |\. ")
"""What a value has only if it holds a clause of its own."""
WORD: Final = re.compile(r"\w+")
VALUE_WITH_LETTERS: Final = re.compile(rf"\w*(?:{PLACEHOLDER.pattern}\w*)+")
"""A place, with the letters that touch it."""
COUNTED: Final = r"(\d+(?:,\d{3})* [A-Za-z][A-Za-z ]*?)"
"""A number and what it counts: what stands in a place whose name begins with n_."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with places for figures and names."""

    key: str
    """The English text with its places."""
    probe: str
    """Its longest text of its own, which a sentence must have."""
    patterns: tuple["re.Pattern[str]", ...]
    """With the shortest values, and with the longest."""
    names: tuple[str, ...]
    said: str
    opens: tuple[bool, ...]
    """Whether a place may have a clause of its own: it comes after a colon, is the sentence's only one, or is the last
    one, here and in the other language."""
    length: int
    """Letters of its own. Other texts may look like one with few, so that no usual word is taken for a name there."""

    def ways(self, text: str, turned: str) -> Iterator[tuple[str, str]]:
        """The key and the text to compare, as they are and with the other case of their first letter."""
        yield self.key, text
        if not self.key.startswith("{"):
            yield turned_text(self.key), turned

    def values(self, text: str) -> Iterator[tuple[str, ...]]:
        """What may stand in its places."""
        for pattern in self.patterns:
            match = pattern.fullmatch(text)
            if match is None:
                return
            yield match.groups()

    def goes_over(self, values: tuple[str, ...]) -> bool:
        """Whether a value goes over into the next clause, which is then not of this template."""
        repeats = len(self.probe) > SHORT and any(self.probe in value for value in values)
        return repeats or any(
            not opens and CLAUSE.search(value) for opens, value in zip(self.opens, values, strict=True)
        )


class TemplateIndex:
    """Templates by a word of their own, so that a text is compared with few of them."""

    def __init__(self, templates: Iterable[Template]) -> None:
        self._longest_first = sorted(templates, key=lambda template: -template.length)
        self._by_word: dict[str, list[int]] = {}
        for number, template in enumerate(self._longest_first):
            self._by_word.setdefault(max(_own_words(template.key), key=len, default=""), []).append(number)

    def candidates(self, text: str) -> list[Template]:
        """The templates that a text may be of, those with the most letters of their own first."""
        words = {"", *WORD.findall(text.lower())}
        numbers = sorted(chain.from_iterable(self._by_word.get(word, ()) for word in words))
        turned = turned_text(text)
        templates = (self._longest_first[number] for number in numbers)
        return [template for template in templates if template.probe in text or template.probe in turned]


def _own_words(key: str) -> list[str]:
    """The words that every text of a template has, in small letters; none that a value may go on."""
    return WORD.findall(VALUE_WITH_LETTERS.sub(" ", key).lower())


def turned_text(text: str) -> str:
    """The same with the other case of its first letter."""
    return text[:1].swapcase() + text[1:]


def template_of(text: str, said: str) -> Template:
    """The template of an English text with places, and what it is in the other language."""
    names = PLACEHOLDER.findall(text)
    literals = PLACEHOLDER.split(text)[::2]
    patterns = tuple(re2.compile("(?s)" + "".join(_pattern(text, place))) for place in ("(.*?)", "(.*)"))
    length = sum(character.isalpha() for character in "".join(literals))
    is_only = sum("|" not in name for name in names) == 1 and text.endswith(".")
    before = zip(names, literals, strict=False)
    last = names[-1] if text.endswith(f"{{{names[-1]}}}.") and said.endswith(f"{{{names[-1]}}}。") else None
    opens = tuple(
        "|" in name or name in (OWN_WORDS, last) or is_only or literal.endswith((": ", "; ", ". "))
        for name, literal in before
    )
    return Template(text, max(literals, key=len), patterns, tuple(names), said, opens, length)


def _pattern(text: str, place: str) -> Iterator[str]:
    for number, part in enumerate(PLACEHOLDER.split(text)):
        if number % 2 == 0:
            yield re.escape(part)
        elif "|" in part:
            yield f"({'|'.join(map(re.escape, part.split('|')))})"
        else:
            yield COUNTED if part.startswith("n_") else place
