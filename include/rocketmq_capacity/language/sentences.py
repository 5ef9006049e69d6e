"""English sentences of a plan -> the same in another language.

A plan keeps its sentences in English, with figures and names in them. Here a sentence's template is found again, such
as ``{n_clients} of {group} own no queue``. What stands in its places is taken over: names and numbers as they are,
phrases if they are known too. Where that is not so, there is no sentence in the other language, never half of one.
So a plan that was stored in English, by an earlier version too, can be shown in any language.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import re2

from rocketmq_capacity.language.amounts import UNITS, amount

PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
SENTENCE_END: Final = re.compile(r"(?<=[.?!]) +(?=\S)")
LONGEST: Final = 4_000
"""Characters of a text that is looked at."""
MOST_WORK: Final = 20_000
"""Characters of all parts of a text that are looked at; of the sentences of a plan these are some 1,300 at most."""
DEEPEST: Final = 6
"""Phrases within phrases."""
VAGUE: Final = frozenset({"unknown", "none", "nobody", "nothing", "today", "and", "or", "others"})
"""Words that may also be a name: a sentence that has one in a place is not taken over."""
SHORT: Final = 3
"""Characters of a probe that other texts may have by chance."""
LONG: Final = 10
"""Letters of its own with which no other text looks like a template."""
HAN: Final = re.compile(r"[\u4e00-\u9fff]")
FIGURE: Final = re.compile(r"\d[\d,.]* [A-Z][A-Z_]+|\S+ \d[\d,.]*|\S+ \((?:[\d.,]+ % → )?[\d.,]+ %\)")
"""A number of a state, or a name and its number or its shares: they are the same in any language."""
PAIR: Final = re.compile(r"\S+ [\d,]+ and [\d,]+")
"""A name with two numbers."""
CLAUSE: Final = re.compile(r"[;:] |\. ")
"""What a value has only if it holds a clause of its own."""
ENGLISH_WORD: Final = re.compile(r"[A-Z]?[a-z]+,?")
_HAN: Final = "[\u4e00-\u9fff]"
MISSING_SPACE: Final = re.compile(rf"(?<={_HAN})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?={_HAN})")
NO_SPACE: Final = re.compile(rf"(?<={_HAN}|[\uff01-\uff5e]) +(?={_HAN})")
CHANGED: Final = re.compile(r"(.+?) ([\d.,]+(?: to [\d.,]+| or more)?|not stated|unknown) → (.+)")
COUNTED: Final = r"(\d+(?:,\d{3})* [A-Za-z][A-Za-z ]*?)"
"""A number and what it counts: what stands in a place whose name begins with n_."""
FULL_STOP: Final = "。"
BEGINS: Final = ((", ", "，"), (": ", "："), ("; ", "；"), (". ", FULL_STOP))
"""What a further phrase begins with."""
LINKS: Final = (
    ("; ", "；"),
    (": ", "："),
    (" › ", " › "),
    (" · ", " · "),
    (", and ", "，"),
    (", ", "，"),
    (" and ", "，"),
)
"""What joins phrases, in the order in which a text is taken apart."""


class _TooMuch(Exception):
    """A text has so many parts that it is no sentence of ours."""


@dataclass(slots=True)
class _Work:
    """What was done for one text: a name in it may have whatever parts its cluster likes."""

    left: int = MOST_WORK
    seen: dict[tuple[str, int], str | None] = field(default_factory=dict)

    def goes_on(self, characters: int) -> None:
        """Errors: _TooMuch once all that is looked at is longer than allowed."""
        self.left -= characters
        if self.left < 0:
            raise _TooMuch


_WORK: Final[ContextVar[_Work]] = ContextVar("work")


@dataclass(frozen=True, slots=True)
class _Template:
    """A sentence with places for figures and names."""

    probe: str
    """Its longest text of its own, which a sentence must have."""
    patterns: tuple["re.Pattern[str]", ...]
    """With the shortest values, and with the longest."""
    names: tuple[str, ...]
    said: str
    opens: tuple[bool, ...]
    """Whether a place may have a clause of its own: it comes after a colon, say, or is the sentence's only one."""
    length: int
    """Letters of its own. Other texts may look like one with few, so that no usual word is taken for a name there."""

    def values(self, text: str) -> Iterator[tuple[str, ...]]:
        """What may stand in its places."""
        for pattern in self.patterns:
            found = pattern.fullmatch(text)
            if found is None:
                return
            yield found.groups()

    def goes_over(self, values: tuple[str, ...]) -> bool:
        """Whether a value goes over into the next clause, which is then not of this template."""
        repeats = len(self.probe) > SHORT and any(self.probe in value for value in values)
        return repeats or any(
            not opens and CLAUSE.search(value) for opens, value in zip(self.opens, values, strict=True)
        )


