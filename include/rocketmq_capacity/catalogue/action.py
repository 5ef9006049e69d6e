"""The record of an action: its words, its place on the page, how to see that it worked, and how to undo it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Protocol

from rocketmq_capacity.catalogue.offered import records

ROOM: Final = "rocketmq_capacity.recommendation"
"""The package whose modules have the records."""
INVESTIGATE: Final = "INVESTIGATE"
"""The action that only looks: it answers what no other action does."""
LAST: Final = 1_000
"""The place of an action that is not known."""


class Recommended(Protocol):
    """The members of a recommendation that a check reads; ``before`` and ``after`` are JSON objects."""

    @property
    def consumer_group(self) -> str | None:
        """The group that it is about."""

    @property
    def topic(self) -> str | None:
        """The topic that it is about."""

    @property
    def before(self) -> str:
        """What was, as a JSON object."""

    @property
    def after(self) -> str:
        """What would be, as a JSON object."""

    @property
    def rules(self) -> Sequence[str]:
        """Names of the rules that it answers."""


Proof = tuple[str, str]
"""A command that only looks, and what it must show afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action that the plan may recommend.

    Attributes:
        name: its name in plan.json.
        title: what to do; ``{group}``, ``{topic}`` and ``{subject}`` stand for names, ``{strategy}`` and ``{clients}``
            for what it would be.
        meaning: one or two sentences for people.
        place: actions with a lower place come first on the page: of two ways to mend the same, the one that is easier
            to undo and costs less. Clients come before settings, settings before queues and code.
        changes: what changes if it is carried out: the cluster, the clients, or nothing, because it only looks.
        check: recommendation and addresses of the name servers -> how to see that it worked; None if that depends on
            the rules that it answers.
        way_back: how to undo it: a sentence, or a function of what was before.
        answers: the rules whose findings it mends. Findings that come of these are mended with them.
        offered: when the plan recommends it, as a half sentence.
        moves_queues: whether it changes who reads what.
        unknown_moves: why it is not known which queues move; None if that is computed.
        thresholds: further ones that it uses: a section of the policy's ``thresholds``, or a key of one. A section
            with the action's name is its own anyway.
        details: more for people, in Markdown; links start at the folder of the documents.
    """

    name: str
    title: str
    meaning: str
    place: int
    changes: Literal["cluster", "clients", "nothing"]
    check: Callable[[Recommended, str], Proof] | None = None
    way_back: str | Callable[[Mapping[str, Any]], str]
    answers: tuple[str, ...] = ()
    offered: str = ""
    moves_queues: bool = False
    unknown_moves: str | None = None
    thresholds: tuple[str, ...] = ()
    details: str = ""


@cache
def actions() -> Mapping[str, Action]:
    """The actions by name, in the order of the page."""
    return {record.name: record for record in sorted(records(ROOM, Action), key=lambda record: record.place)}


def action_of(name: str) -> Action:
    """The action of this name. One of another version comes last, and nothing is known of it but its name."""
    unknown = Action(name=name, title=f"{name} {{subject}}", meaning="", place=LAST, changes="clients", way_back="")
    return actions().get(name, unknown)
