"""What a what-if means for broadcasting groups: load of each client, where reading begins, what is skipped.

Every client reads every queue, and keeps its offsets in a file that only clients of the same id on the same disk find
again. So nobody takes over from anybody: a queue or a client that comes is new to whoever reads it.
Source: RebalanceImpl.rebalanceByTopic, LocalFileOffsetStore, RebalancePushImpl.computePullFromWhere,
rocketmq-all-5.3.3.
"""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final

import numpy as np
from msgspec import structs
from msgspec.json import Decoder

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.plan_file.before_after import BeforeAfterCount, BeforeAfterRate
from rocketmq_capacity.plan_file.broadcasting import BroadcastGroup
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.tables import GroupUnit, ScenarioGroup
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import FIRST_OFFSET, LAST_OFFSET, java_order
from rocketmq_capacity.wording import counted, fixed, listed, rounded

OFFSETS: Final = "~/.rocketmq_offsets/<client id>/<group>/offsets.json"
"""LocalFileOffsetStore.LOCAL_OFFSET_STORE_DIR, unless rocketmq.client.localOffsetStoreDir is set."""

AT_THE_END: Final = (None, LAST_OFFSET)
"""Where a client without an offset begins at the end of a queue; unknown counts as the default."""

_FACTS: Final = Decoder(GroupFacts)


def broadcast_groups(sides: Sides, touched: Sequence[ScenarioGroup]) -> tuple[BroadcastGroup, ...]:
    """An entry for each broadcasting group whose clients, queues or messages change, by name.

    Args:
        sides: the two runs.
        touched: the groups that the changes touch.
    """
    names = {one.consumer_group for one in touched}
    strategies, timing = Strategies(sides.policy), Timing.of(sides.before.cluster, sides.policy)
    before = _groups(sides.before, names, sides, strategies)
    after = _groups(sides.after, names, sides, strategies)
    entries = (
        broadcast_group(before[name], after[name], timing)
        for name in sorted(before.keys() & after.keys(), key=java_order)
    )
    return tuple(steady(one) for one in entries if one is not None)


def _groups(side: RunSide, names: set[str], sides: Sides, strategies: Strategies) -> dict[str, AssessedGroup]:
    """The broadcasting groups among these names."""
    groups = {}
    for name, (unit, *_) in side.rows_by(GroupUnit, "consumer_group", names).items():
        facts = _FACTS.decode(unit.facts)
        if facts.is_broadcasting:
            whole = facts.observed(unit.observations, unit.sampled)
            groups[name] = AssessedGroup(whole, side.cluster, sides.policy, strategies)
    return groups


class _Reading:
    """What the clients of a broadcasting group read.

    Attributes:
        group: the group.
        client_ids: its client ids.
        queues: the queues that some client reads.
        per_client: queues of the client with most of them.
        msgs_per_s: messages a second of its busiest client; None if unknown.
        deliveries_per_s: of all clients together; None if unknown.
    """

    def __init__(self, group: AssessedGroup) -> None:
        self.group = group
        self.client_ids = set(group.client_ids)
        owners, work, names = group.owners_today, group.work, group.division.queues.names
        is_read = owners is not None and len(owners.queue) > 0
        self.queues = {names[queue] for queue in np.unique(owners.queue).tolist()} if owners is not None else set()
        self.per_client = int(np.bincount(owners.client).max()) if owners is not None and is_read else 0
        rates = np.zeros(1) if work is None or not is_read else work.incoming_msgs_per_s.sum(axis=1)
        is_known = not np.isnan(rates).any()
        self.msgs_per_s = float(rates.max()) if is_known else None
        self.deliveries_per_s = float(rates.sum()) if is_known else None

    def stored_messages(self, queues: set[Queue]) -> int | None:
        """Messages that some of its queues hold; None if one is unknown."""
        held = {
            Queue(reads.topic.topic, one.broker_name, one.queue_id): one.max_offset - one.min_offset
            for reads in self.group.business
            for one in reads.topic.written
            if one.max_offset is not None and one.min_offset is not None
        }
        return sum(held[queue] for queue in queues) if queues <= held.keys() else None

    def put_msgs_per_s(self, queues: set[Queue]) -> float | None:
        """Messages a second that come to some of its queues; None if one is unknown."""
        names, rates = self.group.division.queues.names, self.group.weights.msgs_per_s
        total = float(sum(rates[index] for index, name in enumerate(names) if name in queues))
        return None if np.isnan(total) else total


