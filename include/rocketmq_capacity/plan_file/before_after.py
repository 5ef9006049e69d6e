"""A figure of the cluster as it is, and of the changed one."""

from typing import Annotated

from msgspec import Meta, Struct


class BeforeAfterRatio(Struct, frozen=True, kw_only=True):
    """A share of the time before and after the changes; null is unknown."""

    before: Annotated[float | None, Meta(description="of the cluster as it is")]
    after: Annotated[float | None, Meta(description="of the changed cluster")]


class BeforeAfterMessages(Struct, frozen=True, kw_only=True):
    """Messages before and after the changes; null is unknown."""

    before: Annotated[int | None, Meta(description="of the cluster as it is")]
    after: Annotated[int | None, Meta(description="of the changed cluster, on the queues that are left")]


class BeforeAfterCount(Struct, frozen=True, kw_only=True):
    """A number before and after the changes."""

    before: Annotated[int, Meta(description="of the cluster as it is")]
    after: Annotated[int, Meta(description="of the changed cluster")]


class BeforeAfterRate(Struct, frozen=True, kw_only=True):
    """Messages a second before and after the changes; null is unknown."""

    before: Annotated[float | None, Meta(description="of the cluster as it is")]
    after: Annotated[float | None, Meta(description="of the changed cluster")]
