"""What groups will need at known events."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, Count, Dataset, one_of


class EventNeed(Dataset, frozen=True, kw_only=True):
    """How busy a group will be at an event of the policy's calendar, and how many clients it needs for it.

    Grain: one row a group and event that is not over, if more comes to a topic of the group then.
    Units: client ids, counted; busy shares are ratios at the event, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("event", "consumer_group")

    event: Annotated[str, means("name of the event in the policy")]
    consumer_group: Annotated[str, means("name of the consumer group")]
    status: Annotated[
        str,
        one_of("ENOUGH", "TOO_FEW", "UNDECIDED"),
        means(
            "ENOUGH or TOO_FEW clients, by `PROVISION.under_utilisation`; UNDECIDED if that is unknown, as "
            "for a group without a verdict today"
        ),
    ]
    busy_lower: Annotated[Amount | None, means("busy share of the busiest client, lower limit")] = None
    busy_ratio: Annotated[Amount | None, means("the most likely value; null if unknown")] = None
    busy_upper: Annotated[Amount | None, means("upper limit")] = None
    clients: Annotated[Count, means("of the group today")]
    needed_clients: Annotated[
        Count | None, means("that are enough; null if unknown, or if more clients alone are not enough")
    ] = None
