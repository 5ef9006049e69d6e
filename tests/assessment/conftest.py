"""The cases of every test module that was collected, assessed together."""

import pytest

from tests.assessment.cases import BROKERS, POLICY, collected
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> Judgement:
    """What the assessment says of the cases in the collected modules' ``PART``."""
    part = collected(request.session.items, "PART")
    return judge(cluster(part.topics, part.groups, BROKERS), POLICY)
