"""Groups that seem to have no clients and may have some: behind a Proxy that nobody named, or that did not answer."""

from itertools import pairwise

from rocketmq_capacity.snapshot.inventory import ConsumerGroup, GroupOffset, Inventory
from rocketmq_capacity.snapshot.kinds import HEARTBEAT_TOPIC
from rocketmq_capacity.vocabulary import LOCAL_MODE, OFFSETS_MOVE, PROXIES_SILENT, PROXY_UNNAMED, UnseenClients


class Unseen:
    """What speaks for clients that an inventory does not have.

    A Proxy in local mode hides nobody: its clients are its broker's.

    Attributes:
        works_unnamed: a Proxy in cluster mode works in the cluster, and the inventory names none.
    """

    def __init__(self, inventory: Inventory) -> None:
        failed = {failure.broker_addr for failure in inventory.failures or ()}
        named = {proxy.proxy_addr for proxy in inventory.proxies or () if proxy.mode != LOCAL_MODE}
        self._has_named = bool(named)
        self._are_silent = named <= failed
        self.works_unnamed = not named and any(topic.topic == HEARTBEAT_TOPIC for topic in inventory.topics)

    def clients_of(self, group: ConsumerGroup) -> UnseenClients | None:
        """Why the group may have clients that are not known; None where it has known ones, or nothing speaks for it."""
        if group.clients:
            return None
        if self._has_named:
            return PROXIES_SILENT if self._are_silent else None
        if self.works_unnamed:
            return PROXY_UNNAMED
        return OFFSETS_MOVE if any(map(_has_moved, group.offsets or ())) else None


def _has_moved(offset: GroupOffset) -> bool:
    """Whether the group has read on between the samples of the snapshot."""
    places = [sample.consumer_offset for sample in offset.samples or ()]
    known = [place for place in (*places, offset.consumer_offset) if place is not None]
    return any(later > earlier for earlier, later in pairwise(known))
