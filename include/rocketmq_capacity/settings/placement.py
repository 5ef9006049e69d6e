"""Where topics are meant to be: brokers by patterns of topics' names."""

from typing import Annotated

from pydantic import Field, field_validator

from rocketmq_capacity.settings.patterns import Pattern, is_found
from rocketmq_capacity.settings.section import Section


class Placement(Section):
    """The brokers that the topics of a pattern are meant to be on; the pattern is searched in a topic's name."""

    topics: Pattern
    brokers: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]

    @field_validator("brokers")
    @classmethod
    def _once(cls, brokers: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(brokers)) != len(brokers):
            raise ValueError("names a broker twice; expected each once")
        return brokers

    def has(self, topic: str) -> bool:
        """Whether a topic is meant."""
        return is_found(self.topics, topic)
