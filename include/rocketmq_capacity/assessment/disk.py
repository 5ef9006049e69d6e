"""Rules on the disks of brokers: BROKER_DISK."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final

from msgspec import Struct

from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.broker_figures import deletes_early_above, used_ratio
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import BrokerDisk
from rocketmq_capacity.tables import Broker, Finding
from rocketmq_capacity.vocabulary import CRITICAL, WARNING
from rocketmq_capacity.wording import percent, rounded


class Disk(Struct, frozen=True, kw_only=True):
    """A disk that is too full."""

    broker_addr: Annotated[str | None, means("address of the broker")]
    is_slave: Annotated[bool, means("whether it is a slave's")]
    used_ratio: Annotated[float, means("used share of the fuller disk")]


class BrokerDiskEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_DISK: the fullest of a broker name, and all that are too full."""

    broker_addr: Annotated[str | None, means("address of the fullest broker")]
    is_slave: Annotated[bool, means("whether it is a slave")]
    used_ratio: Annotated[float, means("used share of its fuller disk")]
    deletes_early_above_ratio: Annotated[float, means("used share above which it deletes messages early")]
    critical_ratio: Annotated[float, means("used share above which the finding is critical, by the policy")]
    disks: Annotated[Sequence[Disk], means("all that are too full")]


class DiskFillsEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_DISK for a disk that will be too full."""

    broker_addr: Annotated[str | None, means("address of the master")]
    used_ratio: Annotated[float, means("used share of its fuller disk")]
    per_day_ratio: Annotated[float, means("share of the disk that is used more each day")]
    least_per_day_ratio: Annotated[float, means("the same at least, with 95 % confidence")]
    most_per_day_ratio: Annotated[float, means("the same at most")]
    known_days: Annotated[int, means("whose used share is known", "day")]
    deletes_early_above_ratio: Annotated[float, means("used share above which it deletes messages early")]
    earliest_days: Annotated[float, means("until then, at the earliest")]
    likely_days: Annotated[float, means("until then, most likely")]
    latest_days: Annotated[float | None, means("until then, at the latest; null if it may never be so")]


BROKER_DISK: Final = Rule(
    name="BROKER_DISK",
    title="Brokers whose disk fills",
    meaning="Above its limits a broker first deletes messages early, then refuses new ones.",
    place=150,
    goal="NOTHING_UNREAD",
    evidence=(BrokerDiskEvidence, DiskFillsEvidence),
    looks="disk",
    shows="the #SPACE of the brokers that are named is below diskMaxUsedSpaceRatio (0.75 by default).",
    shown_by="brokers",
    about=("broker",),
    severities={
        "CRITICAL": "the broker deletes at once whatever it can, and above 90 % it refuses messages",
        "WARNING": "it deletes messages before their time, or soon will",
    },
    details="""
    A broker's disk is so full that it deletes messages before `fileReservedTime` is over: above its own
    `diskMaxUsedSpaceRatio`, or `warning_ratio` if that is unknown. The rule uses what the broker reports
    (`commitLogDiskRatio`, `consumeQueueDiskRatio`); a broker that does not report it has no finding. A master and
    its slaves are one finding: `disks` has each of them that is too full.

    A master whose disk will be so full within `forecast_days` has a finding too, if the used share of at least seven
    days is known: from the history or the lake, `trend_days` at most. The trend is the median of the slopes between
    each two days (Theil, Sen). It has to grow with 95 % confidence, and to foretell the last days better than what was
    a week before. A disk that has room for a whole retention never fills.
    """,
)


@dataclass(frozen=True, slots=True)
class _Full:
    """A master or slave whose disk is too full.

    Attributes:
        broker: it.
        used: the used share of its fuller disk.
        above: the used share above which it deletes early.
    """

    broker: Broker
    used: float
    above: float


def broker_disk(cluster: ClusterFacts, _: Disagreements, policy: Policy) -> Iterator[Finding]:
    """BROKER_DISK: a broker's disk is so full that it deletes messages before their time, or soon refuses new ones.

    Masters and slaves are judged alike; those of one broker name are one finding, with the figures of the fullest. A
    broker that does not say how full its disk is has no finding.
    """
    in_order = sorted(cluster.brokers, key=lambda one: (one.broker_name, one.broker_id, one.broker_addr or ""))
    for name, replicas in groupby(in_order, key=lambda one: one.broker_name):
        full = list(_too_full(replicas, policy.thresholds.BROKER_DISK))
        if full:
            yield _fills(name, full, policy.thresholds.BROKER_DISK)


def _too_full(replicas: Iterable[Broker], bounds: BrokerDisk) -> Iterator[_Full]:
    for broker in replicas:
        used, above = used_ratio(broker), deletes_early_above(broker, bounds.warning_ratio)
        if used is not None and used > min(above, bounds.critical_ratio):
            yield _Full(broker, used, above)


def _fills(broker_name: str, full: Sequence[_Full], bounds: BrokerDisk) -> Finding:
    fullest = max(full, key=lambda one: one.used)
    shares = " and ".join(f"{percent(one.used)} of the disk of {_named(one.broker)}" for one in full)
    return finding(
        BROKER_DISK,
        CRITICAL if fullest.used > bounds.critical_ratio else WARNING,
        broker_name=broker_name,
        subjects=[_named(one.broker) for one in full],
        evidence=BrokerDiskEvidence(
            broker_addr=fullest.broker.broker_addr,
            is_slave=fullest.broker.broker_id > 0,
            used_ratio=rounded(fullest.used),
            deletes_early_above_ratio=rounded(fullest.above),
            critical_ratio=rounded(bounds.critical_ratio),
            disks=[
                Disk(
                    broker_addr=one.broker.broker_addr,
                    is_slave=one.broker.broker_id > 0,
                    used_ratio=rounded(one.used),
                )
                for one in full
            ],
        ),
        message=f"{shares} are used; above {percent(min(one.above for one in full))} it deletes messages before their"
        " time, and above 90 % it refuses new ones.",
    )


def _named(broker: Broker) -> str:
    return broker.broker_addr or f"{broker.broker_name} {broker.broker_id}"


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (broker_disk,)