def broadcast_group(before: AssessedGroup, after: AssessedGroup, timing: Timing) -> BroadcastGroup | None:
    """What changes of a broadcasting group; None if its clients go on as before."""
    reading_before, reading_after = _Reading(before), _Reading(after)
    stays = reading_before.client_ids & reading_after.client_ids
    added, gone_queues = (
        (reading_after.queues - reading_before.queues, reading_before.queues - reading_after.queues)
        if stays
        else (set(), set())
    )
    topics = {queue.topic for queue in added} - {queue.topic for queue in reading_before.queues}
    new_queues = {queue for queue in added if queue.topic not in topics}
    first_read = reading_after.queues if reading_after.client_ids - reading_before.client_ids else added - new_queues
    begins = after.facts.consume_from_where
    noticed_s = timing.routed.span.worst if new_queues else None
    skipped: float | None = 0.0
    if noticed_s is not None and begins in AT_THE_END:
        rate = reading_after.put_msgs_per_s(new_queues)
        skipped = None if rate is None else rate * noticed_s
    entry = BroadcastGroup(
        consumer_group=after.name,
        new_clients=len(reading_after.client_ids - reading_before.client_ids),
        gone_clients=len(reading_before.client_ids - reading_after.client_ids),
        queues_per_client=BeforeAfterCount(before=reading_before.per_client, after=reading_after.per_client),
        new_queues=len(new_queues),
        new_topics=tuple(sorted(topics, key=java_order)),
        gone_queues=len(gone_queues),
        msgs_per_s_per_client=BeforeAfterRate(before=reading_before.msgs_per_s, after=reading_after.msgs_per_s),
        deliveries_per_s=BeforeAfterRate(before=reading_before.deliveries_per_s, after=reading_after.deliveries_per_s),
        consume_from_where=begins,
        stored_messages=reading_after.stored_messages(first_read),
        noticed_worst_s=noticed_s,
        skipped_worst=rounded(skipped, 1),
        meaning=(),
    )
    meaning = tuple(_meaning(entry))
    return structs.replace(entry, meaning=meaning) if meaning else None


def _meaning(entry: BroadcastGroup) -> Iterator[str]:
    """What the changes mean, in words; nothing if its clients go on as before."""
    yield from _of_queues(entry)
    if entry.new_clients:
        more = counted(entry.new_clients, "client")
        yield f"{more} more: each reads every queue after its first rebalance, {_where(entry)}. The others lose none."
    if entry.gone_clients:
        yield (
            f"{counted(entry.gone_clients, 'client')} fewer: nobody takes over, and nothing is read twice. Where one"
            f" stopped is in its own file ({OFFSETS}); with another disk or id it begins like a new client."
        )
    yield from _of_load(entry)


def _of_queues(entry: BroadcastGroup) -> Iterator[str]:
    most = f"reads {counted(entry.queues_per_client.after, 'queue')} instead of {entry.queues_per_client.before:,}"
    if entry.new_topics:
        where = "" if entry.new_clients else f", {_where(entry)}"
        yield f"{listed(entry.new_topics)} read for the first time: each client {most}{where}."
    elif entry.new_queues:
        yield f"{counted(entry.new_queues, 'queue')} more: each client {most}."
    if entry.noticed_worst_s is not None:
        skipped = entry.skipped_worst
        what = "skips nothing" if skipped == 0 else "skips what comes until then"
        if skipped:
            what += f", {counted(ceil(skipped), 'message')} at most"
        yield f"A client reads a new queue after {fixed(entry.noticed_worst_s, 0)} s at the latest, and {what}."
        if skipped != 0:
            yield "To skip nothing, let consumers see the new queues two minutes before producers do."
    if entry.gone_queues:
        yield (
            f"{counted(entry.gone_queues, 'queue')} fewer: each client {most}. How much of them it has not read is"
            " known to itself alone; it goes on from there if they come back."
        )


def _where(entry: BroadcastGroup) -> str:
    """Where a client begins on what it reads for the first time, and what that means."""
    stored, begins = entry.stored_messages, entry.consume_from_where
    held = "what is stored" if stored is None else f"the {counted(stored, 'message')} that are stored"
    if begins == FIRST_OFFSET:
        return f"begins at the first message, and handles {held} first"
    if begins in AT_THE_END:
        return f"begins at the end, and skips {held}" + (" (its setting is unknown)" if begins is None else "")
    return "begins at the moment that its consumeTimestamp names, by default half an hour before it starts"


def _of_load(entry: BroadcastGroup) -> Iterator[str]:
    before, after = entry.msgs_per_s_per_client.before, entry.msgs_per_s_per_client.after
    delivered_before, delivered_after = entry.deliveries_per_s.before, entry.deliveries_per_s.after
    if None not in (before, after) and _differ(before, after):
        yield f"Each client handles up to {_shown(after)} instead of {_shown(before)}."
    elif entry.new_queues and after is not None:
        yield f"What a client handles stays {_shown(after)}."
    if None not in (delivered_before, delivered_after) and _differ(delivered_before, delivered_after):
        yield f"Brokers deliver {_shown(delivered_after)} to the group instead of {_shown(delivered_before)}."


def _shown(rate: float | None) -> str:
    return f"{rounded(rate, 1):,} msg/s"


def _differ(before: float | None, after: float | None) -> bool:
    return rounded(before, 4) != rounded(after, 4)
