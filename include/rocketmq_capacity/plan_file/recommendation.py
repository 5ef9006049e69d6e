"""What to change, what happens while the change spreads, and what a person answers."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rocketmq_capacity.model import config_assignment
from rocketmq_capacity.plan_file.ledger import LedgerStanding
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.tables.transition import TransitionTotals
from rocketmq_capacity.vocabulary import Goal


class PlanTransition(TransitionTotals, frozen=True, kw_only=True):
    """What the changes mean for a group while they spread, with the worst moments and the timers."""

    consumer_group: Annotated[str, Meta(description="its name")]
    unread_switched: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="the clients that know of the change when most queues are unread; null if the number is a bound"
        ),
    ]
    twice_switched: Annotated[tuple[str, ...] | None, Meta(description="the same when most queues are read twice")]
    timers: Annotated[
        JsonObject,
        Meta(
            description="the timers in seconds; `from_snapshot` names those that brokers reported, others are defaults"
        ),
    ]


class PlanConfigAssignment(config_assignment.ConfigAssignment, frozen=True, kw_only=True):
    """Fixed lists of queues for CONFIG, in the form of the policy's ``config_assignments``."""

    transition: Annotated[
        TransitionTotals | UnsetType,
        Meta(
            description="what happens meanwhile if all clients restart with their lists in one go; missing if unknown"
        ),
    ] = UNSET


class PlanRecommendation(Struct, frozen=True, kw_only=True):
    """What to change, how, and what that would do."""

    id: Annotated[str, Meta(description="equal over equal inputs")]
    action: Annotated[str, Meta(description="name of the action")]
    consumer_group: Annotated[str | None, Meta(description="the group to change")]
    topic: Annotated[str | None, Meta(description="the topic to change")]
    owner: Annotated[
        str | None,
        Meta(description="whose it is by the policy's groups; null if nobody's, or if a topic has several owners"),
    ] = None
    manual: Annotated[bool, Meta(description="a person must complete it; no command may be run unchanged")]
    reason: Annotated[str, Meta(description="why, and what it changes")]
    rules: Annotated[tuple[str, ...], Meta(description="rules whose findings it answers")]
    serves: Annotated[tuple[Goal, ...], Meta(description="goals of the score that it serves: those of its rules")] = ()
    keeps: Annotated[
        tuple[Goal, ...],
        Meta(description="other goals that its group, or all groups of its topic, keep today, and that it keeps"),
    ] = ()
    commands: Annotated[tuple[str, ...], Meta(description="shell commands, in the order to run them")]
    before: Annotated[JsonObject, Meta(description="figures of today")]
    after: Annotated[JsonObject, Meta(description="the same figures after the change, as simulated")]
    changes_cluster: Annotated[
        bool, Meta(description="one of its commands changes the cluster; the others only look, or there are none")
    ] = False
    check: Annotated[StepCheck | None, Meta(description="how to see that it worked; null if no command shows it")] = (
        None
    )
    way_back: Annotated[str | None, Meta(description="how it is undone; null if the reason says it")] = None
    transition: Annotated[
        TransitionTotals | UnsetType,
        Meta(
            description="what happens meanwhile, over its groups of which that is known; missing if there are "
            "none, or if it changes nobody's queues"
        ),
    ] = UNSET
    transition_undecided: Annotated[
        str | UnsetType,
        Meta(description="UNDECIDED, and of which groups it is not known which queues move; missing if it is of all"),
    ] = UNSET
    steps: Annotated[
        tuple[RecommendationStep, ...] | UnsetType,
        Meta(description="only of a change that takes several steps: each of them, with the gate before the next one"),
    ] = UNSET
    standing: Annotated[
        LedgerStanding | UnsetType,
        Meta(
            description="since when it is recommended, and whether it is approved; only after a plan before, and not "
            "of those that only look"
        ),
    ] = UNSET
    config_assignment: Annotated[
        PlanConfigAssignment | UnsetType,
        Meta(description="only where no strategy comes near FLOOR: fixed lists of queues for CONFIG, as another way"),
    ] = UNSET


class Approval(Struct, frozen=True, kw_only=True):
    """A person's answer to the recommendations."""

    status: Annotated[Literal["APPROVED", "REJECTED"], Meta(description="the answer")]
    by: Annotated[str | None, Meta(description="who answered; null if nobody did in time")]
    at: Annotated[str, Meta(description="when, UTC ISO-8601")]
    why: Annotated[str | None, Meta(description="the reason for all that have none in `reasons`, if one was given")]
    recommendations: Annotated[tuple[str, ...], Meta(description="ids of those in the question")]
    approved: Annotated[tuple[str, ...], Meta(description="ids of those to carry out")] = ()
    rejected: Annotated[
        tuple[str, ...],
        Meta(
            description="ids of those not to carry out; of alternatives these are all but one. Those that are in "
            "neither list were left open"
        ),
    ] = ()
    reasons: Annotated[dict[str, str], Meta(description="the reason of each that has one of its own, by id")] = {}
    digest: Annotated[
        str | None,
        Meta(
            description="of the recommendations that were answered, as `recommendations_digest` of the plan; null in "
            "answers of earlier versions"
        ),
    ] = None
