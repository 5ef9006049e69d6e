"""Which share of a topic's messages a group's filter lets through."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.filters import filtered_topics, pass_ratios, with_pass_ratios
from rocketmq_capacity.snapshot.inventory import (
    Client,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventorySubscription,
    InventoryTopic,
    InventoryTopicOffset,
    PassRatio,
    Sample,
)
from rocketmq_capacity.vocabulary import MessageModel
from tests.simulation.clusters import AT, cluster, queues

EARLIER = "2026-11-20T01:59:00Z"
"""A minute before the snapshot."""


@dataclass(frozen=True)
class Filtering:
    """A group on two queues of ``pay`` that takes ``tag``; each of two clients consumes ``ok`` messages a second."""

    ok: float | None = 5.0
    put: float | None = 100.0
    moved: int | None = None
    """By how many messages the group's place on each queue moved over the last minute; None: there is no sample."""
    expression: str | None = "tag"
    message_model: MessageModel = "CLUSTERING"

    @property
    def topic(self) -> InventoryTopic:
        rates = tuple(
            InventoryTopicOffset(broker_name="broker-a", queue_id=i, put_msgs_per_s=self.put) for i in range(2)
        )
        return InventoryTopic(topic="pay", queues=(queues("broker-a", 2),), offsets=rates)

    @property
    def group(self) -> InventoryGroup:
        said = InventoryConsumeStatus(topic="pay", consume_ok_msgs_per_s=self.ok, consume_failed_msgs_per_s=0.0)
        samples = None
        if self.moved is not None:
            samples = (Sample(at=EARLIER, broker_offset=90_000, consumer_offset=90_000 - self.moved),)
        return InventoryGroup(
            consumer_group="g",
            message_model=self.message_model,
            subscriptions=(InventorySubscription(topic="pay", expression_type="TAG", expression=self.expression),),
            clients=tuple(Client(client_id=f"c{i}", status=(said,)) for i in range(2)),
            offsets=tuple(
                InventoryGroupOffset(
                    topic="pay",
                    broker_name="broker-a",
                    queue_id=i,
                    broker_offset=96_000,
                    consumer_offset=90_000,
                    samples=samples,
                )
                for i in range(2)
            ),
        )

    @property
    def ratio(self) -> float | None:
        return pass_ratios(self.group, {"pay": self.topic}, AT)["pay"]


def test_a_group_that_keeps_up_passes_over_all_that_is_written() -> None:
    assert Filtering().ratio == pytest.approx(10 / 200)


def test_a_group_that_falls_behind_passes_over_what_its_offsets_moved() -> None:
    # 1,200 messages a minute on each queue.
    assert Filtering(moved=1_200).ratio == pytest.approx(10 / 40)


def test_what_may_come_of_when_clients_commit_is_no_falling_behind() -> None:
    # Five seconds of 200 messages each are 500 messages of both queues.
    assert Filtering(moved=5_500).ratio == pytest.approx(10 / 200)
    assert Filtering(moved=5_499).ratio == pytest.approx(10 / (2 * 5_499 / 60))
    assert Filtering(moved=6_501).ratio == pytest.approx(10 / (2 * 6_501 / 60))


def test_each_client_of_a_broadcasting_group_gets_all() -> None:
    assert Filtering(message_model="BROADCASTING").ratio == pytest.approx(5 / 200)


def test_where_nothing_is_written_every_share_is_nothing() -> None:
    assert Filtering(ok=0.0, put=0.0).ratio == 1.0


@pytest.mark.parametrize("facts", [Filtering(ok=None), Filtering(put=None), Filtering(moved=0)])
def test_a_share_that_cannot_be_computed_is_unknown(facts: Filtering) -> None:
    assert facts.ratio is None


def test_a_client_that_says_nothing_leaves_the_share_unknown() -> None:
    facts = Filtering()
    group = replace(facts.group, clients=(*(facts.group.clients or ()), Client(client_id="c9")))
    assert pass_ratios(group, {"pay": facts.topic}, AT) == {"pay": None}


@pytest.mark.parametrize("expression", [None, "", "*"])
def test_what_asks_for_everything_is_no_filter(expression: str | None) -> None:
    assert filtered_topics(Filtering(expression=expression).group) == []


def test_one_client_with_a_filter_makes_the_group_filter() -> None:
    group = Filtering(expression="*").group
    own = (InventorySubscription(topic="pay", expression="tag"),)
    assert filtered_topics(replace(group, clients=(Client(client_id="c9", subscriptions=own),))) == ["pay"]


def test_what_the_inventory_says_of_a_filter_holds() -> None:
    facts = Filtering()
    group = replace(facts.group, pass_ratios=(PassRatio(topic="pay", pass_ratio=0.3),))
    assert pass_ratios(group, {"pay": facts.topic}, AT) == {"pay": 0.3}


def test_the_share_stays_when_the_clients_change() -> None:
    facts = Filtering()
    known = with_pass_ratios(cluster([facts.topic], [facts.group]))
    fewer = replace(known.consumer_groups[0], clients=())
    assert pass_ratios(fewer, {"pay": facts.topic}, AT) == {"pay": pytest.approx(0.05)}
