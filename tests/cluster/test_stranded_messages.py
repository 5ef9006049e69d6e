"""What groups do with messages in queues that they could not see, and that following RAISE_READ_QUEUES reads them all.

The first messages of ``pay`` are deleted before anybody sees its queues 2 and 3. A queue that does not begin at 0 is
begun at its end by a group without an offset there, whatever Java the broker runs on. ``ship`` had four read queues
once, and its group has offsets on all of them.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import pytest

from rocketmq_capacity.snapshot.collect import collect_now
from tests.cluster.clients import Consumer, Owned
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.fixtures.plain_plan import plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(900)]

FROM_LAST: Final = "CONSUME_FROM_LAST_OFFSET"
"""DefaultMQPushConsumer.consumeFromWhere."""
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
CLEANED_AT_ONCE: Final = {
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
    "cleanResourceInterval": "1000",
    "mappedFileSizeCommitLog": "1048576",
}
HIDDEN: Final = (2, 3)
PATIENCE_S: Final = 180.0


@dataclass(frozen=True)
class Story:
    """What happened, in messages.

    Attributes:
        cards: RAISE_READ_QUEUES by topic, planned from a snapshot of the cluster.
        hidden: by topic, what lay in the queues that nobody saw, and that its groups with offsets there had not read.
        read: what each group consumed after that.
    """

    cards: dict[str, dict[str, Any]]
    hidden: dict[str, int]
    read: dict[str, int]


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    """Queues are hidden and filled, a plan is made, and its cards are followed, but for ``g_ignores``."""
    cluster = started_or_skipped(Cluster([Broker("broker-a", config=CLEANED_AT_ONCE), Broker("broker-b")]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        yield told(cluster, clients, cluster.mqadmin)


def told(cluster: Cluster, clients: Clients, run: Callable[[str], str]) -> Story:
    cluster.create_topic("pay", {"broker-a": (2, 4)})
    cluster.create_topic("elsewhere", {"broker-b": 2})
    starts = {"g_follows": FROM_LAST, "g_ignores": FROM_LAST, "g_first": FROM_FIRST}
    numbers = {
        group: clients.start_consumer(consumer(group, where, "pay", "elsewhere")) for group, where in starts.items()
    }
    clients.settled()
    clients.produce("pay", 800, size_bytes=4_000)
    # A broker deletes nothing in its first minute.
    until(lambda: all(first > 0 for first, _ in ends(cluster, "pay").values()), PATIENCE_S, every_s=3)

    cluster.create_topic("ship", {"broker-a": (4, 4)})
    clients.start_consumer(consumer("g_before", FROM_LAST, "ship"))
    clients.settled()
    clients.produce("ship", 40)
    until(lambda: consumed(clients)["g_before"] == 40, PATIENCE_S)
    until(
        lambda: committed(cluster, "g_before", "ship") == 40, PATIENCE_S, every_s=0.5
    )  # which its client does every second
    read_before = sum(last for queue, (_, last) in ends(cluster, "ship").items() if queue in HIDDEN)
    cluster.create_topic("ship", {"broker-a": (2, 4)})
    until(lambda: all(len(one.queues) <= 3 for one in clients.owned() if one.consumer_group == "g_before"), PATIENCE_S)
    clients.settled()
    clients.produce("ship", 60)
    until(
        lambda: sum(last for _, last in ends(cluster, "ship").values()) == 100, PATIENCE_S, every_s=0.5
    )  # a little after it is stored
    visible = sum(last for queue, (_, last) in ends(cluster, "ship").items() if queue not in HIDDEN)
    until(lambda: consumed(clients)["g_before"] == visible + read_before, PATIENCE_S)

    cards = cards_of(cluster)
    hidden = {
        topic: sum(last - first for queue, (first, last) in ends(cluster, topic).items() if queue in HIDDEN)
        for topic in ("pay", "ship")
    }
    hidden["ship"] -= read_before
    before = consumed(clients)

    clients.stop_consumer(numbers["g_follows"])
    for line in (line for topic in ("pay", "ship") for line in cards[topic]["commands"]):
        if not any(group in line for group in ("g_ignores", "g_first")):
            run(line.removeprefix("# "))
    clients.start_consumer(consumer("g_follows", FROM_LAST, "pay", "elsewhere"))
    clients.settled()
    everyone = {"g_follows", "g_ignores", "g_first", "g_before"}
    until(lambda: {one.consumer_group for one in clients.owned() if holds_hidden(one)} == everyone, PATIENCE_S)
    clients.settled()
    # What a group reads is asserted below: that it is too little shows in numbers, not in a time that is up.
    at_least = {"g_follows": hidden["pay"], "g_first": before["g_first"] + hidden["pay"]}
    at_least["g_before"] = before["g_before"] + hidden["ship"]
    with suppress(AssertionError):
        until(lambda: all(consumed(clients)[group] >= at_least[group] for group in at_least), PATIENCE_S)
    after = consumed(clients)
    return Story(
        cards, hidden, {**{group: after[group] - before[group] for group in before}, "g_follows": after["g_follows"]}
    )


def consumer(group: str, where: str, *topics: str) -> Consumer:
    return Consumer(group, f"{group}-1", topics, consume_from_where=where)


def consumed(clients: Clients) -> dict[str, int]:
    return {one.consumer_group: one.consumed for one in clients.owned()}


def holds_hidden(owned: Owned) -> bool:
    """Whether it holds the queues that were hidden, of one of the two topics."""
    of_topic = {queue.queue_id for queue in owned.queues if queue.topic in ("pay", "ship")}
    return of_topic >= set(HIDDEN)


def committed(cluster: Cluster, consumer_group: str, topic: str) -> int:
    """Messages before the group's offsets, over the topic's queues."""
    rows = cluster.facts_of_brokers()["consume_stats"]
    return sum(
        row["consumer_offset"] for row in rows if (row["consumer_group"], row["topic"]) == (consumer_group, topic)
    )


def ends(cluster: Cluster, topic: str) -> dict[int, tuple[int, int]]:
    """The first offset of each queue, and the one after its last."""
    rows = [row for row in cluster.facts_of_brokers()["topic_stats"] if row["topic"] == topic]
    return {row["queue_id"]: (row["min_offset"], row["max_offset"]) for row in rows}


def cards_of(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """RAISE_READ_QUEUES of each topic, planned from the cluster as it is."""
    inventory = collect_now([cluster.nameserver])
    found = [one for one in plain_plan(inventory).recommendations if one.action == "RAISE_READ_QUEUES"]
    return {
        str(one.topic): {"is_manual": one.is_manual, "commands": one.commands, "before": json.loads(one.before)}
        for one in found
    }


def test_the_card_says_what_each_group_cannot_see_and_leaves_it_to_a_person(story: Story) -> None:
    assert all(card["is_manual"] for card in story.cards.values())
    assert story.cards["pay"]["before"]["stranded"] == [
        {"consumer_group": group, "messages": story.hidden["pay"]} for group in ("g_first", "g_follows", "g_ignores")
    ]
    assert story.cards["ship"]["before"]["stranded"] == [
        {"consumer_group": "g_before", "messages": story.hidden["ship"]}
    ]
    assert story.hidden["pay"] > 0
    assert 0 < story.hidden["ship"] < 60


def test_a_group_that_follows_the_card_reads_all_of_it_once(story: Story) -> None:
    assert story.read["g_follows"] == story.hidden["pay"]


def test_a_group_whose_clients_begin_at_the_first_offset_needs_no_command(story: Story) -> None:
    assert story.read["g_first"] == story.hidden["pay"]
    assert not any("g_first" in line for line in story.cards["pay"]["commands"])


def test_a_group_that_is_online_and_begins_at_the_last_offset_skips_it(story: Story) -> None:
    assert story.read["g_ignores"] == 0


def test_a_group_with_offsets_there_goes_on_from_them(story: Story) -> None:
    assert story.read["g_before"] == story.hidden["ship"]
    assert not any("cloneGroupOffset" in line for line in story.cards["ship"]["commands"])
