"""A group of three that takes a topic away under load, one client after the other, and reads it again later.

What the what-ifs `unsubscribe` and `subscribe` say of it happens: who owns what meanwhile, what nobody reads, what the
brokers still tell, and where reading goes on.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.changes.unsubscribe import Unsubscribe
from rocketmq_capacity.simulation.subscription_changes import subscription_change
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import RETRY_PREFIX
from tests.cluster.clients import Consumer, Owned
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.simulation.test_transition import change
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

GROUP: Final = "leaver"
QUEUES: Final = {"kept": 4, "left": 7}
MSGS_PER_S: Final = 20.0
NAMES: Final = ("c1", "c2", "c3")
AVG: Final = Policy.model_validate({"strategies": ["AVG"]})
PATIENCE_S: Final = 120.0
COMMITTED_S: Final = 3.0
"""Clients commit every second."""


@dataclass(frozen=True)
class Story:
    """What was seen.

    Attributes:
        before: the snapshot while all read both topics.
        meanwhile: after each of the first two clients has left, who holds which queue of a topic, and the snapshot.
        after: the snapshot when all have left.
        held_after: the same owners at that time.
        consumed: by queue of the topic that was left, the offsets that were consumed, in the order of their handling.
        again_from: how many of them were consumed before the topic was read again.
    """

    before: Inventory
    meanwhile: Sequence[tuple[Mapping[str, Mapping[str, int]], Inventory]]
    after: Inventory
    held_before: Mapping[str, Mapping[str, int]]
    held_after: Mapping[str, Mapping[str, int]]
    consumed: Mapping[int, Sequence[int]]
    again_from: Mapping[int, int]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    record = tmp_path_factory.mktemp("unsubscribing") / "consumed"
    cluster = started_or_skipped(Cluster([Broker("broker-a")]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        for topic, queues in QUEUES.items():
            cluster.create_topic(topic, {"broker-a": queues})
        numbers = [
            clients.start_consumer(Consumer(GROUP, name, list(QUEUES), record=f"{record}-{name}")) for name in NAMES
        ]
        held_before = _held(clients.settled())
        for topic in QUEUES:
            clients.start_load(topic, MSGS_PER_S)
        until(lambda: all(one.consumed > MSGS_PER_S for one in clients.owned()), PATIENCE_S)
        time.sleep(COMMITTED_S)
        before, meanwhile = collect_now([cluster.nameserver]), []
        for number in numbers:
            clients.resubscribe_consumer(number, ["kept"])
            meanwhile.append((_held(clients.settled()), collect_now([cluster.nameserver])))
        held_after, after = meanwhile.pop()
        consumed = {queue: len(offsets) for queue, offsets in _consumed(record).items()}
        for number in numbers:
            clients.resubscribe_consumer(number, list(QUEUES))
        clients.settled()
        clients.stop_loads()
        ends = {one.queue_id: one.max_offset for one in _topic(collect_now([cluster.nameserver]), "left").offsets or ()}
        until(lambda: all(max(_consumed(record)[queue]) + 1 >= (end or 0) for queue, end in ends.items()), PATIENCE_S)
        yield Story(before, meanwhile, after, held_before, held_after, _consumed(record), consumed)


def _topic(inventory: Inventory, name: str) -> Any:
    return next(one for one in inventory.topics if one.topic == name)


def _held(owned: Sequence[Owned]) -> dict[str, dict[str, int]]:
    """How many queues of each topic each client holds."""
    return {
        topic: {one.client_id: sum(queue.topic == topic for queue in one.queues) for one in owned} for topic in QUEUES
    }


def _consumed(record: Path) -> dict[int, list[int]]:
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for file in record.parent.glob(f"{record.name}-*"):
        for line in file.read_text(encoding="utf-8").splitlines():
            at_ms, topic, _broker, queue, offset, _stored_ms = line.split()
            if topic == "left":
                found[int(queue)].append((int(at_ms), int(offset)))
    return {queue: [offset for _, offset in sorted(rows)] for queue, rows in found.items()}


def _group(plan: PlainPlan) -> Any:
    return next(one for one in plan.groups if one.name == GROUP)


def test_while_it_spreads_the_share_of_every_client_that_has_left_has_no_reader(story: Story) -> None:
    asked = Unsubscribe(change="unsubscribe", consumer_group=GROUP, topic="left")
    said = subscription_change(_group(plain_plan(story.before, AVG)), asked, Timing(), is_read_before=True)
    unread = [QUEUES["left"] - sum(held["left"].values()) for held, _ in story.meanwhile]

    # Seven queues of three: AVG gives 3, 2 and 2. The first client has left, then the second as well.
    assert sorted(story.held_before["left"].values()) == [2, 2, 3]
    assert unread == [3, 5]
    assert said.unread_meanwhile == max(unread)


def test_the_plan_of_each_moment_names_the_queues_that_nobody_reads(story: Story) -> None:
    for held, inventory in story.meanwhile:
        found = {
            one.rule: one for one in plain_plan(inventory, AVG).findings if GROUP in (one.consumer_group, one.topic)
        }
        # Clients say themselves what they subscribe to, and which queues they hold.
        assert {"ORPHAN_QUEUE", "SUBSCRIPTION_MISMATCH"} & set(found), (held, sorted(found))


def test_no_queue_of_the_other_topic_moves(story: Story) -> None:
    assert story.held_after["kept"] == story.held_before["kept"]
    rows, whole = change(
        story.before, {"change": "unsubscribe", "consumer_group": GROUP, "topic": "left"}, name=GROUP, policy=AVG
    )
    assert {row.topic for row in rows} <= {"left"}
    assert whole.new_queues == 0


def test_when_all_have_left_nobody_holds_the_topic_and_brokers_no_longer_tell_its_offsets(story: Story) -> None:
    assert sum(story.held_after["left"].values()) == 0
    told = {
        moment: {one.topic for one in _group_of(inventory).offsets or ()}
        for moment, inventory in (("before", story.before), ("after", story.after))
    }
    assert "left" in told["before"]
    assert "left" not in told["after"]


def test_what_it_leaves_behind_is_what_the_what_if_says(story: Story) -> None:
    asked = Unsubscribe(change="unsubscribe", consumer_group=GROUP, topic="left")
    said = subscription_change(_group(plain_plan(story.before, AVG)), asked, Timing(), is_read_before=True)
    written = {
        moment: sum(one.max_offset or 0 for one in _topic(inventory, "left").offsets or ())
        for moment, inventory in (("before", story.before), ("after", story.after))
    }
    subscribed = {one.topic for client in _group_of(story.after).clients or () for one in client.subscriptions or ()}

    assert said.queues_with_offsets == QUEUES["left"]
    assert written["after"] > written["before"], "the topic goes on without a reader"
    assert {f"{RETRY_PREFIX}{GROUP}"} == subscribed - {"kept"}, "messages that failed still come back"


def test_so_where_reading_begins_is_unknown_in_the_plan_and_in_truth_it_goes_on(story: Story) -> None:
    rows, _ = change(
        story.after, {"change": "subscribe", "consumer_group": GROUP, "topic": "left"}, name=GROUP, policy=AVG
    )
    assert {(row.topic, row.starts_at) for row in rows} == {("left", None)}
    for queue, offsets in story.consumed.items():
        # No message is missing, and none of those that were committed long ago came again.
        assert sorted(set(offsets)) == list(range(max(offsets) + 1)), queue
        assert min(offsets[story.again_from[queue] :]) > 0, queue


def _group_of(inventory: Inventory) -> Any:
    return next(one for one in inventory.consumer_groups if one.consumer_group == GROUP)
