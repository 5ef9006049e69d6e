"""capacity.json: bounds of every group's number of clients, flat and small, for autoscalers."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from rocketmq_capacity.report.plan_file.group import GroupPlan
from rocketmq_capacity.report.plan_file.plan import Plan

FORMAT: Final = "rocketmq-capacity/capacity/1"


class GroupCapacity(Struct, frozen=True, kw_only=True):
    """The bounds of a group."""

    consumer_group: Annotated[str, Meta(description="its name")]
    clients: Annotated[int, Meta(description="running consumers")]
    min_safe: Annotated[int | None, Meta(description="clients that it needs at least; null if unknown")]
    target: Annotated[
        int | None,
        Meta(description="clients that keep the busiest one within the policy's bound; null if none does, or unknown"),
    ]
    max_useful: Annotated[
        int | None, Meta(description="clients beyond this many own nothing; null for broadcasting and POP groups")
    ]
    verdict: Annotated[str, Meta(description="the provision_status of plan.json")]
    reason: Annotated[str | None, Meta(description="why, in words")]


class Capacity(Struct, frozen=True, kw_only=True):
    """The bounds of a cluster's groups."""

    format: Literal["rocketmq-capacity/capacity/1"] = FORMAT
    cluster_name: Annotated[str, Meta(description="name of the cluster")]
    taken_at: Annotated[str, Meta(description="moment of the snapshot, UTC ISO-8601")]
    fingerprint: Annotated[str, Meta(description="of the snapshot, as in plan.json")]
    groups: Annotated[tuple[GroupCapacity, ...], Meta(description="by name")]


def capacity_of_plan(plan: Plan) -> Capacity:
    """The bounds of every group of a plan."""
    return Capacity(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        fingerprint=plan.fingerprint,
        groups=tuple(map(_of_group, plan.groups)),
    )


def render_capacity(capacity: Capacity) -> bytes:
    """The bytes of capacity.json; equal for equal plans."""
    return msgspec.json.format(msgspec.json.encode(capacity), indent=2) + b"\n"


def _of_group(group: GroupPlan) -> GroupCapacity:
    return GroupCapacity(
        consumer_group=group.consumer_group,
        clients=group.connections,
        min_safe=group.min_safe_clients,
        target=None if group.needed_clients is None else group.needed_clients.target,
        max_useful=group.max_useful_clients,
        verdict=group.provision_status,
        reason=group.provision_reason,
    )
