"""What a lost master means in a what-if: who is served when, what waits, what may be lost, and the way back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, get_args

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from rocketmq_capacity.assessment.cluster_failures import cluster_failures
from rocketmq_capacity.assessment.master_loss import CONNECT_S, PULL_RETRY_S, MasterLoss, Use
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.lost_master import ServedClients, WaitingMessages
from rocketmq_capacity.plan_file.troubled_broker import LostMasterOutlook
from rocketmq_capacity.simulation.copied import copied_by_slaves
from rocketmq_capacity.simulation.lost_master_words import coming_back, meaning
from rocketmq_capacity.simulation.messages_at_risk import messages_at_risk, slave_behind_bytes
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.tables import Broker, ConsumerGroup, GroupOffset, Subscription, TopicQueue
from rocketmq_capacity.tables.rows import is_one_of
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    GRPC,
    LITE_SELECTIVE,
    LOCK_RENEWAL_S,
    POP,
    REQUEST_S,
    RESTART,
    is_broadcasting,
    java_order,
)

USES: Final[tuple[Use, ...]] = get_args(Use)


class ReadsRow(NamedTuple):
    """Some columns of ``subscription``."""

    consumer_group: str
    topic: str
    message_request_mode: str


class ReaderRow(NamedTuple):
    """Some columns of ``consumer_group``."""

    consumer_group: str
    message_model: str | None
    is_orderly: bool | None
    protocol: str | None

    def use(self, mode: str) -> Use:
        """How it reads a topic of this request mode, as :meth:`GroupFacts.pops` has it."""
        if mode == POP and not (self.is_orderly and self.protocol != GRPC):
            return "POP"
        return "PULL_IN_ORDER" if self.is_orderly else "PULL"


class LagRow(NamedTuple):
    """Some columns of ``group_offset``."""

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class ReadersBehind:
    """Who reads which topic, and how far behind.

    Attributes:
        reads: which group reads which business topic, and how.
        groups: the business groups, by name.
        lags: the lag of each queue of the brokers, as far as it is known.
        at_slaves: by topic and broker, how many queues the slave that clients turn to has, where its master had others.
    """

    reads: Sequence[ReadsRow]
    groups: Mapping[str, ReaderRow]
    lags: Mapping[tuple[str, str, str, int], int | None]
    at_slaves: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, side: RunSide, names: Iterable[str], at_slaves: Mapping[tuple[str, str], int]) -> "ReadersBehind":
        """Those of the brokers with these names, given what their slaves have copied."""
        is_business = pc.field("kind").cast(pa.string()) == BUSINESS
        lags = side.records(GroupOffset, LagRow, is_one_of("broker_name", names) & is_business)
        return cls(
            list(side.records(Subscription, ReadsRow, is_business)),
            {one.consumer_group: one for one in side.records(ConsumerGroup, ReaderRow, is_business)},
            {(one.consumer_group, one.topic, one.broker_name, one.queue_id): one.lag for one in lags},
            at_slaves,
        )


def with_course(
    sides: Sides, entries: Sequence[LostMasterOutlook], places: Sequence[TopicQueue]
) -> list[LostMasterOutlook]:
    """The entries with all that follows from each loss; ``places`` are business queues on the brokers before."""
    readers = ReadersBehind.of(sides.before, {one.broker_name for one in entries}, copied_by_slaves(sides))
    clients = sides.policy.thresholds.TRANSITION
    stay = {one.broker_addr for one in sides.after.cluster.brokers}
    restarts = {
        row.lost: row.why for row in cluster_failures(sides.before.cluster, sides.policy) if row.failure == RESTART
    }
    outlooks = []
    for entry in entries:
        replicas = [broker for broker in sides.before.cluster.brokers if broker.broker_name == entry.broker_name]
        master = next((broker for broker in replicas if broker.broker_id == 0), None)
        slaves = sorted(
            (broker for broker in replicas if broker.broker_id and broker.broker_addr in stay),
            key=lambda broker: broker.broker_id,
        )
        loss = MasterLoss.of(master, slaves, clients)
        there = [place for place in places if place.broker_name == entry.broker_name]
        outlooks.append(
            course(entry, loss, (master, slaves), waiting(loss, there, readers), restarts.get(entry.broker_name))
        )
    return outlooks


def course(
    entry: LostMasterOutlook,
    loss: MasterLoss,
    replicas: tuple[Broker | None, Sequence[Broker]],
    waits: tuple[WaitingMessages, ...],
    restart: str | None,
) -> LostMasterOutlook:
    """The entry of a lost master with what follows from the loss.

    Args:
        entry: who can read and write.
        loss: the loss.
        replicas: the master before, None if it is unknown, and the slaves that stay.
        waits: what waits there for each group.
        restart: what a restart of the broker takes, in words.
    """
    master, slaves = replicas
    return replace(
        entry,
        clients=tuple(_served(loss, use, has_slaves=bool(slaves)) for use in USES),
        waiting=waits,
        at_risk=messages_at_risk(master, slaves, is_elected=loss.is_elected),
        slave_behind_bytes=slave_behind_bytes(master, slaves),
        back=tuple(coming_back(loss, restart)),
        timers={
            "route_missed_killed_s": loss.missed_s["KILL"],
            "route_missed_silent_s": loss.missed_s["SILENT"],
            "pollNameServerInterval_s": loss.clients.poll_nameserver_s,
            "mqClientApiTimeout_s": REQUEST_S,
            "heartbeatBrokerInterval_s": loss.clients.heartbeat_s,
            "connectTimeoutMillis_s": CONNECT_S,
            "pullTimeDelayMillsWhenException_s": PULL_RETRY_S,
            "lockInterval_s": LOCK_RENEWAL_S,
        },
    )


def _served(loss: MasterLoss, use: Use, *, has_slaves: bool) -> ServedClients:
    return ServedClients(
        use=use,
        is_served=loss.is_served(use),
        killed_s=loss.served_s(use, "KILL"),
        silent_s=loss.served_s(use, "SILENT"),
        back_s=loss.back_s(use),
        meaning=meaning(loss, use, has_slaves=has_slaves),
    )


def waiting(loss: MasterLoss, places: Sequence[TopicQueue], readers: ReadersBehind) -> tuple[WaitingMessages, ...]:
    """What waits on a broker for each group and each way in which it reads there.

    Clients of a broadcasting group keep their own offsets, so that nobody knows what waits for them.
    """
    readable = {place.topic: place.readable for place in places if place.readable}
    broker_name = places[0].broker_name if places else ""
    queues: dict[tuple[str, Use], int] = {}
    messages: dict[tuple[str, Use], int | None] = {}
    missing: dict[tuple[str, Use], list[str]] = {}
    for reads in readers.reads:
        group = readers.groups.get(reads.consumer_group)
        if reads.topic not in readable or group is None or group.message_model == LITE_SELECTIVE:
            continue
        key = group.consumer_group, group.use(reads.message_request_mode)
        lags = [
            readers.lags.get((reads.consumer_group, reads.topic, broker_name, queue_id))
            for queue_id in range(readable[reads.topic])
        ]
        if readers.at_slaves.get((reads.topic, broker_name), readable[reads.topic]) < readable[reads.topic]:
            missing.setdefault(key, []).append(reads.topic)
        queues[key] = queues.get(key, 0) + readable[reads.topic]
        messages[key] = None if is_broadcasting(group.message_model) else sum_of([messages.get(key, 0), *lags])
    rows = [
        WaitingMessages(
            consumer_group=name,
            use=use,
            queues=number,
            messages=messages[name, use],
            is_served=False if (name, use) in missing else loss.is_served(use),
            killed_s=None if (name, use) in missing else loss.served_s(use, "KILL"),
            silent_s=None if (name, use) in missing else loss.served_s(use, "SILENT"),
            missing_topics=tuple(sorted(missing.get((name, use), ()), key=java_order)),
        )
        for (name, use), number in queues.items()
    ]
    return tuple(sorted(rows, key=_most_first))


def _most_first(row: WaitingMessages) -> tuple[bool, int, object, str]:
    return row.messages is not None, -(row.messages or 0), java_order(row.consumer_group), row.use
