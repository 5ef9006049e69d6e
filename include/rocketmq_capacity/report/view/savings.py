"""Possible savings: one table of the groups that need fewer clients, in place of a cause for each."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import Recommendation
from rocketmq_capacity.report.limits import SAVINGS
from rocketmq_capacity.report.view.answers import Answers, Link, scales_down
from rocketmq_capacity.vocabulary import OVER


@dataclass(frozen=True, slots=True)
class Saving:
    """A group that can have fewer clients."""

    anchor: str | None
    """The id of its line; None if its cause stands elsewhere on the page."""
    group: Link
    clients: int
    could_be: int
    cause: Link | None
    """The cause that says more; None if this line is all of it."""

    @property
    def saved(self) -> int:
        """How many clients fewer."""
        return self.clients - self.could_be


@dataclass(frozen=True, slots=True)
class Savings:
    """The groups that can have fewer clients, those that save most first."""

    lines: tuple[Saving, ...]
    more: int
    """Groups that the page leaves to plan.json."""
    groups: int
    saved: int
    """Clients that all groups together save."""


def savings_of(plan: Plan, answers: Answers, group_anchors: Mapping[str, str]) -> Savings | None:
    """The groups that can run fewer clients, by a recommendation or by their bounds; None if there are none."""
    fewest: dict[str, Recommendation] = {}
    for one in plan.recommendations:
        group = one.consumer_group
        if group is not None and scales_down(one):
            known = fewest.get(group)
            if known is None or one.after["clients"] < known.after["clients"]:
                fewest[group] = one
    found = [_saving(group, one, answers, group_anchors) for group, one in fewest.items()]
    found += [
        Saving(None, Link(one.consumer_group, group_anchors.get(one.consumer_group)), one.connections, target, None)
        for one in plan.groups
        if one.provision_status == OVER and one.consumer_group not in fewest
        if (target := one.client_bounds.target) is not None and target < one.connections
    ]
    if not found:
        return None
    found.sort(key=lambda saving: (-saving.saved, saving.group.text))
    return Savings(
        lines=tuple(found[:SAVINGS]),
        more=max(0, len(found) - SAVINGS),
        groups=len(found),
        saved=sum(saving.saved for saving in found),
    )


def _saving(group: str, one: Recommendation, answers: Answers, group_anchors: Mapping[str, str]) -> Saving:
    link = answers.link(one.id)
    line = answers.saving_of(one.id)
    return Saving(
        anchor=line,
        group=Link(group, group_anchors.get(group)),
        clients=one.before["clients"],
        could_be=one.after["clients"],
        cause=link if line is None else None,
    )
