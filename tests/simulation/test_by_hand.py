"""Two failures and two what-ifs, computed a second time with nothing but dicts, loops and the four rules of arithmetic.

Nothing here uses the program's own figures: who owns a queue is told by the lines of AllocateMessageQueueAveragely and
AllocateMessageQueueAveragelyByCircle, and how busy a client is by Little's law.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.outcome import outcome
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryConsumeStatus, InventoryGroupOffset, Sample
from rocketmq_capacity.tables import GroupFailure, ScenarioGroup
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, client, cluster, group, queues, reads, topic

POLICY: Final = Policy.model_validate({
    "strategies": ["AVG", "AVG_BY_CIRCLE"],
    "rooms": {"brokers": [{"pattern": "^(?P<room>[a-z]+)@"}], "clients": [{"pattern": "^(?P<room>[a-z]+)-"}]},
})
Name = tuple[str, str, int]
"""Topic, broker name, queue id."""
LAYOUT: Final = {
    "bills": {"north@a": (2, 6.0), "south@c": (2, 2.0)},
    "logs": {"north@b": (2, 1.0)},
    "orders": {"north@a": (4, 30.0), "north@b": (3, 20.0), "south@c": (4, 15.0)},
}
"""By topic and broker the number of queues, and the messages a second on each of them."""
CLIENTS: Final = {"north-1": 40.0, "north-2": 50.0, "north-3": 40.0, "south-1": 60.0, "south-2": 45.0}
"""Milliseconds that each client of g_shop takes for an order; a bill takes 20 ms."""
BILL_MS: Final = 20.0
THREADS: Final = 5
PEAK: Final = 1.5
"""In its busiest minute every queue got half as much again as it gets on average."""
LAG: Final = 300
"""Messages that wait on every queue."""


@dataclass(frozen=True)
class Cluster:
    """What there is after a change.

    Attributes:
        rates: messages a second on each queue, which is readable and writable.
        clients: milliseconds that each client takes for an order.
    """

    rates: Mapping[Name, float]
    clients: Mapping[str, float]

    @classmethod
    def as_it_is(cls) -> "Cluster":
        rates = {
            (name, on, queue): rate
            for name, brokers in LAYOUT.items()
            for on, (number, rate) in brokers.items()
            for queue in range(number)
        }
        return cls(rates, CLIENTS)

    def owners(self, topics: Iterable[str], strategy: str) -> dict[Name, str]:
        """Who owns each queue of these topics; each topic is divided by itself."""
        ids = sorted(self.clients)
        found: dict[Name, str] = {}
        for name in topics:
            every = sorted(queue for queue in self.rates if queue[0] == name)
            for index, own in enumerate(ids):
                mine = by_circle(every, index, len(ids)) if strategy == "AVG_BY_CIRCLE" else avg(every, index, len(ids))
                found |= dict.fromkeys(mine, own)
        return found

    def busiest(self, topics: Iterable[str], strategy: str) -> tuple[float, str]:
        """The busy share of the busiest client, and its id."""
        busy = dict.fromkeys(self.clients, 0.0)
        for queue, own in self.owners(topics, strategy).items():
            ms = BILL_MS if queue[0] == "bills" else self.clients[own]
            busy[own] += self.rates[queue] * ms / 1000 / THREADS
        return max((share, own) for own, share in busy.items())

    def idle(self, topics: Iterable[str], strategy: str) -> int:
        return len(self.clients) - len(set(self.owners(topics, strategy).values()))


def avg(every: Sequence[Name], index: int, clients: int) -> Sequence[Name]:
    """The lines of AllocateMessageQueueAveragely.allocate, rocketmq-all-5.3.3."""
    mod = len(every) % clients
    if len(every) <= clients:
        average = 1
    else:
        average = len(every) // clients + 1 if mod > 0 and index < mod else len(every) // clients
    start = index * average if mod > 0 and index < mod else index * average + mod
    return every[start : start + min(average, len(every) - start)] if start < len(every) else []


def by_circle(every: Sequence[Name], index: int, clients: int) -> Sequence[Name]:
    """The lines of AllocateMessageQueueAveragelyByCircle.allocate."""
    return [queue for place, queue in enumerate(every) if place % clients == index]


def without_brokers(was: Cluster, gone: Iterable[str]) -> Cluster:
    """Producers spread what they sent to the lost brokers evenly over the topic's queues that are left."""
    rates = {queue: rate for queue, rate in was.rates.items() if queue[1] not in gone}
    for name in LAYOUT:
        left = [queue for queue in rates if queue[0] == name]
        lost = sum(rate for queue, rate in was.rates.items() if queue[0] == name and queue[1] in gone)
        for queue in left:
            rates[queue] += lost / len(left)
    return replace(was, rates=rates)


