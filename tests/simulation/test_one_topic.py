"""Other queues of one topic are computed for that topic alone; the group fares as if all of it were computed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from rocketmq_capacity.model.cases import CaseSide, QueueChange, QueueCounts
from rocketmq_capacity.recommendation.cases import changed_facts
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedGroup
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.plain_plan import group_of, plain_plan


def cases(group: AdvisedGroup) -> Iterator[QueueChange]:
    """For each topic: one queue more on every broker, one queue in all, none on the first broker, and a new broker."""
    for reads in group.facts.business:
        places = reads.topic.places
        known = {one.broker_name: one.read_queue_nums or 0 for one in places}
        for name, counts in {
            "more": {broker: number + 1 for broker, number in known.items()},
            "one": dict.fromkeys(known, 1),
            "less": {broker: number and number - 1 for broker, number in known.items()},
            "new": {"broker-new": 3},
        }.items():
            yield QueueChange(
                case_id=name,
                topic=reads.topic.topic,
                counts=tuple(
                    QueueCounts(broker_name=broker, read_queue_nums=number, write_queue_nums=number)
                    for broker, number in counts.items()
                ),
            )


def _by_queues(side: CaseSide | None) -> CaseSide | None:
    """Without figures of the traffic: in a case producers are taken to use all queues alike."""
    return side and replace(side, traffic=None, most_msgs_per_s=None)


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_are_those_of_the_whole_group(seed: int, tmp_path: Path) -> None:
    inventory, policy = tmp_path / "inventory.json", tmp_path / "policy.yaml"
    inventory.write_text(json.dumps(generated(40, seed)))
    policy.write_text(policy_for_generated())
    plan = plain_plan(read_inventory(inventory), read_policy(policy))
    cluster = AdvisedCluster(plan.units.cluster, plan.policy, is_suspect=False)
    compared = 0
    for assessed in plan.groups:
        group = group_of(assessed, cluster, ())
        for case in cases(group):
            whole = group.after(changed_facts(group.facts, case, cluster))
            compared += whole is not None
            assert _by_queues(group.with_queues(case)) == _by_queues(whole), (group.name, case)
    assert compared > 100
