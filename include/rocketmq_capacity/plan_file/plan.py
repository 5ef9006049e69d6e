"""The whole plan, and how a plan file is read."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.accepted import PlanAcceptedRisk, PlanFreeze
from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.plan_file.changes import ChangesSincePlan
from rocketmq_capacity.plan_file.coming_event import ComingEvent
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.headroom import Headroom
from rocketmq_capacity.plan_file.ledger import Ledger
from rocketmq_capacity.plan_file.own_policy import PolicyDifference
from rocketmq_capacity.plan_file.recommendation import Approval, PlanRecommendation
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.score import Score
from rocketmq_capacity.plan_file.sentence import Sentence
from rocketmq_capacity.tables.assess.brokers import ProducerBalance

FORMAT: Final = "rocketmq-capacity/plan/1"
OLDEST: Final = timedelta(hours=24)
"""The greatest age of a snapshot that says what the cluster is like."""


class PlanFailure(Struct, frozen=True, kw_only=True):
    """A request without an answer; what depends on it is unknown."""

    broker_addr: Annotated[str, means("host:port that was asked: a broker's, a name server's or a Proxy's")]
    request: Annotated[str | None, means("RocketMQ's name of the request")]
    error: Annotated[str | None, means("what happened")]


class Completeness(Struct, frozen=True, kw_only=True):
    """How much of the cluster answered."""

    ratio: Annotated[
        float, means("readable queues of business topics whose broker answered every request / all of them")
    ]
    failures: Annotated[tuple[PlanFailure, ...], means("the inventory's")]


class Plan(Struct, frozen=True, kw_only=True):
    """The capacity plan of one RocketMQ cluster, made from one snapshot; every list is sorted."""

    format: Annotated[Literal["rocketmq-capacity/plan/1"], means("of this file")]
    cluster_name: Annotated[str, means("name of the cluster")]
    taken_at: Annotated[str, means("when the snapshot was taken, UTC ISO-8601")]
    recorded_at: Annotated[
        str | UnsetType, means("when it was really taken, if a recorded snapshot was given another date")
    ] = UNSET
    valid_until: Annotated[
        str | None,
        means(
            "do not act on the plan after this moment, UTC ISO-8601: a freeze begins, or the policy's validity "
            "is over; null in earlier versions"
        ),
    ] = None
    fingerprint: Annotated[str, means("SHA-256 of the canonical, sorted inventory")]
    completeness: Completeness
    groups: Annotated[tuple[GroupPlan, ...], means("the consumer groups, by name")]
    findings: Annotated[tuple[PlanFinding, ...], means("what is wrong")]
    recommendations: Annotated[tuple[PlanRecommendation, ...], means("what to change")]
    causes: Annotated[
        tuple[Cause, ...],
        means("one entry for each thing that one action mends, the worst first; none in earlier versions"),
    ] = ()
    alternatives: Annotated[
        tuple[tuple[str, ...], ...],
        means("ids of recommendations of which at most one is carried out, in the order of recommendations"),
    ] = ()
    headroom: Annotated[
        tuple[Headroom, ...],
        means("the ten groups, topics and brokers that break first when traffic grows, the lowest first"),
    ] = ()
    score: Annotated[Score | None, means("from 0 to 100, and how it came about; null in earlier versions")] = None
    brokers: Annotated[tuple[BrokerPlan, ...], means("the masters, by name; none in earlier versions")] = ()
    producer_balance: Annotated[
        tuple[ProducerBalance, ...],
        means("business topics whose queues or brokers get another share than producers without keys give"),
    ] = ()
    accepted: Annotated[
        tuple[PlanAcceptedRisk, ...], means("the accepted risks of the policy, in its order, and what became of each")
    ] = ()
    freeze: Annotated[PlanFreeze | None, means("the freeze that the snapshot was taken in; null if there is none")] = (
        None
    )
    notes: Annotated[
        tuple[str, ...], means("what to know of the plan itself: a freeze, and accepted risks that do not hold")
    ] = ()
    sentences: Annotated[
        dict[str, tuple[Sentence, ...]],
        means("each English sentence of this file that has a key, with what it consists of; none in earlier versions"),
    ] = {}
    events: Annotated[
        tuple[ComingEvent, ...] | UnsetType,
        means("the events of the policy's calendar that are not over; only if there are any"),
    ] = UNSET
    changes: Annotated[
        ChangesSincePlan | None, means("what is new, worse and gone; null if there is no plan before, and in a what-if")
    ] = None
    ledger: Annotated[
        Ledger | UnsetType,
        means("what became of earlier recommendations; only after a plan before, and in no what-if or trial"),
    ] = UNSET
    recommendations_digest: Annotated[
        str | UnsetType,
        means(
            "SHA-256 over the fingerprint and the recommendations that need an answer, as the question "
            "shows them; only if there are any, and in no what-if"
        ),
    ] = UNSET
    approval: Annotated[
        Approval | UnsetType, means("the answer that counts; only if a person was asked about these recommendations")
    ] = UNSET
    other_answers: Annotated[
        tuple[Approval, ...] | UnsetType,
        means(
            "every other answer, oldest first; only if there are any: one that a later answer replaced, or "
            "one to other recommendations, with another `digest`"
        ),
    ] = UNSET
    scenario: Annotated[ScenarioResult | UnsetType, means("only of a what-if")] = UNSET
    policy_differences: Annotated[
        tuple[PolicyDifference, ...] | UnsetType,
        means("what the run decides otherwise than the deployment's policy, by key; only if there is any"),
    ] = UNSET
    trial: Annotated[
        bool | UnsetType,
        means(
            "only with `policy_differences`, and in no what-if: whether the run is a trial, which is not "
            "the day's plan; false if a person said that it replaces it"
        ),
    ] = UNSET

    @property
    def is_daily(self) -> bool:
        """Whether it is a plan to act on: no what-if, and no trial."""
        return self.scenario is UNSET and self.trial is not True

    @property
    def taken_at_utc(self) -> datetime:
        """When the snapshot was taken."""
        return datetime.fromisoformat(self.taken_at)

    @property
    def last_moment(self) -> datetime:
        """After it nobody approves the plan or runs its scripts: the snapshot is old, or ``valid_until`` is over."""
        too_old = self.taken_at_utc + OLDEST
        return too_old if self.valid_until is None else min(too_old, datetime.fromisoformat(self.valid_until))


def read_plan(path: Path) -> Plan:
    """The plan in the file. Errors: :class:`BadInput` if it is missing, not JSON or not of this format."""
    try:
        return decoded_plan(path.read_bytes())
    except OSError as error:
        raise BadInput(str(path), "", f"cannot be read: {error.strerror}") from None
    except msgspec.ValidationError as error:
        raise BadInput(str(path), "", f"is not of the format {FORMAT}: {error}") from None
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadInput(str(path), "", f"is not JSON: {error}") from None


def decoded_plan(content: bytes) -> Plan:
    """The plan of these bytes. Errors: msgspec.DecodeError; RecursionError if they are nested too deeply."""
    return msgspec.json.decode(content, type=Plan)
