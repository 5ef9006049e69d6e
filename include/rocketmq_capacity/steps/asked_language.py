"""The language that the arguments of a program ask for, which may be wrong ones: an error is said in it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rocketmq_capacity.vocabulary import ENGLISH, LANGUAGES, Language


def asked_language(words: Sequence[str]) -> Language:
    """That of ``--language``, else that of ``--policy``; English if neither names one."""
    given = {option: value for option in ("--language", "--policy") for value in _values_of(option, words)}
    if "--language" in given:
        return next((language for language in LANGUAGES if language == given["--language"]), ENGLISH)
    policy = Path(given.get("--policy", ""))
    if not policy.is_file():  # a device may have nothing to read again
        return ENGLISH
    from rocketmq_capacity.settings.policy_language import language_of_policy

    return language_of_policy(policy)


def in_asked_language(error: str, words: Sequence[str]) -> str:
    """An error's line in that language; English needs no catalogue."""
    language = asked_language(words)
    if language == ENGLISH:
        return error
    from rocketmq_capacity.language.current import error_words, speaking

    with speaking(language):
        return error_words(error)


def _values_of(option: str, words: Sequence[str]) -> Iterator[str]:
    """What the arguments give an option, as one word or as two."""
    for word, following in pairwise((*words, "")):
        if word == option:
            yield following
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]
