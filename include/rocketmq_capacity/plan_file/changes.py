"""What a plan has found since the plan before."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from rocketmq_capacity.plan_file.finding import Impact
from rocketmq_capacity.vocabulary import Severity


class WorsenedFigure(Struct, frozen=True, kw_only=True):
    """A figure of a finding that is worse than before."""

    name: Annotated[str, Meta(description="name of the figure, as in a cause's `impact`")]
    before: Annotated[float, Meta(description="in the plan before")]
    now: Annotated[float, Meta(description="in this plan")]


def grown(before: Impact, after: Impact, factor: float) -> Iterator[WorsenedFigure]:
    """The figures that are at least ``factor`` times what they were; in each of them more is worse.

    Nothing is said of one that was or is unknown.
    """
    for name in Impact.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if old is not None and new is not None and new > old and new >= old * factor:
            yield WorsenedFigure(name=name, before=old, now=new)


class Worse(Struct, frozen=True, kw_only=True):
    """A finding that the plan before had too, with a lower severity or a better figure."""

    finding: Annotated[str, Meta(description="id of the finding in this plan")]
    severity_before: Annotated[Severity, Meta(description="its severity in the plan before")]
    figures: Annotated[
        tuple[WorsenedFigure, ...], Meta(description="the figures that are worse; none if only its severity is")
    ]


class Gone(Struct, frozen=True, kw_only=True):
    """A finding of the plan before that this plan does not have."""

    id: Annotated[str, Meta(description="its id in the plan before")]
    rule: Annotated[str, Meta(description="name of the rule")]
    severity: Annotated[Severity, Meta(description="its severity in the plan before")]
    consumer_group: Annotated[str | None, Meta(description="the group that it was about")]
    topic: Annotated[str | None, Meta(description="the topic that it was about")]
    broker_name: Annotated[str | None, Meta(description="the broker that it was about")]
    message: Annotated[str, Meta(description="what it said in the plan before")]


class Closing(Gone, frozen=True, kw_only=True):
    """A finding of a rule that flaps, which was open, and which this plan does not have for the first time."""

    since: Annotated[str, Meta(description="taken_at of the first plan of the row that has it")]


class ChangesSincePlan(Struct, frozen=True, kw_only=True):
    """What is new, worse and gone since the plan before; each list has the most urgent first."""

    since: Annotated[str, Meta(description="when the snapshot of the plan before was taken, UTC ISO-8601")]
    new: Annotated[
        tuple[str, ...], Meta(description="ids of findings that the plan before does not have, or as PENDING")
    ]
    worse: Annotated[tuple[Worse, ...], Meta(description="findings that the plan before has too, but not so bad")]
    gone: Annotated[
        tuple[Gone, ...], Meta(description="findings that only the plan before has, those that closed included")
    ]
    pending: Annotated[
        tuple[str, ...],
        Meta(description="ids of the findings that are PENDING; they are new once the next plan has them"),
    ] = ()
    closing: Annotated[
        tuple[Closing, ...], Meta(description="findings that are gone if the next plan does not have them either")
    ] = ()
