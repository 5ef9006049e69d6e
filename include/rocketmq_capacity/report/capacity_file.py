"""capacity.json: bounds of every group's number of clients, flat and small, for autoscalers."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.vocabulary import BoundsConfidence, ReasonCode

FORMAT: Final = "rocketmq-capacity/capacity/1"
TO_THE_HOUR: Final = len("2026-11-20T02")


class Basis(Struct, frozen=True, kw_only=True):
    """What the bounds are made from."""

    hour: Annotated[str, means("the hour of the peak that the group must bear, UTC ISO-8601")]
    samples: Annotated[
        int, means("rates that were compared: the measured one, hours of stored days, steps between samples")
    ]
    days: Annotated[int, means("different days with stored rates of all its topics")]


class GroupCapacity(Struct, frozen=True, kw_only=True):
    """The bounds of a group: those of the strategy in use and of the policy."""

    consumer_group: Annotated[str, means("its name")]
    clients: Annotated[int, means("running consumers")]
    min_safe: Annotated[int | None, means("as min_replicas")]
    target: Annotated[
        int | None, means("clients that keep the busiest one within the bound, soon too; null if none does, or unknown")
    ]
    max_useful: Annotated[
        int | None, means("clients beyond this many own nothing under the strategy in use; null without such a number")
    ]
    min_replicas: Annotated[
        int | None,
        means(
            "the fewest clients that may run: not fewer than today unless scale_down_allowed, and never "
            "fewer than the policy keeps; null without clients"
        ),
    ]
    max_replicas: Annotated[
        int | None, means("max_useful and the policy's standbys, not below min_replicas; null without such a number")
    ]
    scale_down_allowed: Annotated[bool, means("fewer clients than today may run")]
    blocked_by: Annotated[tuple[str, ...], means("what forbids fewer clients: names of rules, then codes")]
    basis: Basis
    confidence: Annotated[
        BoundsConfidence, means("HIGH with enough stored days and nothing unknown, MEDIUM without them, else LOW")
    ]
    verdict: Annotated[str, means("the provision_status of plan.json")]
    reason: Annotated[str | None, means("why, in words")]
    reason_code: Annotated[ReasonCode, means("why, as a code")]


class Capacity(Struct, frozen=True, kw_only=True):
    """The bounds of a cluster's groups."""

    format: Literal["rocketmq-capacity/capacity/1"] = FORMAT
    cluster_name: Annotated[str, means("name of the cluster")]
    taken_at: Annotated[str, means("moment of the snapshot, UTC ISO-8601")]
    valid_until: Annotated[str | None, means("do not use the bounds after this moment, UTC ISO-8601")]
    fingerprint: Annotated[str, means("of the snapshot, as in plan.json")]
    scenario: Annotated[
        str | None,
        means(
            "name of the what-if whose changed cluster this is; of a trial, the values of the policy that "
            "it tries; null in a plan to act on"
        ),
    ]
    completeness: Annotated[float, means("completeness.ratio of plan.json")]
    groups: Annotated[tuple[GroupCapacity, ...], means("by name")]


def capacity_of_plan(plan: Plan) -> Capacity:
    """The bounds of every group of a plan."""
    return Capacity(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        valid_until=plan.valid_until,
        fingerprint=plan.fingerprint,
        scenario=_scenario(plan),
        completeness=plan.completeness.ratio,
        groups=tuple(_of_group(group, plan.taken_at) for group in plan.groups),
    )


def _scenario(plan: Plan) -> str | None:
    if plan.trial is True and plan.policy_differences is not UNSET:
        return f"a trial: {'; '.join(one.in_words() for one in plan.policy_differences)}"
    return None if plan.scenario is UNSET else plan.scenario.name


def _of_group(group: GroupPlan, taken_at: str) -> GroupCapacity:
    bounds = group.client_bounds
    moment = taken_at if group.peak is None or group.peak.at is None else group.peak.at
    return GroupCapacity(
        consumer_group=group.consumer_group,
        clients=group.connections,
        min_safe=bounds.min_replicas,
        target=bounds.target,
        max_useful=bounds.max_useful,
        min_replicas=bounds.min_replicas,
        max_replicas=bounds.max_replicas,
        scale_down_allowed=bounds.scale_down_allowed,
        blocked_by=bounds.blocked_by,
        basis=Basis(
            hour=f"{moment[:TO_THE_HOUR]}:00:00Z",
            samples=1 + (group.peak.rates if group.peak is not None else 0),
            days=group.peak.days if group.peak is not None else 0,
        ),
        confidence=bounds.confidence,
        verdict=group.provision_status,
        reason=group.provision_reason,
        reason_code=bounds.reason_code,
    )
