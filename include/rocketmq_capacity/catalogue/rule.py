"""The record of a rule: its words, where it stands among the others, and what the rest of a plan has to know of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final, Literal

from rocketmq_capacity.catalogue.evidence import Evidence, FindingLike, figures_of, units_in
from rocketmq_capacity.catalogue.offered import records
from rocketmq_capacity.vocabulary import Goal, Severity

ROOM: Final = "rocketmq_capacity.assessment"
"""The package whose modules have the records."""
LAST: Final = 1_000
"""The place of a rule that is not known."""

About = Literal["group", "topic", "broker", "cluster"]
"""What a finding is about."""
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
"""What one looks at first, by commands that only read."""
USUAL: Final[Mapping[About, str]] = {
    "group": "the progress of the group and the state of its clients",
    "topic": "the route and the offsets of the topic",
    "broker": "the list of brokers",
    "cluster": "the list of brokers",
}
"""What ``usual`` is, in words."""
LOOKS: Final[Mapping[Look, str]] = {
    "its clients": "the progress of the group, and the state of the clients that the finding names",
    "order": "the progress of the group, the state of its clients, and the route of the topic",
    "stacks": "the progress of the group, and what the threads of the queues' owners wait for",
    "members": "the members of the group, as each broker names them",
    "unused": "whether offsets move and clients run, or whether the topic is written",
    "producers": "the offsets and rates of the topic, and the producers that its brokers name",
    "name servers": "the brokers and the routes that each name server gives",
    "slave": "the brokers with their versions, and the status of the slave",
    "versions": "the versions of the clients, or of the brokers",
    "disk": "the brokers, and the status of the one whose disk is fullest",
}
"""What the others are, in words."""
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
FACTS: Final[Mapping[Fact, str]] = {
    "clients": "the group still has clients",
    "broker": "the broker still has queues of its topics",
    "queues": "the queues can still be read",
    "owners": "who owns which queue",
    "owners of the topic": "who owns the queues of the topic, and each has an owner",
    "nobody idle": "every client has a queue",
    "rates": "how much is written",
    "spread": "how producers spread their messages",
    "lag": "the lag of all queues",
    "lag of its queues": "the lag of the queues that are named",
    "samples": "how the lag of all queues moves",
    "samples of its queues": "how the lag of the queues that are named moves",
    "consumed": "how much the clients handle",
    "seen": "which brokers know the clients",
    "judged skew": "there are several clients and enough traffic for a verdict",
    "written": "something is written",
    "provision": "the provision status",
    "growth": "whether lag still grows",
    "unused time": "for how long it is unused, which no change tells",
}
"""What has to be known after the change, or to be so, in words."""
EVERY: Final[tuple[Fact, ...]] = (
    "clients",
    "broker",
    "queues",
    "owners",
    "rates",
    "spread",
    "lag",
    "samples",
    "consumed",
    "seen",
)
"""What a rule needs that does not say what it needs."""
Shown = Literal["progress", "retry topic", "members", "brokers"]
"""The command by which one sees that a finding of a group is gone, or (brokers) one of brokers."""

OWNED: Final = "no queue has N/A as its client IP."
FALLS: Final = "the Diff of the queues that are named falls from one call to the next."
GONE: Final = "what the finding says is no longer so; the next plan does not have the finding any more."
EVEN: Final = "each client IP has about as many queues as the others."
SKEW: Final[tuple[Fact, ...]] = ("clients", "owners", "judged skew")
"""What is needed to judge a skew again."""
UNEVEN: Final[Mapping[Severity, str]] = {
    "WARNING": "the busiest client has little time left at the peak, or may have, or lag grows",
    "INFO": "it has time left",
}
"""The severities of a skew, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule, which finds what is wrong with a group, a topic or the cluster.

    Attributes:
        name: its name in plan.json and in the policy.
        title: what is wrong, in a few words.
        meaning: one or two sentences for people.
        evidence: what its findings are based on; several kinds if it finds different things, of which only one fits.
        place: findings of rules with a lower place are mended first.
        goal: the goal of the score that its findings keep the cluster from; None if it is about none of them.
        about: what its findings are about.
        severities: those that its findings may have, and why.
        thresholds: further ones that it uses: a section of the policy's ``thresholds``, or a key of one. A section
            with the rule's name is its own anyway.
        details: more for people, in Markdown; links start at the folder of the documents.
        advice: what to do where no action answers it: a sentence, or finding and evidence -> the sentence. It may name
            ``{subjects}``, ``{topic}``, ``{broker_name}``, ``{message}`` (the finding's) and ``{no_strategy}`` (why no
            strategy helps). Other names go in by :func:`rocketmq_capacity.wording.verbatim`.
        looks: what one looks at first.
        shows: what the command shows once the finding is gone.
        shown_by: this command, for a finding of a group or of brokers.
        is_choice: several actions that answer it are alternatives: one of them is enough.
        is_structural: a change of the cluster or of the clients answers it, so an incomplete snapshot leaves it open.
        skews: what it compares between clients; None if it finds no skew.
        needs: the facts that have to be known, so that it counts as judged again in a what-if; None: all of them.
        follows_loss_of: queues or brokers that are gone are reason enough for a new finding in a what-if.
        leaves_with_clients: its subjects are clients: it is gone with the machine room that they are in.
        names_example: the topic of a finding on a group is only an explanation, and may be another one next time.
        is_for_good: it also speaks of a group that its schedule has off.
        is_of_snapshot: it is about the snapshot itself: no change of its copy mends what it finds.
        flaps: one measurement decides it, which may be another one in the next run: what it finds opens with the second
            run in a row that finds it, CRITICAL at once, and closes with the second one that does not.
    """

    name: str
    title: str
    meaning: str
    place: int
    evidence: type[Evidence] | tuple[type[Evidence], ...]
    goal: Goal | None = None
    about: tuple[About, ...] = ("group",)
    severities: Mapping[Severity, str] = field(default_factory=dict)
    thresholds: tuple[str, ...] = ()
    details: str = ""
    advice: str | Callable[[Any, Any], str] = "{message}"
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
    is_of_snapshot: bool = False
    flaps: bool = False

    @property
    def kinds(self) -> tuple[type[Evidence], ...]:
        """The kinds of its evidence."""
        return self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)


@cache
def rules() -> Mapping[str, Rule]:
    """The rules by name, in the order in which to mend what they find."""
    return {record.name: record for record in sorted(records(ROOM, Rule), key=lambda record: record.place)}


def rule_of(name: str) -> Rule:
    """The rule of this name. One of another version comes last, and nothing is known of it but its name."""
    return rules().get(name) or Rule(name=name, title=name, meaning="", place=LAST, evidence=())


@lru_cache(maxsize=64)  # a plan file may name any rule
def units_of(rule: str) -> Mapping[str, str]:
    """The units of figures in evidence by their names, if they do not end in them; a rule's own come first."""
    kinds = [kind for record in (*rules().values(), rule_of(rule)) for kind in record.kinds]
    return dict(units_in(figure for kind in kinds for figure in figures_of(kind)))


def evidence_of(finding: FindingLike) -> Evidence | None:
    """The evidence of a finding; None if its rule is not known, or if it is of another version of this program."""
    return next((held for kind in rule_of(finding.rule).kinds if (held := kind.read(finding)) is not None), None)
