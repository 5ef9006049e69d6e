"""What a what-if says about rolling restarts: each with its batches, other ways to do it, and advice."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from msgspec.json import Decoder

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.plan_file.rolling_restart import RestartTotals, RollingRestartResult
from rocketmq_capacity.simulation.changes.rolling_restart import RollingRestart as Asked
from rocketmq_capacity.simulation.restart_advice import advice, badness
from rocketmq_capacity.simulation.rollout import Manner, Rollout
from rocketmq_capacity.simulation.sides import Sides
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.tables import GroupUnit
from rocketmq_capacity.vocabulary import MIXED, POP

BUDGET: Final = 200_000
"""Clients and queues of all batches of the restart that is asked for; about 10 s at most."""
BUDGET_OF_OTHERS: Final = 20_000
"""The same for each other way."""
SHARES: Final = (4, 2)
"""Other batches: one client, a quarter and half of the group, and that of the scenario."""
LEFT_OUT: Final = "the policy excludes the group, or it is one of RocketMQ's own"
WITHOUT_CLIENTS: Final = "after the other changes it has no clients that divide queues"

_FACTS: Final = Decoder(GroupFacts)


def rolling_restarts(sides: Sides) -> tuple[RollingRestartResult, ...]:
    """An entry for each rolling restart of the scenario, of the cluster after all its changes."""
    asked = [one for one in sides.scenario.changes if isinstance(one, Asked)]
    if not asked:
        return ()
    units = sides.after.rows_by(GroupUnit, "consumer_group", {one.consumer_group for one in asked})
    timing, strategies = Timing.of(sides.after.cluster, sides.policy), Strategies(sides.policy)
    entries = []
    for change in asked:
        observed = [
            _FACTS.decode(unit.facts).observed(unit.observations, unit.sampled)
            for unit in units.get(change.consumer_group, ())
        ]
        groups = [AssessedGroup(facts, sides.after.cluster, sides.policy, strategies) for facts in observed]
        entries += [rolling_restart(group, change, timing) for group in groups] or [
            _not_computed(change, timing, LEFT_OUT)
        ]
    return tuple(map(steady, entries))


@dataclass(frozen=True, slots=True)
class _Ways:
    """The restart that is asked for, and the others to compare with."""

    group: AssessedGroup
    timing: Timing

    def totals(self, manner: Manner) -> RestartTotals | None:
        """A restart as a whole; None if it is not known who owns the queues meanwhile."""
        rollout = Rollout(self.group, manner, self.timing, BUDGET_OF_OTHERS)
        batches = rollout.batches()
        return None if batches is None else rollout.totals(list(batches))

    def others(self, asked: Manner, settles_s: float, *, has_new_ids: bool) -> Iterator[Manner]:
        """Other strategies and batches, and the same restart with a longer pause, another ending or lasting ids."""
        clients = len(self.group.division.members)
        batches = sorted({1, asked.batch, *(ceil(clients / share) for share in SHARES)})
        for strategy in sorted({asked.strategy, *self._strategies_beside(asked.strategy)}):
            for batch in batches:
                yield replace(asked, strategy=strategy, batch=batch)
        if asked.pause_s < settles_s:
            yield replace(asked, pause_s=float(ceil(settles_s)))
        else:
            yield replace(asked, pause_s=0.0)
        if asked.ending != "SHUTDOWN":
            yield replace(asked, ending="SHUTDOWN")
        if has_new_ids:
            yield replace(asked, keeps_ids=True)

    def _strategies_beside(self, asked: str) -> Iterator[str]:
        """The strategies that leave no more queues without a reader, or with two: what nobody reads never moves."""
        today = self.group.loads.get(asked)
        unread, twice = (0, 0) if today is None else (len(today.orphans), len(today.doubly_owned))
        for name, load in self.group.loads.items():
            if name != POP and len(load.orphans) <= unread and len(load.doubly_owned) <= twice:
                yield name


def rolling_restart(group: AssessedGroup, change: Asked, timing: Timing) -> RollingRestartResult:
    """What the restart means for the group, and what other ways of it would mean."""
    if group.current is None:
        return _not_computed(change, timing, WITHOUT_CLIENTS)
    if (problem := _undecided(group, group.current.strategy, change)) is not None:
        return _not_computed(change, timing, problem)
    strategy = group.policy.computed(group.current.strategy)
    batch = min(change.batch, len(group.division.members))
    manner = Manner(strategy, batch, float(change.pause_s), change.ending)
    rollout = Rollout(group, manner, timing, BUDGET)
    batches = list(rollout.batches() or ())
    asked = rollout.totals(batches)
    ways = _Ways(group, timing)
    manners = [
        one for one in ways.others(manner, asked.settles_s, has_new_ids=rollout.client_ids != "SAME") if one != manner
    ]
    others = sorted((totals for other in manners if (totals := ways.totals(other)) is not None), key=badness)
    bound = group.policy.thresholds.PROVISION.under_utilisation
    return RollingRestartResult(
        consumer_group=change.consumer_group,
        undecided=None,
        down_s=timing.rollout_s,
        asked=asked,
        steps=tuple(one.entry for one in batches),
        alternatives=tuple(others),
        advice=tuple(advice(asked, others, bound)),
        timers=json.loads(timing.as_text()),
    )


def _not_computed(change: Asked, timing: Timing, why: str) -> RollingRestartResult:
    return RollingRestartResult(
        consumer_group=change.consumer_group,
        undecided=why,
        down_s=timing.rollout_s,
        asked=None,
        steps=(),
        alternatives=(),
        advice=(),
        timers=json.loads(timing.as_text()),
    )


def _undecided(group: AssessedGroup, current: str, change: Asked) -> str | None:
    """Why it is not known who owns which queue during the restart; None if it is."""
    if not len(group.division.members):
        return WITHOUT_CLIENTS
    strategy = group.policy.computed(current)
    if strategy == POP:
        return "its clients pop: no queue waits for an owner"
    if strategy == MIXED:
        return "its clients run different strategies"
    if not group.applies(strategy):
        return f"its clients run {strategy}, which cannot be computed for it"
    manner = Manner(strategy, min(change.batch, len(group.division.members)), 0.0, change.ending)
    if Rollout(group, manner, Timing(), 0).batches() is None:
        return f"with a batch down or after the restart, {strategy} throws or cannot run"
    return None
