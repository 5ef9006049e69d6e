"""Collects what was not answered, and turns it into rows: one for each broker and kind of request."""

from collections import defaultdict
from collections.abc import Awaitable
from typing import Final, TypeVar

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.snapshot.inventory import Failure

T = TypeVar("T")

_ACL_OF_4: Final = "AclException"
"""What a 4.x broker says where a 5.x one has a code (NettyRemotingAbstract.java, rocketmq-all-4.9.4)."""


class FailureLog:
    """Every failed request of a snapshot."""

    def __init__(self) -> None:
        self._errors: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self.refusals: dict[str, str] = {}
        """Who denied us access, and in which words first."""

    async def answer_or_none(
        self,
        broker_addr: str,
        request: RequestCode,
        answer: Awaitable[T],
        *,
        subject: str = "",
        harmless: tuple[int, ...] = (),
    ) -> T | None:
        """The answer; None where there is none, which is noted.

        Args:
            broker_addr: who was asked.
            request: what was asked.
            answer: the answer under way.
            subject: the topic, group or client that was asked about.
            harmless: response codes that say that there is nothing, and are no failure.
        """
        try:
            return await answer
        except (TransportError, ProtocolError) as error:
            if not (isinstance(error, ResponseError) and error.code in harmless):
                self.note(broker_addr, request.name, error, subject=subject)
            return None

    def note(self, broker_addr: str, request: str, error: Exception, *, subject: str = "") -> None:
        """Remember one failure."""
        self._errors[broker_addr, request].append((subject, str(error)))
        if _is_refusal(error):
            self.refusals.setdefault(broker_addr, str(error))

    def rows(self) -> tuple[Failure, ...]:
        """One row for each broker and request, in their order: the first error, its subject, and how many more."""
        return tuple(
            Failure(broker_addr=broker_addr, request=request, error=_told(errors))
            for (broker_addr, request), errors in sorted(self._errors.items())
        )


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, ResponseError) and (
        error.code == ResponseCode.NO_PERMISSION or _ACL_OF_4 in (error.remark or "")
    )


def _told(errors: list[tuple[str, str]]) -> str:
    subject, error = min(errors)
    about = f"{subject}: {error}" if subject else error
    return f"{about} (and {len(errors) - 1} more)" if len(errors) > 1 else about
