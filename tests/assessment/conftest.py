"""The cases of every test module that was collected, assessed together."""

from types import ModuleType

import pytest

from tests.assessment.cases import BROKERS, POLICY, Part
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> Judgement:
    """What the assessment says of the cases in the collected modules' ``PART``."""
    parts = _parts(request.session.items)
    topics = [topic for part in parts for topic in part.topics]
    groups = [group for part in parts for group in part.groups]
    for names in ([topic.topic for topic in topics], [group.consumer_group for group in groups]):
        repeated = {name for name in names if names.count(name) > 1}
        assert not repeated, f"two cases have one name: {repeated}"
    return judge(cluster(topics, groups, BROKERS), POLICY)


def _parts(items: list[pytest.Item]) -> list[Part]:
    modules: dict[str, ModuleType] = {item.module.__name__: item.module for item in items if hasattr(item, "module")}
    found = (getattr(module, "PART", None) for _, module in sorted(modules.items()))
    return [part for part in found if isinstance(part, Part)]
