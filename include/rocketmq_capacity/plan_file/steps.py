"""Steps of a change that takes several: each has a gate that must hold before the next step begins."""

from typing import Annotated, Final

from msgspec import Struct
from msgspec.json import Decoder

from rocketmq_capacity.catalogue.evidence import means


class StepCheck(Struct, frozen=True, kw_only=True):
    """How to see that a change has worked."""

    command: Annotated[str, means("a command that only looks")]
    shows: Annotated[str, means("what it shows if the change has worked")]


class RecommendationStep(Struct, frozen=True, kw_only=True):
    """One step. After it, its checks must show what they should; only then the next step begins."""

    title: Annotated[str, means("what is done, in a few words")]
    expect: Annotated[str, means("what happens then")]
    commands: Annotated[
        tuple[str, ...], means("shell commands in order, as comments if something forbids them; none if it only waits")
    ] = ()
    checks: Annotated[tuple[StepCheck, ...], means("what must show before the next step")] = ()
    blocks: Annotated[tuple[str, ...], means("while one of these is so, the next step must not begin")] = ()
    way_back: Annotated[str | None, means("how to undo it; null if nothing was changed")] = None


STEPS: Final = Decoder(tuple[RecommendationStep, ...])
"""Reads the column ``steps``."""
