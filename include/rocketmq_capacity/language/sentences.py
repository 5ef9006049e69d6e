"""English sentences of a plan -> the same in another language.

A plan keeps its sentences in English, with figures and names in them. Here a sentence's template is found again, such
as ``{n_clients} of {group} own no queue``. What stands in its places is taken over: names and numbers as they are,
phrases if they are known too. Where that is not so, there is no sentence in the other language, never half of one.
So a plan that was stored in English, by an earlier version too, can be shown in any language.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Final

from rocketmq_capacity.language.amounts import UNITS, amount
from rocketmq_capacity.language.joining import (
    BEGINS,
    FULL_STOP,
    LINKS,
    PLACEHOLDER,
    items_of,
    joined,
    joining,
    key_of,
    key_of_list,
)
from rocketmq_capacity.language.template import OWN_WORDS, Template, TemplateIndex, template_of, turned_text
from rocketmq_capacity.plan_file.sentence import Sentence

SENTENCE_END: Final = re.compile(r"(?<=[.?!]) +(?=\S)")
LONGEST: Final = 4_000
"""Characters of a text that is looked at."""
MOST_WORK: Final = 20_000
"""Characters of all parts of a text that are looked at; of the sentences of a plan these are some 1,300 at most."""
DEEPEST: Final = 6
"""Phrases within phrases."""
MOST_NESTED: Final = 30
"""The same of sentences that a file has; what is understood here is nested half as deep."""
VAGUE: Final = frozenset({"unknown", "none", "nobody", "nothing", "today", "and", "or", "others"})
"""Words that may also be a name: a sentence that has one in a place is not taken over."""
LONG: Final = 8
"""Letters of its own with which no other text looks like a template; ``Look into {subject}`` has so many."""
HAN: Final = re.compile(r"[\u4e00-\u9fff]")
FIGURE: Final = re.compile(r"\d[\d,.]* [A-Z][A-Z_]+|\S+ \d[\d,.]*|\S+ \((?:[\d.,]+ % → )?[\d.,]+ %\)")
"""A number of a state, or a name and its number or its shares: they are the same in any language."""
PAIR: Final = re.compile(r"\S+ [\d,]+ and [\d,]+")
"""A name with two numbers."""
ENGLISH_WORD: Final = re.compile(r"[A-Z]?[a-z]+[,;:]?")
_HAN: Final = "[\u4e00-\u9fff]"
MISSING_SPACE: Final = re.compile(rf"(?<={_HAN})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?={_HAN})")
NO_SPACE: Final = re.compile(rf"(?<={_HAN}|[\uff01-\uff5e]) +(?={_HAN})")
KIND: Final = re.compile(r"(topic|broker|room|group) \{\w+\}")
"""The template of a name with what it is of."""
CLAUSE: Final = "; "
CHANGED: Final = re.compile(r"(.+?) ([\d.,]+(?: to [\d.,]+| or more)?|not stated|unknown) → (.+)")
Known = str | tuple[Sentence, ...]
"""What a text is understood as: a name or an amount as it is, or sentences."""


class _TooMuch(Exception):
    """A text has so many parts that it is no sentence of ours."""


@dataclass(slots=True)
class _Work:
    """What was done for one text: a name in it may have whatever parts its cluster likes."""

    left: int = MOST_WORK
    seen: dict[tuple[str, int], Known | None] = field(default_factory=dict)

    def spend(self, characters: int) -> None:
        """Errors: _TooMuch once all that is looked at is longer than allowed."""
        self.left -= characters
        if self.left < 0:
            raise _TooMuch


_WORK: Final[ContextVar[_Work]] = ContextVar("work")


class Sentences:
    """The sentences and nouns of one language, by the English ones."""

    def __init__(self, sentences: Mapping[str, str], nouns: Mapping[str, str]) -> None:
        """``nouns`` are what numbers count, with the counter of the other language: ``queue`` -> ``个队列``."""
        self._nouns = nouns
        sentences = {**UNITS, **sentences}
        self._fixed = {text: said for text, said in sentences.items() if not PLACEHOLDER.search(text)}
        # Titles stand within sentences too, and sentences before a comma.
        self._fixed |= {
            turned_text(text): said for text, said in self._fixed.items() if turned_text(text) not in self._fixed
        }
        ended = {text[:-1]: said for text, said in self._fixed.items() if text[-1:] == "." and len(text) > 1}
        self._fixed |= {text: said.removesuffix(FULL_STOP) for text, said in ended.items() if text not in self._fixed}
        made = [template_of(text, said) for text, said in sentences.items() if PLACEHOLDER.search(text)]
        self._templates = TemplateIndex(made)
        self._kinds = {found[1]: one for one in made if (found := KIND.fullmatch(one.key))}
        self._by_key = {turned_text(one.key): one for one in made} | {one.key: one for one in made}
        self.parts = lru_cache(maxsize=10_000)(self._whole)
        """A text as the sentences that it consists of; None if it is not known as a whole, or only a name or amount."""
        self.said = lru_cache(maxsize=10_000)(self._whole_said)
        """The text in the language; None if it is not known as a whole."""

    def say(self, parts: Iterable[Sentence], depth: int = 0) -> str | None:
        """These sentences in the language; None if one is not known."""
        return joined(self._sentence_said(part, depth) for part in parts) if depth <= MOST_NESTED else None

    def _whole_said(self, text: str) -> str | None:
        known = self._whole_known(text)
        return None if known is None else self._text(known)

    def _whole(self, text: str) -> tuple[Sentence, ...] | None:
        known = self._whole_known(text)
        return None if isinstance(known, str) else known

    def _whole_known(self, text: str) -> Known | None:
        if len(text) > LONGEST:
            return None
        before = _WORK.set(_Work())
        try:
            return self._known(text, 0)
        except _TooMuch:
            return None
        finally:
            _WORK.reset(before)

    def _sentence_said(self, sentence: Sentence, depth: int) -> str | None:
        fixed = self._fixed.get(sentence.key)
        if fixed is not None:
            return fixed
        template = self._by_key.get(sentence.key)
        said = joining(sentence.key) if template is None else template.said
        if said is None:
            return None
        figures = {name: self._text(known, depth + 1) for name, known in sentence.figures.items()}
        if any(figures.get(name) is None for name in PLACEHOLDER.findall(said)):
            return None
        filled = PLACEHOLDER.sub(lambda found: str(figures[found[1]]), said)
        return filled if template is None else spaced(filled)

    def _text(self, known: Known, depth: int = 0) -> str | None:
        """What was understood, in the language."""
        if not isinstance(known, str):
            return self.say(known, depth)
        text = known.strip()
        if " " not in text:
            return text
        return _same(text) or _names(text) or amount(text, self._nouns) or text

    def _known(self, text: str, depth: int) -> Known | None:
        """What a part is understood as; it is looked at once."""
        seen = _WORK.get().seen
        if (text, depth) not in seen:
            seen[text, depth] = self._understood(text, depth)
        return seen[text, depth]

    def _understood(self, text: str, depth: int) -> Known | None:
        _WORK.get().spend(len(text))
        if depth > DEEPEST:
            return None
        if text in self._fixed:
            return (Sentence(key=text),)
        if amount(text, self._nouns) is not None:
            return text
        parts = SENTENCE_END.split(text)
        if len(parts) > 1:
            parts_known = [self._known(part, depth) for part in parts]
            return (
                None
                if None in parts_known
                else tuple(chain.from_iterable(_sentences(one) for one in parts_known if one))
            )
        return self._by_template(text, depth) or self._by_parts(text, depth)

    def _by_template(self, text: str, depth: int) -> Known | None:
        turned = turned_text(text)
        for template in self._templates.candidates(text):
            for key, looked in template.ways(text, turned):
                for values in template.values(looked):
                    sentence = self._filled(template, key, values, depth)
                    if sentence is not None:
                        return (sentence,)
        return None

    def _filled(self, template: Template, key: str, values: tuple[str, ...], depth: int) -> Sentence | None:
        if template.goes_over(values):
            return None
        figures: dict[str, Known] = {}
        for name, value in zip(template.names, values, strict=True):
            if "|" in name or name == OWN_WORDS:
                figures[name] = value
                continue
            is_doubtful = name.startswith("n_") or (template.length < LONG and ENGLISH_WORD.fullmatch(value))
            known = self._known(value, depth + 1) if is_doubtful else self._value(value, depth)
            if known is None:
                return None
            figures[name] = known
        return Sentence(key=key, figures=figures)

    def _value(self, value: str, depth: int) -> Known | None:
        """What stands in a place: a name, an amount, a list of them, or a phrase."""
        text = value.strip()
        if " " not in text:
            return None if text in VAGUE or (text.endswith(".") and len(text) > 1) else value
        if _same(text) is not None:
            return value
        for mark in BEGINS:
            if text.startswith(mark):
                rest = self._value(text.removeprefix(mark), depth)
                return _sentence(key_of(mark, ""), rest)
        known = (
            self._listed(text, depth + 1)
            or self._known(text, depth + 1)
            or self._with_phrase(text, depth + 1)
            or self._of_kind(text)
        )
        if isinstance(known, str):
            return value
        return known if text == value else _sentence(key_of(*value.split(text, 1)), known)

    def _listed(self, text: str, depth: int) -> Known | None:
        """``a, b and 4 more``, or names alone: names as they are, phrases as they are said."""
        listed = items_of(text)
        if listed is None or (listed.more is None and any(_same(item) is None for item in listed.items)):
            return None
        items = [self._part(item, depth) for item in listed.items]
        if None in items:
            return None
        if all(isinstance(known, str) and _same(known) is not None for known in items):
            return text
        return _sentence(key_of_list(text, listed), *items)

    def _with_phrase(self, text: str, depth: int) -> Known | None:
        """A name, and a phrase that begins with a comma."""
        name, link, rest = text.partition(", ")
        known = self._known(link + rest, depth) if link and " " not in name else None
        return _sentence(key_of("", "", ""), name, known)

    def _of_kind(self, text: str) -> Known | None:
        """What a name is of, and a name that is a usual word: ``topic orders``."""
        kind, _, name = text.partition(" ")
        template = self._kinds.get(kind)
        is_name = template is not None and ENGLISH_WORD.fullmatch(name) and name not in VAGUE
        return (Sentence(key=template.key, figures={template.names[0]: name}),) if template and is_name else None

    def _by_parts(self, text: str, depth: int) -> Known | None:
        """Phrases that are joined, and a phrase that ends as a sentence."""
        if text.endswith("."):
            return _sentence(key_of("", "."), self._known(text[:-1], depth + 1))
        for way in (self._listed, self._changed, self._in_brackets, self._before_name, self._linked, self._after_name):
            known = way(text, depth)
            if known is not None:
                return known
        return None

    def _changed(self, text: str, depth: int) -> Known | None:
        """``connections 76 → 78``: what changes, from what to what."""
        match = CHANGED.fullmatch(text)
        parts = [self._part(part, depth) for part in match.groups()] if match else [None]
        return _sentence(key_of("", " ", " → ", ""), *parts)

    def _in_brackets(self, text: str, depth: int) -> Known | None:
        begin, bracket, inside = text.removesuffix(")").partition("(")
        if not bracket or not text.endswith(")"):
            return None
        last = self._part(inside, depth)
        if not begin:
            return None if last is None or self._text(last) == inside else _sentence(key_of("(", ")"), last)
        name = begin.removesuffix(" ")
        first = self._part(begin.strip(), depth)
        if first is None or last is None or (self._text(first) == begin.strip() and self._text(last) == inside):
            return None
        return _sentence(key_of("", " (" if name != begin else "(", ")"), first, last)

    def _linked(self, text: str, depth: int) -> Known | None:
        for link in LINKS:
            parts = text.split(link, 1 if link == ": " else -1)
            known = [self._part(part, depth) for part in parts] if len(parts) > 1 else [None]
            if None in known and link == CLAUSE:
                parts, known = self._clauses(parts, depth)
            if None in known:
                continue
            said = [None if part is None else self._text(part) for part in known]
            is_a_path = link == " › "
            if said != parts and (is_a_path or not _is_word(parts[0], said[0])):
                return _sentence(key_of("", *[link] * (len(parts) - 1), ""), *known)
        begin, link, end = text.partition(", ")
        first, last = (self._part(begin, depth), self._known(link + end, depth + 1)) if link else (None, None)
        return _sentence(key_of("", "", ""), first, last)

    def _clauses(self, parts: Sequence[str], depth: int) -> tuple[list[str], list[Known | None]]:
        """The phrases, some of which have a semicolon of their own, with what is known of them; [None] if one is not.

        All parts together are the text itself.
        """
        texts: list[str] = []
        begin = 0
        while begin < len(parts):
            tried = [CLAUSE.join(parts[begin : begin + number]) for number in (1, 2) if number < len(parts)]
            text = next((text for text in tried if self._part(text, depth) is not None), None)
            if text is None:
                return [], [None]
            texts.append(text)
            begin += 1 + text.count(CLAUSE)
        return texts, [self._part(text, depth) for text in texts]

    def _before_name(self, text: str, _: int) -> Known | None:
        """A phrase that may have commas of its own, and a name."""
        phrase, link, name = text.rpartition(", ")
        is_known = link and phrase in self._fixed and " " not in name and name not in VAGUE
        return _sentence(key_of("", ", ", ""), (Sentence(key=phrase),), name) if is_known else None

    def _after_name(self, text: str, depth: int) -> Known | None:
        """A name, which is no usual word, and what it does."""
        name, _, rest = text.partition(" ")
        is_number = name[-1:].isdigit() and not {"@", "-"} & {*name}
        is_name = rest and not is_number and not ENGLISH_WORD.fullmatch(name)
        return _sentence(key_of("", " ", ""), name, self._known(rest, depth + 1)) if is_name else None

    def _part(self, text: str, depth: int) -> Known | None:
        return self._known(text, depth + 1) or (text if _same(text) else None)


def filled(parts: Iterable[Sentence]) -> str:
    """The English text of sentences.

    >>> filled([Sentence(key="{n_queues} wait", figures={"n_queues": "4 queues"}), Sentence(key="Look.")])
    '4 queues wait Look.'
    """
    return " ".join(map(_filled, parts))


def _filled(part: Sentence) -> str:
    figures = {name: known if isinstance(known, str) else filled(known) for name, known in part.figures.items()}
    return PLACEHOLDER.sub(lambda place: figures[place[1]], part.key)


def _sentence(key: str, *known: Known | None) -> Known | None:
    """A sentence that joins what is known; None if some is not."""
    figures = [one for one in known if one is not None]
    if len(figures) < len(known):
        return None
    return (Sentence(key=key, figures=dict(zip(PLACEHOLDER.findall(key), figures, strict=True))),)


def _sentences(known: Known) -> tuple[Sentence, ...]:
    """The same as sentences: a name or an amount alone is one."""
    return (Sentence(key=key_of("", ""), figures={"1": known}),) if isinstance(known, str) else known


def _names(text: str) -> str | None:
    """A list of names alone."""
    listed = items_of(text)
    said = None if listed is None else joined(map(_same, listed.items), "、")
    return None if listed is None or said is None else listed.said(said)


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
