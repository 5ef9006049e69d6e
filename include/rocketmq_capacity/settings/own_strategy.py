"""A strategy of the deployment's own: a class in a jar, and its answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rocketmq_capacity.errors import BadInput

CLASS_NAME: Final = r"^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$"
"""A class by its full name; an inner one has a ``$``."""


class OwnStrategy(BaseModel):
    """A class that implements AllocateMessageQueueStrategy, and the jars that it and RocketMQ's client are in."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    class_name: Annotated[str, Field(alias="class", pattern=CLASS_NAME, max_length=1_000)]
    jar: tuple[Annotated[str, Field(min_length=1)], ...]

    @field_validator("jar", mode="before")
    @classmethod
    def _several(cls, jar: object) -> object:
        return (jar,) if isinstance(jar, str) else jar

    @field_validator("jar")
    @classmethod
    def _some(cls, jar: tuple[str, ...]) -> tuple[str, ...]:
        if not jar:
            raise ValueError("is empty; expected a jar file, or a list of them")
        return jar


@dataclass(frozen=True, slots=True)
class OwnAnswers:
    """The queues that a class gave to the clients of a group, and its arguments.

    Attributes:
        places: topic, broker name and number of readable queues, for each topic and broker of the arguments.
        client_ids: of the arguments, in their order; equal ids are next to one another.
        given: by topic and client id, the queues of its answer: topic, broker name and queue id.
        thrown: by topic, what it threw; it is not called again for such a topic.
    """

    places: tuple[tuple[str, str, int], ...]
    client_ids: tuple[str, ...]
    given: Mapping[str, Mapping[str, tuple[tuple[str, str, int], ...]]]
    thrown: Mapping[str, str]


def place_of(consumer_group: str) -> str:
    """Where in the policy a group's class is named."""
    return f"current_strategies.{consumer_group}"


def check_jars(strategy: OwnStrategy, place: str, source: str = "policy") -> None:
    """Refuse jars that do not exist. Errors: BadInput, naming the ``source`` and the place in it."""
    for jar in strategy.jar:
        if not Path(jar).is_file():
            raise BadInput(source, f"{place}.jar", f"is {jar}, which is not a file; expected a jar file")
