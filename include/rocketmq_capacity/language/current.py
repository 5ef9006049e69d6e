"""The language that is written in now. ``speaking`` chooses it for what its body calls, in this thread alone."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from markupsafe import Markup

from rocketmq_capacity.language.catalogue import Words, words_of
from rocketmq_capacity.plan_file.sentence import Sentence
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.progress.wording import English
from rocketmq_capacity.vocabulary import ENGLISH, Language

_NOW: Final[ContextVar[Language]] = ContextVar("language", default=ENGLISH)
NONE: Final[Mapping[str, tuple[Sentence, ...]]] = {}
_OF_PLAN: Final[ContextVar[Mapping[str, tuple[Sentence, ...]]]] = ContextVar("sentences", default=NONE)
_ENGLISH_WORDS: Final = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}|^[A-Z]?[a-z]{2,}$")

Value = TypeVar("Value")


@contextmanager
def speaking(language: Language, sentences: Mapping[str, tuple[Sentence, ...]] = NONE) -> Iterator[None]:
    """The body writes in this language. Texts that are among a plan's ``sentences`` need not be understood again."""
    before, of_plan_before = _NOW.set(language), _OF_PLAN.set(sentences)
    try:
        yield
    finally:
        _NOW.reset(before)
        _OF_PLAN.reset(of_plan_before)


def _words() -> Words:
    return words_of(_NOW.get())


def gettext(message: str, **values: Any) -> Markup:
    """A template's text with its values, which are escaped, with all characters visible and thousands separated."""
    return _with_values(_words().texts.gettext(message), values)


def ngettext(singular: str, plural: str, number: int, **values: Any) -> Markup:
    """The same in the form that the number asks for."""
    return _with_values(_words().texts.ngettext(singular, plural, number), {"num": number, **values})


class Spoken(English):
    """How the displays of progress say their texts in this language, in whichever thread."""

    def __init__(self, language: Language) -> None:
        self._language, self._of = language, words_of(language)

    def phrase(self, text: str, /, **values: object) -> str:
        """A text of the displays with its values."""
        return self._of.texts.gettext(text).format(**values)

    def words(self, text: str) -> str:
        """What a step tells; in English where the catalogue does not have it."""
        return text if self._language == ENGLISH else self._of.sentences.said(text) or text


def phrase(template: str, /, **values: object) -> str:
    """A text of the code with its values as they are, such as ``phrase("Runbook of {cluster}", cluster=name)``."""
    return _words().texts.gettext(template).format(**values)


def words(text: str) -> str:
    """A text of the page or the plan in this language; in English where the catalogue does not have it."""
    return text if _NOW.get() == ENGLISH else _said(text) or text


def error_words(text: str) -> str:
    """The line of an error, a refusal or ``doctor`` in this language; in English where the catalogue lacks it."""
    return _words().errors.said(text)


def translated(value: Value) -> Value | str:
    """The same for a template: what stays English is marked as such; what is no text stays as it is."""
    if _NOW.get() == ENGLISH or not isinstance(value, str) or isinstance(value, Markup):
        return value
    said = _said(value)
    if said is not None:
        return said
    return Markup('<span lang="en">{}</span>').format(visible(value)) if _ENGLISH_WORDS.search(value) else value


def _said(text: str) -> str | None:
    """A text in the language of now; None if it is not known as a whole."""
    sentences, parts = _words().sentences, _OF_PLAN.get().get(text)
    return (sentences.say(parts) if parts else None) or sentences.said(text)


def translated_refusal(text: str) -> str:
    """The same for what a page refuses: a text of the page, or the line of an error."""
    said = error_words(text)
    return translated(text) if said == text else said


def _with_values(text: str, values: dict[str, Any]) -> Markup:
    return Markup(text) % {name: _shown(value) for name, value in values.items()}  # noqa: S704  # a text of this package


def _shown(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
