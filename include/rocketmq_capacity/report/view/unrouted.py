"""Topics that producers cannot write to, and what a producer gets: topics of which it is the same share a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.report.limits import NAMED_IN_A_CELL
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.tables.assess.failures import UnroutedTopic
from rocketmq_capacity.wording import counted, listed

REFUSED: Final = "Brokers have TBW102, and make no topic: TOPIC_NOT_EXIST."
UNKNOWN_OUTCOME: Final = "Unknown: brokers do not tell autoCreateTopicEnable, or the queues of TBW102."


@dataclass(frozen=True, slots=True)
class UnroutedLine:
    """Some topics.

    Attributes:
        topics: their names.
        readers: the groups that subscribe to them, in words.
        gets: what a producer gets that writes to one.
    """

    topics: First[str]
    readers: str
    gets: str


def unrouted_lines(rows: Sequence[UnroutedTopic]) -> tuple[UnroutedLine, ...]:
    """The lines, those with most topics first."""
    alike: dict[str, list[UnroutedTopic]] = {}
    for row in sorted(rows, key=lambda one: one.topic):
        alike.setdefault(_gets(row), []).append(row)
    return tuple(
        _line(gets, same) for gets, same in sorted(alike.items(), key=lambda line: (-len(line[1]), line[1][0].topic))
    )


def _line(gets: str, same: Sequence[UnroutedTopic]) -> UnroutedLine:
    readers = sorted({group for row in same for group in row.consumer_groups})
    return UnroutedLine(
        topics=First((row.topic for row in same[:NAMED_IN_A_CELL]), len(same)),
        readers=listed(readers, NAMED_IN_A_CELL) if readers else "none",
        gets=gets,
    )


def _gets(row: UnroutedTopic) -> str:
    no_route = "\u201cNo route info of this topic\u201d"
    if row.is_declared:
        return f"No queue is writable: {no_route}, whatever autoCreateTopicEnable is."
    if row.outcome == "NO_ROUTE":
        return f"No broker has it, and none makes it: {no_route}."
    if row.outcome == "REFUSED":
        return REFUSED
    if row.outcome is None:
        return UNKNOWN_OUTCOME
    created = sorted((row.created_queue_nums or {}).items())
    brokers = [f"{counted(int(queues), 'queue')} on {name}" for name, queues in created]
    return (
        f"autoCreateTopicEnable: the broker that gets the first message makes it ({listed(brokers, NAMED_IN_A_CELL)})."
    )
