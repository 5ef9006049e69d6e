"""Finds the same findings in two runs, whatever their figures. All comparisons of two plans use it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.tables.assess.findings import FoundPlace

Item = TypeVar("Item")


class ComparableFinding(Protocol):
    """The members of a finding that are compared; a finding comes from a run's tables or from a plan file."""

    @property
    def rule(self) -> str:
        """Name of the rule."""

    @property
    def consumer_group(self) -> str | None:
        """The group that it is about."""

    @property
    def topic(self) -> str | None:
        """The topic that it is about."""

    @property
    def broker_name(self) -> str | None:
        """The broker that it is about."""


def found_place(rule: str, consumer_group: str | None, topic: str | None, broker_name: str | None) -> FoundPlace:
    """The rule and the names that a finding is about, without a topic that is only an example."""
    return rule, consumer_group, None if rule_of(rule).names_example else topic, broker_name


def place_of(finding: ComparableFinding) -> FoundPlace:
    """The place of a finding; its subjects (client ids, queues) may change from run to run."""
    return found_place(finding.rule, finding.consumer_group, finding.topic, finding.broker_name)


def place_with_subjects(finding: PlanFinding) -> tuple[Any, ...]:
    """The same with its subjects."""
    return (*place_of(finding), finding.subjects)


def paired(
    before: Sequence[Item], after: Sequence[Item], identities: Sequence[Callable[[Item], Any]]
) -> tuple[list[tuple[Item, Item]], list[Item], list[Item]]:
    """The items of both sides in pairs, those that only the first side has, and those that only the second has.

    Items are paired by the first identity; the remaining ones by the next identity.
    """
    pairs: list[tuple[Item, Item]] = []
    old, new = list(before), list(after)
    for identity in identities:
        waiting: dict[Any, list[Item]] = {}
        for item in old:
            waiting.setdefault(identity(item), []).append(item)
        unpaired = []
        for item in new:
            partners = waiting.get(identity(item))
            if partners:
                pairs.append((partners.pop(0), item))
            else:
                unpaired.append(item)
        old, new = [item for items in waiting.values() for item in items], unpaired
    return pairs, old, new
