"""How much of a plan runs on the driver alone, and what more cores would make of the whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct


class Task(Struct, frozen=True, array_like=True):
    """A task of Spark's; moments are Unix time."""

    stage: int
    begun_at: float
    ended_at: float


class SparkWork(Struct, frozen=True):
    """What a session has done."""

    sql_executions: int
    tasks: list[Task]


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a plan's time.

    Between two moments the driver waits for tasks, and the time without any task is its own. In the rest of the plan
    it works all the time, whatever tasks do beside it.

    Attributes:
        seconds: of the whole plan.
        tasks_s: of which the driver waited for tasks.
        stages: for each stage that it waited for, the seconds of each task.
    """

    seconds: float
    tasks_s: float
    stages: Sequence[Sequence[float]]

    @property
    def driver_s(self) -> float:
        """Seconds that more cores do not change."""
        return self.seconds - self.tasks_s

    @property
    def driver_ratio(self) -> float:
        """The driver's seconds in those of the whole plan."""
        return self.driver_s / self.seconds

    def on(self, cores: int) -> float:
        """Seconds of the plan if so many cores shared each stage: at least those of its longest task."""
        return self.driver_s + sum(max(max(tasks), sum(tasks) / cores) for tasks in self.stages)


def shares(seconds: float, waiting: tuple[float, float], tasks: Iterable[Task]) -> Shares:
    """The parts of a plan of so many seconds, of which the driver waits for tasks between two moments."""
    since, until = waiting
    within = sorted(
        (max(task.begun_at, since), min(task.ended_at, until), task.stage)
        for task in tasks
        if task.ended_at > since and task.begun_at < until
    )
    stages: dict[int, list[float]] = {}
    busy_s, reached = 0.0, since
    for begun_at, ended_at, stage in within:
        stages.setdefault(stage, []).append(ended_at - begun_at)
        busy_s += max(ended_at - max(begun_at, reached), 0.0)
        reached = max(reached, ended_at)
    return Shares(seconds, busy_s, list(stages.values()))
