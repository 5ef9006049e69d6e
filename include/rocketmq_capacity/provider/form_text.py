"""Texts of forms and questions in the deployment's language: Airflow shows them to everybody alike."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rocketmq_capacity.settings.deployment import policy_file
from rocketmq_capacity.settings.policy_language import language_of_policy
from rocketmq_capacity.vocabulary import ENGLISH

if TYPE_CHECKING:
    from rocketmq_capacity.plan_file.sentence import Sentence


def phrase(text: str, /, **values: object) -> str:
    """A text with its values, as :func:`rocketmq_capacity.language.current.phrase`."""
    language = language_of_policy(policy_file())
    if language == ENGLISH:
        return text.format(**values)
    # Imported only where it is needed: Airflow reads each Dag file again and again.
    from rocketmq_capacity.language import current

    with current.speaking(language):
        return current.phrase(text, **values)


def document(text: str) -> str:
    """A text of several paragraphs, such as a Dag's docstring."""
    if language_of_policy(policy_file()) == ENGLISH:
        return text
    return "\n\n".join(phrase(paragraph) for paragraph in paragraphs(text))


def paragraphs(text: str) -> Iterator[str]:
    """Its paragraphs, each in one line, and its tables."""
    for part in text.strip().split("\n\n"):
        yield part if part.startswith("|") else " ".join(part.split())


def error_words(text: str) -> str:
    """The line of an error or a refusal; in English where the language does not have it."""
    language = language_of_policy(policy_file())
    if language == ENGLISH:
        return text
    from rocketmq_capacity.language import current

    with current.speaking(language):
        return current.error_words(text)


def words(text: str, sentences: Mapping[str, tuple["Sentence", ...]] | None = None) -> str:
    """A sentence of a plan, which may be among the plan's ``sentences``; in English where the language lacks it."""
    language = language_of_policy(policy_file())
    if language == ENGLISH:
        return text
    from rocketmq_capacity.language import current

    with current.speaking(language, sentences or current.NONE):
        return current.words(text)
