"""The driver's share of a plan, and what more cores would make of the whole."""

import pytest

from tests.benchmarks.driver import Task, shares


def test_the_driver_works_alone_wherever_it_does_not_wait_for_tasks() -> None:
    early = Task(0, 5.0, 12.0)  # of which the driver waits for the last two seconds
    one_stage = [Task(1, 20.0, 30.0), Task(1, 22.0, 28.0), Task(1, 28.0, 32.0)]
    beside_the_page = Task(2, 40.0, 45.0)

    found = shares(50.0, (10.0, 40.0), [*one_stage, early, beside_the_page])

    assert found.tasks_s == 2 + 12
    assert found.driver_s == 50 - 14
    assert found.driver_ratio == pytest.approx(36 / 50)


@pytest.mark.parametrize(("cores", "tasks_s"), [(1, 20.0), (2, 10.0), (16, 8.0)])
def test_a_stage_takes_as_long_as_its_longest_task_on_however_many_cores(cores: int, tasks_s: float) -> None:
    tasks = [Task(0, 0.0, 8.0), Task(0, 0.0, 6.0), Task(0, 6.0, 12.0)]

    found = shares(15.0, (0.0, 15.0), tasks)

    assert found.on(cores) == 3.0 + tasks_s


def test_a_plan_without_tasks_is_the_drivers() -> None:
    found = shares(3.0, (1.0, 2.0), [])

    assert (found.driver_ratio, found.on(16)) == (1.0, 3.0)
