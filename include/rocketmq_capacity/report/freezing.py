"""A freeze: the commands of a plan that may change the cluster, as comments."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity.plan_file.accepted import PlanFreeze
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.settings import freeze as policy
from rocketmq_capacity.vocabulary import changes_cluster

COMMENT = "#"


def freeze_of(freezes: Iterable[policy.Freeze], taken_at: str) -> PlanFreeze | None:
    """The freeze that holds at the moment of the snapshot, as the plan repeats it."""
    freeze = policy.freeze_at(freezes, taken_at)
    if freeze is None:
        return None
    return PlanFreeze(begins=policy.utc_text(freeze.begins), ends=policy.utc_text(freeze.ends), why=freeze.why)


def frozen(recommendations: Sequence[PlanRecommendation], freeze: PlanFreeze | None) -> tuple[PlanRecommendation, ...]:
    """The recommendations; in a freeze each command that may change the cluster is a comment. What only looks stays."""
    if freeze is None:
        return tuple(recommendations)
    prefix = f"# frozen until {freeze.ends} ({freeze.why}): "
    return tuple(
        replace(
            one,
            commands=_comments(one.commands, prefix),
            steps=UNSET
            if one.steps is UNSET
            else tuple(replace(step, commands=_comments(step.commands, prefix)) for step in one.steps),
        )
        for one in recommendations
    )


def _comments(commands: Sequence[str], prefix: str) -> tuple[str, ...]:
    return tuple("\n".join(_comment(line, prefix) for line in command.split("\n")) for command in commands)


def _comment(line: str, prefix: str) -> str:
    only_looks = line.startswith("mqadmin ") and not changes_cluster(line)
    return line if only_looks or line.startswith(COMMENT) else prefix + line
