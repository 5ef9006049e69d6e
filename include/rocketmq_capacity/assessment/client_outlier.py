"""CLIENT_OUTLIER: clients that do their work far worse than the other clients of their group."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Final

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.assigned_load import assigned_loads
from rocketmq_capacity.assessment.capacity import OVERLOADED
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.outlier import Figure, Outlier, queues_alone
from rocketmq_capacity.assessment.sizes import divided
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, INFO, WARNING, Severity
from rocketmq_capacity.wording import counted, fixed, listed, percent, rounded


class Shown(Struct, frozen=True, kw_only=True):
    """What an outlier does worse."""

    client_id: Annotated[str, means("the client")]
    figure: Annotated[Figure, means("what is compared")]
    value: Annotated[float, means("its own", "")]
    peers_median: Annotated[float, means("of the other clients", "")]


class ClientOutlierEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CLIENT_OUTLIER: the worst client, and all that are far worse."""

    figure: Annotated[Figure, means("what is compared")]
    value: Annotated[float, means("that of the worst client", "")]
    peers_median: Annotated[float, means("that of the other clients", "")]
    factor: Annotated[float, means("how many times worse it is", "")]
    bound_factor: Annotated[float, means("how many times worse a client may be, by the policy", "")]
    clients: Annotated[int, means("of the group", "client")]
    utilisation_ratio: Annotated[float | None, means("busy share of the busiest outlier")]
    peak_factor: Annotated[float | None, means("how many times more messages come at the peak", "")]
    without_utilisation_ratio: Annotated[float | None, means("that of the busiest other client without the outliers")]
    replaced_utilisation_ratio: Annotated[
        float | None, means("that of the busiest client if they work like their peers")
    ]
    outliers: Annotated[Sequence[Shown], means("all that are far worse")]
    behind_queues: Annotated[Sequence[Queue], means("queues that they alone read, with messages that wait")]


CLIENT_OUTLIER: Final = Rule(
    name="CLIENT_OUTLIER",
    title="A consumer far worse than its peers",
    meaning=(
        "It does the same work as the others of its group, but far slower, with far fewer threads, or with far more"
        " failures. Its share of the messages waits for it."
    ),
    place=110,
    goal="CAPACITY_AT_PEAK",
    evidence=ClientOutlierEvidence,
    leaves_with_clients=True,
    severities={
        "CRITICAL": "such a client is more than fully busy, so that messages pile up at it",
        "WARNING": "it is above `PROVISION.under_utilisation` at the peak, or may be, or messages fail",
        "INFO": "it has time left",
    },
    thresholds=("PROVISION.under_utilisation",),
    details="""
    A client of at least three is worse than the median of its peers by more than `factor`: in the time of a call,
    in threads, in the time for each thread, or in the share of messages that fail. Topics are compared one by one,
    with those who handle the same topic, so a client that alone reads a slow topic is none. If half of the clients
    are slow, none of them is an outlier. The evidence has the `figure`, its `value` and `peers_median` of the
    worst, the same of each in `outliers`, and how busy the group would be without them
    (`without_utilisation_ratio`) or with healthy ones in their place (`replaced_utilisation_ratio`).

    Sizes, failures and `provision_status` are computed as if it took what the median of its peers takes: more
    clients do not mend a sick one. LAG_STATE and RETENTION_RISK of its queues belong to the same cause.
    """,
    flaps=True,
)


def client_outlier(group: AssessedGroup) -> Iterator[Finding]:
    """CLIENT_OUTLIER: some clients take far longer, have far fewer threads, or fail far more often than their peers."""
    outliers = group.outliers
    if not outliers:
        return
    busy = _busy(group, outliers)
    severity = _severity(group, outliers, busy)
    if severity == INFO and _is_low(group):
        return
    worst = max(outliers, key=lambda one: (one.factor, -one.client))
    ids = [group.client_ids[one.client] for one in outliers]
    without = _without(group, set(ids))
    replaced = group.provision.judged_utilisation
    yield finding(
        CLIENT_OUTLIER,
        severity,
        consumer_group=group.name,
        subjects=ids,
        evidence=ClientOutlierEvidence(
            figure=worst.figure,
            value=rounded(worst.value),
            peers_median=rounded(worst.peers_median),
            factor=rounded(worst.factor),
            bound_factor=group.policy.thresholds.CLIENT_OUTLIER.factor,
            clients=len(group.client_ids),
            utilisation_ratio=rounded(busy),
            peak_factor=rounded(group.peak.factor),
            without_utilisation_ratio=rounded(without),
            replaced_utilisation_ratio=replaced and rounded(replaced.estimate),
            outliers=[
                Shown(
                    client_id=group.client_ids[one.client],
                    figure=one.figure,
                    value=rounded(one.value),
                    peers_median=rounded(one.peers_median),
                )
                for one in outliers
            ],
            behind_queues=_behind(group, ids),
        ),
        message=_message(group, worst, ids, busy, without),
    )


