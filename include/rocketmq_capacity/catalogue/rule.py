"""The record of a rule: its words, where it stands among the others, and what the rest of a plan has to know of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from rocketmq_capacity.catalogue.offered import records

ROOM: Final = "rocketmq_capacity.assessment"
"""The package whose modules have the records."""
LAST: Final = 1_000
"""The place of a rule that is not known."""

Look = Literal[
    "usual",
    "its clients",
    "order",
    "stacks",
    "members",
    "unused",
    "producers",
    "name servers",
    "slave",
    "versions",
    "disk",
]
"""What one looks at first, by commands that only read.

``usual`` is the progress of a group and the state of each client, the route and the offsets of a topic, or the list of
brokers. ``its clients`` are those that the finding names.
"""
Fact = Literal[
    "clients",
    "broker",
    "queues",
    "owners",
    "owners of the topic",
    "nobody idle",
    "rates",
    "spread",
    "lag",
    "lag of its queues",
    "samples",
    "samples of its queues",
    "consumed",
    "seen",
    "judged skew",
    "written",
    "provision",
    "growth",
    "unused time",
]
"""A fact that a change of the cluster may make unknown, or a state in which a rule finds nothing for another reason."""
Shown = Literal["progress", "retry topic", "members"]
"""The command by which one sees that a finding of a group is gone."""

OWNED: Final = "no queue has N/A as its client IP."
FALLS: Final = "the Diff of the queues that are named falls from one call to the next."
GONE: Final = "what the finding says is no longer so; the next plan does not have the finding any more."
EVEN: Final = "each client IP has about as many queues as the others."
SKEW: Final[tuple[Fact, ...]] = ("clients", "owners", "judged skew")
"""What is needed to judge a skew again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule, which finds what is wrong with a group, a topic or the cluster.

    Attributes:
        name: its name in plan.json and in the policy.
        title: what is wrong, in a few words.
        meaning: one or two sentences for people.
        place: findings of rules with a lower place are mended first.
        advice: what to do where no action answers it: a sentence, or finding and evidence -> the sentence. It may name
            ``{subjects}``, ``{topic}``, ``{message}`` (the finding's) and ``{no_strategy}`` (why no strategy helps).
        looks: what one looks at first.
        shows: what the command shows once the finding is gone.
        shown_by: this command, for a finding of a group.
        is_choice: several actions that answer it are alternatives: one of them is enough.
        is_structural: a change of the cluster or of the clients answers it, so an incomplete snapshot leaves it open.
        skews: what it compares between clients; None if it finds no skew.
        needs: the facts that have to be known, so that it counts as judged again in a what-if; None: all of them.
        follows_loss_of: queues or brokers that are gone are reason enough for a new finding in a what-if.
        leaves_with_clients: its subjects are clients: it is gone with the machine room that they are in.
        names_example: the topic of a finding on a group is only an explanation, and may be another one next time.
        is_for_good: it also speaks of a group that its schedule has off.
    """

    name: str
    title: str
    meaning: str
    place: int
    advice: str | Callable[[Any, Mapping[str, Any]], str] = "{message}"
    looks: Look = "usual"
    shows: str = GONE
    shown_by: Shown = "progress"
    is_choice: bool = False
    is_structural: bool = False
    skews: Literal["counts", "loads"] | None = None
    needs: tuple[Fact, ...] | None = None
    follows_loss_of: Literal["queues", "brokers"] | None = None
    leaves_with_clients: bool = False
    names_example: bool = False
    is_for_good: bool = False


@cache
def rules() -> Mapping[str, Rule]:
    """The rules by name, in the order in which to mend what they find."""
    return {record.name: record for record in sorted(records(ROOM, Rule), key=lambda record: record.place)}


def rule_of(name: str) -> Rule:
    """The rule of this name. One of another version comes last, and nothing is known of it but its name."""
    return rules().get(name) or Rule(name=name, title=name, meaning="", place=LAST)
