"""Fixed lists of queues, one for each client: what AllocateMessageQueueByConfig is given."""

from typing import Annotated, Any, Final

from msgspec import Struct
from msgspec.json import Decoder

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Count, Queue


class ConfigAssignment(Struct, frozen=True, kw_only=True):
    """What each client of a group would be given, in the form of the policy's ``config_assignments``."""

    moved_queues: Annotated[Count, means("queues of business topics that get another owner than today")]
    before: Annotated[dict[str, Any], means("figures of today")]
    after: Annotated[dict[str, Any], means("the same figures with these lists, as simulated")]
    note: Annotated[str, means("what the lists do, and when they must be made anew")]
    clients: Annotated[
        dict[str, tuple[Queue, ...]],
        means("the queues of each client by its id; together every readable queue of the group once"),
    ]


CONFIG_ASSIGNMENT: Final = Decoder(ConfigAssignment)
"""Reads the column ``config_assignment``."""
