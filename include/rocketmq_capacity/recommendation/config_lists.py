"""Fixed lists of queues for CONFIG if no strategy comes near FLOOR, the most even division that whole queues allow.

The lists are an alternative beside the recommendation that answers the group's skew. A person decides, because nobody
reads the queues of a client that has stopped.
"""

import heapq
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import json
from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.cases import CaseSide
from rocketmq_capacity.model.config_assignment import ConfigAssignment
from rocketmq_capacity.model.owners import NOBODY
from rocketmq_capacity.recommendation.answer import sentences
from rocketmq_capacity.recommendation.consequences import COUNT_SKEWS
from rocketmq_capacity.recommendation.effects import TOLERANCE, excess, is_worse, loaded_side_shown
from rocketmq_capacity.recommendation.facts import AdvisedGroup, Sharing
from rocketmq_capacity.tables.dataset import Metrics, Queue
from rocketmq_capacity.vocabulary import BUSINESS, CONFIG, GO, JAVA, MIXED, POP, PULL, RETRY, RETRY_PREFIX
from rocketmq_capacity.wording import counted

TRAFFIC_SKEW: Final = "TRAFFIC_SKEW"
SKEWS: Final = (*COUNT_SKEWS, TRAFFIC_SKEW)
FIRST_TO_MEND: Final = ("DUPLICATE_CLIENT_ID", "SUBSCRIPTION_MISMATCH", "MIXED_STRATEGIES")
LANGUAGES: Final = (JAVA, GO, None)
"""Libraries that have the class; a client that does not report its language counts as a Java client."""
LEVELS: Final = (1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0)
"""Loads of the busiest client / the least possible one, in the order in which they are tried: 5 % save many moves."""
NOTE: Final = (
    "Give each client the list beside its id (AllocateMessageQueueByConfig.setMessageQueueList, in Go"
    " AllocateByConfig), and restart all clients in one go, within {rollout_s:g} s (TRANSITION.rollout_s). Until the"
    " last one has its list, some queues are read twice or by nobody; if one client restarts after the other, this"
    " takes longer. A list belongs to a process: an id that holds a process id is another one after the restart. Make"
    " all lists anew whenever clients or queues change. While a client is stopped, nobody reads its queues."
)


def with_config_lists(
    group: AdvisedGroup, recommendations: Sequence[tables.Recommendation]
) -> list[tables.Recommendation]:
    """The group's recommendations; the first that answers a skew has the lists as well, if they are much more even."""
    whole = list(recommendations)
    skews = frozenset(rule for rule in SKEWS if group.answerable(rule))
    place = next((index for index, one in enumerate(whole) if not skews.isdisjoint(one.rules)), None)
    if place is None or not _may_run(group) or _is_any_near(group, skews):
        return whole
    queues, most = _readable(group), group.policy.thresholds.CHANGE_STRATEGY.max_config_queues
    if queues > most:
        refused = f"No lists for CONFIG: {counted(queues, 'queue')} are more than max_config_queues ({most})."
        whole[place] = replace(whole[place], reason=sentences(whole[place].reason, refused))
        return whole
    strategy = json.decode(whole[place].after).get("strategy")
    lists = _lists(group, skews, group.strategies.get(strategy))
    if lists is not None:
        whole[place] = replace(whole[place], config_assignment=json.encode(lists).decode())
    return whole


def _may_run(group: AdvisedGroup) -> bool:
    """Whether every client is known, could be given a list, and reads every topic of the group."""
    facts = group.facts
    return (
        group.is_clustering
        and CONFIG in group.policy.strategies
        and group.current_strategy not in (None, MIXED)
        and not facts.has_grpc_clients
        and (facts.message_request_mode == PULL or facts.is_orderly is True)
        and facts.unseen_clients is None
        and len(group.client_ids) == len(facts.consumers) > 1
        and all(one.only_topics is None and one.language in LANGUAGES for one in facts.consumers)
        and not group.named(*FIRST_TO_MEND)
    )


def _is_any_near(group: AdvisedGroup, skews: frozenset[str]) -> bool:
    """Whether some strategy divides so evenly that no skew is left, and makes nothing worse."""
    thresholds = group.policy.thresholds
    return any(
        name != POP
        and not is_worse(group.before, side, thresholds.ALLOCATION_SKEW.excess)
        and all(_is_within(_load(rule, side), getattr(thresholds, rule).excess) for rule in skews)
        for name, side in group.strategies.items()
    )


