"""What a person says to a plan's recommendations: which of them have to be answered, and the answer as it is kept."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.report.view.answers import Answers

STATUSES: Final = ("APPROVED", "REJECTED")
KEYS: Final = ("status", "by", "at", "why", "recommendations")
"""The keys of an approval, in the order of plan.json."""


def needing_approval(document: Mapping[str, Any]) -> list[str]:
    """Ids of the plan's recommendations that answer at least one finding of WARNING or CRITICAL, in the plan's order.

    A recommendation that answers notes alone, or nothing that was found, is for information as they are.
    """
    answers = Answers(document)
    needing = {
        place
        for finding, places in zip(answers.findings, answers.places, strict=True)
        if finding["severity"] != "INFO"
        for place in places
    }
    return [recommendation["id"] for place, recommendation in enumerate(answers.plan) if place in needing]


def is_about(approval: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether the plan still has every recommendation that was answered: a plan made anew may not."""
    held = {recommendation["id"] for recommendation in document["recommendations"]}
    return held.issuperset(approval["recommendations"])


def read_approval(file: Path) -> dict[str, Any] | None:
    """The approval that the file holds, or None where there is no file.

    Errors: BadInput where it is no JSON, or not what :func:`approval_object` takes.
    """
    try:
        value = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise BadInput(str(file), "", f"is not JSON: {error}") from None
    return approval_object(value, str(file))


def approval_object(value: Any, source: str = "approval") -> dict[str, Any]:
    """The plan file's ``approval``: ``status``, ``by``, ``at``, ``why`` and ``recommendations``, and nothing else.

    ``by`` is null where nobody answered in time, ``why`` where no reason was given; ``recommendations`` are the ids
    that were asked about, sorted here.
    Errors: BadInput that names ``source`` and the key that is not so.
    """
    if not isinstance(value, Mapping) or set(value) != set(KEYS):
        raise BadInput(source, "$", f"expected an object of {', '.join(KEYS)}")
    if value["status"] not in STATUSES:
        raise BadInput(source, "$.status", f"is {value['status']!r}; expected {' or '.join(STATUSES)}")
    for name in ("by", "why"):
        if not isinstance(value[name], str | None):
            raise BadInput(source, f"$.{name}", "expected a text or null")
    if not _is_utc(value["at"]):
        raise BadInput(source, "$.at", f"is {value['at']!r}; expected a time such as 2026-11-20T08:00:00Z")
    ids = value["recommendations"]
    if not isinstance(ids, list | tuple) or not all(isinstance(name, str) for name in ids):
        raise BadInput(source, "$.recommendations", "expected a list of ids")
    return {name: value[name] for name in KEYS} | {"recommendations": sorted(set(ids))}


def _is_utc(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.endswith("Z") and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
