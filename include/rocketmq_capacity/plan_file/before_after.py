"""A figure of the cluster as it is, and of the changed one."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means


class BeforeAfterRatio(Struct, frozen=True, kw_only=True):
    """A share of the time before and after the changes; null is unknown."""

    before: Annotated[float | None, means("of the cluster as it is")]
    after: Annotated[float | None, means("of the changed cluster")]


class BeforeAfterMessages(Struct, frozen=True, kw_only=True):
    """Messages before and after the changes; null is unknown."""

    before: Annotated[int | None, means("of the cluster as it is")]
    after: Annotated[int | None, means("of the changed cluster, on the queues that are left")]


class BeforeAfterCount(Struct, frozen=True, kw_only=True):
    """A number before and after the changes."""

    before: Annotated[int, means("of the cluster as it is")]
    after: Annotated[int, means("of the changed cluster")]


class BeforeAfterRate(Struct, frozen=True, kw_only=True):
    """Messages a second before and after the changes; null is unknown."""

    before: Annotated[float | None, means("of the cluster as it is")]
    after: Annotated[float | None, means("of the changed cluster")]
