"""autoscalers.yaml: objects that Kubernetes and KEDA take, with bounds that the plan has."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.handover.autoscalers import autoscalers_of
from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.settings.policy import Policy, read_policy
from tests.report.from_rows import plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_group

SCHEMAS: Final = Path(__file__).with_name("schemas")
SCALED: Final = json.loads((SCHEMAS / "scaled_object.json").read_text("utf-8"))
HORIZONTAL: Final = json.loads((SCHEMAS / "horizontal_pod_autoscaler.json").read_text("utf-8"))
PROMETHEUS: Final = {"prometheus": "http://prometheus:9090"}


def policy(*groups: dict[str, Any], **autoscalers: Any) -> Policy:
    return Policy.model_validate({
        "groups": list(groups) or [{"match": ".", "deployment": "shop/pay"}],
        "autoscalers": autoscalers,
    })


def a_plan(*names: str, **bounds: Any) -> Plan:
    """A plan of groups with four clients, of which two are enough and eight can own a queue."""
    made = plan_of({"cluster": [a_cluster()], "group_status": [a_group(name) for name in names or ("g_pay",)]})
    whole = {"min_replicas": 2, "max_replicas": 8, "confidence": "HIGH", **bounds}
    groups = (
        replace(
            one, connections=4, provision_status="RIGHT_PROVISIONED", client_bounds=replace(one.client_bounds, **whole)
        )
        for one in made.groups
    )
    return replace(made, groups=tuple(groups), valid_until="2026-11-21T02:00:00Z")


def objects(plan: Plan, rules: Policy) -> list[dict[str, Any]]:
    """The objects of the file, each as its schema says."""
    made = autoscalers_of(plan, rules)
    assert made is not None
    found = [one for one in yaml.safe_load_all(made.decode()) if one is not None]
    for one in found:
        jsonschema.validate(one, SCALED if one["kind"] == "ScaledObject" else HORIZONTAL)
    return found


def test_keda_gets_the_plans_bounds_and_scales_by_lag() -> None:
    (one,) = objects(a_plan(), policy(**PROMETHEUS, lag_messages=50, cooldown_s=60))

    assert (one["apiVersion"], one["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
    assert (one["metadata"]["namespace"], one["metadata"]["name"]) == ("shop", "pay")
    assert one["metadata"]["annotations"]["rocketmq-capacity/valid-until"] == "2026-11-21T02:00:00Z"
    spec = one["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "pay"}
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 8)
    (trigger,) = spec["triggers"]
    assert trigger["metadata"]["query"].endswith('consumer_group="g_pay"})')
    assert trigger["metadata"]["threshold"] == "50"


def test_the_reason_holds_for_pods_that_stand_by_or_that_the_policy_keeps_as_well() -> None:
    """The most pods may be more than own a queue: `max_replicas` of capacity.json, and not `max_useful`."""
    (one,) = objects(a_plan(max_useful=8, max_replicas=10), policy(**PROMETHEUS))

    reason = one["metadata"]["annotations"]["rocketmq-capacity/reason"]
    assert reason == "from 2 pods, which are safe, to 10, the most that are of use or that the policy keeps"


def test_without_a_prometheus_it_is_an_autoscaler_of_kubernetes() -> None:
    (one,) = objects(a_plan(), policy({"match": "pay", "deployment": "shop/pay", "kind": "StatefulSet"}))

    assert (one["kind"], one["spec"]["scaleTargetRef"]["kind"]) == ("HorizontalPodAutoscaler", "StatefulSet")
    assert (one["spec"]["minReplicas"], one["spec"]["maxReplicas"]) == (2, 8)


def test_both_kinds_wait_as_long_as_the_policy_says_before_pods_end() -> None:
    (keda,) = objects(a_plan(), policy(**PROMETHEUS, cooldown_s=60))
    (kubernetes,) = objects(a_plan(), policy(cooldown_s=60))

    waits = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    assert keda["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"] == waits
    assert kubernetes["spec"]["behavior"] == waits
    assert "cooldownPeriod" not in keda["spec"]  # it holds only on the way to 0 pods, and 1 is the fewest here


@pytest.mark.parametrize("kind", [PROMETHEUS, {}])
@pytest.mark.parametrize(
    ("bounds", "status", "why"),
    [
        ({}, "UNDECIDED", "the plan is undecided"),
        ({"confidence": "LOW"}, "RIGHT_PROVISIONED", "the confidence in its bounds is LOW"),
        ({"min_replicas": None}, "RIGHT_PROVISIONED", "its bounds are unknown"),
    ],
)
def test_what_is_not_known_is_not_scaled(kind: dict[str, Any], bounds: dict[str, Any], status: Any, why: str) -> None:
    plan = a_plan(**bounds)
    plan = replace(plan, groups=(replace(plan.groups[0], provision_status=status),))
    (one,) = objects(plan, policy(**kind))

    notes, spec = one["metadata"]["annotations"], one["spec"]
    assert (notes["rocketmq-capacity/paused"], why in notes["rocketmq-capacity/reason"]) == ("true", True)
    assert notes.get("autoscaling.keda.sh/paused") == ("true" if kind else None)
    assert {spec[name] for name in spec if "Replica" in name} == {4}


def test_a_deployment_of_two_groups_is_safe_for_both_and_scales_by_both() -> None:
    plan = a_plan("g_a", "g_b")
    first, second = plan.groups
    larger = replace(second, client_bounds=replace(second.client_bounds, min_replicas=5, max_replicas=6))
    (one,) = objects(replace(plan, groups=(first, larger)), policy(**PROMETHEUS))

    assert (one["spec"]["minReplicaCount"], one["spec"]["maxReplicaCount"]) == (5, 8)
    assert len(one["spec"]["triggers"]) == 2


@pytest.mark.parametrize("name", ['g"} or vector(1) #', "g\\", "%RETRY%g", "a: b", "g\u202e", "- x", "中文", "g😀"])
def test_a_hostile_name_is_a_text_and_nothing_else(name: str) -> None:
    rules = policy({"match": ".", "deployment": "shop/pay"}, **PROMETHEUS)
    (one,) = objects(a_plan(name), rules)
    query = one["spec"]["triggers"][0]["metadata"]["query"]
    assert json.loads(query.partition("consumer_group=")[2].removesuffix("})")) == name
    assert "\\ud" not in query  # PromQL knows no pairs of surrogates

    assert objects(a_plan(name), policy({"match": ".", "deployment": "shop/pay"})) == []


@pytest.mark.parametrize("name", ["1e3", "1.5e3", "12E05", "0o17", "y", "N", "yes", "null", "0x1F", "012", "1_000"])
def test_a_name_that_readers_of_yaml_take_for_a_value_has_quotes(name: str) -> None:
    # Kubernetes reads 1e3 as a number and y as true (sigs.k8s.io/yaml); PyYAML reads both as texts.
    text = (autoscalers_of(a_plan(name), policy({"match": ".", "deployment": "shop/1e3"})) or b"").decode()
    assert f"consumer_group: '{name}'" in text
    assert text.count("name: '1e3'") == 2


@pytest.mark.parametrize("name", ["c" * 64, "shop-", ".shop", "_"])
def test_a_cluster_whose_name_is_no_label_has_objects_of_keda_alone(name: str) -> None:
    plan = replace(a_plan(), cluster_name=name)

    assert len(objects(plan, policy(**PROMETHEUS))) == 1
    assert objects(plan, policy()) == []
    assert f"{name} is no label of Kubernetes" in (autoscalers_of(plan, policy()) or b"").decode()


@pytest.mark.parametrize("length", [3, 54, 55, 63])
def test_keda_takes_the_name_of_the_object_and_of_what_it_makes_of_it(length: int) -> None:
    """Source: verifyName and getHpaName, apis/keda/v1alpha1/scaledobject_webhook.go of kedacore/keda."""
    name = "p" * length
    (made,) = objects(a_plan(), policy({"match": ".", "deployment": f"shop/{name}"}, **PROMETHEUS))
    own = made["spec"]["advanced"]["horizontalPodAutoscalerConfig"].get("name", f"keda-hpa-{name}")
    assert made["metadata"]["name"] == name
    assert len(own) <= 63
    assert own == (name if length > 54 else f"keda-hpa-{name}")


def test_a_name_that_keda_refuses_is_a_comment() -> None:
    long = f"shop/{'p' * 32}.{'q' * 31}"
    rules = policy({"match": ".", "deployment": long}, **PROMETHEUS)
    assert objects(a_plan(), rules) == []
    assert f"# {long}: KEDA takes names of at most 63 characters." in (autoscalers_of(a_plan(), rules) or b"").decode()
    assert len(objects(a_plan(), policy({"match": ".", "deployment": long}))) == 1


def test_a_group_without_clients_has_no_bounds() -> None:
    plan = a_plan()
    assert objects(replace(plan, groups=(replace(plan.groups[0], connections=0),)), policy(**PROMETHEUS)) == []


def test_without_a_deployment_and_in_a_what_if_there_is_no_file() -> None:
    assert handed_over(a_plan(), Policy(), Observed())["autoscalers.yaml"] is None
    what_if = plan_of({"cluster": [a_cluster()], "group_status": [a_group()]}, scenario=a_scenario())
    assert handed_over(what_if, policy(), Observed())["autoscalers.yaml"] is None
    assert handed_over(a_plan(), policy(), Observed())["autoscalers.yaml"] == autoscalers_of(a_plan(), policy())


@pytest.mark.parametrize("deployment", ["pay", "shop/pay/x", "Shop/pay", "shop/pay_1", "shop/", "-a/b", "a/b\n"])
def test_a_deployment_is_a_namespace_and_a_name(deployment: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(json.dumps({"groups": [{"match": ".", "deployment": deployment}]}), encoding="utf-8")
    with pytest.raises(BadInput, match=r"groups\[0\]\.deployment"):
        read_policy(file)


APPLY: Final = Path(__file__).parents[2] / "include/autoscaling/apply-autoscalers.sh"


def applied(file: Path) -> subprocess.CompletedProcess[str]:
    """The script's end, with a kubectl that only says what it is asked."""
    kubectl = file.with_name("kubectl")
    kubectl.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    kubectl.chmod(0o755)
    path = f"{file.parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", APPLY, file], env={"PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("until", "status", "says"),
    [
        ("2099-11-21T02:00:00Z", 0, "apply --server-side --filename"),
        ("2020-11-21T02:00:00Z", 3, "nothing is applied: plan the cluster again"),
        (None, 2, "does not say until when it holds"),
    ],
)
def test_what_is_too_old_is_not_applied(until: str | None, status: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / "autoscalers.yaml"
    file.write_bytes(autoscalers_of(replace(a_plan(), valid_until=until), policy(**PROMETHEUS)) or b"")
    done = applied(file)

    assert done.returncode == status, done.stderr
    assert says in done.stdout + done.stderr


@pytest.mark.parametrize("autoscalers", [PROMETHEUS, {}])
def test_a_group_without_an_upper_bound_keeps_its_own(autoscalers: dict[str, str]) -> None:
    plan = a_plan("g_pay", "g_pops")
    pays, pops = plan.groups
    plan = replace(plan, groups=(pays, replace(pops, client_bounds=replace(pops.client_bounds, max_replicas=None))))

    made = autoscalers_of(plan, policy(**autoscalers))

    assert objects(plan, policy(**autoscalers)) == []
    assert b"# shop/pay: a group has no upper bound; keep your own, and at least 2 pods." in (made or b"")
