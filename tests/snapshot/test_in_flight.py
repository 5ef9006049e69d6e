"""A snapshot never has more requests under way to one broker than the broker has threads for them."""

import asyncio
from dataclasses import dataclass, field

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.snapshot.collect import CollectOptions
from tests.client.speaking_peer import Visit
from tests.snapshot.told_cluster import ToldBroker, group_table, snapshot_of, topic_table

TOPICS = tuple(f"t{number}" for number in range(40))
GROUPS = tuple(f"g{number}" for number in range(40))


@dataclass
class SlowBroker(ToldBroker):
    """Counts the requests that wait for an answer; those about topics wait until there are so many at once."""

    bound: int = 0
    now: int = 0
    most: int = 0
    are_many: asyncio.Event = field(default_factory=asyncio.Event)
    answering: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, visit: Visit, request: Command) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now >= self.bound:
            self.are_many.set()
        self.answering.add(asyncio.create_task(self._answer_later(visit, request)))

    async def _answer_later(self, visit: Visit, request: Command) -> None:
        if request.code == RequestCode.GET_TOPIC_STATS_INFO:
            await self.are_many.wait()
        await asyncio.sleep(0.02)  # in which one too many would come
        self.now -= 1
        await super().handle(visit, request)


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        (CollectOptions(sample_count=1), 16),
        (CollectOptions(sample_count=1, settings=ConnectionSettings(in_flight=3)), 3),
    ],
)
def test_the_bound_is_reached_and_kept(options: CollectOptions, bound: int) -> None:
    brokers = [
        SlowBroker(name, bound=bound, rules={21: topic_table(*TOPICS), 201: group_table(*GROUPS)})
        for name in ("a", "b")
    ]

    inventory = snapshot_of(list(brokers), topics=TOPICS, options=options)

    assert inventory.failures == ()
    assert [broker.most for broker in brokers] == [bound, bound]
