"""A plan of k copies of a cluster says k times what the plan of the cluster says."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.plan_here import PlanHere
from tests.fixtures.renamed import copies, original_name, policy_for_copies

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Entries = Counter[str]
BY_NAMES: Final = "CONSISTENT_HASH"
"""The one strategy that goes by what clients and queues are called."""


def without_names_that_matter(policy: str) -> str:
    """The policy without the strategy that goes by names."""
    told = yaml.safe_load(policy) or {}
    told["strategies"] = [name for name in told.get("strategies", ["AVG", "AVG_BY_CIRCLE", "POP"]) if name != BY_NAMES]
    current = told.get("current_strategies", {})
    told["current_strategies"] = {group: name for group, name in current.items() if name != BY_NAMES}
    return yaml.safe_dump(told)


def sample() -> tuple[dict[str, Any], str]:
    """The recorded cluster and a policy."""
    return json.loads(sample_inventory().read_bytes()), without_names_that_matter("{}")


def of_chance() -> tuple[dict[str, Any], str]:
    """A generated cluster with all that may be wrong, and a policy with all that may be said."""
    return generated(40, 5), without_names_that_matter(policy_for_generated())


CLUSTERS: Final = {"the sample, three times": (sample, 3), "40 groups of chance, twice": (of_chance, 2)}


@dataclass(frozen=True)
class Plans:
    """The plan of a cluster, and the plan of its k copies with the original's names."""

    once: dict[str, Any]
    copied: dict[str, Any]
    k: int


@pytest.fixture(scope="module", params=CLUSTERS)
def plans(request: pytest.FixtureRequest, plan_here: PlanHere) -> Plans:
    """Two plans to compare."""
    cluster_and_policy, k = CLUSTERS[request.param]
    cluster, policy = cluster_and_policy()
    copied = plan_here(copies(cluster, k), policy_for_copies(policy, k))
    return Plans(said(plan_here(cluster, policy)), said(copied), k)


def said(out: Path) -> dict[str, Any]:
    """plan.json with the names of copies taken back."""
    return dict(json.loads(original_name((out / "plan.json").read_text("utf-8"))))


def times(k: int, entries: Entries) -> Entries:
    """Each entry k times as often."""
    return Counter({entry: count * k for entry, count in entries.items()})


def counted(entries: list[dict[str, Any]], *left_out: str) -> Entries:
    """How often each entry is there, without some of its members."""
    return Counter(
        json.dumps({name: value for name, value in one.items() if name not in left_out}, sort_keys=True)
        for one in entries
    )


def is_of_the_cluster(one: dict[str, Any]) -> bool:
    """Whether a finding or a recommendation is about the whole cluster or its brokers."""
    return one["consumer_group"] is None and one["topic"] is None


def test_each_copy_has_the_groups_of_the_original(plans: Plans) -> None:
    assert len(plans.once["groups"]) > 10
    assert counted(plans.copied["groups"]) == times(plans.k, counted(plans.once["groups"]))


@pytest.mark.parametrize("kind", ["findings", "recommendations"])
def test_each_copy_has_the_findings_and_the_recommendations_of_the_original(plans: Plans, kind: str) -> None:
    of_once, of_copies = (
        counted([one for one in plan[kind] if not is_of_the_cluster(one)], "id") for plan in (plans.once, plans.copied)
    )

    assert len(of_once) > 10
    assert of_copies == times(plans.k, of_once)


def test_the_whole_cluster_is_spoken_of_once(plans: Plans) -> None:
    of_once, of_copies = (
        [(one["rule"], one["broker_name"]) for one in plan["findings"] if is_of_the_cluster(one)]
        for plan in (plans.once, plans.copied)
    )

    assert of_copies == of_once
    assert plans.copied["completeness"]["ratio"] == plans.once["completeness"]["ratio"]
