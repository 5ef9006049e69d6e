"""What to change, what happens while the change spreads, and what a person answers."""

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.model import config_assignment
from rocketmq_capacity.plan_file.ledger import LedgerStanding
from rocketmq_capacity.plan_file.numbers import JsonObject
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck
from rocketmq_capacity.tables.transition import TransitionTotals
from rocketmq_capacity.vocabulary import Goal


class PlanTransition(TransitionTotals, frozen=True, kw_only=True):
    """What the changes mean for a group while they spread, with the worst moments and the timers."""

    consumer_group: Annotated[str, means("its name")]
    unread_switched: Annotated[
        tuple[str, ...] | None,
        means("the clients that know of the change when most queues are unread; null if the number is a bound"),
    ]
    twice_switched: Annotated[tuple[str, ...] | None, means("the same when most queues are read twice")]
    timers: Annotated[
        JsonObject,
        means("the timers in seconds; `from_snapshot` names those that brokers reported, others are defaults"),
    ]


class PlanConfigAssignment(config_assignment.ConfigAssignment, frozen=True, kw_only=True):
    """Fixed lists of queues for CONFIG, in the form of the policy's ``config_assignments``."""

    transition: Annotated[
        TransitionTotals | UnsetType,
        means("what happens meanwhile if all clients restart with their lists in one go; missing if unknown"),
    ] = UNSET


class PlanRecommendation(Struct, frozen=True, kw_only=True):
    """What to change, how, and what that would do."""

    id: Annotated[str, means("equal over equal inputs")]
    action: Annotated[str, means("name of the action")]
    consumer_group: Annotated[str | None, means("the group to change")]
    topic: Annotated[str | None, means("the topic to change")]
    owner: Annotated[
        str | None, means("whose it is by the policy's groups; null if nobody's, or if a topic has several owners")
    ] = None
    manual: Annotated[bool, means("a person must complete it; no command may be run unchanged")]
    reason: Annotated[str, means("why, and what it changes")]
    rules: Annotated[tuple[str, ...], means("rules whose findings it answers")]
    serves: Annotated[tuple[Goal, ...], means("goals of the score that it serves: those of its rules")] = ()
    keeps: Annotated[
        tuple[Goal, ...], means("other goals that its group, or all groups of its topic, keep today, and that it keeps")
    ] = ()
    commands: Annotated[tuple[str, ...], means("shell commands, in the order to run them")]
    before: Annotated[JsonObject, means("figures of today")]
    after: Annotated[JsonObject, means("the same figures after the change, as simulated")]
    changes_cluster: Annotated[
        bool, means("one of its commands changes the cluster; the others only look, or there are none")
    ] = False
    check: Annotated[StepCheck | None, means("how to see that it worked; null if no command shows it")] = None
    way_back: Annotated[str | None, means("how it is undone; null if the reason says it")] = None
    transition: Annotated[
        TransitionTotals | UnsetType,
        means(
            "what happens meanwhile, over its groups of which that is known; missing if there are "
            "none, or if it changes nobody's queues"
        ),
    ] = UNSET
    transition_undecided: Annotated[
        str | UnsetType,
        means("UNDECIDED, and of which groups it is not known which queues move; missing if it is of all"),
    ] = UNSET
    steps: Annotated[
        tuple[RecommendationStep, ...] | UnsetType,
        means("only of a change that takes several steps: each of them, with the gate before the next one"),
    ] = UNSET
    standing: Annotated[
        LedgerStanding | UnsetType,
        means(
            "since when it is recommended, and whether it is approved; only after a plan before, and not "
            "of those that only look"
        ),
    ] = UNSET
    config_assignment: Annotated[
        PlanConfigAssignment | UnsetType,
        means("only where no strategy comes near FLOOR: fixed lists of queues for CONFIG, as another way"),
    ] = UNSET


class Approval(Struct, frozen=True, kw_only=True):
    """A person's answer to the recommendations."""

    status: Annotated[Literal["APPROVED", "REJECTED"], means("the answer")]
    by: Annotated[str | None, means("who answered; null if nobody did in time")]
    at: Annotated[str, means("when, UTC ISO-8601")]
    why: Annotated[str | None, means("the reason for all that have none in `reasons`, if one was given")]
    recommendations: Annotated[tuple[str, ...], means("ids of those in the question")]
    approved: Annotated[tuple[str, ...], means("ids of those to carry out")] = ()
    rejected: Annotated[
        tuple[str, ...],
        means(
            "ids of those not to carry out; of alternatives these are all but one. Those that are in "
            "neither list were left open"
        ),
    ] = ()
    reasons: Annotated[dict[str, str], means("the reason of each that has one of its own, by id")] = {}
    digest: Annotated[
        str | None,
        means(
            "of the recommendations that were answered, as `recommendations_digest` of the plan; null in "
            "answers of earlier versions"
        ),
    ] = None
