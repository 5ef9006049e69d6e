"""Makes recommendations, and joins the parts of their sentences."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Action
from rocketmq_capacity.tables.dataset import Metrics
from rocketmq_capacity.wording import rounded

ID_DIGITS: Final = 12
"""Hexadecimal digits of an id: 48 bits are enough for the ids of one plan."""
METRICS: Final = ("peak", "floor", "excess", "gini", "cv")
"""The metrics of a load that the plan file shows."""
ESCAPED: Final = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


def answer(
    action: Action,
    *,
    target: Any,
    reason: str,
    rules: Iterable[str],
    commands: Iterable[str] = (),
    is_manual: bool = False,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    consumer_group: str | None = None,
    topic: str | None = None,
    steps: str = "[]",
) -> tables.Recommendation:
    """One recommendation.

    ``target`` (such as a broker, or values) makes its id differ from other recommendations of the same action, group
    and topic. Equal inputs give equal ids. Where a command is a comment, a person has to look at it.
    """
    lines = tuple(commands)
    identity = {"action": action.name, "group": consumer_group, "topic": topic, "target": target}
    return tables.Recommendation(
        id=sha256(_json(identity).encode()).hexdigest()[:ID_DIGITS],
        action=action.name,
        consumer_group=consumer_group,
        topic=topic,
        is_manual=is_manual or any(line.startswith("# ") for line in lines),
        reason=reason,
        rules=tuple(sorted(set(rules))),
        commands=lines,
        before=_json(before or {}),
        after=_json(after or {}),
        steps=steps,
    )


def figures(metrics: Metrics | None) -> dict[str, float | None] | None:
    """A load's metrics as the plan shows them; None if they are not defined."""
    return None if metrics is None else {name: rounded(metrics.get(name)) for name in METRICS}


def json_object(text: str) -> dict[str, Any]:
    """What was before, or would be after, a recommendation."""
    decoded: dict[str, Any] = msgspec.json.decode(text)
    return decoded


def sentences(*parts: str | None) -> str:
    """The parts that are not None, joined by spaces."""
    return " ".join(part for part in parts if part is not None)


def _json(value: Any) -> str:
    """Compact JSON with capital hexadecimal digits, as Jackson writes it: ids are made of this text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return ESCAPED.sub(_in_capitals, text) if "\\u" in text else text


def _in_capitals(escape: re.Match[str]) -> str:
    text = escape[0]
    return rf"\u{text[2:].upper()}" if text.startswith(r"\u") else text
