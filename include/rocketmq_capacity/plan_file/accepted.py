"""What the policy tells that a plan repeats: accepted risks, and the freeze that holds."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means

AcceptedState = Literal["ACCEPTED", "WORSE", "EXPIRED", "UNMATCHED"]


class Accepted(Struct, frozen=True, kw_only=True):
    """By whom a finding is accepted, why, and how long."""

    by: Annotated[str, means("who accepted it")]
    why: Annotated[str, means("the reason")]
    until: Annotated[str, means("the last day (UTC) on which it is accepted")]


class PlanAcceptedRisk(Accepted, frozen=True, kw_only=True):
    """An entry of the policy's accepted risks, and what became of it."""

    rule: Annotated[str, means("of the findings")]
    consumer_group: Annotated[str | None, means("where they are; null is any")]
    topic: Annotated[str | None, means("where they are; null is any")]
    broker_name: Annotated[str | None, means("where they are; null is any")]
    state: Annotated[
        AcceptedState,
        means(
            "ACCEPTED: it holds for findings of this plan; WORSE: all of them are worse than accepted; "
            "EXPIRED: the snapshot was taken after its last day; UNMATCHED: there is no such finding"
        ),
    ]
    findings: Annotated[tuple[str, ...], means("ids of the findings that it holds for")]


class PlanFreeze(Struct, frozen=True, kw_only=True, rename={"begins": "from", "ends": "to"}):
    """A time in which nothing may be changed: commands that may change the cluster are comments."""

    begins: Annotated[str, means("its first moment, UTC ISO-8601")]
    ends: Annotated[str, means("its end, UTC ISO-8601")]
    why: Annotated[str, means("the reason")]
