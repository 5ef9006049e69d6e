"""A cluster put through the whole chain up to the recommendations, and these as a test asks for them."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.assessment.judge import Judgement, Row, judge
from tests.fixtures.plain_plan import plain_plan


@dataclass(frozen=True)
class Answers:
    """What was found, and what was recommended; ``before`` and ``after`` are decoded."""

    judged: Judgement
    rows: list[Row]

    def all(self, action: str | None = None, consumer_group: str | None = None, topic: str | None = None) -> list[Row]:
        """The recommendations of the action, about the group, about the topic, in the order of the plan."""
        return [
            row
            for row in self.rows
            if action in (None, row["action"])
            and consumer_group in (None, row["consumer_group"])
            and topic in (None, row["topic"])
        ]

    def one(self, action: str, consumer_group: str | None = None, topic: str | None = None) -> Row:
        """The one recommendation of the action about the group or topic."""
        found = self.all(action, consumer_group, topic)
        assert len(found) == 1, f"{action}: {found}; there are {self.actions(consumer_group, topic)}"
        return found[0]

    def actions(self, consumer_group: str | None = None, topic: str | None = None) -> list[str]:
        """The actions about the group, or about the topic, in the order of the plan."""
        return [row["action"] for row in self.all(None, consumer_group, topic)]


def answer(
    inventory: Inventory,
    policy: Policy | None = None,
    earlier: Iterable[Row] | None = None,
    history: Sequence[Inventory] = (),
) -> Answers:
    """Plan every unit; ``earlier`` is what the run before found, as rows with a rule and a consumer group."""
    earlier = None if earlier is None else list(earlier)
    flagged = None if earlier is None else [(row["consumer_group"], row["rule"]) for row in earlier]
    plan = plain_plan(inventory, policy, history, flagged)
    rows: list[Row] = msgspec.json.decode(msgspec.json.encode(plan.recommendations))
    return Answers(
        judge(inventory, policy, history, earlier),
        [{**row, "before": json.loads(row["before"]), "after": json.loads(row["after"])} for row in rows],
    )


def options(command: str) -> dict[str, str | None]:
    """The options of a command line as a shell splits it, in order; a flag without a value has None."""
    program, _, *words = shlex.split(command)
    assert program == "mqadmin", command
    found: dict[str, str | None] = {}
    name = None
    for word in words:
        if name is not None and not word.startswith("-"):
            found[name], name = word, None
            continue
        assert word.startswith("-"), command
        name, value = word[:2], word[2:]
        assert name not in found, f"{name} stands twice in {command}"
        found[name] = value or None
        name = None if value else name
    return found
