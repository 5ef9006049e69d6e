"""How a what-if's changes of queues and brokers are brought about, as the page shows it."""

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.model.broker_figures import MIB
from rocketmq_capacity.plan_file.queue_plan import QueueCost, QueuePlan
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.steps import RecommendationStep
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import TABLE_ROWS

TITLES: Final = {
    "SHRINK_QUEUES": "Fewer queues for",
    "EXPAND_QUEUES": "More queues for",
    "ADD_BROKER": "A new broker:",
    "REMOVE_BROKER": "Drain and remove",
}


@dataclass(frozen=True, slots=True)
class CostLine:
    """What the queues cost a broker at least, before and after."""

    broker_name: str
    replicas: str
    files: tuple[str, str]
    mib: tuple[str, str]
    pulls_per_s: tuple[str, str]


@dataclass(frozen=True, slots=True)
class QueuePlanView:
    """One plan."""

    title: str
    name: str
    reason: str
    is_manual: bool
    smallest: str
    """Empty where it does not apply."""
    steps: tuple[RecommendationStep, ...]
    costs: tuple[CostLine, ...]


def queue_plan_views(scenario: ScenarioResult) -> tuple[QueuePlanView, ...]:
    """The plans in their order."""
    return tuple(map(_view, () if scenario.queue_plans is UNSET else scenario.queue_plans))


def _view(plan: QueuePlan) -> QueuePlanView:
    pairs = zip(plan.cost_before, plan.cost_after, strict=True)
    return QueuePlanView(
        title=TITLES.get(plan.action, plan.action),
        name=plan.topic or plan.broker_name or "",
        reason=plan.reason,
        is_manual=plan.manual,
        smallest="" if plan.smallest is None else number(plan.smallest),
        steps=plan.steps,
        costs=tuple(_cost(before, after) for before, after in list(pairs)[:TABLE_ROWS]),
    )


def _cost(before: QueueCost, after: QueueCost) -> CostLine:
    return CostLine(
        before.broker_name,
        number(before.replicas),
        (number(before.files), number(after.files)),
        (number(round(before.files_bytes / MIB)), number(round(after.files_bytes / MIB))),
        (number(before.pulls_per_s), number(after.pulls_per_s)),
    )
