"""The language of a page: the one that the browser wishes for, else the deployment's, else English."""

from collections.abc import Iterator
from typing import Final

from fastapi import Request

from rocketmq_capacity.settings.deployment import policy_file
from rocketmq_capacity.settings.policy_language import language_of_policy
from rocketmq_capacity.vocabulary import LANGUAGES, Language

SIMPLIFIED: Final = frozenset({"zh", "zh-cn", "zh-sg", "zh-hans"})
"""Tags of Chinese in simplified characters; a tag with further parts, such as ``zh-Hans-CN``, begins with one."""
LONGEST: Final = 1_000
"""Characters of the header that are read."""


def language_of(request: Request) -> Language:
    """The language of what answers this request."""
    wished = wished_language(", ".join(request.headers.getlist("Accept-Language")))
    return wished or language_of_policy(policy_file())


def wished_language(header: str) -> Language | None:
    """The first language of the header that the pages have; None if they have none of them.

    Source: RFC 9110, section 12.5.4, and RFC 4647, section 3.4 (lookup).
    """
    wishes = sorted(_wishes(header[:LONGEST]), key=lambda wish: -wish[0])
    known = (_known(tag) for weight, tag in wishes if weight > 0)
    return next((language for language in known if language is not None), None)


def _wishes(header: str) -> Iterator[tuple[float, str]]:
    for part in header.split(","):
        tag, _, parameter = part.partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            weight = float(value) if name.strip().lower() == "q" else 1.0
        except ValueError:
            continue
        yield weight, tag.strip().lower()


def _known(tag: str) -> Language | None:
    """The language of a tag, by its beginning: ``en-GB`` is English, ``zh-TW`` none that the pages have."""
    language, *parts = tag.split("-")
    if language != "zh":
        return next((one for one in LANGUAGES if one == language), None)
    is_simplified = {tag, "-".join([language, *parts[:1]])} & SIMPLIFIED
    return "zh-CN" if is_simplified else None
