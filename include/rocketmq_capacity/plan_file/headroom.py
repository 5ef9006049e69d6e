"""How much more traffic a group, a topic or a broker bears before it breaks."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.vocabulary import Breaks, HeadroomKind


class Headroom(Struct, frozen=True, kw_only=True):
    """The factor of the traffic at its peak at which something breaks first; below 1 it is beyond its bound already."""

    kind: Annotated[HeadroomKind, means("GROUP, TOPIC or BROKER")]
    name: Annotated[str, means("of the group, the topic or the broker")]
    factor: Annotated[float, means("so many times the traffic at the peak")]
    breaks: Annotated[
        Breaks,
        means(
            "what breaks first; UTILISATION: the busiest client is above `under_utilisation`; MAX_LAG:"
            " messages of the group wait longer than its `max_lag_s`; PUT_MESSAGES, PUT_BYTES: a broker has to store"
            " more than it can; DISK: it has to delete messages early"
        ),
    ]


class PlanHeadroom(Struct, frozen=True, kw_only=True):
    """How much more traffic a group bears."""

    factor: Annotated[float, means("so many times the traffic at the peak")]
    measured_factor: Annotated[float | None, means("so many times the measured traffic of today; null if none came")]
    breaks: Annotated[Breaks, means("what breaks first")]
