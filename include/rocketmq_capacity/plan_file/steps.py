"""Steps of a change that takes several: each has a gate that must hold before the next step begins."""

from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.json import Decoder


class StepCheck(Struct, frozen=True, kw_only=True):
    """How to see that a change has worked."""

    command: Annotated[str, Meta(description="a command that only looks")]
    shows: Annotated[str, Meta(description="what it shows if the change has worked")]


class RecommendationStep(Struct, frozen=True, kw_only=True):
    """One step. After it, its checks must show what they should; only then the next step begins."""

    title: Annotated[str, Meta(description="what is done, in a few words")]
    expect: Annotated[str, Meta(description="what happens then")]
    commands: Annotated[
        tuple[str, ...],
        Meta(description="shell commands in order, as comments if something forbids them; none if it only waits"),
    ] = ()
    checks: Annotated[tuple[StepCheck, ...], Meta(description="what must show before the next step")] = ()
    blocks: Annotated[tuple[str, ...], Meta(description="while one of these is so, the next step must not begin")] = ()
    way_back: Annotated[str | None, Meta(description="how to undo it; null if nothing was changed")] = None


STEPS: Final = Decoder(tuple[RecommendationStep, ...])
"""Reads the column ``steps``."""
