"""The change `scale_traffic`."""

from collections.abc import Collection
from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import ScenarioChange, TopicName
from rocketmq_capacity.simulation.parts import topic_of, with_scaled_rates, without_rates
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.traffic import without_samples
from rocketmq_capacity.snapshot.inventory import MOST_RATE, Inventory, InventoryGroup, InventoryTopic
from rocketmq_capacity.vocabulary import is_broadcasting


class ScaleTraffic(ScenarioChange):
    """More messages, or fewer, written to a topic or to all topics."""

    EXAMPLE = "topic: {topic}, factor: 2.0"
    ALTERS = "messages"

    change: Literal["scale_traffic"]
    topic: Annotated[TopicName | None, Field(description="empty for all topics")] = None
    factor: Annotated[float, Field(ge=0, allow_inf_nan=False, title="Times as many messages")]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The inventory with ``factor`` times the known rates of one topic, or of all.

        Samples of lag, and rates at which clients consumed, do not apply to the new traffic, and become unknown. Each
        client of a broadcasting group gets ``factor`` times what it got.

        Errors: :class:`BadInput` for an unknown topic, or a factor that makes a rate too large for an inventory.
        """
        if self.topic is not None:
            topic_of(inventory, self.topic, place)
        if self.factor == 1.0:
            return inventory
        is_scaled = {topic.topic: self.topic in (None, topic.topic) for topic in inventory.topics}
        topics = tuple(_scaled(t, self.factor, place) if is_scaled[t.topic] else t for t in inventory.topics)
        scaled = {name for name, scales in is_scaled.items() if scales}
        groups = tuple(_with_new_traffic(group, scaled, self.factor, place) for group in inventory.consumer_groups)
        return replace(inventory, topics=topics, consumer_groups=groups)


def _with_new_traffic(
    group: InventoryGroup, topics: Collection[str], factor: float, place: ChangePlace
) -> InventoryGroup:
    """The group without samples and rates of these topics; a broadcasting one with the rates that follow."""
    group = without_samples(group, topics)
    handled = [one for client in group.clients or () for one in client.status or () if one.topic in topics]
    if is_broadcasting(group.message_model):
        for status in handled:
            for rate in (status.consume_ok_msgs_per_s, status.consume_failed_msgs_per_s):
                _check(factor, rate or 0.0, status.topic, place)
        return with_scaled_rates(group, dict.fromkeys(topics, factor))
    if not handled:
        return group
    clients = (replace(client, status=without_rates(client.status, topics)) for client in group.clients or ())
    return replace(group, clients=tuple(clients))


def _check(factor: float, rate: float, topic: str, place: ChangePlace) -> None:
    if rate * factor > MOST_RATE:
        raise place.refusal("factor", f"is {factor}; expected one that keeps each rate of {shown(topic)} within 2^63")


def _scaled(topic: InventoryTopic, factor: float, place: ChangePlace) -> InventoryTopic:
    def scaled(rate: float | None) -> float | None:
        if rate is None:
            return None
        _check(factor, rate, topic.topic, place)
        return rate * factor

    rates = topic.rates and tuple(
        replace(one, put_msgs_per_s=scaled(one.put_msgs_per_s), mean_msgs_per_s=scaled(one.mean_msgs_per_s))
        for one in topic.rates
    )
    hourly = topic.hourly and replace(
        topic.hourly,
        mean_msgs_per_s=tuple(map(scaled, topic.hourly.mean_msgs_per_s)),
        most_msgs_per_s=tuple(map(scaled, topic.hourly.most_msgs_per_s)),
    )
    offsets = topic.offsets and tuple(replace(o, put_msgs_per_s=scaled(o.put_msgs_per_s)) for o in topic.offsets)
    return replace(topic, rates=rates, hourly=hourly, offsets=offsets)
