"""plan.json, read strictly: it has each member of its types and no other, and its values are within their bounds."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.catalogue.action import actions
from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.plan_file.plan import Plan, decoded_plan
from rocketmq_capacity.report.plan import render_plan

FREE: Final = {"evidence", "before", "after", "standing", "accepted", "timers", "figures"}
"""Objects whose members depend on the rule, the action or the change; in a score, before and after are points."""
SIGNED: Final = re.compile("(least_|most_)?per_day_(msgs_per_s|ratio)")
"""Growth."""
LEAST: Final = {"queue_id": -1, "step": 1, "steps": 1, "computed_steps": 1, "batch": 1, "rebalances": 2}
"""Of numbers whose least is not 0."""
MOST: Final = {
    **dict.fromkeys(("gini", "level", "bound", "ratio"), 1),
    **dict.fromkeys(("points", "points_after", "most_points", "before", "after"), 100),
}
OVER_ONE: Final = {"utilisation_ratio", "busy_ratio", "loss_ratio"}
"""Demand by what there is; every other ratio is a share."""
WORDS: Final = {
    "rule": {*rules(), ""},
    "rules": set(rules()),
    "action": set(actions()),
    "message_model": {"CLUSTERING", "BROADCASTING", "LITE_SELECTIVE"},
    "message_request_mode": {"PULL", "POP", "MIXED"},
    "provision_status": {"UNDER_PROVISIONED", "RIGHT_PROVISIONED", "OVER_PROVISIONED", "UNDECIDED"},
    "reading_status": {"READ", "UNREAD", "TWICE", "UNKNOWN"},
    "current_strategy_source": {"reported", "observed", "policy", "default"},
    "protocol": {"GRPC", "MIXED"},
    "kind": {"KEYED", "DISPLACED", "KEYED_OR_DISPLACED", "GROUP", "TOPIC", "BROKER"},
    "sending": {"SYNC", "ASYNC", "ONEWAY"},
}
"""Of members whose type is any text."""
MOMENT: Final = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z"
SHA256: Final = "[0-9a-f]{64}"
FORMS: Final = {"taken_at": MOMENT, "since": MOMENT, "fingerprint": SHA256, "recommendations_digest": SHA256}


def read_plan(file: Path) -> Plan:
    """The plan in the file."""
    return strictly_read(file.read_bytes())


def strictly_read(content: bytes) -> Plan:
    """The plan of these bytes. Errors: msgspec.DecodeError by its types; AssertionError beyond them."""
    plan = decoded_plan(content)
    assert b"".join(render_plan(plan)) == content, "a member is missing, unknown or out of its order"
    wrong = [*out_of_bounds(json.loads(content)), *_unnamed(plan)]
    assert not wrong, wrong
    return plan


def out_of_bounds(value: Any, path: str = "$", name: str = "") -> Iterator[str]:
    """The values that no plan has: a negative number, a share above 1, an unknown word, a moment in another form."""
    if isinstance(value, Mapping):
        for member, held in value.items():
            if member not in FREE or name == "score":
                yield from out_of_bounds(held, f"{path}.{member}", member)
    elif isinstance(value, list):
        for place, held in enumerate(value):
            yield from out_of_bounds(held, f"{path}[{place}]", name)
    elif not _is_within(path, name, value):
        yield f"{path}: {value!r}"


def _is_within(path: str, name: str, value: str | float | None) -> bool:
    if isinstance(value, str):
        return value in WORDS.get(name, {value}) and re.fullmatch(FORMS.get(name, ".*"), value, re.DOTALL) is not None
    is_share = "_ratios." in path or (name.endswith("_ratio") and name not in OVER_ONE)
    most = 1 if is_share else MOST.get(name, float("inf"))
    return value is None or SIGNED.fullmatch(name) is not None or LEAST.get(name, 0) <= value <= most


def _unnamed(plan: Plan) -> Iterator[str]:
    """The ids of findings and causes that are no ids."""
    ids = [*(finding.id for finding in plan.findings), *(cause.id for cause in plan.causes)]
    return (one for one in ids if not re.fullmatch("[0-9a-f]{12}(-[0-9]+)?", one))
