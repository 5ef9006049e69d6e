"""The change `rolling_restart`."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import MOST_CLIENTS, Group, HowTheyEnd, ScenarioChange
from rocketmq_capacity.simulation.parts import dividing_group, topics_read
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup
from rocketmq_capacity.vocabulary import LITE, LITE_SELECTIVE, POP, is_broadcasting


class RollingRestart(ScenarioChange):
    """The clients of a group restart, some at a time, with a pause between the batches."""

    EXAMPLE = "consumer_group: {group}, batch: 1, pause_s: 30, ending: SHUTDOWN"

    change: Literal["rolling_restart"]
    consumer_group: Group
    batch: Annotated[
        int,
        Field(ge=1, le=MOST_CLIENTS, title="Clients in a batch", description="how many restart at the same time"),
    ]
    pause_s: Annotated[
        float,
        Field(
            ge=0,
            le=86_400,
            allow_inf_nan=False,
            title="Seconds of pause",
            description="from the start of a batch until the next batch stops",
        ),
    ]
    ending: HowTheyEnd = "SHUTDOWN"

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster as it is: after a rolling restart the same clients read the same queues.

        :func:`rocketmq_capacity.simulation.rolling_restarts.rolling_restarts` says what happens in between.

        Errors: :class:`BadInput` for an unknown group, one without clients, one whose clients do not divide queues, and
        a batch with more clients than the group has.
        """
        group = dividing_group(inventory, self.consumer_group, place)
        if (problem := _undivided(group, inventory)) is not None:
            raise place.refusal("consumer_group", f"is {shown(group.consumer_group)}, {problem}")
        clients = len(group.clients or ())
        if self.batch > clients:
            raise place.refusal("batch", f"is {self.batch}; expected at most {clients}, the clients that the group has")
        return inventory


def _undivided(group: InventoryGroup, inventory: Inventory) -> str | None:
    """Why no queue of the group gets another owner when a client restarts; None if its clients divide its queues."""
    if not group.clients:
        return "which has no clients; expected a group with some"
    if is_broadcasting(group.message_model):
        return "whose clients each read every queue (BROADCASTING); expected a group whose clients divide its queues"
    topics = topics_read(group)
    if group.message_model == LITE_SELECTIVE or (group.message_model is None and _has_lite(topics, inventory)):
        return "which reads a LITE topic, so that its clients own no queues; expected a group that divides queues"
    if not group.orderly and _modes(group, topics) == {POP}:
        return "whose clients pop, so that no queue waits for an owner; expected a group of the request mode PULL"
    return None


def _has_lite(topics: Collection[str], inventory: Inventory) -> bool:
    return any(topic.topic in topics and topic.message_type == LITE for topic in inventory.topics)


def _modes(group: InventoryGroup, topics: Collection[str]) -> set[str | None]:
    """The request modes of the topics that the group reads."""
    modes: Mapping[str, str | None] = {one.topic: one.message_request_mode for one in group.subscriptions or ()}
    return {modes.get(topic) or group.message_request_mode for topic in topics}
