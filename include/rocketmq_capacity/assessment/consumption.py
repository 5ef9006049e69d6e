"""Compares what clients report to consume with what should come to them, to check the facts of a verdict."""

from typing import Final

import numpy as np

from rocketmq_capacity.assessment.lag import lag_growth
from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.arrays import Flags, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.vocabulary import BUSINESS
from rocketmq_capacity.wording import rounded

NEEDS: Final = "compare both with mqadmin consumerStatus and consumerProgress"


def consumed_msgs_per_s(division: Division) -> Numbers:
    """Messages a second that each client handles, with success or without.

    Consumers with one id add up. Of broadcasting ones, of which each handles every message, the busiest one counts.

    Shape: a row a client id, a column a topic. NaN if the client reports nothing, or no rate of the topic; 0 for a
    topic that it leaves out while it reports others.
    """
    clients = {client_id: index for index, client_id in enumerate(division.members.client_ids)}
    topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
    rates = np.full((len(clients), len(topics)), np.nan)
    consumed = division.group.consumed
    rates[np.array([clients[one.client_id] for one in consumed], np.int64)] = 0.0
    known = [one for one in consumed if one.topic in topics]
    client = np.array([clients[one.client_id] for one in known], np.int64)
    topic = np.array([topics[one.topic] for one in known], np.int64)
    combine = np.maximum if division.group.is_broadcasting else np.add
    combine.at(rates, (client, topic), np.array([one.msgs_per_s for one in known], np.float64))
    return rates


def doubt(division: Division, consumed: Numbers, work: Work, bounds: Thresholds) -> str | None:
    """Which fact must be wrong, if the clients consume at another rate than messages come; None if both agree."""
    most, least_rate = bounds.PROVISION.max_disagreement_ratio, bounds.LOW_UTILISATION.min_msgs_per_s
    incoming = work.incoming_msgs_per_s

    def differ(ours: Numbers, theirs: Numbers) -> Flags:
        return np.asarray(np.abs(ours - theirs) > np.maximum(most * np.maximum(ours, theirs), least_rate))

    business = [index for index, reads in enumerate(division.queues.topics) if reads.topic.kind == BUSINESS]
    said, due = consumed[:, business].sum(axis=1), incoming[:, business].sum(axis=1)
    if np.isnan(said).any() or np.isnan(due).any():
        return None
    total, expected = said.sum(), due.sum()
    both = f"the clients consume {rounded(total, 1)} msg/s where {rounded(expected, 1)} msg/s come"
    if differ(total, expected):
        growth = lag_growth(Sampled.of(division)).by or 0
        if total < expected and growth > 0:
            return f"{both}, and lag grows: the group falls behind"
        if total > expected and growth < 0:
            return f"{both}, and lag falls: the group is catching up"
        return f"{both}: the put rates or the clients' own rates are wrong; {NEEDS}"
    # A client that cannot keep up consumes less than comes, though no fact is wrong.
    is_overloaded = work.busy(work.times.estimate) >= bounds.PROVISION.under_utilisation
    apart = differ(said, due) & ~is_overloaded
    if not apart.any():
        return None
    client = int(np.where(apart, np.abs(said - due), 0.0).argmax())
    return (
        f"{division.members.client_ids[client]} consumes {rounded(float(said[client]), 1)} msg/s where "
        f"{rounded(float(due[client]), 1)} msg/s come to its queues, though all clients together consume what comes: "
        f"it does not own the queues that its strategy gives it; {NEEDS}"
    )
