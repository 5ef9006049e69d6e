"""A fleet in which nothing is wrong has nothing to read: silence is a property."""

import pytest

from tests.advice.fleet import healthy
from tests.advice.judge import noise
from tests.advice.plans import plan_of
from tests.advice.trials import HEALTHY


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_fleet_gives_no_warning_no_change_and_next_to_no_lines(spark, name):
    size, with_history = HEALTHY[name]
    plan = plan_of(spark, healthy(size, 1, with_history=with_history))
    assert noise(plan) == []
    assert plan["score"]["before"] == plan["score"]["after"] >= 99
