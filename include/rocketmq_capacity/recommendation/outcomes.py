"""The outcomes of a topic's cases: their effects on all its groups."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rocketmq_capacity.model.cases import CaseSide, EffectOfCase
from rocketmq_capacity.recommendation.effects import side_shown
from rocketmq_capacity.wording import listed


@dataclass(frozen=True)
class CaseOutcome:
    """The effects of a case on the groups that have clients on its topic.

    Attributes:
        effects: one for each group, sorted by name.
    """

    effects: Mapping[str, EffectOfCase] = field(default_factory=dict)

    @cached_property
    def worse(self) -> list[str]:
        """Groups that would be worse off."""
        return [group for group, effect in self.effects.items() if effect.is_worse]

    @cached_property
    def uncomputed(self) -> list[str]:
        """Groups whose state before or after cannot be computed."""
        return [group for group, effect in self.effects.items() if effect.before is None or effect.after is None]

    @property
    def idle_before(self) -> int:
        """Idle clients of all groups that can be computed, as IDLE_CONSUMERS counts them."""
        return sum(before.pulls_none for _, before, _ in self._computed())

    @cached_property
    def idle_after(self) -> int:
        """The same after the change."""
        return sum(after.pulls_none for _, _, after in self._computed())

    def sides(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The groups before and after, as the plan shows them."""
        sides = [(_shown(group, before), _shown(group, after)) for group, before, after in self._computed()]
        return [before for before, _ in sides], [after for _, after in sides]

    def unknown(self) -> str | None:
        """Why the change may not be recommended, because a group cannot be computed, or None."""
        if not self.uncomputed:
            return None
        return f"what these groups of the topic would own cannot be computed: {listed(self.uncomputed)}"

    def _computed(self) -> Iterator[tuple[str, CaseSide, CaseSide]]:
        for group, effect in self.effects.items():
            if effect.before is not None and effect.after is not None:
                yield group, effect.before, effect.after


def _shown(group: str, side: CaseSide) -> dict[str, Any]:
    return {"consumer_group": group, **side_shown(side), "idle": side.pulls_none}


def outcomes(effects: Iterable[EffectOfCase]) -> Mapping[str, CaseOutcome]:
    """The outcome of each case by its id; empty for a case without groups."""
    by_case: defaultdict[str, dict[str, EffectOfCase]] = defaultdict(dict)
    for effect in sorted(effects, key=lambda effect: effect.consumer_group):
        by_case[effect.case_id][effect.consumer_group] = effect
    return defaultdict(CaseOutcome, {case_id: CaseOutcome(each) for case_id, each in by_case.items()})
