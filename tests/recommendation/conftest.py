"""The cases of every test module that was collected, answered in one plan."""

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Inventory
from tests.assessment.cases import collected
from tests.recommendation.answers import Answers, answer
from tests.recommendation.cases import BROKERS, FAILURES, NAMESERVERS, POLICY
from tests.simulation.clusters import cluster


@pytest.fixture(scope="session")
def asked(request: pytest.FixtureRequest) -> Inventory:
    """The cluster of the cases in the collected modules' ``CASES``."""
    part = collected(request.session.items, "CASES")
    return replace(cluster(part.topics, part.groups, BROKERS, FAILURES), nameservers=NAMESERVERS)


@pytest.fixture(scope="session")
def answered(asked: Inventory) -> Answers:
    """What is recommended for these cases."""
    return answer(asked, POLICY)