def moved(was: Cluster, now: Cluster, topics: Sequence[str], strategy: str) -> int:
    """The queues of both sides that have another owner."""
    had, has = was.owners(topics, strategy), now.owners(topics, strategy)
    return sum(had[queue] != has[queue] for queue in had.keys() & has.keys())


SHOP: Final = ("bills", "orders")


def inventory(strategy: str) -> Inventory:
    """The cluster: g_shop reads bills and orders, and g_logs, one client, reads logs."""
    was = Cluster.as_it_is()
    topics = [
        topic(
            name,
            *(queues(on, number) for on, (number, _) in brokers.items()),
            rates={queue[1:]: rate for queue, rate in was.rates.items() if queue[0] == name},
        )
        for name, brokers in LAYOUT.items()
    ]
    usual: dict[str, Any] = {
        "allocate_strategy": strategy,
        "consume_threads": THREADS,
        "owned_queues": None,
        "seen_on": None,
    }
    shop = [
        client(
            client_id,
            subscriptions=tuple(map(reads, SHOP)),
            status=(
                InventoryConsumeStatus(topic="bills", consume_rt_ms=BILL_MS),
                InventoryConsumeStatus(topic="orders", consume_rt_ms=ms),
            ),
            **usual,
        )
        for client_id, ms in CLIENTS.items()
    ]
    log = client("north-9", subscriptions=(reads("logs"),), status=takes_logs(), **usual)
    bills, logs, orders = topics
    return cluster(
        topics,
        [
            group("g_shop", shop, [bills, orders], offsets=offsets_of(was, SHOP)),
            group("g_logs", [log], [logs], offsets=offsets_of(was, ("logs",))),
        ],
    )


def takes_logs() -> tuple[InventoryConsumeStatus, ...]:
    return (InventoryConsumeStatus(topic="logs", consume_rt_ms=1.0),)


def offsets_of(was: Cluster, topics: Iterable[str]) -> tuple[InventoryGroupOffset, ...]:
    """The offsets of a group with samples of three minutes, of which the second had the peak and the others less.

    In three minutes as much is written as the rate says.
    """
    minutes = (0.75, PEAK, 0.75)
    found = []
    for name, on, queue_id in sorted(queue for queue in was.rates if queue[0] in topics):
        written = [100_000.0]
        for minute in minutes:
            written.append(written[-1] + 60 * minute * was.rates[name, on, queue_id])
        samples = tuple(
            Sample(at=f"2026-11-20T01:5{at}:00Z", broker_offset=int(offset), consumer_offset=int(offset) - LAG)
            for at, offset in enumerate(written)
        )
        last = int(written[-1])
        found.append(
            InventoryGroupOffset(
                topic=name,
                broker_name=on,
                queue_id=queue_id,
                broker_offset=last,
                consumer_offset=last - LAG,
                samples=samples,
            )
        )
    return tuple(found)


def plan(strategy: str, *changes: Mapping[str, Any]) -> PlainPlan:
    return plain_plan(after(inventory(strategy), *changes, policy=POLICY), POLICY)


def failure_of(strategy: str, kind: str, lost: str, name: str = "g_shop") -> GroupFailure:
    (found,) = (
        one
        for judged in plan(strategy).assessments
        for one in judged.failures
        if (one.consumer_group, one.failure, one.lost) == (name, kind, lost)
    )
    return found


def effect_of(strategy: str, *changes: Mapping[str, Any], name: str = "g_shop") -> ScenarioGroup:
    before = inventory(strategy)
    sides = [units_of(one, POLICY) for one in (before, after(before, *changes, policy=POLICY))]
    was, now = (AssessedGroup(side.group(name), side.cluster, POLICY, Strategies(POLICY)) for side in sides)
    rooms = [str(change["room"]) for change in changes if change["change"] == "lose_room"]
    return outcome(was, now, (), (), frozenset(), rooms)[0]


