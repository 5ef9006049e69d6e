"""A freeze: the commands of a plan that may change the cluster, as comments."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity.plan_file.accepted import PlanFreeze
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.steps import RecommendationStep
from rocketmq_capacity.settings import freeze as policy
from rocketmq_capacity.vocabulary import changes_cluster

COMMENT = "#"


def freeze_of(freezes: Iterable[policy.Freeze], taken_at: str) -> PlanFreeze | None:
    """The freeze that holds at the moment of the snapshot, as the plan repeats it."""
    return _as_plan_has_it(policy.freeze_at(freezes, taken_at))


def coming_freeze(freezes: Iterable[policy.Freeze], taken_at: str, valid_until: str | None) -> PlanFreeze | None:
    """The freeze that begins while the plan may be acted on: from its first moment on, it may not."""
    return None if valid_until is None else _as_plan_has_it(policy.next_freeze(freezes, taken_at, valid_until))


def _as_plan_has_it(freeze: policy.Freeze | None) -> PlanFreeze | None:
    if freeze is None:
        return None
    return PlanFreeze(begins=policy.utc_text(freeze.begins), ends=policy.utc_text(freeze.ends), why=freeze.why)


def frozen(recommendations: Sequence[PlanRecommendation], freeze: PlanFreeze | None) -> tuple[PlanRecommendation, ...]:
    """The recommendations; in a freeze each command that may change the cluster is a comment. What only looks stays."""
    if freeze is None:
        return tuple(recommendations)
    prefix = _prefix(freeze)
    return tuple(
        replace(
            one,
            commands=_comments(one.commands, prefix),
            steps=UNSET if one.steps is UNSET else _frozen_steps(one.steps, prefix),
        )
        for one in recommendations
    )


def frozen_scenario(scenario: ScenarioResult, freeze: PlanFreeze | None) -> ScenarioResult:
    """The result of a what-if; its plans, which begin with the cluster as it is, have comments as commands in a freeze.

    What only looks stays.
    """
    if freeze is None or scenario.queue_plans is UNSET:
        return scenario
    prefix = _prefix(freeze)
    plans = tuple(replace(one, steps=_frozen_steps(one.steps, prefix)) for one in scenario.queue_plans)
    return replace(scenario, queue_plans=plans)


def _prefix(freeze: PlanFreeze) -> str:
    return f"# frozen until {freeze.ends} ({freeze.why}): "


def _frozen_steps(steps: Sequence[RecommendationStep], prefix: str) -> tuple[RecommendationStep, ...]:
    return tuple(replace(step, commands=_comments(step.commands, prefix)) for step in steps)


def _comments(commands: Sequence[str], prefix: str) -> tuple[str, ...]:
    return tuple("\n".join(_comment(line, prefix) for line in command.split("\n")) for command in commands)


def _comment(line: str, prefix: str) -> str:
    only_looks = line.startswith("mqadmin ") and not changes_cluster(line)
    return line if only_looks or line.startswith(COMMENT) else prefix + line
