"""Which changes are tried, what they do, and what is recommended."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Dataset


class TriedCase(Dataset, frozen=True, kw_only=True):
    """Changes of topics that are tried before any is recommended.

    Grain: one row a change.
    """

    KEY: ClassVar[tuple[str, ...]] = ("case_id",)

    case_id: Annotated[str, means("id of the change, unique in the plan")]
    topic: Annotated[str, means("the topic that it changes")]
    counts: Annotated[str, means("JSON of the numbers of queues that it sets, by broker")]


class CaseEffect(Dataset, frozen=True, kw_only=True):
    """What the changes in ``tried_case`` would do to each group with clients on the topic.

    Grain: one row a change and group.
    """

    KEY: ClassVar[tuple[str, ...]] = ("case_id", "consumer_group")

    case_id: Annotated[str, means("the change, as in `tried_case`")]
    topic: Annotated[str, means("the topic that it changes")]
    consumer_group: Annotated[str, means("the group that reads the topic")]
    effect: Annotated[str, means("JSON of what the group owns before and after, and whether it would be worse off")]


class TopicAnswer(Dataset, frozen=True, kw_only=True):
    """What the groups of a topic need to know about the recommendations for the topic.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)

    topic: Annotated[str, means("name of the topic")]
    answer: Annotated[
        str, means("JSON of what its changes answer, why others were refused, and what forbids its commands")
    ]


class Recommendation(Dataset, frozen=True, kw_only=True):
    """What to change, how, and what that would do.

    Grain: one row a recommendation.
    Units: those of the figures in ``before`` and ``after`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: Annotated[str, means("12 hexadecimal digits, equal over equal inputs")]
    action: Annotated[str, means("name of the action")]
    consumer_group: Annotated[
        str | None, means("the group to change; null if the change is a topic's or the cluster's")
    ] = None
    topic: Annotated[str | None, means("the topic to change; null if the change is a group's or the cluster's")] = None
    is_manual: Annotated[bool, means("a person must complete it; no command may be run unchanged")]
    reason: Annotated[str, means("why, and what it changes")]
    rules: Annotated[tuple[str, ...], means("rules whose findings it answers")]
    commands: Annotated[
        tuple[str, ...], means("shell commands in order; empty if the change is not an mqadmin command")
    ]
    before: Annotated[str, means("JSON object of the figures of today")]
    after: Annotated[str, means("JSON object of the same figures after the change, as simulated")]
    check_command: Annotated[
        str | None, means("a command that only looks, to be run afterwards; null if there is none")
    ] = None
    check_shows: Annotated[str | None, means("what that command shows if the change has worked")] = None
    way_back: Annotated[str | None, means("how the change is undone; null if the reason says it")] = None
    steps: Annotated[str, means("JSON list of its steps, each with a gate; empty if it is one step")] = "[]"
    config_assignment: Annotated[
        str | None, means("JSON object of fixed lists of queues for the group's clients, as another way; null if none")
    ] = None

    @property
    def may_move_queues(self) -> bool:
        """Whether it changes a topic's queues, a group's clients or what these run."""
        return action_of(self.action).moves_queues
