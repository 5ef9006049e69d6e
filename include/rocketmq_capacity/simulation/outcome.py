"""The effect of a scenario on a group as it runs today: verdict, utilisation, lag, moved queues and findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.contracts import Finding, ScenarioGroup, UndecidedFinding
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.pairs import paired, place_of
from rocketmq_capacity.simulation.judged_again import Case, undecided_of_group
from rocketmq_capacity.vocabulary import INFO, SEVERITIES, UNDER

Verdict = Literal["BETTER", "WORSE", "MIXED", "UNCHANGED", "UNDECIDED"]
MATERIAL: Final = 0.05
"""The least change of a busy share that makes a client better or worse off (topicmappr refuses gains below 5 %)."""


@dataclass(frozen=True)
class Sorted:
    """The findings of two runs about one thing.

    Attributes:
        still: findings of both runs, as pairs of the earlier and the later one.
        added: findings of only the later run.
        cleared: findings of the earlier run that were judged again and are gone.
        undecided: findings of the earlier run that can no longer be judged.
    """

    still: Sequence[tuple[Finding, Finding]]
    added: Sequence[Finding]
    cleared: Sequence[Finding]
    undecided: Sequence[UndecidedFinding]

    @property
    def is_worse(self) -> bool:
        """Whether a finding is new or more severe; INFO does not count."""
        return any(one.severity != INFO for one in self.added) or any(
            _rank(after) < _rank(before) for before, after in self.still
        )

    @property
    def is_better(self) -> bool:
        """Whether a finding is gone or less severe; INFO does not count."""
        return any(one.severity != INFO for one in self.cleared) or any(
            _rank(after) > _rank(before) for before, after in self.still
        )

    @property
    def is_undecided(self) -> bool:
        """Whether a finding can no longer be judged; INFO does not count."""
        return any(one.severity != INFO for one in self.undecided)


def sides_of(
    before: Sequence[Finding], after: Sequence[Finding]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """The findings of both runs, of only the earlier run, and of only the later run."""
    return paired(before, after, (lambda one: (*place_of(one), one.about), place_of))


def undecided(found: Finding, why: str) -> UndecidedFinding:
    """The finding with the reason why it can no longer be judged."""
    return UndecidedFinding(
        rule=found.rule,
        severity=found.severity,
        consumer_group=found.consumer_group,
        topic=found.topic,
        broker_name=found.broker_name,
        subjects=found.subjects,
        queues=found.queues,
        evidence=found.evidence,
        message=found.message,
        why=why,
    )


def verdict_of(*, is_better: bool, is_worse: bool, is_undecided: bool) -> Verdict:
    """The verdict on a change."""
    if is_better and is_worse:
        return "MIXED"
    if is_worse:
        return "WORSE"
    if is_undecided:
        return "UNDECIDED"
    return "BETTER" if is_better else "UNCHANGED"


def outcome(
    before: Group, after: Group, found: Sequence[Finding], finds: Sequence[Finding], hot_topics: frozenset[str]
) -> tuple[ScenarioGroup, Sorted]:
    """The effect of the changes on a group.

    The group is worse off with a new or more severe finding, with too few clients, or with a busiest client that is
    busier by `MATERIAL` of its time; it is better off in the opposite cases. If it is better off, but a finding can no
    longer be judged, the verdict is UNDECIDED.

    Args:
        before: the group as it is.
        after: the group as it would be.
        found: the findings about it before.
        finds: the findings about it after.
        hot_topics: topics whose queues get uneven traffic from producers.
    """
    still, gone, added = sides_of(found, finds)
    doubts = [(one, undecided_of_group(Case(one, before, after, hot_topics))) for one in gone]
    sorted_out = Sorted(
        still,
        added,
        cleared=[one for one, why in doubts if why is None],
        undecided=[undecided(one, why) for one, why in doubts if why is not None],
    )
    was, now = (group.provision for group in (before, after))
    use, becomes = (verdict.utilisation and verdict.utilisation.estimate for verdict in (was, now))
    busier = becomes - use if use is not None and becomes is not None else 0.0
    is_short = now.status == UNDER and was.status != UNDER
    row = ScenarioGroup(
        consumer_group=after.name,
        verdict=verdict_of(
            is_better=sorted_out.is_better or busier <= -MATERIAL,
            is_worse=sorted_out.is_worse or busier >= MATERIAL or is_short,
            is_undecided=sorted_out.is_undecided or (use is not None and becomes is None),
        ),
        before_utilisation=use,
        after_utilisation=becomes,
        before_lag=before.weights.total_lag,
        after_lag=after.weights.total_lag,
        moved_queues=moved_today(before, after),
        findings_added=len(sorted_out.added),
        findings_cleared=len(sorted_out.cleared),
        findings_undecided=len(sorted_out.undecided),
    )
    return row, sorted_out


def is_touched(row: ScenarioGroup) -> bool:
    """Whether the row shows any effect on the group."""
    found = row.findings_added, row.findings_cleared, row.findings_undecided
    same = row.before_utilisation == row.after_utilisation and row.before_lag == row.after_lag
    return any(found) or not same or row.moved_queues != 0 or row.verdict != "UNCHANGED"


def moved_today(before: Group, after: Group) -> int | None:
    """How many of the queues that stay have other owners than today; None if an owner is unknown.

    0 for a broadcasting group, whose clients all read every queue.
    """
    if not after.is_clustering:
        return 0
    if before.whole_load is None or after.whole_load is None:
        return None
    had, has = _readers(before), _readers(after)
    common = set(before.division.queues.names) & set(after.division.queues.names)
    business = {reads.topic.topic for reads in after.business}
    return sum(had.get(queue) != has.get(queue) for queue in common if queue.topic in business)


def _readers(group: Group) -> dict[Queue, frozenset[tuple[str, int]]]:
    """The owners of each queue today: client ids with their number of consumers; clients that pop count once."""
    load, members = group.whole_load, group.division.members
    readers: dict[Queue, set[tuple[str, int]]] = {}
    if load is not None:
        names = group.division.queues.names
        for queue, client in zip(load.owners.queue.tolist(), load.owners.client.tolist(), strict=True):
            copies = 1 if group.is_popped[queue] else int(members.copies[client])
            readers.setdefault(names[queue], set()).add((members.client_ids[client], copies))
    return {queue: frozenset(ids) for queue, ids in readers.items()}


def _rank(finding: Finding) -> int:
    """The rank of its severity; 0 is the worst."""
    return SEVERITIES.index(finding.severity)
