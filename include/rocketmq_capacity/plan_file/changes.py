"""What a plan has found since the plan before."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.finding import Impact
from rocketmq_capacity.vocabulary import Severity


class WorsenedFigure(Struct, frozen=True, kw_only=True):
    """A figure of a finding that is worse than before."""

    name: Annotated[str, means("name of the figure, as in a cause's `impact`")]
    before: Annotated[float, means("in the plan before")]
    now: Annotated[float, means("in this plan")]


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

    finding: Annotated[str, means("id of the finding in this plan")]
    severity_before: Annotated[Severity, means("its severity in the plan before")]
    figures: Annotated[tuple[WorsenedFigure, ...], means("the figures that are worse; none if only its severity is")]


class Gone(Struct, frozen=True, kw_only=True):
    """A finding of the plan before that this plan does not have."""

    id: Annotated[str, means("its id in the plan before")]
    rule: Annotated[str, means("name of the rule")]
    severity: Annotated[Severity, means("its severity in the plan before")]
    consumer_group: Annotated[str | None, means("the group that it was about")]
    topic: Annotated[str | None, means("the topic that it was about")]
    broker_name: Annotated[str | None, means("the broker that it was about")]
    message: Annotated[str, means("what it said in the plan before")]


class Closing(Gone, frozen=True, kw_only=True):
    """A finding of a rule that flaps, which was open, and which this plan does not have for the first time."""

    since: Annotated[str, means("taken_at of the first plan of the row that has it")]


class ChangesSincePlan(Struct, frozen=True, kw_only=True):
    """What is new, worse and gone since the plan before; each list has the most urgent first."""

    since: Annotated[str, means("when the snapshot of the plan before was taken, UTC ISO-8601")]
    new: Annotated[tuple[str, ...], means("ids of findings that the plan before does not have, or as PENDING")]
    worse: Annotated[tuple[Worse, ...], means("findings that the plan before has too, but not so bad")]
    gone: Annotated[tuple[Gone, ...], means("findings that only the plan before has, those that closed included")]
    pending: Annotated[
        tuple[str, ...], means("ids of the findings that are PENDING; they are new once the next plan has them")
    ] = ()
    closing: Annotated[
        tuple[Closing, ...], means("findings that are gone if the next plan does not have them either")
    ] = ()
