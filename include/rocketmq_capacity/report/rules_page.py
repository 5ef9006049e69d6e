"""The page rules-and-actions.md, from the records of both."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.catalogue.action import INVESTIGATE, Action, actions
from rocketmq_capacity.catalogue.evidence import EvidenceField, figures_of
from rocketmq_capacity.catalogue.rule import EVERY, FACTS, GONE, LOOKS, USUAL, About, Rule, Shown, rules
from rocketmq_capacity.report.figures import UNITS
from rocketmq_capacity.settings.thresholds import Thresholds

FILE: Final = "rules-and-actions.md"
INTRODUCTION: Final = """\
# Rules and actions

<!-- Made by `make docs` from the records of rules and actions in include/rocketmq_capacity; change it there. -->

What a plan can find, in the order in which to mend it, and what it can recommend.
[Read a report](how-to/read-a-report.md) says how to use both. The policy can change the thresholds;
[policy.yaml](../policy.yaml) has the unit, the reason and the source of each.

A finding that follows from another one of its group belongs to the cause of that one, and is mended with it. A finding
is gone if the next plan does not have it any more; some rules name a command that shows it earlier.
"""
OPENS: Final = "with the second run in a row, CRITICAL at once ([states](formats.md#states-of-findings))"
SHOWN_BY: Final[Mapping[Shown, str]] = {
    "progress": "`consumerProgress`",
    "brokers": "`clusterList`",
    "retry topic": "`topicStatus` of the retry topic",
    "members": "`consumerConnection`",
}
SHOWN_OF_TOPIC: Final = "`topicRoute`"
JUDGED: Final[Mapping[About, str]] = {
    "group": "",
    "topic": "the topic still has queues there, the same ones are written, and it is known how much",
    "broker": "the cluster still has the broker",
    "cluster": "the cluster still has the brokers that are named",
}
"""What has to be so for findings that are not a group's, if their rule does not say what it needs."""
CHANGES: Final = {"cluster": "the cluster", "clients": "the clients", "nothing": "nothing: it only looks"}
WORDS: Final = {
    "group": "a group",
    "topic": "a topic",
    "subject": "what was found",
    "strategy": "another strategy",
    "clients": "more or fewer",
}
"""What stands for the names in the title of an action."""


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A recommendation of which nothing is known, for the words of a check."""

    consumer_group: str | None = None
    topic: str | None = None
    before: str = "{}"
    after: str = "{}"
    rules: Sequence[str] = ()


Row = tuple[str, str]
"""What a line of a table is about, and what it says."""


def page() -> str:
    """The whole page, as Markdown; equal records give equal text."""
    all_rules, all_actions = rules(), actions()
    parts = [INTRODUCTION, f"- Rules: {_links(all_rules)}", f"- Actions: {_links(all_actions)}", "", "## The rules", ""]
    for rule in all_rules.values():
        parts += _section(rule.name, f"**{rule.title}.** {rule.meaning}", rule.details, _rows_of_rule(rule))
    parts += ["## The actions", ""]
    for action in all_actions.values():
        title = action.title.format(**WORDS)
        parts += _section(action.name, f"**{title}.** {action.meaning}", action.details, _rows_of_action(action))
    return "\n".join(parts)


def _section(name: str, meaning: str, details: str, rows: Iterable[Row]) -> Iterator[str]:
    yield from (f"### {name}", "", meaning, "")
    if details:
        yield from (inspect.cleandoc(details), "")
    yield from ("| | |", "|---|---|")
    yield from (f"| {about} | {said} |" for about, said in rows)
    yield ""


def _rows_of_rule(rule: Rule) -> Iterator[Row]:
    yield "about", " or ".join(f"a {about}" if about != "cluster" else "the cluster" for about in rule.about)
    yield from rule.severities.items()
    if rule.flaps:
        yield "opens and closes", OPENS
    if rule.goal is not None:
        yield "goal of the score", f"[{rule.goal}](formats.md#scores)"
    yield from _thresholds(rule.name, rule.thresholds)
    yield from _evidence(rule)
    by = [action.name for action in actions().values() if rule.name in action.answers]
    yield "answered by", f"{_links(by)}; else {_links([INVESTIGATE])}" if by else _links([INVESTIGATE])
    usual = dict.fromkeys(USUAL[about] for about in rule.about)
    yield "look first at", LOOKS.get(rule.looks, "; or ".join(usual))
    if rule.shows != GONE:
        shown_by = SHOWN_OF_TOPIC if "topic" in rule.about and "group" not in rule.about else SHOWN_BY[rule.shown_by]
        yield "gone if", f"{shown_by} shows: {rule.shows}"
    yield "in a what-if", " ".join(_in_a_what_if(rule))


def _evidence(rule: Rule) -> Iterator[Row]:
    """What a finding is based on; a rule that finds different things says of which one."""
    for kind in rule.kinds:
        meaning = (kind.__doc__ or "").partition(f"{rule.name} ")[2].rstrip(".")
        if figures := _figures(figures_of(kind)):
            yield f"evidence {meaning}".rstrip(), figures


def _figures(figures: Iterable[EvidenceField]) -> str:
    return "; ".join(f"`{one.name}`: {_counted(one)}{_parts(one)}" for one in figures)


def _counted(figure: EvidenceField) -> str:
    """The meaning, after what is counted."""
    if not figure.unit or figure.unit in UNITS.values():
        return figure.meaning
    return f"{figure.unit}s {figure.meaning}"


def _parts(figure: EvidenceField) -> str:
    return f" ({_figures(figure.parts)})" if figure.parts else ""


def _in_a_what_if(rule: Rule) -> Iterator[str]:
    if rule.is_of_snapshot:
        yield "Never judged again: it is about the snapshot itself."
        return
    conditions = [_judged(about, rule) for about in rule.about]
    yield f"Judged again if this is known: {'; or '.join(conditions)}."
    if rule.follows_loss_of is not None:
        yield f"A new one follows from {rule.follows_loss_of} that are lost."
    if rule.leaves_with_clients:
        yield "It is gone with the machine room of its clients."


def _judged(about: About, rule: Rule) -> str:
    if about == "group":
        return ", ".join(FACTS[fact] for fact in (EVERY if rule.needs is None else rule.needs))
    if rule.needs and about == "topic":
        return ", ".join(FACTS[fact] for fact in rule.needs)
    return "the topic still has queues there" if rule.needs == () and about == "topic" else JUDGED[about]


def _rows_of_action(action: Action) -> Iterator[Row]:
    yield "changes", CHANGES[action.changes]
    yield "offered", f"{action.offered}."
    if action.answers:
        yield "answers", _links(action.answers)
    yield "moves queues", _moves(action)
    yield from _thresholds(action.name, action.thresholds)
    if action.check is None:
        yield "check afterwards", "what shows that the finding is gone"
    else:
        command, shows = action.check(Unnamed(), "")
        yield "check afterwards", f"`{command.split()[1]}` shows: {shows}"
    yield "way back", action.way_back if isinstance(action.way_back, str) else action.way_back({})


def _moves(action: Action) -> str:
    if action.unknown_moves is not None:
        return f"yes; which is UNDECIDED: {action.unknown_moves}"
    return "yes; the report says which, and how long they are unread" if action.moves_queues else "no"


def _thresholds(name: str, further: Sequence[str]) -> Iterator[Row]:
    """The keys of its own section, and those that it uses of others, with their defaults."""
    defaults = Thresholds()
    values = []
    for path in [*([name] if name in Thresholds.model_fields else []), *further]:
        title, _, key = path.partition(".")
        section = getattr(defaults, title)
        for field in [key] if key else type(section).model_fields:
            label = field if title == name else f"{title}.{field}"
            values.append(f"`{label}` {_value(getattr(section, field))}")
    if values:
        yield "thresholds", ", ".join(values)


def _value(default: object) -> str:
    if isinstance(default, float):
        return f"{default:g}"
    return str(default) if default != () else "none"


def _links(names: Iterable[str]) -> str:
    return ", ".join(f"[{name}](#{name.lower()})" for name in names)
