"""Possible savings: one table of the groups that need fewer clients, in place of a cause for each."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.limits import SAVINGS
from rocketmq_capacity.report.needed import ClientsOfGroup
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.first import First


@dataclass(frozen=True, slots=True)
class Saving:
    """A group that can have fewer clients."""

    anchor: str | None
    """The id of its line; None if its cause stands elsewhere on the page."""
    group: Link
    clients: int
    could_be: int
    rooms: str
    """How many of them run in each machine room; empty where that makes no difference."""
    cause: Link | None
    """The cause that says more; None if this line is all of it."""

    @property
    def saved(self) -> int:
        """How many clients fewer."""
        return self.clients - self.could_be


@dataclass(frozen=True, slots=True)
class Savings:
    """The groups that can have fewer clients, those that save most first."""

    lines: First[Saving]
    groups: int
    saved: int
    """Clients that all groups together save."""


def savings_of(
    plan: Plan, staff: Mapping[str, ClientsOfGroup], answers: Answers, group_anchors: Mapping[str, str]
) -> Savings | None:
    """The groups that can run fewer clients, by a recommendation or by their bounds; None if there are none."""
    savings = [
        _saving(group.consumer_group, staff[group.consumer_group], answers, group_anchors)
        for group in plan.groups
        if staff[group.consumer_group].spare
    ]
    if not savings:
        return None
    savings.sort(key=lambda saving: (-saving.saved, saving.group.text))
    return Savings(
        lines=First(savings[:SAVINGS], len(savings)),
        groups=len(savings),
        saved=sum(saving.saved for saving in savings),
    )


def _saving(group: str, needed: ClientsOfGroup, answers: Answers, group_anchors: Mapping[str, str]) -> Saving:
    recommendation = needed.recommendation
    line = None if recommendation is None else answers.saving_of(recommendation.id)
    return Saving(
        anchor=line,
        group=Link(group, group_anchors.get(group)),
        clients=needed.clients,
        could_be=needed.clients - (needed.spare or 0),
        rooms="" if recommendation is None else str(recommendation.after.get("rooms", "")),
        cause=None if recommendation is None or line is not None else answers.link(recommendation.id),
    )