def owners_planned(found: PlainPlan, strategy: str) -> dict[Name, str]:
    """Who owns which queue by the plan."""
    (own,) = (each for each in found.groups if each.name == "g_shop")
    owners, names = own.owned[strategy], own.division.queues.names
    return {
        (names[queue].topic, names[queue].broker_name, names[queue].queue_id): own.client_ids[index]
        for queue, index in zip(owners.queue.tolist(), owners.client.tolist(), strict=True)
    }


def verdict(was: float, now: float) -> str:
    """The verdict that the two shares at the peak deserve, if everything is read."""
    if was <= 0.7 < now or was <= 1 < now or (now > 0.5 and now - was >= 0.05):
        return "WORSE"
    if now <= 0.7 < was or now <= 1 < was or (now <= 0.5 < was and was - now >= 0.05):
        return "BETTER"
    return "UNCHANGED"


BOTH: Final = pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE"])


@BOTH
def test_the_cluster_as_it_is(strategy: str) -> None:
    was = Cluster.as_it_is()
    share, busiest = was.busiest(SHOP, strategy)
    found = plan(strategy)
    (status,) = (one.status for one in found.assessments if one.status.consumer_group == "g_shop")

    assert owners_planned(found, strategy) == was.owners(SHOP, strategy)
    assert (status.utilisation, status.peak_factor) == pytest.approx((share, PEAK))
    assert status.busiest_client == busiest
    assert Counter(was.owners(SHOP, strategy).values()).total() == 15


def agreed_share(row: ScenarioGroup, found: PlainPlan, was: Cluster, now: Cluster, strategy: str) -> float:
    """The busy share of the busiest client afterwards; the what-if has it, and its owners and moves, as by hand."""
    share, _ = now.busiest(SHOP, strategy)
    assert owners_planned(found, strategy) == now.owners(SHOP, strategy)
    assert row.after_utilisation == pytest.approx(share)
    assert row.after_peak_utilisation == pytest.approx(share * PEAK)
    assert row.moved_queues == moved(was, now, SHOP, strategy)
    return share


@BOTH
@pytest.mark.parametrize("broker", ["north@a", "north@b", "south@c"])
def test_a_lost_broker(strategy: str, broker: str) -> None:
    was = Cluster.as_it_is()
    now = without_brokers(was, {broker})
    before, _ = was.busiest(SHOP, strategy)
    gone = [queue for queue in was.rates if queue[1] == broker and queue[0] in SHOP]
    waits = len(gone) * LAG

    one, row = (
        failure_of(strategy, "BROKER", broker),
        effect_of(strategy, {"change": "lose_broker", "broker_name": broker}),
    )

    found = plan(strategy, {"change": "lose_broker", "broker_name": broker})
    share = agreed_share(row, found, was, now, strategy)
    assert one.busy_ratio == pytest.approx(share * PEAK)
    assert one.moved_today == row.moved_queues
    assert (one.lost_queues, row.before_queues - row.after_queues) == (len(gone), len(gone))
    assert one.waiting_messages == row.waiting_messages == waits
    assert (one.unread_queues, row.unread_queues) == (0, 0)
    worse_off = "WORSE" if waits >= 1000 else verdict(before * PEAK, share * PEAK)
    assert one.verdict == row.verdict == ("UNCHANGED" if worse_off == "BETTER" else worse_off)
    assert one.reasons == row.reasons


@BOTH
def test_a_lost_room(strategy: str) -> None:
    """Two of the five clients and four queues of either topic are left, or so."""
    was = Cluster.as_it_is()
    left = {own: ms for own, ms in CLIENTS.items() if own.startswith("south")}
    now = replace(without_brokers(was, {"north@a", "north@b"}), clients=left)
    gone = [queue for queue in was.rates if queue[1].startswith("north") and queue[0] in SHOP]

    one, row = failure_of(strategy, "ROOM", "north"), effect_of(strategy, {"change": "lose_room", "room": "north"})

    found = plan(strategy, {"change": "lose_room", "room": "north"})
    share = agreed_share(row, found, was, now, strategy)
    assert one.busy_ratio == pytest.approx(share * PEAK)
    assert one.moved_today == row.moved_queues
    assert one.lost_queues == len(gone) == 9
    assert one.waiting_messages == row.waiting_messages == 9 * LAG
    assert share * PEAK > 1
    assert one.verdict == row.verdict == "WORSE"
    assert one.reasons == row.reasons == ("CAPACITY", "LOSS")


