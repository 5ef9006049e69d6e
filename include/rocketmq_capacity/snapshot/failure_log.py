"""Collects failed requests, and makes one row of them for each server and kind of request."""

from collections import defaultdict
from collections.abc import Awaitable
from typing import TypeVar

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError, kept
from rocketmq_capacity.snapshot.inventory import InventoryFailure

T = TypeVar("T")


class FailureLog:
    """Every failed request of a snapshot."""

    def __init__(self) -> None:
        self._errors: defaultdict[tuple[str, str, bool], list[tuple[str, str]]] = defaultdict(list)
        self.refusals: dict[str, str] = {}
        """By address, the first error text of each server that denied access."""
        self.answering: set[str] = set()
        """The addresses of servers that answered something, if only an error or what makes no sense."""

    async def answer_or_none(
        self,
        broker_addr: str,
        request: RequestCode,
        answer: Awaitable[T],
        *,
        subject: str = "",
        harmless: tuple[int, ...] = (),
    ) -> T | None:
        """Wait for the answer; on an error, note it and give None.

        Args:
            broker_addr: address of the broker, name server or Proxy that was asked.
            request: what was asked.
            answer: the answer under way.
            subject: the topic, group or client that was asked about.
            harmless: response codes that give None too, but are not failures, such as "no such topic".
        """
        try:
            return await answer
        except (TransportError, ProtocolError) as error:
            if not (isinstance(error, ResponseError) and error.code in harmless):
                self.note(broker_addr, request.name, error, subject=subject)
            return None

    def note(
        self, broker_addr: str, request: str, error: Exception, *, subject: str = "", of_client: bool = False
    ) -> None:
        """Remember one failure; ``of_client``: a client did not answer, and its broker did."""
        self._errors[broker_addr, request, of_client].append((subject, kept(str(error))))
        if isinstance(error, ProtocolError):
            self.answering.add(broker_addr)
        if isinstance(error, ResponseError) and error.is_refusal:
            self.refusals.setdefault(broker_addr, kept(str(error)))

    def rows(self) -> tuple[InventoryFailure, ...]:
        """One row for each server and request, sorted: the first error with its subject, and how many more.

        What clients did not answer has a row of its own.
        """
        return tuple(
            InventoryFailure(
                broker_addr=broker_addr, request=request, error=_summed_up(errors), of_clients=of_clients or None
            )
            for (broker_addr, request, of_clients), errors in sorted(self._errors.items())
        )


def _summed_up(errors: list[tuple[str, str]]) -> str:
    subject, error = min(errors)
    about = f"{subject}: {error}" if subject else error
    return f"{about} (and {len(errors) - 1} more)" if len(errors) > 1 else about
