"""The change `unsubscribe`."""

from typing import Literal

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Group, ScenarioChange, TopicName
from rocketmq_capacity.simulation.parts import group_of, topics_read, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.subscribing import check_reads_queues, without_subscription
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.vocabulary import RETRY_PREFIX


class Unsubscribe(ScenarioChange):
    """A topic that no client of a group reads any more after a deployment."""

    EXAMPLE = "consumer_group: {group}, topic: {topic}"
    ALTERS = "owners"

    change: Literal["unsubscribe"]
    consumer_group: Group
    topic: TopicName

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group without its subscriptions to the topic. Its offsets stay, as they do on brokers.

        Errors: :class:`BadInput` for an unknown group, a LITE group, a topic that the group does not read, or a retry
        topic, to which every client subscribes by itself (DefaultMQPushConsumerImpl.copySubscription).
        """
        group = group_of(inventory, self.consumer_group, place)
        check_reads_queues(group, inventory, place)
        if self.topic.startswith(RETRY_PREFIX):
            raise place.refusal(
                "topic", f"is {shown(self.topic)}; clients subscribe to their retry topic by themselves"
            )
        place.check_known("topic", self.topic, topics_read(group), "topic of the group")
        return with_group(inventory, without_ownership(without_subscription(group, self.topic)))