def test_a_room_or_a_broker_that_takes_a_topic() -> None:
    """logs is on north@b alone, and its only client is in the same room."""
    for kind, lost in (("BROKER", "north@b"), ("ROOM", "north")):
        one = failure_of("AVG", kind, lost, "g_logs")
        assert (one.verdict, one.reasons) == ("WORSE", ("REACHABILITY",))
        assert (one.lost_queues, one.unreadable_topics, one.unwritable_topics) == (2, 1, 1)
        assert one.waiting_messages == 2 * LAG
    elsewhere = failure_of("AVG", "BROKER", "north@b", "g_logs")
    row = effect_of("AVG", {"change": "lose_broker", "broker_name": "north@b"}, name="g_logs")
    assert (row.verdict, row.waiting_messages, row.unreadable_topics) == (
        elsewhere.verdict,
        elsewhere.waiting_messages,
        ("logs",),
    )


@BOTH
@pytest.mark.parametrize("factor", [0.5, 1.3, 2.5])
def test_other_traffic_with_two_clients_more(strategy: str, factor: float) -> None:
    """A new client takes the median of the others for a call."""
    was = Cluster.as_it_is()
    median = sorted(CLIENTS.values())[2]
    now = Cluster(
        {queue: rate * factor for queue, rate in was.rates.items()},
        CLIENTS | {"south-3": median, "south-4": median},
    )
    before, _ = was.busiest(SHOP, strategy)
    changes = (
        {"change": "scale_traffic", "factor": factor},
        {"change": "add_clients", "consumer_group": "g_shop", "client_ids": ["south-3", "south-4"]},
    )

    row, found = effect_of(strategy, *changes), plan(strategy, *changes)

    share = agreed_share(row, found, was, now, strategy)
    (status,) = (one.status for one in found.assessments if one.status.consumer_group == "g_shop")
    assert status.distinct_client_ids == 7
    (own,) = (each for each in found.groups if each.name == "g_shop")
    assert len(own.loads[strategy].idle) == now.idle(SHOP, strategy) == 0
    assert row.is_over_bound == (share * PEAK > 0.7)
    told = verdict(before * PEAK, share * PEAK)
    assert row.verdict == ("UNCHANGED" if told == "BETTER" and factor < 1 else told)


@BOTH
@pytest.mark.parametrize("number", [1, 2, 6])
def test_other_queues_of_a_topic(strategy: str, number: int) -> None:
    """set_queues spreads the topic's traffic evenly: 240 orders a second over three brokers."""
    was = Cluster.as_it_is()
    total = sum(rate for queue, rate in was.rates.items() if queue[0] == "orders")
    assert total == 240.0
    orders = {("orders", on, queue): total / (3 * number) for on in LAYOUT["orders"] for queue in range(number)}
    now = replace(was, rates={queue: rate for queue, rate in was.rates.items() if queue[0] != "orders"} | orders)
    before, _ = was.busiest(SHOP, strategy)
    change = {"change": "set_queues", "topic": "orders", "read_queue_nums": number, "write_queue_nums": number}

    row, found = effect_of(strategy, change), plan(strategy, change)

    share = agreed_share(row, found, was, now, strategy)
    (own,) = (each for each in found.groups if each.name == "g_shop")
    assert len(own.loads[strategy].idle) == now.idle(SHOP, strategy)
    assert row.unread_queues == len(own.loads[strategy].orphans) == 0
    gone = sum(queue not in now.rates for queue in was.rates)
    assert row.waiting_messages == gone * LAG
    told = "WORSE" if gone * LAG >= 1000 else verdict(before * PEAK, share * PEAK)
    assert row.verdict == ("UNCHANGED" if told == "BETTER" and gone else told)
