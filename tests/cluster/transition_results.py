"""What clients consumed while a change spread, held against what the model predicts."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario, apply
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import change_of
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import Transition
from rocketmq_capacity.tables.dataset import Queue
from tests.cluster.rocketmq import ClusterError
from tests.cluster.transition_runs import Run
from tests.fixtures.units import units_of

NOISE_S: Final = 1.0
"""A gap between two messages of a queue, and the time from its pull to its listener."""


class Consumed(NamedTuple):
    """A message that a client has consumed; moments in seconds of the clock."""

    at: float
    queue: Queue
    offset: int
    stored_at: float


@dataclass(frozen=True)
class Seen:
    """What happened to a queue that another client was to take.

    Attributes:
        row: the prediction.
        begins_s: when its new owner consumed the first message, after the change.
        unread_s: from the last message of the old owner to the first one of the new owner; 0 where they overlap.
        twice_s: how long both consumed.
        messages_twice: offsets that were consumed more than once.
        lost: offsets between the first and the last consumed that nobody consumed.
        skipped: of a new queue, offsets from 0 to the first consumed.
        late_s: by how much the machine was late meanwhile.
    """

    row: Transition
    begins_s: float
    unread_s: float
    twice_s: float
    messages_twice: int
    lost: int
    skipped: int
    late_s: float

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        row, noise = self.row, NOISE_S + self.late_s
        best, worst = (row.unread_best_s or 0.0) - NOISE_S, (row.unread_worst_s or 0.0) + noise
        found = []
        # Where the readers may overlap, either of the two intervals may be nothing.
        if not best <= self.unread_s <= worst and not (row.twice_worst_s > 0 and self.unread_s < best):
            found.append("unread")
        if self.twice_s > row.twice_worst_s + (noise if row.twice_worst_s else NOISE_S):
            found.append("twice")
        if row.messages_twice_worst is not None and self.messages_twice > row.messages_twice_worst:
            found.append("messages")
        if self.lost:
            found.append("lost")
        if row.messages_skipped_worst is not None and self.skipped > row.messages_skipped_worst:
            found.append("skipped")
        return found


@dataclass(frozen=True)
class Result:
    """A run and what became of it.

    Attributes:
        seen: the queues that moved and were read by their new owners.
        predicted: how many queues were to get another owner.
        stray: messages that a client consumed which does not own their queue, neither before nor after.
    """

    run: Run
    seen: Sequence[Seen]
    predicted: int
    stray: int

    @property
    def faults(self) -> list[str]:
        """What lies outside of the prediction."""
        missing = ["missing"] if len(self.seen) < self.predicted else []
        stray = ["stray"] if self.stray else []
        return sorted({fault for one in self.seen for fault in one.faults}) + missing + stray


@dataclass(frozen=True)
class Prediction:
    """What the model says of a run.

    Attributes:
        rows: the queues that change hands.
        owners: by queue, the clients that own it before or after the change.
    """

    rows: Sequence[Transition]
    owners: Mapping[Queue, frozenset[str]]

    @classmethod
    def of(cls, inventory: Inventory, run: Run, policy: Policy) -> "Prediction":
        """From a snapshot of the cluster before."""
        changes = [run.change]
        if run.kind == "NAME_SERVER_CUT":
            changes.insert(0, {"change": "lose_nameserver", "nameserver": (inventory.nameservers or ())[1]})
        scenario = Scenario.model_validate({"name": run.name, "changes": changes})
        changed = apply(inventory, scenario, policy, "scenario")
        was, now = units_of(inventory, policy), units_of(changed, policy)
        before, after = (
            AssessedGroup(one.group(run.name), one.cluster, policy, Strategies(policy)) for one in (was, now)
        )
        timing = Timing.of(was.cluster, policy, scenario.failed_polls)
        passing = change_of(before, after, timing, scenario.ending)
        if passing is None:
            raise ClusterError(f"the snapshot does not tell who owns the queues of {run.name}")
        sides = passing.before.readers, passing.after.readers
        owners = {
            queue: frozenset(one for side in sides for one in side.get(queue, ())) for queue in {*sides[0], *sides[1]}
        }
        return cls(list(passing.rows()), owners)


def result(run: Run, prediction: Prediction, consumed: Mapping[str, Sequence[Consumed]]) -> Result:
    """What the clients' records say of a run, until the next change."""
    # A message may be consumed after a later one, and after the next change: it is lost if it never is.
    ever = {(one.queue, one.offset) for all_ in consumed.values() for one in all_}
    consumed = {client: [one for one in all_ if one.at < run.until] for client, all_ in consumed.items()}
    found = list(_seen(run, prediction, consumed, ever))
    stray = sum(
        client not in prediction.owners.get(one.queue, ())
        for client, all_ in consumed.items()
        for one in all_
        if one.queue.topic == run.name
    )
    return Result(run, found, sum(bool(row.new_owners) for row in prediction.rows), stray)


