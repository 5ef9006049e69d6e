"""desired_state.yaml: topics and consumer groups for Git, sorted, with a line for each thing that may change.

Between such lines of two topics or groups are at least four lines that no recommendation changes. So a patch's context
has no line of another topic's patch, and patches for several topics and groups apply in any order.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.handover.flow_yaml import mapping, scalar
from rocketmq_capacity.handover.unified_diff import Edit
from rocketmq_capacity.plan_file.desired_state import DesiredState, QueuesOnBroker, SubscribedTopic
from rocketmq_capacity.vocabulary import java_order

TOPICS: Final = "topics"
GROUPS: Final = "consumer_groups"
QUEUES: Final = "queues"
SUBSCRIPTIONS: Final = "subscriptions"
Part = QueuesOnBroker | SubscribedTopic
Parts = Sequence[QueuesOnBroker] | Sequence[SubscribedTopic]


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line that changes.

    Attributes:
        path: topics, topic, queues and broker name, or consumer_groups, group, subscriptions and topic.
        before: the part as it is; None if there is none.
        after: the part as it is to be.
    """

    path: tuple[str, str, str, str]
    before: Part | None
    after: Part

    @property
    def owner(self) -> tuple[str, str]:
        """Which topic or group it is a part of."""
        return self.path[:2]


class StateFile:
    """The lines of desired_state.yaml, and where each topic's queues and each group's subscriptions are."""

    def __init__(self, state: DesiredState) -> None:
        self.lines: list[str] = []
        self._parts: dict[tuple[str, str], tuple[int, Parts]] = {}
        self._write(state)

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return "".join(f"{line}\n" for line in self.lines).encode()

    def parts(self, of: str, name: str) -> Parts:
        """The queues of a topic, or the subscriptions of a group; none if the file does not have it."""
        return self._parts[of, name][1] if (of, name) in self._parts else ()

    def edit(self, change: LineChange) -> Edit:
        """The edit that makes a change of a topic or group that has some parts."""
        start, parts = self._parts[change.owner]
        name = change.path[-1]
        place = bisect_left([java_order(_name(one)) for one in parts], java_order(name))
        return Edit(start + place, _line(change.after), is_new=change.before is None)

    def _write(self, state: DesiredState) -> None:
        for name in ("format", "cluster_name", "taken_at", "fingerprint"):
            self.lines.append(f"{name}: {scalar(getattr(state, name))}")
        self.lines.append(f"{TOPICS}:" if state.topics else f"{TOPICS}: []")
        for topic in state.topics:
            self.lines += (
                f"- topic: {scalar(topic.topic)}",
                f"  message_type: {scalar(topic.message_type)}",
                f"  order: {scalar(topic.order)}",
            )
            self._list(TOPICS, topic.topic, QUEUES, topic.queues)
        self.lines.append(f"{GROUPS}:" if state.consumer_groups else f"{GROUPS}: []")
        for group in state.consumer_groups:
            self.lines += (
                f"- consumer_group: {scalar(group.consumer_group)}",
                f"  message_model: {scalar(group.message_model)}",
                f"  consume_type: {scalar(group.consume_type)}",
                f"  consume_from_where: {scalar(group.consume_from_where)}",
                f"  orderly: {scalar(group.orderly)}",
            )
            self.lines.append("  settings:" if group.settings else "  settings: []")
            self.lines += (f"  - {mapping(one)}" for one in group.settings)
            self._list(GROUPS, group.consumer_group, SUBSCRIPTIONS, group.subscriptions)

    def _list(self, of: str, owner: str, key: str, parts: Parts) -> None:
        self.lines.append(f"  {key}:" if parts else f"  {key}: []")
        if parts:
            self._parts[of, owner] = len(self.lines), parts
            self.lines += map(_line, parts)


def _line(part: Part) -> str:
    return f"  - {mapping(part)}"


def _name(part: Part) -> str:
    return part.broker_name if isinstance(part, QueuesOnBroker) else part.topic
