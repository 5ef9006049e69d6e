"""The effect of a scenario on a group as it runs today: verdict, utilisation, lag, moved queues and findings."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.effect import effect_of
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.plan_file.pairs import paired, place_of
from rocketmq_capacity.simulation.effect_words import why
from rocketmq_capacity.simulation.gone import gone_with
from rocketmq_capacity.simulation.group_shift import Counts, group_shift
from rocketmq_capacity.simulation.judged_again import LostFinding, undecided_of_group
from rocketmq_capacity.tables import Finding, ScenarioGroup, UndecidedFinding
from rocketmq_capacity.tables.dataset import Queue


@dataclass(frozen=True)
class Sorted:
    """The findings of two runs about one thing.

    Attributes:
        still: findings of both runs, as pairs of the earlier and the later one.
        added: findings of only the later run.
        cleared: findings of the earlier run that were judged again and are gone.
        undecided: findings of the earlier run that can no longer be judged, or are gone with what they are about.
    """

    still: Sequence[tuple[Finding, Finding]]
    added: Sequence[Finding]
    cleared: list[Finding]
    undecided: list[UndecidedFinding]

    def sort_in(self, finding: Finding, doubt: str | None, lost_with: str | None) -> None:
        """Add a finding that the later run does not have.

        Args:
            finding: the finding.
            doubt: why it can no longer be judged; None if it was judged again.
            lost_with: what it is gone with; None if all that it is about is still there.
        """
        if lost_with is not None:
            doubt = f"it is gone with {lost_with}, and not mended"
        if doubt is None:
            self.cleared.append(finding)
        else:
            self.undecided.append(UndecidedFinding(**structs.asdict(finding), why=doubt, gone_with=lost_with))


def sides_of(
    before: Sequence[Finding], after: Sequence[Finding]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """The findings of both runs, of only the earlier run, and of only the later run."""
    return paired(before, after, (lambda one: (*place_of(one), one.about), place_of))


def key_of(finding: Finding) -> tuple[Any, ...]:
    """The key of a finding within one run."""
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name, finding.about


def outcome(
    before: AssessedGroup,
    after: AssessedGroup,
    findings_before: Sequence[Finding],
    findings_after: Sequence[Finding],
    hot_topics: frozenset[str],
    lost_rooms: Collection[str] = (),
    lost_masters: Collection[str] = (),
    at_slaves: Counts = MappingProxyType({}),
) -> tuple[ScenarioGroup, Sorted]:
    """The effect of the changes on a group.

    Args:
        before: the group as it is.
        after: the group as it would be.
        findings_before: the findings about it before.
        findings_after: the findings about it after.
        hot_topics: topics whose queues get uneven traffic from producers.
        lost_rooms: machine rooms that the scenario takes away.
        lost_masters: brokers that the scenario leaves without a master.
        at_slaves: how many queues their slaves have of topics of which their masters had others.
    """
    still, gone, added = sides_of(findings_before, findings_after)
    findings = Sorted(still, added, cleared=[], undecided=[])
    for finding in gone:
        lost_with = gone_with(finding, before, after, lost_rooms)
        doubt = undecided_of_group(LostFinding(finding, before, after, hot_topics)) if lost_with is None else None
        findings.sort_in(finding, doubt, lost_with)
    change = group_shift(before, after, lost_rooms, lost_masters, at_slaves)
    effect = effect_of(change.shift, after.policy.thresholds)
    shift, bound = change.shift, after.policy.thresholds.PROVISION.under_utilisation
    use, becomes = before.provision.utilisation, after.provision.utilisation
    row = ScenarioGroup(
        consumer_group=after.name,
        verdict=effect.verdict,
        reasons=effect.reasons,
        why=why(change, effect, bound),
        before_utilisation=use and use.estimate,
        after_utilisation=becomes and becomes.estimate,
        before_peak_utilisation=shift.was_busy and shift.was_busy.estimate,
        after_peak_utilisation=shift.is_busy and shift.is_busy.estimate,
        is_over_bound=None if shift.is_busy is None else shift.is_busy.lower > bound,
        before_lag=_lag(before),
        after_lag=_lag(after),
        moved_queues=moved_today(before, after),
        before_clients=before.facts.connections,
        after_clients=after.facts.connections,
        before_queues=change.before_queues,
        after_queues=change.after_queues,
        unread_queues=shift.unread and shift.unread.worse,
        waiting_messages=shift.waiting,
        unreadable_topics=change.unreadable_topics,
        unwritable_topics=change.unwritable_topics,
        findings_added=len(findings.added),
        findings_cleared=len(findings.cleared),
        findings_undecided=len(findings.undecided),
    )
    return row, findings


def _lag(group: AssessedGroup) -> int | None:
    """Its messages of lag; None if unknown, as of a broadcasting group, whose clients keep their offsets themselves."""
    return None if group.facts.is_broadcasting else group.weights.total_lag


def is_touched(row: ScenarioGroup) -> bool:
    """Whether the row shows any effect on the group."""
    findings = row.findings_added, row.findings_cleared, row.findings_undecided
    sides = (
        (row.before_utilisation, row.after_utilisation),
        (row.before_lag, row.after_lag),
        (row.before_clients, row.after_clients),
        (row.before_queues, row.after_queues),
    )
    same = all(before == after for before, after in sides)
    return any(findings) or not same or row.moved_queues != 0 or row.verdict != "UNCHANGED"


def moved_today(before: AssessedGroup, after: AssessedGroup) -> int | None:
    """How many of the queues that stay have other owners than today; None if an owner is unknown.

    0 for a broadcasting group, whose clients all read every queue.
    """
    if not after.is_clustering:
        return 0
    if before.whole_load is None or after.whole_load is None:
        return None
    readers_before, readers_after = _readers(before), _readers(after)
    common = set(before.division.queues.names) & set(after.division.queues.names)
    business = {reads.topic.topic for reads in after.business}
    return sum(readers_before.get(queue) != readers_after.get(queue) for queue in common if queue.topic in business)


def _readers(group: AssessedGroup) -> dict[Queue, frozenset[tuple[str, int]]]:
    """The owners of each queue today: client ids with their number of consumers; clients that pop count once."""
    load, division = group.whole_load, group.division
    readers: dict[Queue, set[tuple[str, int]]] = {}
    if load is not None:
        names, client_ids = division.queues.names, division.members.client_ids
        consumers = np.where(
            division.is_popped[load.owners.queue], 1, division.readers(load.owners.queue, load.owners.client)
        )
        owners = zip(load.owners.queue.tolist(), load.owners.client.tolist(), consumers.tolist(), strict=True)
        for queue, client, number in owners:
            readers.setdefault(names[queue], set()).add((client_ids[client], number))
    return {queue: frozenset(ids) for queue, ids in readers.items()}
