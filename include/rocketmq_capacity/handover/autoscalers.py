"""autoscalers.yaml: bounds for the deployments that run consumer groups, as objects of Kubernetes.

With the address of a Prometheus in the policy they are KEDA's ScaledObjects, else HorizontalPodAutoscalers. Both scale
by ``rocketmq_consumer_lag_messages``, which brokers export from 5.1 on. The bounds are those of capacity.json.
Sources: keda.sh/v1alpha1 and autoscaling/v2; BrokerMetricsConstant, rocketmq-all-5.3.3.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.handover.block_yaml import block
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.settings.policy import Autoscalers, Policy
from rocketmq_capacity.vocabulary import UNDECIDED, BoundsConfidence, java_order

LOW: Final[BoundsConfidence] = "LOW"
METRIC: Final = "rocketmq_consumer_lag_messages"
PREFIX: Final = "rocketmq-capacity"
"""Of the annotations that are ours."""
LABEL: Final = re.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
PAUSED: Final = "autoscaling.keda.sh/paused"
MADE_BY_KEDA: Final = "keda-hpa-"
"""What KEDA puts before a name for the HorizontalPodAutoscaler that it makes."""
LONGEST_OF_KEDA: Final = 63
"""Characters of the names of both. Source: verifyName, apis/keda/v1alpha1/scaledobject_webhook.go of kedacore/keda."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many pods a deployment may have.

    Attributes:
        least: the fewest; while paused, those of today.
        most: the most; while paused, those of today; None if a group has no such bound, such as one that pops.
        paused: why nothing may scale it; None if something may.
    """

    least: int
    most: int | None
    paused: str | None


def autoscalers_of(plan: Plan, policy: Policy) -> bytes | None:
    """The bytes of autoscalers.yaml, by deployment; None if the policy maps no group of the plan to one."""
    deployments: dict[tuple[str, str], list[GroupPlan]] = {}
    for group in sorted(plan.groups, key=lambda one: java_order(one.consumer_group)):
        entry = policy.group_entry(group.consumer_group)
        if entry.deployment is not None:
            deployments.setdefault((entry.deployment, entry.kind), []).append(group)
    if not deployments:
        return None
    head = f"# Of the plan of {visible(plan.cluster_name)}, {visible(plan.taken_at)}. Not after {_until(plan)}.\n"
    return (head + "".join(_objects(plan, policy.autoscalers, deployments))).encode()


def bounds_of(groups: Sequence[GroupPlan]) -> Bounds | None:
    """The bounds of the pods that run clients of these groups, one of each group a pod; None without any client.

    Enough for the group that needs most of them, and none more than the group can use that can use most.
    """
    today = max(group.connections for group in groups)
    if not today:
        return None
    paused = next((f"{one.consumer_group}: {why}" for one in groups if (why := _paused(one)) is not None), None)
    if paused is not None:
        return Bounds(today, today, paused)
    least = max(one.client_bounds.min_replicas or 1 for one in groups)
    most = [one.client_bounds.max_replicas for one in groups if one.client_bounds.max_replicas is not None]
    return Bounds(least, max(least, *most) if len(most) == len(groups) else None, None)


def _paused(group: GroupPlan) -> str | None:
    """Why the bounds of a group are not to be scaled by."""
    bounds = group.client_bounds
    if group.provision_status == UNDECIDED:
        return f"the plan is undecided: {group.provision_reason or 'facts are missing'}"
    if bounds.confidence == LOW:
        return "the confidence in its bounds is LOW"
    if bounds.min_replicas is None:
        return "its bounds are unknown"
    return None


def _objects(
    plan: Plan, settings: Autoscalers, deployments: Mapping[tuple[str, str], Sequence[GroupPlan]]
) -> Iterator[str]:
    for (deployment, kind), groups in sorted(deployments.items()):
        bounds = bounds_of(groups)
        if bounds is None:
            names = ", ".join(visible(one.consumer_group) for one in groups)
            yield f"# {deployment}: no client of {names} runs, so no bounds are known.\n"
            continue
        if bounds.most is None:
            yield f"# {deployment}: a group has no upper bound; keep your own, and at least {bounds.least} pods.\n"
            continue
        labels = () if settings.prometheus else (plan.cluster_name, *(one.consumer_group for one in groups))
        unfit = [label for label in labels if not LABEL.fullmatch(label)]
        if unfit:
            yield f"# {deployment}: {visible(unfit[0])} is no label of Kubernetes; KEDA takes any name.\n"
            continue
        if settings.prometheus and len(_name_of(deployment)) > LONGEST_OF_KEDA:
            yield f"# {deployment}: KEDA takes names of at most {LONGEST_OF_KEDA} characters.\n"
            continue
        made = _scaled_object if settings.prometheus else _horizontal
        whole = made(plan, settings, (deployment, kind), groups, bounds)
        yield "---\n" + block(whole)


def _scaled_object(
    plan: Plan, settings: Autoscalers, target: tuple[str, str], groups: Sequence[GroupPlan], bounds: Bounds
) -> dict[str, Any]:
    name = _name_of(target[0])
    triggers = [
        {
            "type": "prometheus",
            "metricType": "AverageValue",
            "metadata": {
                "serverAddress": settings.prometheus,
                "query": _lag_of(plan.cluster_name, one.consumer_group),
                "threshold": str(settings.lag_messages),
            },
        }
        for one in groups
    ]
    metadata = _metadata(plan, target[0], bounds)
    if bounds.paused is not None:
        metadata["annotations"][PAUSED] = "true"
    # KEDA's own cooldownPeriod holds only on the way to 0 pods.
    horizontal: dict[str, Any] = {"behavior": _behavior(settings)}
    if len(MADE_BY_KEDA + name) > LONGEST_OF_KEDA:
        horizontal["name"] = name
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata,
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": target[1], "name": name},
            "minReplicaCount": bounds.least,
            "maxReplicaCount": bounds.most,
            "advanced": {"horizontalPodAutoscalerConfig": horizontal},
            "triggers": triggers,
        },
    }


def _horizontal(
    plan: Plan, settings: Autoscalers, target: tuple[str, str], groups: Sequence[GroupPlan], bounds: Bounds
) -> dict[str, Any]:
    metrics = [
        {
            "type": "External",
            "external": {
                "metric": {
                    "name": METRIC,
                    "selector": {"matchLabels": {"cluster": plan.cluster_name, "consumer_group": one.consumer_group}},
                },
                "target": {"type": "AverageValue", "averageValue": str(settings.lag_messages)},
            },
        }
        for one in groups
    ]
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": _metadata(plan, target[0], bounds),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": target[1], "name": _name_of(target[0])},
            "minReplicas": bounds.least,
            "maxReplicas": bounds.most,
            "behavior": _behavior(settings),
            "metrics": metrics,
        },
    }


def _behavior(settings: Autoscalers) -> dict[str, Any]:
    """How long less lag has to last until pods end; KEDA gives it to the HorizontalPodAutoscaler that it makes."""
    return {"scaleDown": {"stabilizationWindowSeconds": settings.cooldown_s}}


def _name_of(deployment: str) -> str:
    """The name of a deployment, without its namespace."""
    return deployment.partition("/")[2]


def _metadata(plan: Plan, deployment: str, bounds: Bounds) -> dict[str, Any]:
    why = bounds.paused or (
        f"from {bounds.least} pods, which are safe, to {bounds.most}, the most that are of use or that the policy keeps"
    )
    return {
        "name": _name_of(deployment),
        "namespace": deployment.partition("/")[0],
        "annotations": {
            f"{PREFIX}/reason": visible(why),
            f"{PREFIX}/paused": "false" if bounds.paused is None else "true",
            f"{PREFIX}/taken-at": visible(plan.taken_at),
            f"{PREFIX}/valid-until": _until(plan),
            f"{PREFIX}/fingerprint": visible(plan.fingerprint),
        },
    }


def _until(plan: Plan) -> str:
    return "unknown" if plan.valid_until is None else visible(plan.valid_until)


def _lag_of(cluster: str, group: str) -> str:
    """A query of PromQL, whose strings are escaped as JSON's are; but it knows no pairs of surrogates."""
    labels = {"cluster": cluster, "consumer_group": group}
    matchers = ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in labels.items())
    return f"sum({METRIC}{{{matchers}}})"