def _busy(group: AssessedGroup, outliers: tuple[Outlier, ...]) -> float | None:
    """The busy share of the busiest outlier; None if that of one is unknown."""
    if group.work is None:
        return None
    share = float(group.work.busy(group.work.times.estimate)[[one.client for one in outliers]].max())
    return None if np.isnan(share) else share


def _severity(group: AssessedGroup, outliers: tuple[Outlier, ...], busy: float | None) -> Severity:
    """CRITICAL while messages pile up; WARNING if the next peak is, or may be, too much, or if messages fail."""
    if busy is not None and busy > OVERLOADED:
        return CRITICAL
    is_late = busy is None or busy * group.peak.scale > group.policy.thresholds.PROVISION.under_utilisation
    return WARNING if is_late or any(one.figure == "failed_ratio" for one in outliers) else INFO


def _is_low(group: AssessedGroup) -> bool:
    """Whether so few messages come that nobody minds a slow client."""
    low, rate, lag = group.policy.thresholds.LOW_UTILISATION, group.weights.total_msgs_per_s, group.weights.total_lag
    return rate is not None and rate < low.min_msgs_per_s and lag is not None and lag < low.min_lag


def _without(group: AssessedGroup, gone: set[str]) -> float | None:
    """The busy share of the busiest of the other clients once they have these clients' queues; None if unknown."""
    left = np.array([client_id not in gone for client_id in group.client_ids], bool)
    if group.facts.is_broadcasting and group.work is not None:
        share = float(group.work.busy(group.work.times.estimate)[left].max())
        return None if np.isnan(share) else share
    stays = [place for place, client in enumerate(group.division.members.consumers) if client.client_id not in gone]
    (case,) = divided([(replace(group.apart.staff, stays=stays), len(stays))])
    if case is None:
        return None
    (load,) = assigned_loads([replace(case, msgs_per_s=group.weights.msgs_per_s)])
    is_read = load.orphans <= (group.orphans_today or 0)
    return load.busiest.estimate if is_read and load.busiest is not None else None


def _behind(group: AssessedGroup, ids: list[str]) -> list[Queue]:
    """The queues of these clients alone on which messages wait."""
    waits = {one.queue for one in group.facts.lags if one.lag}
    return sorted(queues_alone(group.division, group.owners_today, ids) & waits)


def _message(group: AssessedGroup, worst: Outlier, ids: list[str], busy: float | None, without: float | None) -> str:
    peers = f"the median of its {len(group.client_ids) - 1} peers"
    figure, theirs = worst.value, worst.peers_median
    sentence = {
        "consume_rt_ms": f"takes {fixed(figure, 1)} ms for a call, {peers} {fixed(theirs, 1)} ms",
        "consume_rt_ms_per_thread": f"takes {fixed(figure, 1)} ms for a call and thread, {peers} {fixed(theirs, 1)} ms",
        "consume_threads": f"has {counted(int(figure), 'consume thread')}, {peers} {fixed(theirs, 1)}",
        "failed_ratio": f"fails on {percent(figure)} of its messages, {peers} on {percent(theirs)}",
    }[worst.figure]
    others = [one for one in ids if one != group.client_ids[worst.client]]
    more = f" Far worse than their peers as well: {listed(others)}." if others else ""
    now = "" if busy is None else f" {'It' if not others else 'The busiest of them'} {_busy_for(busy)}."
    then = (
        ""
        if without is None
        else f" Without {'it' if not others else 'them'} no other is busier than {percent(without)}."
    )
    return f"{group.client_ids[worst.client]} {sentence}.{more}{now}{then}"


def _busy_for(share: float) -> str:
    """A client cannot be busy for more than all of its time: then its messages pile up."""
    return f"is busy for {percent(share)}" if share <= 1 else f"would need {fixed(share, 1)} times its time"


GROUP_RULES: Final[tuple[GroupRule, ...]] = (client_outlier,)