def _is_within(load: Metrics | None, bound: float) -> bool:
    above = excess(load)
    return above is not None and above <= bound


def _load(rule: str, side: CaseSide) -> Metrics | None:
    return side.traffic if rule == TRAFFIC_SKEW else side.count


def _readable(group: AdvisedGroup) -> int:
    """Its readable queues, those of its retry topic included."""
    read = (reads.topic for reads in group.facts.reads if reads.topic.kind in (BUSINESS, RETRY))
    return sum(place.readable for topic in read for place in topic.places)


def _lists(group: AdvisedGroup, skews: frozenset[str], best: CaseSide | None) -> ConfigAssignment | None:
    """The lists, if one of the skews falls by the policy's min_improvement, and nothing gets worse.

    Args:
        group: a group whose clients could be given lists.
        skews: what was found.
        best: what the recommended strategy would mean, which the lists have to beat as well; None without one.
    """
    before, sharing = group.before, group.sharing()
    if before is None or before.count is None or sharing is None:
        return None
    bound, step = (
        group.policy.thresholds.ALLOCATION_SKEW.excess,
        1 - group.policy.thresholds.CHANGE_STRATEGY.min_improvement,
    )
    allowed = bound if skews & set(COUNT_SKEWS) else max(bound, before.count["excess"] or bound)
    clients = len(sharing.client_ids)
    business = np.flatnonzero(sharing.is_business)
    owner = sharing.owner.copy()
    even = -(-len(business) // clients)
    weights = sharing.msgs_per_s[business]
    if not weights.sum() > 0:  # some rate is unknown, or nothing is written
        weights = np.ones(len(business))
    divided = even_division(owner[business], weights, clients, int(allowed * even + TOLERANCE))
    if divided is None:
        return None
    owner[business] = divided
    _deal_out(owner, np.flatnonzero(~sharing.is_business), clients)
    lists = _by_client(sharing, owner)
    after = group.under_lists(lists)
    if after is None or is_worse(before, after, bound):
        return None
    others = [side for side in (before, best) if side is not None]
    if not any(all(_is_better(rule, side, after, step) for side in others) for rule in skews):
        return None
    rollout_s = group.policy.thresholds.TRANSITION.rollout_s
    return ConfigAssignment(
        moved_queues=int(np.count_nonzero(divided != sharing.owner[business])),
        before=loaded_side_shown(before),
        after=loaded_side_shown(after),
        note=sentences(NOTE.format(rollout_s=rollout_s), _retry_note(group)),
        clients=lists,
    )


def _is_better(rule: str, before: CaseSide, after: CaseSide, step: float) -> bool:
    excess_before, excess_after = excess(_load(rule, before)), excess(_load(rule, after))
    return excess_after is not None and (excess_before is None or excess_after <= excess_before * step)


def _retry_note(group: AdvisedGroup) -> str | None:
    """That the lists lack the retry topic, whose messages nobody would read; None where they have it."""
    if any(
        reads.topic.kind == RETRY and any(place.readable for place in reads.topic.places) for reads in group.facts.reads
    ):
        return None
    return f"The snapshot has no queues of {RETRY_PREFIX}{group.name}: add them once that topic exists."


def _by_client(sharing: Sharing, owner: Integers) -> dict[str, tuple[Queue, ...]]:
    lists: dict[str, list[Queue]] = {client_id: [] for client_id in sharing.client_ids}
    for name, client in zip(sharing.queues, owner.tolist(), strict=True):
        lists[sharing.client_ids[client]].append(name)
    return {client_id: tuple(names) for client_id, names in lists.items()}


def _deal_out(owner: Integers, others: Integers, clients: int) -> None:
    """Give the queues of retry topics to the clients with the fewest queues; they weigh nothing."""
    held = [
        (count, client) for client, count in enumerate(np.bincount(owner[owner != NOBODY], minlength=clients).tolist())
    ]
    heapq.heapify(held)
    for queue in others.tolist():
        count, client = held[0]
        owner[queue] = client
        heapq.heapreplace(held, (count + 1, client))


def even_division(owner: Integers, weights: Numbers, clients: int, most: int) -> Integers | None:
    """A division with a load of the busiest client near the least possible one, that moves few queues.

    For each level the clients above it give away as few queues as bring them below, and these go, the heaviest first,
    to the client with the least load. The first level at which all fits wins.

    Shape: an entry a queue -> the same; None where no level of :data:`LEVELS` fits.

    Args:
        owner: the index of the owner of each queue today, or NOBODY.
        weights: of each queue, above or equal to 0, and not all 0.
        clients: how many there are.
        most: queues that a client may own.

    >>> even_division(np.array([0, 0, 0, 1]), np.array([4.0, 3.0, 3.0, 2.0]), 2, 4)
    array([1, 0, 0, 1])
    """
    heaviest = np.sort(weights)[::-1]
    least = max(float(weights.sum()) / clients, float(heaviest[0]))
    if len(weights) > clients:  # two of the heaviest queues meet at one client
        least = max(least, float(heaviest[clients - 1] + heaviest[clients]))
    if (weights == weights[0]).all():
        least = -(-len(weights) // clients) * float(weights[0])
    for level in LEVELS:
        divided = _within(owner, weights, clients, least * level * (1 + TOLERANCE), most)
        if divided is not None:
            return divided
    return None


def _within(owner: Integers, weights: Numbers, clients: int, level: float, most: int) -> Integers | None:
    """A division where no client bears more than the level or owns more than so many queues; None if none is found."""
    heavy_first = np.argsort(-weights, kind="stable").tolist()
    weight = weights.tolist()
    kept: list[list[int]] = [[] for _ in range(clients)]
    free: list[int] = []
    for queue in heavy_first:
        client = int(owner[queue])
        (free if client == NOBODY else kept[client]).append(queue)
    for queues in kept:
        free += _given_away(queues, weight, level, most)
    bearing = [sum(weight[queue] for queue in own) for own in kept]
    waiting = [(-weight[queue], queue) for queue in free]
    heapq.heapify(waiting)
    while waiting:
        queue = heapq.heappop(waiting)[1]
        taker = _taker(kept, bearing, weight, queue, level, most)
        if taker is None:
            return None
        client, lighter = taker
        if lighter is not None:
            kept[client].remove(lighter)
            bearing[client] -= weight[lighter]
            heapq.heappush(waiting, (-weight[lighter], lighter))
        kept[client].append(queue)
        bearing[client] += weight[queue]
    _employ(kept, weight)
    divided = np.full(len(weight), NOBODY)
    for client, queues in enumerate(kept):
        divided[queues] = client
    return divided


def _taker(
    kept: Sequence[list[int]], bearing: Sequence[float], weight: Sequence[float], queue: int, level: float, most: int
) -> tuple[int, int | None] | None:
    """The client with the least load that may take a queue, and a lighter queue that it gives away for it, or None.

    Clients that need not give one away come first.
    """
    full: list[tuple[float, int, int]] = []
    free: list[tuple[float, int, int]] = []
    for client, queues in enumerate(kept):
        if len(queues) < most:
            free.append((bearing[client], len(queues), client))
        elif queues:
            full.append((bearing[client], len(queues), client))
    load, _, client = min(free, default=(level, 0, 0))
    if free and load + weight[queue] <= level:
        return client, None
    for load, _, client in sorted(full):
        lightest = min(kept[client], key=lambda one: (weight[one], one))
        if weight[lightest] < weight[queue] and load + weight[queue] - weight[lightest] <= level:
            return client, lightest
    return None


def _given_away(queues: list[int], weight: Sequence[float], level: float, most: int) -> list[int]:
    """Take the fewest queues from a client, the heaviest first in ``own``, so that it bears no more than the level."""
    given: list[int] = []
    over = sum(weight[queue] for queue in queues) - level
    while over > 0:
        enough = [index for index, queue in enumerate(queues) if weight[queue] >= over]
        queue = queues.pop(enough[-1] if enough else 0)  # the lightest that is enough, else the heaviest
        given.append(queue)
        over -= weight[queue]
    while len(queues) > most:
        given.append(queues.pop())
    return given


def _employ(kept: list[list[int]], weight: Sequence[float]) -> None:
    """Give each client without a queue the lightest one of a client with most queues, as far as there are enough."""
    for queues in kept:
        fullest = max(kept, key=len)
        if not queues and len(fullest) > 1:
            lightest = min(fullest, key=lambda queue: (weight[queue], queue))
            fullest.remove(lightest)
            queues.append(lightest)
