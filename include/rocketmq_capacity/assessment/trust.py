"""Rules on the snapshot itself: SNAPSHOT_INCOMPLETE, SUSPECT_SNAPSHOT."""

from collections.abc import Collection, Iterator, Sequence, Set
from typing import Annotated, Final

from msgspec import UNSET, UnsetType

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, INFO, LOGICAL_BROKER_PREFIX, WARNING, Severity
from rocketmq_capacity.wording import counted, listed, percent, rounded


class SuspectEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of SUSPECT_SNAPSHOT."""

    groups: Annotated[int, means("of the cluster", "group")]
    newly_flagged: Annotated[int, means("with a new WARNING or CRITICAL", "group")]


SUSPECT_SNAPSHOT: Final = Rule(
    name="SUSPECT_SNAPSHOT",
    title="The snapshot itself is doubtful",
    meaning=("Many groups are flagged for the first time at once. More likely the snapshot is wrong than the cluster."),
    place=10,
    evidence=SuspectEvidence,
    advice="Take another snapshot before you change anything.",
    about=("cluster",),
    severities={
        "WARNING": "what is found may not be so",
    },
    details="""
    More groups than usual have a new WARNING or CRITICAL that they did not have in the run before. Something
    happened to the snapshot, to the network, or to all groups at once, as in a deployment. Take another snapshot
    before you change anything. Until then all commands are comments. No run is compared with one whose snapshot was
    too incomplete for verdicts.
    """,
    is_of_snapshot=True,
)


class IncompleteEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of SNAPSHOT_INCOMPLETE."""

    completeness_ratio: Annotated[float, means("share of the queues that the snapshot covers")]
    failures: Annotated[int, means("without an answer", "request")]
    absent_brokers: Annotated[Sequence[str], means("brokers that topics name and the snapshot lacks")]
    silent_rooms: Annotated[Sequence[str] | UnsetType, means("machine rooms of which no broker answers")] = UNSET


SILENT_CLIENTS: Final = (
    "Look at the client that the failure names: it hangs, is too busy to answer, or is gone without a word. A broker"
    " forgets one that is gone after two minutes."
)


def _advice(finding: Finding, _: Evidence) -> str:
    return (
        "Find out why these were not read, and take another snapshot: {subjects}."
        if finding.subjects
        else SILENT_CLIENTS
    )


SNAPSHOT_INCOMPLETE: Final = Rule(
    name="SNAPSHOT_INCOMPLETE",
    title="Some facts could not be read",
    meaning=(
        "A broker or a client did not answer every request. What depends on the answers is unknown: it may be fine or"
        " not."
    ),
    place=20,
    evidence=IncompleteEvidence,
    advice=_advice,
    shows="every broker of the cluster is listed, with its #Version.",
    shown_by="brokers",
    about=("cluster",),
    severities={
        "CRITICAL": "below `PROVISION.min_completeness` no verdict holds",
        "WARNING": "some verdicts are missing",
        "INFO": "no queue is concerned",
    },
    thresholds=("PROVISION.min_completeness",),
    details="""
    A broker did not answer every request, or queues are on a broker that the snapshot does not have. While it is
    CRITICAL, statuses are undecided and no change is recommended. Look at the error beside the broker: timed out
    (frozen, or the network), refused (rights, see [plan a live cluster](how-to/plan-a-live-cluster.md)), or a
    request that an old version does not know. If no broker of a machine room answers, `silent_rooms` names the
    room. Who reads the queues of a broker that the snapshot lacks is unknown.

    A client that does not answer its broker in time concerns no queue: it hangs, or is gone without a word. Only what
    it alone knows is missing, such as what it owns and how long its calls take.
    """,
    is_of_snapshot=True,
)


Flagged = tuple[str, str]
"""A consumer group, and a rule that found something about it."""


def snapshot_incomplete(cluster: ClusterFacts, absent: Collection[str], policy: Policy) -> Iterator[Finding]:
    """SNAPSHOT_INCOMPLETE: a broker did not answer every request, or queues are on a broker that the snapshot lacks.

    Args:
        cluster: with the completeness, and the brokers that did not answer.
        absent: the brokers that business topics name and the snapshot lacks.
        policy: the thresholds.
    """
    ratio = cluster.cluster.completeness_ratio
    absent = {name for name in absent if not name.startswith(LOGICAL_BROKER_PREFIX)}  # of a static topic, and no broker
    if not cluster.failures and not absent and ratio >= 1:
        return
    brokers = sorted({*cluster.silent, *absent})
    rooms = _silent_rooms(cluster, brokers, policy)
    is_enough = policy.holds_verdicts(ratio)
    severity: Severity = WARNING if ratio < 1 else INFO
    yield finding(
        SNAPSHOT_INCOMPLETE,
        severity if is_enough else CRITICAL,
        subjects=brokers,
        evidence=IncompleteEvidence(
            completeness_ratio=rounded(ratio),
            failures=cluster.failures,
            absent_brokers=sorted(absent),
            silent_rooms=rooms or UNSET,
        ),
        message=(
            f"The snapshot covers {percent(ratio)} of the queues; not answered or not known: {listed(brokers)}."
            if brokers
            else "Some clients did not answer their broker: what they own, and how long they take, is unknown."
        )
        + (f" No broker of {'room' if len(rooms) == 1 else 'rooms'} {listed(rooms)} answers." if rooms else ""),
    )


def _silent_rooms(cluster: ClusterFacts, silent: Collection[str], policy: Policy) -> list[str]:
    """The machine rooms of which no broker answered every request."""
    if policy.rooms is None:
        return []
    answering = {one.room for one in cluster.brokers if one.broker_name not in silent}
    rooms = {room for name in silent if (room := policy.rooms.of_broker(name)) is not None}
    return sorted(rooms - answering)


def suspect_snapshot(
    groups: int, flagged: Set[Flagged], before: Set[Flagged] | None, policy: Policy
) -> Iterator[Finding]:
    """SUSPECT_SNAPSHOT: many groups are flagged that were not flagged in the run before.

    It is then more likely that the snapshot is wrong than the cluster.

    Args:
        groups: the number of business groups.
        flagged: what this run found about groups.
        before: what the run before found; None if there was none, or its snapshot was too incomplete.
        policy: the thresholds.
    """
    if before is None or not groups:
        return
    bounds = policy.thresholds.SUSPECT_SNAPSHOT
    new = sorted({consumer_group for consumer_group, _ in flagged - before})
    if groups < bounds.min_groups or len(new) / groups <= bounds.flagged_ratio:
        return
    yield finding(
        SUSPECT_SNAPSHOT,
        WARNING,
        subjects=new,
        evidence=SuspectEvidence(groups=groups, newly_flagged=len(new)),
        message=f"{len(new)} of {counted(groups, 'group')} {'is' if len(new) == 1 else 'are'} newly flagged "
        "since the run before: check the snapshot first.",
    )
