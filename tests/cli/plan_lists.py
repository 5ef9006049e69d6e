"""What the contract says of plan.json beyond its types: every list in its order, every id in its cause."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.plan import Plan


def out_of_order(plan: Plan) -> list[str]:
    """The lists of the plan that are not sorted, or name something twice."""
    lists: dict[str, Sequence[Any]] = {
        "groups": [group.consumer_group for group in plan.groups],
        "failures": [_nulls_first(one.broker_addr, one.request, one.error) for one in plan.completeness.failures],
        "findings": [_place_of(finding) for finding in plan.findings],
        "recommendations": [_nulls_first(r.action, r.consumer_group, r.topic, r.id) for r in plan.recommendations],
    }
    place = {recommendation.id: number for number, recommendation in enumerate(plan.recommendations)}
    worst = ("CRITICAL", "WARNING", "INFO")
    lists["causes"] = [(worst.index(cause.severity), number) for number, cause in enumerate(plan.causes)]
    lists["alternatives"] = [[place[one] for one in each] for each in plan.alternatives]
    lists["producer_balance"] = [one.topic for one in plan.producer_balance]
    lists |= {f"alternatives[{number}]": each for number, each in enumerate(lists["alternatives"])}
    for group in plan.groups:
        lists[f"{group.consumer_group}.topics"] = group.topics
        lists[f"{group.consumer_group}.strategies"] = [one.strategy for one in group.strategies]
        for one in group.strategies:
            name = f"{group.consumer_group}.{one.strategy}"
            lists[f"{name}.idle_clients"] = [client.encode("utf-16-be") for client in one.idle_clients]
            lists[f"{name}.orphan_queues"] = one.orphan_queues
            lists[f"{name}.doubly_owned_queues"] = one.doubly_owned_queues
    for recommendation in plan.recommendations:
        lists[f"{recommendation.id}.rules"] = list(recommendation.rules)
    if plan.scenario is not msgspec.UNSET:
        lists["scenario.affected_groups"] = [group.consumer_group for group in plan.scenario.affected_groups]
        lists["scenario.transitions"] = [group.consumer_group for group in plan.scenario.transitions]
        lists["scenario.groups"] = [(group.consumer_group, group.strategy) for group in plan.scenario.groups]
        for side in ("findings_added", "findings_cleared", "findings_undecided"):
            lists[f"scenario.{side}"] = [_place_of(finding) for finding in getattr(plan.scenario, side)]
    return [name for name, items in lists.items() if any(a >= b for a, b in pairwise(items))]


def out_of_causes(plan: Plan) -> list[str]:
    """What belongs to no cause or to several, and causes and alternatives that name what the plan does not have."""
    problems = []
    for kind in ("findings", "recommendations"):
        held = Counter(one.id for one in getattr(plan, kind))
        named = Counter(one for cause in plan.causes for one in getattr(cause, kind))
        problems += [f"{kind}: {one}" for one in held.keys() | named.keys() if not held[one] == named[one] == 1]
    ids = {one.id for one in plan.recommendations}
    problems += [f"alternatives: {each}" for each in plan.alternatives if len(each) < 2 or not ids.issuperset(each)]
    causes = Counter(cause.id for cause in plan.causes)
    return sorted(problems + [f"causes: {one}" for one, number in causes.items() if number > 1])


def queues_as_texts(plan: Plan, brokers: Iterable[str]) -> set[str]:
    """The texts that name a queue of these brokers where the contract has an object."""
    findings = [*plan.findings]
    if plan.scenario is not msgspec.UNSET:
        effect = plan.scenario
        findings += [*effect.findings_added, *effect.findings_cleared, *effect.findings_undecided]
    said = [(one.subjects, one.evidence) for one in findings]
    changes = [(one.before, one.after) for one in plan.recommendations]
    queue = re.compile(rf"(?:^|\s)(?:{'|'.join(map(re.escape, brokers))})[:\s]\d+$")
    return {text for text in _texts_in([*said, *changes]) if queue.search(text)}


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts_in([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def _place_of(finding: PlanFinding) -> tuple[Any, ...]:
    names = _nulls_first(finding.rule, finding.consumer_group, finding.topic, finding.broker_name)
    return (
        *names,
        [(one, "", -1) if isinstance(one, str) else msgspec.structs.astuple(one) for one in finding.subjects],
    )


def _nulls_first(*names: str | None) -> tuple[Any, ...]:
    return tuple((name is not None, name or "") for name in names)
