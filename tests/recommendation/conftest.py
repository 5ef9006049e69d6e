"""The cases of every test module that was collected, answered in one plan."""

from types import ModuleType

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Inventory
from tests.recommendation.answers import Answers, answer
from tests.recommendation.cases import BROKERS, FAILURES, NAMESERVERS, POLICY, Cases
from tests.simulation.clusters import cluster


@pytest.fixture(scope="session")
def asked(request: pytest.FixtureRequest) -> Inventory:
    """The cluster of the cases in the collected modules' ``CASES``."""
    modules: dict[str, ModuleType] = {
        item.module.__name__: item.module for item in request.session.items if hasattr(item, "module")
    }
    found = [getattr(module, "CASES", None) for _, module in sorted(modules.items())]
    parts = [part for part in found if isinstance(part, Cases)]
    topics = [topic for part in parts for topic in part.topics]
    groups = [group for part in parts for group in part.groups]
    for names in ([topic.topic for topic in topics], [group.consumer_group for group in groups]):
        repeated = {name for name in names if names.count(name) > 1}
        assert not repeated, f"two cases have one name: {repeated}"
    return replace(cluster(topics, groups, BROKERS, FAILURES), nameservers=NAMESERVERS)


@pytest.fixture(scope="session")
def answered(asked: Inventory) -> Answers:
    """What is recommended for these cases."""
    return answer(asked, POLICY)