class Sentences:
    """The sentences and nouns of one language, by the English ones."""

    def __init__(self, sentences: Mapping[str, str], nouns: Mapping[str, str]) -> None:
        """``nouns`` are what numbers count, with the counter of the other language: ``queue`` -> ``个队列``."""
        self._nouns = nouns
        sentences = {**UNITS, **sentences}
        self._fixed = {text: said for text, said in sentences.items() if not PLACEHOLDER.search(text)}
        # Titles stand within sentences too, and sentences before a comma.
        self._fixed |= {_turned(text): said for text, said in self._fixed.items() if _turned(text) not in self._fixed}
        ended = {text[:-1]: said for text, said in self._fixed.items() if text[-1:] == "." and len(text) > 1}
        self._fixed |= {text: said.removesuffix(FULL_STOP) for text, said in ended.items() if text not in self._fixed}
        made = [_template(text, said) for text, said in sentences.items() if PLACEHOLDER.search(text)]
        self._templates = sorted(made, key=lambda one: -one.length)
        self.said = lru_cache(maxsize=10_000)(self._whole)
        """The text in the language; None if it is not known as a whole."""

    def _whole(self, text: str) -> str | None:
        if len(text) > LONGEST:
            return None
        before = _WORK.set(_Work())
        try:
            return self._known(text, 0)
        except _TooMuch:
            return None
        finally:
            _WORK.reset(before)

    def _known(self, text: str, depth: int) -> str | None:
        """The same of a part, which is looked at once."""
        seen = _WORK.get().seen
        if (text, depth) not in seen:
            seen[text, depth] = self._said(text, depth)
        return seen[text, depth]

    def _said(self, text: str, depth: int) -> str | None:
        _WORK.get().goes_on(len(text))
        if depth > DEEPEST:
            return None
        known = self._fixed.get(text) or amount(text, self._nouns)
        if known is not None:
            return known
        parts = SENTENCE_END.split(text)
        if len(parts) > 1:
            return _joined("", (self._known(part, depth) for part in parts))
        return self._by_template(text, depth) or self._by_parts(text, depth)

    def _by_template(self, text: str, depth: int) -> str | None:
        turned = _turned(text)
        for template in self._templates:
            if template.probe not in text and template.probe not in turned:
                continue
            for values in (*template.values(text), *template.values(turned)):
                said = self._filled(template, values, depth)
                if said is not None:
                    return said
        return None

    def _filled(self, template: _Template, values: tuple[str, ...], depth: int) -> str | None:
        if template.goes_over(values):
            return None
        filled = {}
        for name, value in zip(template.names, values, strict=True):
            is_doubtful = name.startswith("n_") or (template.length < LONG and ENGLISH_WORD.fullmatch(value))
            said = self._known(value, depth + 1) if is_doubtful else self._value(value, depth)
            if said is None:
                return None
            filled[name] = said
        return spaced(PLACEHOLDER.sub(lambda found: filled[found[1]], template.said))

    def _value(self, value: str, depth: int) -> str | None:
        """What stands in a place: a name, an amount, a list of them, or a phrase."""
        text = value.strip()
        if " " not in text:
            return None if text in VAGUE or (text.endswith(".") and len(text) > 1) else text
        same = _same(text)
        if same is not None:
            return same
        for mark, other in BEGINS:
            if text.startswith(mark):
                rest = self._value(text.removeprefix(mark), depth)
                return None if rest is None else other + rest
        return self._listed(text, depth + 1) or self._known(text, depth + 1) or self._with_phrase(text, depth + 1)

    def _listed(self, text: str, depth: int) -> str | None:
        """``a, b and 4 more``, or names alone: names as they are, phrases as they are said."""
        begin, _, more = text.rpartition(" and ")
        number = re.fullmatch(r"([\d,]+) more", more)
        if number:
            text = begin
        elif begin and " and " not in begin and " " not in more:
            text = f"{begin}, {more}"
        items = text.split(", ")
        if not number and (len(items) == 1 or any(_same(item) is None for item in items)):
            return None
        listed = _joined("、", (self._part(item, depth) for item in items))
        return f"{listed} 等（另有 {number[1]} 个）" if number and listed else listed

    def _with_phrase(self, text: str, depth: int) -> str | None:
        """A name, and a phrase that begins with a comma."""
        name, link, rest = text.partition(", ")
        said = self._known(link + rest, depth) if link and " " not in name else None
        return None if said is None else name + said

    def _by_parts(self, text: str, depth: int) -> str | None:
        """Phrases that are joined, and a phrase that ends as a sentence."""
        if text.endswith("."):
            said = self._known(text[:-1], depth + 1)
            return None if said is None else said + FULL_STOP
        for way in (self._listed, self._changed, self._in_brackets, self._before_name, self._linked, self._after_name):
            said = way(text, depth)
            if said is not None:
                return said
        return None

    def _changed(self, text: str, depth: int) -> str | None:
        """``connections 76 → 78``: what changes, from what to what."""
        found = CHANGED.fullmatch(text)
        if found is None:
            return None
        said = [self._part(part, depth) for part in found.groups()]
        return None if None in said else "{} {} → {}".format(*said)

    def _in_brackets(self, text: str, depth: int) -> str | None:
        begin, found, inside = text.removesuffix(")").partition("(")
        if not found or not text.endswith(")"):
            return None
        first, last = self._part(begin.strip(), depth) if begin else "", self._part(inside, depth)
        is_same = first == begin.strip() and last == inside
        return None if first is None or last is None or is_same else f"{first}（{last}）"

    def _linked(self, text: str, depth: int) -> str | None:
        for link, other in LINKS:
            parts = text.split(link, 1 if link == ": " else -1)
            said = [self._part(part, depth) for part in parts] if len(parts) > 1 else [None]
            is_a_path = link == " › "
            if None not in said and said != parts and (is_a_path or not _is_word(parts[0], said[0])):
                return other.join(part for part in said if part is not None)
        begin, link, end = text.partition(", ")
        first, last = (self._part(begin, depth), self._known(link + end, depth + 1)) if link else (None, None)
        return None if first is None or last is None else first + last

    def _before_name(self, text: str, _: int) -> str | None:
        """A phrase that may have commas of its own, and a name."""
        phrase, link, name = text.rpartition(", ")
        said = self._fixed.get(phrase) if link and " " not in name and name not in VAGUE else None
        return None if said is None else f"{said}，{name}"

    def _after_name(self, text: str, depth: int) -> str | None:
        """A name, which is no usual word, and what it does."""
        name, _, rest = text.partition(" ")
        is_number = name[-1:].isdigit() and not {"@", "-"} & {*name}
        is_name = rest and not is_number and not ENGLISH_WORD.fullmatch(name)
        said = self._known(rest, depth + 1) if is_name else None
        return None if said is None else f"{name} {said}"

    def _part(self, text: str, depth: int) -> str | None:
        return self._known(text, depth + 1) or _same(text)


