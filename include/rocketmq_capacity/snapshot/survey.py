"""What the questions to a broker, a name server and a Proxy have in common: a connection, and the end of it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.snapshot.failure_log import FailureLog


class Survey:
    """The questions to one process over one connection; failures go to the log."""

    def __init__(self, address: Address, settings: ConnectionSettings, failures: FailureLog) -> None:
        """Prepare; nothing is asked yet."""
        self._peer = Peer(address, settings)
        self._failures = failures
        self._at_a_time = settings.in_flight

    async def _for_each(self, items: Collection[str], ask: Callable[[str], Awaitable[None]]) -> None:
        """Ask about every item, not all at once: a fleet has too many topics for a task each."""
        left = iter(items)

        async def work() -> None:
            for item in left:
                await ask(item)

        await asyncio.gather(*(work() for _ in range(min(self._at_a_time, len(items)))))

    def give_up(self, reason: str) -> None:
        """Ask no more; what is under way fails with the reason."""
        self._peer.give_up(reason)

    async def close(self) -> None:
        """Close the connection."""
        await self._peer.close()
