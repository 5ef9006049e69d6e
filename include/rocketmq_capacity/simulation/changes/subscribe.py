"""The change `subscribe`."""

from typing import Annotated, Final, Literal, Self

from msgspec.structs import replace
from pydantic import Field, model_validator

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Group, Name, ScenarioChange, TopicName
from rocketmq_capacity.simulation.parts import group_of, topic_of, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.subscribing import check_reads_queues, filters_of, with_subscription
from rocketmq_capacity.snapshot.filters import EVERYTHING, put_msgs_per_s
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventorySubscription,
    InventoryTopic,
)
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    EVERY_MESSAGE,
    LITE,
    SQL92,
    SQL92_ENABLED,
    TAG,
    ExpressionType,
    filter_text,
    is_broadcasting,
)

LONGEST_CALL_MS: Final = 86_400_000.0


class Subscribe(ScenarioChange):
    """A topic that every client of a group reads after a deployment, or reads by another filter."""

    EXAMPLE = "consumer_group: {group}, topic: {topic}, expression: TagA"
    ALTERS = "owners"

    change: Literal["subscribe"]
    consumer_group: Group
    topic: TopicName
    expression: Annotated[
        Name, Field(title="Filter", description="tags such as TagA || TagB, or an SQL92 condition; * is every message")
    ] = EVERY_MESSAGE
    expression_type: Annotated[ExpressionType, Field(title="Type of the filter")] = TAG
    consume_rt_ms: (
        Annotated[
            float,
            Field(
                ge=0,
                le=LONGEST_CALL_MS,
                title="Milliseconds a call",
                description="how long the listener takes for the topic, if you know it; without it, how busy the"
                " clients would be is unknown",
            ),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _a_condition(self) -> Self:
        if self.expression_type == SQL92 and self.expression == EVERY_MESSAGE:
            raise ValueError("expected a condition with SQL92; for every message, expected TAG and *")
        return self

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group of which every client reads the topic by this filter. Offsets that it has there stay.

        Errors: :class:`BadInput` for an unknown group or topic, a LITE group or topic, a topic that is RocketMQ's own
        or a retry topic, a filter that all clients have already, and SQL92 where brokers refuse it.
        """
        group = group_of(inventory, self.consumer_group, place)
        check_reads_queues(group, inventory, place)
        topic = topic_of(inventory, self.topic, place)
        kind = Kinds(inventory, policy.exclude).of_topic(self.topic)
        if kind != BUSINESS or topic.message_type == LITE:
            problem = f"is {shown(self.topic)}, of kind {LITE if kind == BUSINESS else kind}; expected a business topic"
            raise place.refusal("topic", problem)
        if filters_of(group, self.topic) == {filter_text(self.expression_type, self.expression)}:
            problem = f"is {shown(self.expression)}, by which all its clients read {shown(self.topic)} already"
            raise place.refusal("expression", f"{problem}; expected another filter or another topic")
        if self.expression_type == SQL92 and (brokers := _refusing_sql92(inventory)):
            problem = f"is {SQL92}, which {shown(brokers[0])} refuses; expected {TAG}, or {SQL92_ENABLED}=true there"
            raise place.refusal("expression_type", problem)
        new = InventorySubscription(topic=self.topic, expression_type=self.expression_type, expression=self.expression)
        changed = without_ownership(with_subscription(group, new))
        return with_group(inventory, _reporting(changed, self._status(group, topic)))

    def _status(self, group: InventoryGroup, topic: InventoryTopic) -> InventoryConsumeStatus | None:
        """What each client will report of the topic; None if nothing of it is known.

        A client of a broadcasting group gets every message of the topic, of the others nobody knows their share.
        """
        is_told = self.expression in EVERYTHING and is_broadcasting(group.message_model)
        rate = put_msgs_per_s(topic) if is_told else None
        if self.consume_rt_ms is None and not is_broadcasting(group.message_model):
            return None
        return InventoryConsumeStatus(
            topic=self.topic,
            consume_rt_ms=self.consume_rt_ms,
            consume_ok_msgs_per_s=rate,
            consume_failed_msgs_per_s=None if rate is None else 0.0,
        )


def _refusing_sql92(inventory: Inventory) -> list[str]:
    """Brokers that are known to refuse clients with such a filter (ClientManageProcessor.checkClientConfig)."""
    return sorted(one.broker_name for one in inventory.brokers if (one.config or {}).get(SQL92_ENABLED) == "false")


def _reporting(group: InventoryGroup, status: InventoryConsumeStatus | None) -> InventoryGroup:
    """The group whose clients report this of a topic; None changes nothing.

    A client of a broadcasting group that reports nothing goes on so: else it would seem to handle nothing else.
    """
    if status is None:
        return group
    says_nothing = is_broadcasting(group.message_model)
    clients = group.clients and tuple(
        one
        if one.status is None and says_nothing
        else replace(one, status=(*(each for each in one.status or () if each.topic != status.topic), status))
        for one in group.clients
    )
    return replace(group, clients=clients)