def _is_word(text: str, said: str | None) -> bool:
    """Whether a usual word of English was taken for a name."""
    return text == said and ENGLISH_WORD.fullmatch(text) is not None


def _same(text: str) -> str | None:
    """What is the same in any language: a name, a filter or a command, or said already, or written by a user."""
    if " " not in text:
        return None if text in VAGUE else text
    is_said = not text.isascii() and HAN.search(text) is not None
    if is_said or text.startswith(("mqadmin ", "TAG ", "SQL92 ")) or FIGURE.fullmatch(text):
        return text
    return text.replace(" and ", " 和 ") if PAIR.fullmatch(text) else None


def spaced(text: str) -> str:
    """Chinese characters have a space between them and Latin letters or digits, and none between one another."""
    return NO_SPACE.sub("", MISSING_SPACE.sub(" ", text))


def _joined(link: str, parts: Iterable[str | None]) -> str | None:
    found = list(parts)
    known = [part for part in found if part is not None]
    return link.join(known) if len(known) == len(found) else None


def _turned(text: str) -> str:
    """The same with the other case of its first letter."""
    return text[:1].swapcase() + text[1:]


def _template(text: str, said: str) -> _Template:
    names = [name for name in PLACEHOLDER.findall(text) if "|" not in name]
    literals = PLACEHOLDER.split(text)[::2]
    patterns = tuple(re2.compile("(?s)" + "".join(_pattern(text, place))) for place in ("(.*?)", "(.*)"))
    length = sum(character.isalpha() for character in "".join(literals))
    every, is_only = enumerate(PLACEHOLDER.findall(text)), len(names) == 1 and text.endswith(".")
    opens = tuple(is_only or literals[place].endswith((": ", "; ", ". ")) for place, name in every if "|" not in name)
    return _Template(max(literals, key=len), patterns, tuple(names), said, opens, length)


def _pattern(text: str, place: str) -> Iterator[str]:
    for number, part in enumerate(PLACEHOLDER.split(text)):
        if number % 2 == 0:
            yield re.escape(part)
        elif "|" in part:
            yield f"(?:{'|'.join(map(re.escape, part.split('|')))})"
        else:
            yield COUNTED if part.startswith("n_") else place
