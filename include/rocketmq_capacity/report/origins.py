"""Which finding explains another one: a consequence within a group, or beyond it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rocketmq_capacity.assessment.capacity import TooBusyEvidence
from rocketmq_capacity.assessment.client_outlier import ClientOutlierEvidence
from rocketmq_capacity.assessment.not_taken import NOT_TAKEN
from rocketmq_capacity.assessment.ownership import OrphanEvidence
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.recommendation.consequences import COUNT_SKEWS, OUTLIER, SET_UP, comes_of_outlier, set_up_behind
from rocketmq_capacity.report.far_origins import far_origins
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import AVG, AVG_BY_CIRCLE, CONSISTENT_HASH, INFO

ORPHAN: Final = "ORPHAN_QUEUE"
DUPLICATE: Final = "DUPLICATE_CLIENT_ID"
CAPACITY: Final = "CONSUMER_CAPACITY"
IDLE: Final = "IDLE_CONSUMERS"
STALE: Final = "STALE_OBJECT"
LAG_STATE: Final = "LAG_STATE"
LAG_SKEW: Final = "LAG_SKEW"
RETENTION: Final = "RETENTION_RISK"
MEMBERSHIP: Final = "MEMBERSHIP_DISAGREEMENT"
STARVATION: Final = "ROOM_STARVATION"
BEHIND: Final = (LAG_STATE, LAG_SKEW, RETENTION)
"""Consequences of queues that nobody reads, and of clients that are too busy."""
HELD_BACK: Final = (ORPHAN, "STUCK_QUEUE", RETENTION)
"""Rules whose queues are behind because of what they find; each comes before the next."""
LEAVE_NOTHING: Final = tuple(f"strategy {strategy}" for strategy in (AVG, AVG_BY_CIRCLE, CONSISTENT_HASH))
LAGS: Final = "lag"
"""The cause of CONSUMER_CAPACITY where clients have time left: what holds the lagging queues up explains it."""
EXPLAINS_LAGS: Final = (RETENTION, LAG_STATE)
UNEVEN: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(COUNT_SKEWS, (STARVATION, ORPHAN)),
    "TRAFFIC_SKEW": (STARVATION, ORPHAN, *COUNT_SKEWS),
}
"""What makes loads uneven: a room that gets no queues, queues that nobody has, and numbers of queues."""

Others = Mapping[str, Sequence[int]]
"""The indexes of the findings of one group, by rule, the most urgent first."""


def direct_origins(findings: Sequence[PlanFinding]) -> Iterator[int | None]:
    """For each finding the index of another finding whose consequence it is, or None."""
    far = far_origins(findings)
    of_group: dict[str, dict[str, list[int]]] = {}
    for index, finding in enumerate(findings):
        if finding.consumer_group is not None:
            of_group.setdefault(finding.consumer_group, {}).setdefault(finding.rule, []).append(index)
    for index, finding in enumerate(findings):
        near = _origin(finding, of_group.get(finding.consumer_group or "", {}), findings)
        yield far.get(index) if near is None else near


def first_origin(index: int, origins: Sequence[int | None]) -> int:
    """The index of the finding that a finding comes of in the end; its own if it comes of none."""
    while (origin := origins[index]) is not None:
        index = origin
    return index


def _origin(finding: PlanFinding, others: Others, findings: Sequence[PlanFinding]) -> int | None:
    if finding.rule == ORPHAN:
        return _origin_of_orphans(finding, others)
    clients = [subject for subject in finding.subjects if isinstance(subject, str)]
    queues = [one for one in finding.subjects if isinstance(one, Queue)]
    of_clients = _origin_in_clients(finding, clients, queues, others, findings)
    if of_clients is not None:
        return of_clients
    if finding.rule in BEHIND:
        return _origin_of_lag(finding, queues, others, findings)
    if finding.rule == CAPACITY:
        return _origin_of_size(finding, others)
    if finding.rule == IDLE:
        return _origin_of_idle(clients, others, findings)
    return _first_of(UNEVEN.get(finding.rule, ()), others)


def _origin_of_orphans(finding: PlanFinding, others: Others) -> int | None:
    orphans = OrphanEvidence.read(finding)
    cause = "" if orphans is None else orphans.cause
    rule = DUPLICATE if DUPLICATE in others else cause
    # Of itself such a strategy leaves no queue out: its clients divide other lists.
    rule = MEMBERSHIP if rule in (*LEAVE_NOTHING, NOT_TAKEN) else rule
    return None if rule == ORPHAN else _first_of((rule,), others)


def _origin_in_clients(
    finding: PlanFinding,
    clients: Sequence[str],
    queues: Sequence[Queue],
    others: Others,
    findings: Sequence[PlanFinding],
) -> int | None:
    """Clients that are set up wrongly, or a sick one."""
    set_up: dict[str, list[str]] = {
        rule: [one for one in findings[others[rule][0]].subjects if isinstance(one, str)]
        for rule in SET_UP
        if rule in others
    }
    behind = set_up_behind(finding.rule, clients, set_up)
    if behind is not None:
        return others[behind][0]
    for index in others.get(OUTLIER, ()):
        sick = ClientOutlierEvidence.read(findings[index])
        outliers = [one for one in findings[index].subjects if isinstance(one, str)]
        is_of_broker = finding.broker_name is not None
        if sick is not None and not is_of_broker and comes_of_outlier(finding.rule, clients, queues, outliers, sick):
            return index
    return None


def _origin_of_lag(
    finding: PlanFinding, queues: Sequence[Queue], others: Others, findings: Sequence[PlanFinding]
) -> int | None:
    if STALE in others and finding.severity == INFO:
        return others[STALE][0]
    for rule in HELD_BACK:
        held = {one for index in others.get(rule, ()) for one in findings[index].subjects}
        if queues and rule != finding.rule and held.issuperset(queues):
            return others[rule][0]
    if finding.rule == LAG_SKEW and LAG_STATE in others:
        return others[LAG_STATE][0]
    too_few = _too_few(others, findings)
    return None if too_few is None or _is_behind(findings[too_few]) else too_few


def _is_behind(finding: PlanFinding) -> bool:
    """Whether the group is too small because its lag grows."""
    busy = TooBusyEvidence.read(finding)
    return busy is not None and busy.cause == LAGS


def _origin_of_size(finding: PlanFinding, others: Others) -> int | None:
    busy = TooBusyEvidence.read(finding)
    if busy is not None and (mended := others.get(busy.mend_first or "")):
        return mended[0]
    behind = _first_of(EXPLAINS_LAGS, others) if _is_behind(finding) else None
    return behind if behind is not None or finding.severity != INFO else _first_of((IDLE,), others)


def _origin_of_idle(clients: Sequence[str], others: Others, findings: Sequence[PlanFinding]) -> int | None:
    if STARVATION in others and set(_named(others[STARVATION], findings)).issuperset(clients):
        return others[STARVATION][0]
    orphans = (OrphanEvidence.read(findings[index]) for index in others.get(ORPHAN, ()))
    if any(one is not None and (one.missing_clients or one.not_taken_by) for one in orphans):
        return others[ORPHAN][0]
    return _too_few(others, findings)


def _first_of(rules: Iterable[str], others: Others) -> int | None:
    """The most urgent finding of the first of these rules that has any."""
    return next((others[rule][0] for rule in rules if rule in others), None)


def _too_few(others: Others, findings: Sequence[PlanFinding]) -> int | None:
    """The finding that says that the group is too small."""
    return next((index for index in others.get(CAPACITY, ()) if findings[index].severity != INFO), None)


def _named(indexes: Iterable[int], findings: Sequence[PlanFinding]) -> Iterator[str | Queue]:
    """What the findings with these indexes name."""
    for index in indexes:
        yield from findings[index].subjects
