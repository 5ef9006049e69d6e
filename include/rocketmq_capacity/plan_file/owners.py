"""Whose a finding, a recommendation or a cause is, and of which tier, by what is told of the groups."""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from rocketmq_capacity.plan_file.group import GroupPlan


class ToldOf(Protocol):
    """What is told of a group: by the policy, or by a plan that repeats it."""

    @property
    def owner(self) -> str | None:
        """Whose the group is."""

    @property
    def tier(self) -> int | None:
        """How much depends on it."""


class PeopleOfPlan:
    """The owners and tiers of a plan's groups, and of the topics that they read."""

    def __init__(self, stated: Mapping[str, ToldOf], topics: Mapping[str, Iterable[str]]) -> None:
        """What is told of each group; ``topics`` are the business topics of each."""
        self._stated = stated
        self._readers: dict[str, list[str]] = {}
        for group in stated:
            for topic in topics[group]:
                self._readers.setdefault(topic, []).append(group)

    @classmethod
    def of_groups(cls, groups: Iterable[GroupPlan]) -> Self:
        """Those that a plan's groups name."""
        named = {group.consumer_group: group for group in groups}
        return cls(named, {name: group.topics for name, group in named.items()})

    def of_group(self, consumer_group: str) -> str | None:
        """The owner of a group; None if it is not told."""
        stated = self._stated.get(consumer_group)
        return None if stated is None else stated.owner

    def tier_of_group(self, consumer_group: str) -> int | None:
        """The tier of a group; None if it is not told."""
        stated = self._stated.get(consumer_group)
        return None if stated is None else stated.tier

    def of(self, consumer_group: str | None, topic: str | None) -> tuple[str, ...]:
        """Whose something is: the group's owner, or the owners of all groups that read the topic, by name."""
        owners = {self.of_group(group) for group in self._groups(consumer_group, topic)}
        return tuple(sorted(owner for owner in owners if owner is not None))

    def only_one(self, consumer_group: str | None, topic: str | None) -> str | None:
        """The one owner; None if there are none or several."""
        owners = self.of(consumer_group, topic)
        return owners[0] if len(owners) == 1 else None

    def tier(self, consumer_group: str | None, topic: str | None) -> int | None:
        """The tier of the group, or the most important one of the groups that read the topic; None if not told."""
        tiers = [self.tier_of_group(group) for group in self._groups(consumer_group, topic)]
        return min((tier for tier in tiers if tier is not None), default=None)

    def _groups(self, consumer_group: str | None, topic: str | None) -> Iterable[str]:
        if consumer_group is not None:
            return (consumer_group,)
        return () if topic is None else self._readers.get(topic, ())
