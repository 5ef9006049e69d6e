"""The groups, topics and brokers that break first when traffic grows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.figures import factor
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.report.wording import BREAKS_WORDS
from rocketmq_capacity.vocabulary import HeadroomKind

GROUP: Final[HeadroomKind] = "GROUP"
KIND_WORDS: Final[Mapping[HeadroomKind, str]] = {GROUP: "Group", "TOPIC": "Topic", "BROKER": "Broker"}


@dataclass(frozen=True, slots=True)
class HeadroomLine:
    """One of them."""

    kind: str
    name: Link
    """A group leads to its section, or to its line in the table of groups."""
    factor: str
    breaks: str
    is_beyond: bool
    """Whether it is beyond its bound at the peak already."""


def headroom_lines(plan: Plan, group_anchors: Mapping[str, str]) -> tuple[HeadroomLine, ...]:
    """The plan's ``headroom``, the lowest first."""
    return tuple(
        HeadroomLine(
            kind=KIND_WORDS[one.kind],
            name=Link(one.name, group_anchors.get(one.name) if one.kind == GROUP else None),
            factor=factor(one.factor),
            breaks=BREAKS_WORDS[one.breaks],
            is_beyond=one.factor < 1,
        )
        for one in plan.headroom
    )
