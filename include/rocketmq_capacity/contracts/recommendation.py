"""Dataset ``recommendation``."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset

MOVING: Final = frozenset({
    "ADD_BROKER",
    "CHANGE_STRATEGY",
    "FIX_CLIENT_ID",
    "FIX_SUBSCRIPTION",
    "SCALE_CONSUMERS",
    "SWITCH_TO_POP",
})
"""Actions that change who reads what, beside those that change the queues of one topic."""


class Recommendation(Dataset, frozen=True, kw_only=True):
    """What to change, how, and what that would do.

    Grain: one row a recommendation.
    Units: those of the figures in ``before`` and ``after`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: Annotated[str, Meta(description="12 hexadecimal digits, equal over equal inputs")]
    action: Annotated[str, Meta(description="name of the action")]
    consumer_group: Annotated[
        str | None, Meta(description="the group to change; null if the change is a topic's or the cluster's")
    ] = None
    topic: Annotated[
        str | None, Meta(description="the topic to change; null if the change is a group's or the cluster's")
    ] = None
    is_manual: Annotated[bool, Meta(description="a person must complete it; no command may be run unchanged")]
    reason: Annotated[str, Meta(description="why, and what it changes")]
    rules: Annotated[tuple[str, ...], Meta(description="rules whose findings it answers")]
    commands: Annotated[
        tuple[str, ...], Meta(description="shell commands in order; empty if the change is not an mqadmin command")
    ]
    before: Annotated[str, Meta(description="JSON object of the figures of today")]
    after: Annotated[str, Meta(description="JSON object of the same figures after the change, as simulated")]
    check_command: Annotated[
        str | None, Meta(description="a command that only looks, to be run afterwards; null if there is none")
    ] = None
    check_shows: Annotated[str | None, Meta(description="what that command shows if the change has worked")] = None
    way_back: Annotated[str | None, Meta(description="how the change is undone; null if the reason says it")] = None
    steps: Annotated[str, Meta(description="JSON list of its steps, each with a gate; empty if it is one step")] = "[]"
    config_assignment: Annotated[
        str | None,
        Meta(description="JSON object of fixed lists of queues for the group's clients, as another way; null if none"),
    ] = None

    @property
    def may_move_queues(self) -> bool:
        """Whether it changes a topic's queues, a group's clients or what these run."""
        is_of_queues = self.consumer_group is None and self.topic is not None and '"queues"' in self.after
        return self.action in MOVING or is_of_queues
