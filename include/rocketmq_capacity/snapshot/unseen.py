"""Why a group without known clients may have some: brokers did not answer, or there are signs of a Proxy."""

from itertools import pairwise

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryGroupOffset
from rocketmq_capacity.snapshot.kinds import HEARTBEAT_TOPIC
from rocketmq_capacity.vocabulary import (
    LOCAL_MODE,
    NOT_TOLD,
    OFFSETS_MOVE,
    PROXIES_SILENT,
    PROXY_UNNAMED,
    UnseenClients,
)


class Unseen:
    """Signs of clients that the inventory lacks.

    Only Proxies in cluster mode count: the clients of a Proxy in local mode are known to its broker.

    Attributes:
        works_unnamed: a Proxy in cluster mode works in the cluster, and the inventory names none.
    """

    def __init__(self, inventory: Inventory) -> None:
        failed = {failure.broker_addr for failure in inventory.unanswered}
        named = {proxy.proxy_addr for proxy in inventory.proxies or () if proxy.mode != LOCAL_MODE}
        self._has_named = bool(named)
        self._are_silent = named <= failed
        self.works_unnamed = not named and any(topic.topic == HEARTBEAT_TOPIC for topic in inventory.topics)

    @property
    def are_seen(self) -> bool:
        """Whether there is no sign of Proxies in cluster mode that the inventory does not name, or that are silent."""
        return not self.works_unnamed and not (self._has_named and self._are_silent)

    def clients_of(self, group: InventoryGroup) -> UnseenClients | None:
        """Why the group may have unknown clients; None if it has known ones, or there is no sign of others."""
        if group.clients:
            return None
        if group.clients is None:
            return NOT_TOLD
        if self._has_named:
            return PROXIES_SILENT if self._are_silent else None
        if self.works_unnamed:
            return PROXY_UNNAMED
        return OFFSETS_MOVE if any(map(_has_moved, group.offsets or ())) else None


def _has_moved(offset: InventoryGroupOffset) -> bool:
    """Whether the group's offset grew between the samples."""
    offsets = [sample.consumer_offset for sample in offset.samples or ()]
    known = [one for one in (*offsets, offset.consumer_offset) if one is not None]
    return any(later > earlier for earlier, later in pairwise(known))