def _seen(
    run: Run,
    prediction: Prediction,
    consumed: Mapping[str, Sequence[Consumed]],
    ever: Container[tuple[Queue, int]],
) -> Iterator[Seen]:
    """Each queue that moves and that its new owner has read."""
    moved = {Queue(row.topic, row.broker_name, row.queue_id) for row in prediction.rows}
    # A queue that keeps its owner tells how late the machine is.
    late_s = max(
        (one.at - one.stored_at for all_ in consumed.values() for one in all_ if one.queue not in moved), default=0.0
    )
    for row in prediction.rows:
        queue = Queue(row.topic, row.broker_name, row.queue_id)
        of = {client: [one for one in all_ if one.queue == queue] for client, all_ in consumed.items()}
        (new,) = row.new_owners or (None,)
        taken = [one.at for one in of.get(new or "", ()) if one.at >= run.at]
        if not taken:
            continue
        old = [one.at for client in row.old_owners for one in of.get(client, ())]
        begins, ends = min(taken), max(old, default=run.at)
        offsets = Counter(one.offset for all_ in of.values() for one in all_)
        yield Seen(
            row,
            begins_s=begins - run.at,
            unread_s=max(0.0, begins - ends),
            twice_s=max(0.0, ends - begins) if old else 0.0,
            messages_twice=offsets.total() - len(offsets),
            lost=sum((queue, offset) not in ever for offset in range(min(offsets), max(offsets))),
            skipped=0 if old else min(offsets),
            late_s=late_s,
        )


def table(results: Sequence[Result]) -> str:
    """A line a run: the worst of its queues."""
    lines = [
        "| run | queues | unread s | predicted | read twice s | at most | messages twice | at most | skipped | at most "
        "| lost | late s | result |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        name = f"{one.run.name}{', in order' if one.run.orderly else ''}"
        if not one.seen:
            lines.append(f"| {name} | 0 of {one.predicted} | | | | | | | | | | | {', '.join(one.faults)} |")
            continue
        longest = max(one.seen, key=lambda each: each.unread_s)
        row = longest.row
        twice_worst = max(each.row.messages_twice_worst or 0.0 for each in one.seen)
        skipped_worst = max(each.row.messages_skipped_worst or 0.0 for each in one.seen)
        lines.append(
            f"| {name} | {len(one.seen)} of {one.predicted} | {longest.unread_s:.1f}"
            f" | {row.unread_best_s:.1f}, {row.unread_expected_s:.1f}, {row.unread_worst_s:.1f}"
            f" | {max(each.twice_s for each in one.seen):.1f} | {max(each.row.twice_worst_s for each in one.seen):.1f}"
            f" | {max(each.messages_twice for each in one.seen)} | {twice_worst:.0f}"
            f" | {max(each.skipped for each in one.seen)} | {skipped_worst:.0f} | {sum(each.lost for each in one.seen)}"
            f" | {longest.late_s:.1f} | {', '.join(one.faults) or 'within'} |"
        )
    return "\n".join(lines)
