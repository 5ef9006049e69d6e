"""What is computed for many groups at once is what is computed for each of them alone."""

import weakref
from functools import cache

import msgspec
import numpy as np
import pytest
import yaml

from rocketmq_capacity.allocation.allocate import Strategies, rows_of_each
from rocketmq_capacity.assessment import sizes
from rocketmq_capacity.assessment.assess import GroupAssessment, assess_groups
from rocketmq_capacity.assessment.assigned_load import assigned_loads
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.sizes import divided
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.collector import without_collector
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.units import Units, units_of

POLICY = Policy.model_validate(yaml.safe_load(policy_for_generated()))


@cache
def units() -> Units:
    return units_of(msgspec.convert(generated(60, 4), Inventory), POLICY)


def groups() -> list[AssessedGroup]:
    """The business groups anew, so that nothing of them is computed yet."""
    allocator = Strategies(POLICY)
    return [AssessedGroup(facts, units().cluster, POLICY, allocator) for facts in units().business_groups]


def test_the_bound_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [rows(one) for one in assess_groups(groups())]

    monkeypatch.setattr(sizes, "MOST_ENTRIES", 500)

    assert [rows(one) for one in assess_groups(groups())] == whole


def rows(found: GroupAssessment) -> bytes:
    return msgspec.json.encode([found.status, found.loads, found.sizes, found.failures, found.findings])


def test_groups_are_assessed_together_as_each_alone() -> None:
    alone, together = [assess_groups([group])[0] for group in groups()], assess_groups(groups())

    assert len(together) > 50
    for one, other in zip(alone, together, strict=True):
        assert rows(one) == rows(other)


def test_assessed_groups_are_freed_without_the_collector() -> None:
    with without_collector():
        each = groups()
        found = assess_groups(each)
        left = [(weakref.ref(group), weakref.ref(group.division)) for group in each]
        assert len(left) == len(found)

        each.clear()

        assert all(group() is None and division() is None for group, division in left)


@pytest.mark.parametrize("strategy", POLICY.strategies)
def test_divisions_are_divided_together_as_each_alone(strategy: str) -> None:
    allocator = Strategies(POLICY)
    divisions: list[Division] = []
    for group in groups():
        divisions.append(group.division)
        if group.is_clustering and group.client_ids:
            divisions += [group.churn.more.division, group.churn.losses.division]

    together = allocator.owners_of_each([(strategy, division) for division in divisions])

    for division, owners in zip(divisions, together, strict=True):
        alone = allocator.owners(strategy, division)
        assert pairs(owners.queue, owners.client) == pairs(alone.queue, alone.client)
        assert (owners.strangers, owners.unknown) == (alone.strangers, alone.unknown)
        assert np.all(owners.is_popped == alone.is_popped)
    assert any(len(owners.queue) for owners in together)


def test_the_rows_of_groups_are_the_same_together_and_alone() -> None:
    strategies = Strategies(POLICY)
    divisions = [group.division for group in groups() if group.is_clustering]

    together = rows_of_each(divisions, strategies)

    for division, found in zip(divisions, together, strict=True):
        names = strategies.policy.strategies_of(division.group.consumer_group)
        if not division.members.is_grpc.all():
            alone = [rows for name in names if (rows := strategies.rows(name, division)) is not None]
            assert [(one.strategy, list(one.named())) for one in found] == [
                (one.strategy, list(one.named())) for one in alone
            ]
    assert sum(len(one.place) > 0 for found in together for one in found) > 200


def pairs(queue: np.ndarray, client: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(queue.tolist(), client.tolist(), strict=True))


def test_the_load_of_clients_is_that_of_their_work_to_the_last_bit() -> None:
    asked = [(group.staff, clients) for group in groups() for clients in (1, 2, 5, group.facts.connections)]
    cases = [case for case in divided(asked) if case is not None]

    known = 0
    for case, load in zip(cases, assigned_loads(cases), strict=True):
        times = case.staff.times.of_clients(case.rows)
        work = Work.of(case.division, case.msgs_per_s, case.owners, times)
        found = None if work is None else work.busiest()
        assert load.busiest == (None if found is None else found[0])
        queues = np.bincount(case.owners.client, minlength=len(case.rows)).tolist()
        assert (load.most_queues, load.idle_clients) == (max(queues), queues.count(0))
        assert load.peak == (max(queues) * len(queues) / sum(queues) if sum(queues) else None)
        known += found is not None
    assert known > 50
