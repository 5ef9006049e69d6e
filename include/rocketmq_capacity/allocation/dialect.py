"""The dialect of a client: libraries may compute the strategy of one name differently."""

from functools import lru_cache
from typing import Final

from rocketmq_capacity.model.members import Members
from rocketmq_capacity.protocol.version import numbers_of
from rocketmq_capacity.vocabulary import GO, GO_V2, JAVA, JAVA_4_7_1, Dialect

LAST_OLD: Final = (4, 7, 1)


@lru_cache(1024)
def dialect_of(language: str | None, version: str | None) -> Dialect:
    """The dialect of a client; a client without a language is treated as a Java client.

    JAVA means every library that computes as the Java classes have done since 4.8.0.
    """
    if language == GO:
        return GO_V2
    numbers = numbers_of(version)
    is_old = numbers is not None and numbers <= LAST_OLD
    return JAVA_4_7_1 if is_old and language in (JAVA, None) else JAVA


def dialects_of(members: Members) -> list[Dialect]:
    """The dialect of the consumer at each place."""
    return [dialect_of(one.language, one.version) for one in members.consumers]


def is_usual(members: Members) -> bool:
    """Whether all consumers compute as the Java classes have done since 4.8.0."""
    return _are_usual(members.libraries)


@lru_cache(1024)
def _are_usual(libraries: frozenset[tuple[str | None, str | None]]) -> bool:
    return all(dialect_of(*library) == JAVA for library in libraries)


def id_with_several_dialects(members: Members) -> str | None:
    """The first client id whose consumers have several dialects, or None."""
    known: dict[str, Dialect] = {}
    for consumer, dialect in zip(members.consumers, dialects_of(members), strict=True):
        if known.setdefault(consumer.client_id, dialect) != dialect:
            return consumer.client_id
    return None
